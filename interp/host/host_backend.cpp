#include "interp/host/host_backend.hpp"

#include <algorithm>
#include <cstring>

#include "interp/host/eager.hpp"
#include "interp/host/schedule.hpp"
#include "interp/host/start_thread.hpp"
#include "interp/host/worker_choice.hpp"

namespace taskspec {

namespace {

// What prepare() gives: the plan's executable, and for the eager schedule one made when it is asked for.
class HostPlan final : public Executable {
 public:
  HostPlan(std::shared_ptr<const Plan> plan, Bodies& bodies, std::uint32_t workers, std::shared_ptr<ViewBodies> views)
      : planned(std::move(plan), bodies, workers, std::move(views)), worker_choice(planned.plan->steps(), workers) {}
  Work work(ChainId chain) const override { return planned.work(StepId(chain.index())); }

  std::vector<OpSite> ops() const override { return planned.ops(); }
  std::shared_ptr<const Plan> plan() const override { return planned.plan; }
  HostExecutable& eager() {
    if (!eager_)
      eager_ = std::make_unique<HostExecutable>(unaggregated(*planned.plan), planned.bodies, 1, planned.views);
    return *eager_;
  }
  // Records of an eager run name its own steps; callers know those of the plan.
  void name_steps(Outcome& outcome) {
    if (outcome.records.empty()) return;
    std::vector<ChainId> chain_of;
    try {
      chain_of.resize(planned.plan->graph->size());
    } catch (const std::bad_alloc&) {
      outcome.lost = true;
      return;
    }
    for (std::size_t s = 0; s < planned.plan->steps(); ++s)
      for (std::size_t t = planned.plan->step_starts[s]; t < planned.plan->step_starts[s + 1]; ++t)
        chain_of[planned.plan->tasks[t].node.index()] = ChainId(s);
    for (DispatchRecord& record : outcome.records)
      record.chain = chain_of[eager_->plan->tasks[record.chain.index()].node.index()];
  }

  HostExecutable planned;
  WorkerChoice worker_choice;

 private:
  std::unique_ptr<HostExecutable> eager_;
};

class Made;

class HostBackend final : public PlanBackend, public TellsBodies {
 public:
  HostBackend(std::uint32_t threads, const HostOptions& options)
      : count_(memory_limit(), {.poison = options.poison}),
        locations_(count_),
        cache_(count_),
        adaptive_(options.adaptive),
        pool_(threads) {}
  std::uint32_t start() { return pool_.start(); }

  std::string name() const override { return "host(" + std::to_string(pool_.size()) + ")"; }
  Location allocate(const ArrayType& type) override { return locations_.add(type); }
  Location allocate_zeros(const ArrayType& type) override { return locations_.add(type, true); }
  Location allocate_part(const ArrayType& type, std::int64_t elements) override {
    return locations_.add(type, true, static_cast<std::size_t>(elements) * info(type.precision).bytes);
  }
  void write(Location location, const Array& array) override;
  void write_numbers(std::span<const Location> locations, std::span<const std::uint64_t> bits) override {
    locations_.write_numbers(locations, bits);
  }
  Array read(Location location) const override { return locations_.share(location); }
  Location copy(Location location) override;
  void free(Location location) override { locations_.free(location); }
  void move_elements(Location from, Location to, std::span<const Moved> moved) override;
  using PlanBackend::prepare;
  std::shared_ptr<Executable> prepare(std::shared_ptr<const Plan> plan, Bodies& bodies) override {
    return std::make_shared<HostPlan>(std::move(plan), bodies, pool_.size(), views_);
  }
  std::vector<Poison> refused(const TaskGraph& graph, Bodies& bodies) override {
    return refused_launches(graph, bodies, *views_);
  }
  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override;
  std::vector<BodyForm> bodies() const override { return views_->forms(); }
  Memory memory() const override { return count_.now(); }
  void interrupt() override { flags_.raise(RunFlags::interrupted); }

