#include "bench/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/shapes.hpp"
#include "bench/tbb_graph.hpp"
#include "interp/host/host_backend.hpp"
#include "ir/plan/plan.hpp"

namespace taskspec::bench {

namespace {

using Bytes = std::span<std::byte* const>;
using ConstBytes = std::span<const std::byte* const>;

void do_nothing(void*, ConstBytes, Bytes) {}
void count_run(void* context, ConstBytes, Bytes) { ++*static_cast<std::uint8_t*>(context); }

// A task is `empty`, or the number of the counter that it increases.
class NativeBodies final : public Bodies {
 public:
  explicit NativeBodies(std::span<std::uint8_t> runs = {}) : runs_(runs) {}
  Result<OpList> list(const TaskGraph&, NodeId) override { return failure("E3005", {}, "there are no bodies").diags(); }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override { bug("a benchmark has no bodies"); }
  NativeTask native(const std::string& symbol) override {
    if (symbol == "empty") return {&do_nothing, nullptr};
    return {&count_run, &runs_[std::stoul(symbol)]};
  }

 private:
  std::span<std::uint8_t> runs_;
};

Definition native(std::string symbol) {
  Definition definition;
  definition.kind = Definition::Kind::native;
  definition.name = "task";
  definition.symbol = std::move(symbol);
  return definition;
}

// A task hands an empty value on. One that comes after more tasks than a task can have inputs waits for them
// as the writer of a place that they read.
class GraphBuilder {
 public:
  GraphBuilder(const Shape& shape, std::span<std::uint8_t> runs) : shape_(shape), runs_(runs) {
    Type empty = Type::tensor(Precision::u8, {0});
    nothing_ = graph_->intern(empty);
    std::size_t zero = graph_->add_constant(empty, Array::make({Precision::u8, {0}}));
    fan_ = graph_->add_place("fan", Ref::constant(zero));
    if (runs.empty()) definition_ = graph_->define(native("empty"));
  }

  std::shared_ptr<const TaskGraph> build() {
    for (std::size_t t = 0; t < shape_.size(); ++t) {
      if (!runs_.empty()) definition_ = graph_->define(native(std::to_string(t)));
      if (shape_.name == "fan")
        add_to_fan(t);
      else
        add(shape_.before(t));
    }
    return graph_;
  }

 private:
  void add(std::span<const std::uint32_t> before) {
    std::vector<Ref>& in = inputs_;
    in.clear();
    for (std::uint32_t p : before) in.push_back(Ref::future(NodeId(p), 0));
    graph_->add(definition_, {.in = in, .out = {&nothing_, 1}});
  }

  void add_to_fan(std::size_t task) {
    bool writes = task == 0 || task + 1 == shape_.size();
    Ref version = graph_->current(fan_);
    Requirement requirement{fan_, writes ? Privilege::inout : Privilege::in};
    graph_->add(definition_, {.in = {&version, 1}, .out = {&nothing_, writes ? 1U : 0U}}, {&requirement, 1});
  }

  const Shape& shape_;
  std::span<std::uint8_t> runs_;
  std::shared_ptr<TaskGraph> graph_ = std::make_shared<TaskGraph>();
  TypeId nothing_;
  PlaceId fan_;
  DefinitionId definition_;
  std::vector<Ref> inputs_;
};

std::shared_ptr<const Plan> plan_of(const Shape& shape, std::span<std::uint8_t> runs = {}) {
  auto graph = GraphBuilder(shape, runs).build();
  return make_plan(graph, aggregate(*graph));
}

// The least that any scheduler does: lists of successors, counters and a queue, on one thread.
class SerialFloor {
 public:
  explicit SerialFloor(const Shape& shape) : starts_(shape.size() + 1), queue_(shape.size()) {
    for (std::uint32_t p : shape.predecessors) ++starts_[p + 1];
    for (std::size_t t = 0; t < shape.size(); ++t) {
      starts_[t + 1] += starts_[t];
      waits_.push_back(static_cast<std::uint32_t>(shape.before(t).size()));
    }
    successors_.resize(shape.predecessors.size());
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    for (std::uint32_t t = 0; t < shape.size(); ++t)
      for (std::uint32_t p : shape.before(t)) successors_[next[p]++] = t;
  }

  void run() {
    counters_ = waits_;
    std::size_t head = 0, tail = 0;
    queue_[tail++] = 0;
    while (head < tail) {
      std::uint32_t task = queue_[head++];
      task_(nullptr, {}, {});
      for (std::uint32_t i = starts_[task]; i < starts_[task + 1]; ++i)
        if (--counters_[successors_[i]] == 0) queue_[tail++] = successors_[i];
    }
  }

