#include "interp/host/host_backend.hpp"

#include <algorithm>
#include <cstring>

#include "interp/host/eager.hpp"
#include "interp/host/schedule.hpp"

namespace taskspec {

namespace {

// What prepare() gives: the plan's executable, and for the eager schedule one made when it is asked for.
class Prepared final : public Executable {
 public:
  Prepared(std::shared_ptr<const Plan> plan, Bodies& bodies, std::uint32_t workers)
      : planned(std::move(plan), bodies, workers) {}

  HostExecutable& eager() {
    if (!eager_) eager_ = std::make_unique<HostExecutable>(unaggregated(*planned.plan), planned.bodies, 1);
    return *eager_;
  }
  // Records of an eager run name its own steps; callers know those of the plan.
  void name_steps(std::vector<StepRecord>& records) {
    std::vector<StepId> step_of(planned.plan->graph->size());
    for (std::size_t s = 0; s < planned.plan->steps(); ++s)
      for (std::size_t t = planned.plan->step_starts[s]; t < planned.plan->step_starts[s + 1]; ++t)
        step_of[planned.plan->tasks[t].node.index()] = StepId(s);
    for (StepRecord& record : records) record.step = step_of[eager_->plan->tasks[record.step.index()].node.index()];
  }

  HostExecutable planned;

 private:
  std::unique_ptr<HostExecutable> eager_;
};

class HostBackend final : public Backend {
 public:
  explicit HostBackend(std::uint32_t threads) : locations_(count_), cache_(count_), pool_(threads) {}

  std::string name() const override { return "host(" + std::to_string(pool_.size()) + ")"; }
  Location allocate(const ArrayType& type) override { return locations_.add(type); }
  void write(Location location, const Array& array) override;
  Array read(Location location) const override { return locations_.share(location); }
  Location copy(Location location) override;
  void free(Location location) override { locations_.free(location); }
  std::shared_ptr<Executable> prepare(std::shared_ptr<const Plan> plan, Bodies& bodies) override {
    return std::make_shared<Prepared>(std::move(plan), bodies, pool_.size());
  }
  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override;
  Memory memory() const override { return count_.now(); }
  void interrupt() override { attention_.raise(Attention::interrupted); }

 private:
  Outcome run(HostExecutable& executable, Worker& worker, bool alone, std::span<const Location> inputs,
              const RunOptions& options);
  std::vector<Location> bind(HostExecutable& executable, std::span<const Location> inputs);
  void go(HostExecutable& executable, Worker& worker, bool alone, const RunOptions& options);
  void collect(HostExecutable& executable, std::span<const Location> inputs, std::vector<Location>& made, Outcome& outcome);
  Location settle(HostExecutable& executable, std::size_t result, std::span<const Location> inputs, Location made);

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  MemoryCount count_;
  Locations locations_;
  BytesCache cache_;
  Attention attention_;
  Pool pool_;
};

void HostBackend::write(Location location, const Array& array) {
  if (locations_.type(location) != array.type()) bug("an array of another type was written to a location");
  locations_.own(location);
  std::memcpy(locations_.data(location), array.raw(), array.bytes());
}

Location HostBackend::copy(Location location) {
  Location fresh = locations_.add(locations_.type(location));
  std::memcpy(locations_.data(fresh), locations_.data(location), locations_.type(location).bytes());
  return fresh;
}

Outcome HostBackend::execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) {
  auto& prepared = dynamic_cast<Prepared&>(executable);
  HostExecutable& chosen = options.schedule == Schedule::eager ? prepared.eager() : prepared.planned;
  Outcome outcome;
  if (Worker* here = pool_.here()) {  // from inside a task: this worker does it alone
    outcome = run(chosen, *here, true, inputs, options);
  } else {
    Pool::Entry entry(pool_);
    attention_.clear();
    bool alone = pool_.size() == 1 || chosen.plan->steps() <= 1 || options.schedule == Schedule::eager;
    outcome = run(chosen, entry.worker(), alone, inputs, options);
  }
  if (options.schedule == Schedule::eager) prepared.name_steps(outcome.records);
  return outcome;
}

// Borrowed for one run, and given back however it ends.
class Loan {
 public:
  Loan(BytesCache& cache, std::size_t bytes) : cache_(cache), size_(bytes) {
    if (bytes > 0) bytes_ = cache.borrow(bytes);
  }
  ~Loan() {
    if (bytes_.data()) cache_.give_back(std::move(bytes_), size_);
  }
  std::byte* data() const { return bytes_.data(); }

 private:
  BytesCache& cache_;
  std::size_t size_;
  Bytes bytes_;
};

class Running {
 public:
  explicit Running(HostExecutable& executable) : executable_(executable) {
    if (std::exchange(executable.running, true)) bug("one executable was run twice at the same time");
  }
  ~Running() { executable_.running = false; }