 private:
  Outcome run(HostExecutable& executable, Worker& worker, bool alone, std::span<const Location> inputs,
              const RunOptions& options);
  void bind_inputs(HostExecutable& executable, std::span<const Location> inputs);
  std::vector<Location> bind_results(HostExecutable& executable, Made& made);
  void collect(HostExecutable& executable, std::span<const Location> inputs, std::span<const Location> places,
               Made& made, Outcome& outcome);
  bool go(HostExecutable& executable, Worker& worker, bool alone, const RunOptions& options);
  static void count_work(const HostExecutable& executable, Outcome& outcome);
  std::variant<Location, Poison> result(HostExecutable& executable, std::size_t position,
                                        std::span<const Location> inputs, std::span<const Location> places);

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  MemoryCount count_;
  Locations locations_;
  BytesCache cache_;
  const std::shared_ptr<ViewBodies> views_ = std::make_shared<ViewBodies>();
  RunFlags flags_;
  const bool adaptive_;
  Pool pool_;
};

void HostBackend::write(Location location, const Array& array) { locations_.write(location, array); }

void HostBackend::move_elements(Location from, Location to, std::span<const Moved> moved) {
  const std::size_t width = info(locations_.type(from).precision).bytes;
  const std::byte* const source = locations_.data(from);
  std::byte* const target = locations_.data(to);
  for (const Moved& run : moved)
    std::memcpy(target + static_cast<std::size_t>(run.to) * width, source + static_cast<std::size_t>(run.from) * width,
                static_cast<std::size_t>(run.count) * width);
}

Location HostBackend::copy(Location location) {
  Location fresh = locations_.add(locations_.type(location));
  std::memcpy(locations_.data(fresh), locations_.data(location), locations_.type(location).bytes());
  return fresh;
}

Outcome HostBackend::execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) {
  auto& prepared = dynamic_cast<HostPlan&>(executable);
  HostExecutable& chosen = options.schedule == Schedule::eager ? prepared.eager() : prepared.planned;
  Outcome outcome;
  if (Worker* here = pool_.here()) {  // from inside a task: this worker does it alone
    outcome = run(chosen, *here, true, inputs, options);
  } else {
    Pool::Entry entry(pool_);
    flags_.clear();
    count_.begin_run();
    bool choice = pool_.size() > 1 && chosen.plan->steps() > 1 && options.schedule != Schedule::eager;
    bool alone = !choice || (adaptive_ && prepared.worker_choice.alone());
    auto begin = std::chrono::steady_clock::now();
    outcome = run(chosen, entry.worker(), alone, inputs, options);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (choice) prepared.worker_choice.ran(alone, seconds.count());
  }
  if (options.schedule == Schedule::eager && !outcome.lost) prepared.name_steps(outcome);
  return outcome;
}

// Where values without bytes lie.
alignas(64) constinit std::byte no_bytes[64] = {};

// Borrowed for one run, and given back however it ends.
class Loan {
 public:
  Loan(BytesCache& cache, std::size_t bytes) : cache_(cache), size_(bytes) {
    if (bytes > 0) bytes_ = cache.borrow(bytes);
  }
  ~Loan() {
    if (bytes_.data()) cache_.give_back(std::move(bytes_), size_);
  }
  std::byte* data() const { return bytes_.data() ? bytes_.data() : no_bytes; }

 private:
  BytesCache& cache_;
  std::size_t size_;
  MemoryBlock bytes_;
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

// Locations made for a run that has not come to its end; freed if it never does.
class Made {
 public:
  explicit Made(Locations& locations) : locations_(locations) {}
  ~Made() {
    for (Location location : all_)
      if (location.valid()) locations_.free(location);
  }
  Location add(const ArrayType& type) {
    all_.emplace_back();
    return all_.back() = locations_.add(type);
  }
  Location add_none() { return all_.emplace_back(); }  // of a result that has a location already
  // Those of results that are there belong to the outcome now; `all_` has one for each result, in order.
  void keep(std::span<const std::variant<Location, Poison>> results) {
    for (std::size_t i = 0; i < results.size(); ++i)
      if (std::holds_alternative<Location>(results[i])) all_[i] = Location();
  }