 private:
  decltype(NativeTask::run) volatile task_ = &do_nothing;
  std::vector<std::uint32_t> starts_, successors_, waits_, counters_, queue_;
};

// Every task once per run, with a counter in each: on a smaller graph of the same shape.
bool loses_no_task(Shape (*make)(std::size_t), const std::vector<int>& threads) {
  Shape shape = make(20'000);
  std::vector<std::uint8_t> ours(shape.size()), theirs(shape.size());
  auto plan = plan_of(shape, ours);
  NativeBodies bodies(ours);
  TbbGraph tbb(shape, theirs);
  std::uint8_t runs = 0;
  for (int count : threads) {
    auto backend = make_host_backend({.threads = static_cast<std::uint32_t>(count)});
    auto ready = backend->prepare(plan, bodies);
    for (int i = 0; i < 10; ++i, ++runs) {
      backend->execute(*ready, {}, {});
      tbb.run(count);
    }
  }
  auto all = [&](const std::vector<std::uint8_t>& list) { return std::ranges::count(list, runs) == std::ssize(list); };
  return all(ours) && all(theirs);
}

struct Case {
  Shape (*make)(std::size_t);
  double bar;  // wall ns per task at two threads
};
constexpr Case cases[] = {{chain_shape, 5}, {fan_shape, 60}, {dag_shape, 50}};

std::string number(double value) { return fmt::format("{:.1f}", value); }

// Ours, ready to run: as it comes, or with every step handed to the workers.
struct Ours {
  NativeBodies bodies;
  std::unique_ptr<PlanBackend> backend;
  std::shared_ptr<Executable> ready;
  Repeats repeats;

  Ours(const std::shared_ptr<const Plan>& plan, int threads, bool adaptive)
      : backend(make_host_backend({.threads = static_cast<std::uint32_t>(threads), .adaptive = adaptive})),
        ready(backend->prepare(plan, bodies)) {
    for (int i = 0; i < 3; ++i) run();  // warm, and the way is chosen
  }
  void run() { backend->execute(*ready, {}, {}); }
  void repeat() {
    repeats.add(measure([this] { run(); }));
  }
};

// Rows of one shape for one number of threads.
void measure_case(const Case& what, const Shape& shape, const std::shared_ptr<const Plan>& plan, TbbGraph& tbb,
                  SerialFloor& floor, int threads, int repeats, Table& table) {
  Ours ours(plan, threads, true), shared(plan, threads, false);
  tbb.run(threads);
  Repeats theirs, least;
  for (int i = 0; i < repeats; ++i) {
    ours.repeat();
    shared.repeat();
    theirs.add(measure([&] { tbb.run(threads); }));
    least.add(measure([&] { floor.run(); }));
  }
  double ns = 1e9 / static_cast<double>(shape.size());
  auto row = [&](const char* name, const Repeats& r, bool judged) {
    table.add({fmt::format("{}, {} thread{}", shape.name, threads, threads == 1 ? "" : "s"), name,
               number(r.min_wall() * ns), number(r.median_wall() * ns), number(r.median_cpu() * ns),
               fmt::format("{:.2f}", r.median_wall() / theirs.median_wall()),
               judged ? fmt::format("{:.2f}", r.median_wall() * ns / what.bar) : "",
               judged ? fmt::format("{:.2f}", r.median_cpu() * ns / (2 * what.bar)) : ""});
  };
  const bool against_bar = threads == 2;  // the bars are for two
  row("taskspec", ours.repeats, against_bar);
  if (threads > 1) row("taskspec, always shared", shared.repeats, against_bar);
  row("oneTBB", theirs, false);
  row("serial floor", least, false);
}

double per_task(std::size_t after, std::size_t before, std::size_t tasks) {
  return after > before ? static_cast<double>(after - before) / static_cast<double>(tasks) : 0;
}

}  // namespace

int replay(const Settings& settings) {
  std::size_t tasks = std::max<std::size_t>(settings.tasks, 10);
  int repeats = settings.repeats > 0 ? settings.repeats : 15;
  fmt::print("{} empty tasks, run again; ns per task of {} interleaved runs\n", tasks, repeats);
  fmt::print("bars at two threads (wall): chain 5, fan 60, random DAG 50; CPU twice that\n\n");
  Table table({"", "", "wall min", "median", "CPU median", "of oneTBB", "of the bar", "CPU of its bar"});
  Table memory({"bytes per task", "plan", "prepared", "oneTBB"});
  bool good = true;
  for (const Case& what : cases) {
    good = loses_no_task(what.make, settings.threads) && good;
    Shape shape = what.make(tasks);
    auto plan = plan_of(shape);
    NativeBodies bodies;
    forget_peak();
    std::size_t start = resident_bytes();
    auto backend = make_host_backend({.threads = 2});
    auto ready = backend->prepare(plan, bodies);
    std::size_t prepared = resident_bytes();
    TbbGraph tbb(shape);
    std::size_t end = resident_bytes();
    memory.add({shape.name, number(static_cast<double>(plan->bytes()) / static_cast<double>(tasks)),
                number(per_task(prepared, start, tasks)), number(per_task(end, prepared, tasks))});
    ready.reset();
    SerialFloor floor(shape);
    for (int threads : settings.threads) measure_case(what, shape, plan, tbb, floor, threads, repeats, table);
  }
  fmt::print("{}\n{}", table.text(), memory.text());
  if (!good) fmt::print("\na task was lost or ran twice\n");
  return good ? 0 : 1;
}

}  // namespace taskspec::bench