 private:
  HostExecutable& executable_;
};

Outcome HostBackend::run(HostExecutable& executable, Worker& worker, bool alone, std::span<const Location> inputs,
                         const RunOptions& options) {
  Running running(executable);
  Memory before = count_.now();
  count_.begin_run();
  Loan arena(cache_, executable.plan->arena_bytes);
  executable.bind_arena(arena.data());
  std::vector<Location> made = bind(executable, inputs);
  executable.table.clear();
  executable.table.pend_all();
  executable.table.publish_given();
  go(executable, worker, alone, options);
  Outcome outcome;
  collect(executable, inputs, made, outcome);
  Memory after = count_.now();
  outcome.allocations = after.allocations - before.allocations;
  outcome.frees = after.frees - before.frees;
  outcome.peak_bytes = count_.run_peak();
  return outcome;
}

// Addresses of inputs, and memory for the results that are written in place; those by result, none for others.
std::vector<Location> HostBackend::bind(HostExecutable& executable, std::span<const Location> inputs) {
  if (inputs.size() != executable.overwritten.size()) bug("a run with another number of inputs than its graph");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (locations_.type(inputs[i]) != concrete(executable.plan->graph->inputs()[i].type))
      bug("an input of another type than its graph says");
    if (executable.overwritten[i]) locations_.own(inputs[i]);
    executable.bind_input(i, locations_.data(inputs[i]));
  }
  std::vector<Location> made(executable.results.size());
  try {
    for (std::size_t i = 0; i < made.size(); ++i) {
      const ResultSource& source = executable.results[i];
      if (source.kind != ResultSource::Kind::written) continue;
      made[i] = locations_.add(executable.plan->buffers[source.buffer.index()].type);
      executable.bind_result(source.buffer, locations_.data(made[i]));
    }
  } catch (...) {
    for (Location location : made)
      if (location.valid()) locations_.free(location);
    throw;
  }
  return made;
}

void HostBackend::go(HostExecutable& executable, Worker& worker, bool alone, const RunOptions& options) {
  for (std::size_t i = 0; i < executable.lanes.size(); ++i) {
    Lane& lane = executable.lanes[i];
    lane.tasks = lane.dispatches = 0;
    lane.failed.clear();
    lane.records.clear();
    lane.around.parallel = alone ? &worker.parallel() : &pool_.worker(i).parallel();
  }
  RunContext context{attention_, cache_, start_, options.record};
  std::span<const char> needed;
  if (options.schedule == Schedule::pull) needed = executable.needed();
  if (std::ranges::count(needed, 0) == 0) needed = {};
  StepRunner runner(executable, context, needed);
  if (alone) run_serially(executable, runner, executable.lanes[0]);
  else ParallelRun(executable, runner, pool_).run(worker);
}

void HostBackend::collect(HostExecutable& executable, std::span<const Location> inputs, std::vector<Location>& made,
                          Outcome& outcome) {
  for (const Lane& lane : executable.lanes) {
    outcome.tasks_run += lane.tasks;
    outcome.dispatches += lane.dispatches;
    outcome.failed.insert(outcome.failed.end(), lane.failed.begin(), lane.failed.end());
    outcome.records.insert(outcome.records.end(), lane.records.begin(), lane.records.end());
  }
  std::ranges::sort(outcome.failed, {}, &Poison::origin);
  std::ranges::sort(outcome.records, {}, &StepRecord::step);
  outcome.results.reserve(made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    BufferId buffer = executable.results[i].buffer;
    if (executable.table.state(buffer) == CellState::poisoned) {
      if (made[i].valid()) locations_.free(made[i]);
      outcome.results.emplace_back(executable.table.poison(buffer));
      continue;
    }
    if (executable.table.state(buffer) != CellState::ready) bug("a result was never computed");
    outcome.results.emplace_back(settle(executable, i, inputs, made[i]));
  }
}

Location HostBackend::settle(HostExecutable& executable, std::size_t result, std::span<const Location> inputs,
                             Location made) {
  const ResultSource& source = executable.results[result];
  if (made.valid()) return made;
  const ArrayType& type = executable.plan->buffers[source.buffer.index()].type;
  if (source.kind == ResultSource::Kind::taken_over) return locations_.take_over(inputs[source.input], type);
  Location fresh = locations_.add(type);
  std::memcpy(locations_.data(fresh), executable.address(source.buffer), type.bytes());
  return fresh;
}

}  // namespace

std::unique_ptr<Backend> make_host_backend(const HostOptions& options) {
  std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  return std::make_unique<HostBackend>(options.threads > 0 ? options.threads : cores);
}

}  // namespace taskspec