 private:
  Locations& locations_;
  std::vector<Location> all_;
};

Outcome HostBackend::run(HostExecutable& executable, Worker& worker, bool alone, std::span<const Location> inputs,
                         const RunOptions& options) {
  Running running(executable);
  Memory before = count_.now();
  Outcome outcome;
  {
    Loan arena(cache_, executable.plan->arena_bytes);
    executable.bind_arena(arena.data());
    bind_inputs(executable, inputs);
    Made made(locations_);
    const std::vector<Location> places = bind_results(executable, made);
    executable.table.begin();
    for (const Poison& dead : options.dead) executable.table.poison(dead.origin, dead);
    outcome.lost = !go(executable, worker, alone, options);
    if (!outcome.lost) collect(executable, inputs, places, made, outcome);
  }
  Memory after = count_.now();
  outcome.allocations = after.allocations - before.allocations;
  outcome.frees = after.frees - before.frees;
  outcome.peak_bytes = count_.run_peak();
  return outcome;
}

// Tasks have run: what fails from here on cannot be told by an exception.
void HostBackend::collect(HostExecutable& executable, std::span<const Location> inputs,
                          std::span<const Location> places, Made& made, Outcome& outcome) {
  try {
    count_work(executable, outcome);
    outcome.results.reserve(places.size());
    outcome.dead = executable.table.dead_points();
    for (std::size_t i = 0; i < places.size(); ++i) outcome.results.push_back(result(executable, i, inputs, places));
    for (std::size_t i = 0; i < places.size(); ++i)
      if (executable.results[i].takes != ResultSource::none && std::holds_alternative<Location>(outcome.results[i]))
        outcome.taken.push_back(executable.results[i].takes);
    made.keep(outcome.results);
  } catch (const std::bad_alloc&) {
    outcome.results.clear();
    outcome.lost = true;
  }
}

void HostBackend::bind_inputs(HostExecutable& executable, std::span<const Location> inputs) {
  if (inputs.size() != executable.overwritten.size()) bug("a run with another number of inputs than its graph");
  HostExecutable::Bound& bound = executable.bound;
  if (locations_.changes() == bound.changes && std::ranges::equal(inputs, bound.inputs)) return;
  bound.changes = 0;
  if (executable.has_rooms && !std::ranges::equal(inputs, bound.inputs)) executable.unbind();
  bound.inputs.assign(inputs.begin(), inputs.end());
  bound.changes = locations_.each_input(inputs, executable.input_types, executable.overwritten,
                                        [&](std::size_t i, std::byte* bytes) { executable.bind_input(i, bytes); });
}

// By result: where it is written, or copied to in the end.
std::vector<Location> HostBackend::bind_results(HostExecutable& executable, Made& made) {
  std::vector<Location> places;
  for (const ResultSource& source : executable.results) {
    if (source.takes != ResultSource::none) {
      places.push_back(made.add_none());
      continue;
    }
    places.push_back(made.add(executable.plan->buffers[source.buffer.index()].type));
    if (source.written) executable.bind_result(source, locations_.data(places.back()));
  }
  return places;
}

// False when what came of it is not known.
bool HostBackend::go(HostExecutable& executable, Worker& worker, bool alone, const RunOptions& options) {
  if (!alone && executable.lanes.size() != pool_.size()) bug("a plan that was prepared for another backend");
  for (std::size_t i = 0; i < executable.lanes.size(); ++i) {
    Lane& lane = executable.lanes[i];
    lane.tasks = lane.dispatches = 0;
    lane.failed.clear();
    lane.records.clear();
    lane.times.clear();
    lane.dead.clear();  // of a run that was lost
    lane.context.dead = {};
    lane.context.faults.clear();
    executable.begin_run(lane);
    lane.context.flags = &flags_;
    lane.context.parallel = alone ? &worker.parallel() : &pool_.worker(i).parallel();
  }
  RunContext context{
      .flags = flags_, .memory = cache_, .start = start_, .record = options.record, .record_ops = options.record_ops};
  std::span<const char> needed;
  if (options.schedule == Schedule::pull) needed = executable.needed();
  if (std::ranges::count(needed, 0) == 0) needed = {};
  if (!options.dead.empty()) flags_.raise(RunFlags::careful);
  StepRunner runner(executable, context, needed);
  if (alone)
    run_serially(executable, runner, worker.index);
  else
    ParallelRun(executable, runner, pool_).run(worker);
  return !context.lost.load(std::memory_order_relaxed);
}

void HostBackend::count_work(const HostExecutable& executable, Outcome& outcome) {
  for (const Lane& lane : executable.lanes) {
    outcome.tasks_run += lane.tasks;
    outcome.dispatches += lane.dispatches;
    outcome.failed.insert(outcome.failed.end(), lane.failed.begin(), lane.failed.end());
    outcome.records.insert(outcome.records.end(), lane.records.begin(), lane.records.end());
    const std::vector<OpRecord>& ops = lane.times.records();
    outcome.op_records.insert(outcome.op_records.end(), ops.begin(), ops.end());
  }
  std::ranges::sort(outcome.failed, {}, &Poison::origin);
  std::ranges::sort(outcome.records, {}, &DispatchRecord::chain);
}

std::variant<Location, Poison> HostBackend::result(HostExecutable& executable, std::size_t position,
                                                   std::span<const Location> inputs, std::span<const Location> places) {
  const ResultSource& source = executable.results[position];
  CellState state = executable.table.state(source.buffer);
  if (state == CellState::poisoned) return executable.table.poison(source.buffer);
  if (state != CellState::ready) bug("a result was never computed");
  if (source.written) return places[position];
  if (source.takes != ResultSource::none) return inputs[source.takes];
  // An input, a constant, or another result once more.
  const Buffer& from = executable.plan->buffers[source.location.index()];
  const std::byte* bytes = nullptr;
  if (from.home == Buffer::Home::input) bytes = locations_.data(inputs[from.index]);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (executable.results[i].written && executable.results[i].location == source.location)
      bytes = locations_.data(places[i]);
  if (!bytes) bytes = executable.address(from);
  std::memcpy(locations_.data(places[position]), bytes, executable.plan->buffers[source.buffer.index()].type->bytes());
  return places[position];
}

}  // namespace

std::unique_ptr<PlanBackend> make_host_backend(const HostOptions& options) {
  std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  auto backend = std::make_unique<HostBackend>(options.threads > 0 ? options.threads : cores, options);
  if (options.threads == 0) return backend;  // as many as there can be
  if (const std::uint32_t started = backend->start(); started < options.threads)
    throw no_threads("only " + std::to_string(started) + " of " + std::to_string(options.threads) +
                     " threads could be started");
  return backend;
}

}  // namespace taskspec
