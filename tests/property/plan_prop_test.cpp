// Plans of random graphs are run on bytes, step by step in random orders that their edges allow: every task must read
// exactly what the same task reads when no two values ever share bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "ir/plan/plan.hpp"
#include "ir/verify/verify.hpp"
#include "tests/property/random_graph.hpp"
#include "tests/unit/fake_ops.hpp"

namespace taskspec::plan_prop_test {

namespace {

using Bytes = std::vector<std::uint8_t>;

// Tensors of several sizes, also empty ones; ops that work in place, aliases, tasks with places.
class SizedGraphMaker {
 public:
  explicit SizedGraphMaker(std::mt19937_64& random) : random_(random), sketch_("sized") {}

  std::shared_ptr<TaskGraph> run() {
    for (int i = 0; i < 3; ++i) given_.push_back(sketch_.input("in" + std::to_string(i), some_type()));
    given_.push_back(Ref::constant(sketch_.graph->add_constant(f32({5}), Value())));
    for (std::size_t p = 0; p < 2; ++p) places_.push_back(sketch_.graph->add_place("p" + std::to_string(p), given_[p]));
    std::int64_t tasks = pick(1, 40);
    for (std::int64_t i = 0; i < tasks; ++i) add_task(i);
    std::int64_t results = pick(0, 4);
    for (std::int64_t i = 0; i < results; ++i) sketch_.result("r" + std::to_string(i), some_ref());
    return sketch_.graph;
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return between(random_, low, high); }
  Type some_type() {
    static constexpr std::int64_t sizes[] = {0, 1, 16, 16, 16, 40, 200};
    return f32({sizes[pick(0, 6)]});
  }

  Ref some_ref() {
    auto size = static_cast<std::int64_t>(sketch_.graph->size());
    if (size == 0 || pick(1, 10) == 1) return given_[static_cast<std::size_t>(pick(0, 3))];
    NodeId node(static_cast<std::size_t>(size - pick(1, pick(1, 4) == 1 ? size : std::min<std::int64_t>(size, 3))));
    auto outputs = static_cast<std::int64_t>(sketch_.graph->out(node).size());
    return Ref::future(node, static_cast<std::size_t>(pick(0, outputs - 1)));
  }

  void add_task(std::int64_t number) {
    std::int64_t kind = pick(1, 10);
    if (kind <= 4) {
      std::vector<Ref> in{some_ref()};
      if (pick(0, 1)) in.push_back(some_ref());
      Type type = sketch_.graph->type(in[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(in.size()) - 1))]);
      sketch_.add(sketch_.graph->define(definition_of(fake_relu)), in, {type});
    } else if (kind == 5) {
      Ref in = some_ref();
      Type type = sketch_.graph->type(in);
      type.dims.push_back(Dim(1));
      sketch_.add(sketch_.graph->define(definition_of(fake_reshape)), {in}, {type});
    } else if (kind <= 7) {
      touch(places_[static_cast<std::size_t>(pick(0, 1))]);
    } else {
      std::vector<Ref> in;
      std::vector<Type> out{some_type()};
      for (std::int64_t i = pick(0, 2); i-- > 0;) in.push_back(some_ref());
      if (pick(1, 3) == 1) out.push_back(some_type());
      sketch_.add(sketch_.define("t" + std::to_string(number), {}, {}), in, out);
    }
  }

  void touch(PlaceId place) {
    Ref now = sketch_.graph->current(place);
    const Type type = sketch_.graph->type(now);
    if (pick(0, 1)) {
      sketch_.add(sketch_.define("read", {"p"}, {"v"}), {now}, {some_type()}, {{place, Privilege::in, 0}});
    } else {
      sketch_.add(sketch_.define("write", {"p", "d"}, {"t", "p"}), {now, some_ref()}, {some_type(), type},
                  {{place, Privilege::inout, 0, 1}});
    }
  }

  std::mt19937_64& random_;
  Sketch sketch_;
  std::vector<Ref> given_;
  std::vector<PlaceId> places_;
};

std::size_t bytes_of(const TaskGraph& graph, Ref ref) { return concrete(graph.type(ref)).bytes(); }

// What a task makes of what it reads: a reshape keeps it, everything else scrambles it.
Bytes work(const TaskGraph& graph, NodeId node, std::size_t slot, const std::vector<Bytes>& in) {
  if (graph.definition(node).op == &fake_reshape) return in[0];
  std::uint64_t hash = 1469598103934665603u + node.value * 31 + slot;
  for (const Bytes& bytes : in)
    for (std::uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  Bytes out(bytes_of(graph, Ref::future(node, slot)));
  for (std::uint8_t& byte : out)
    byte = static_cast<std::uint8_t>((hash = hash * 6364136223846793005u + 1442695040888963407u) >> 56);
  return out;
}

// Contents of inputs and constants, and of every output when each has bytes of its own.
class Truth {
 public:
  explicit Truth(const TaskGraph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      std::vector<Bytes> in;
      for (Ref ref : graph.in(NodeId(i))) in.push_back(value(ref));
      values_.emplace_back();
      for (std::size_t slot = 0; slot < graph.out(NodeId(i)).size(); ++slot)
        values_.back().push_back(work(graph, NodeId(i), slot, in));
    }
  }
  Bytes value(Ref ref) const {
    if (ref.is_future()) return values_[ref.id][ref.slot];
    auto fill = static_cast<std::uint8_t>(100 + 10 * static_cast<int>(ref.kind) + static_cast<int>(ref.id));
    return Bytes(bytes_of(graph_, ref), fill);
  }

 private:
  const TaskGraph& graph_;
  std::vector<std::vector<Bytes>> values_;
};

// Runs a plan on bytes. Returns what went wrong.
class Machine {
 public:
  Machine(const Plan& plan, const Truth& truth) : plan_(plan), graph_(*plan.graph), truth_(truth) {}

  std::string run(std::mt19937_64& random) {
    arena_.assign(plan_.arena_bytes, 0xAA);
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i) inputs_.push_back(truth_.value(Ref::input(i)));
    for (std::size_t i = 0; i < graph_.constant_count(); ++i) constants_.push_back(truth_.value(Ref::constant(i)));
    for (const GraphResult& result : graph_.results()) results_.emplace_back(bytes_of(graph_, result.ref), 0xBB);
    LargeVector<std::uint32_t> waits = plan_.predecessors, ready;
    for (std::uint32_t s = 0; s < plan_.steps(); ++s)
      if (waits[s] == 0) ready.push_back(s);
    while (!ready.empty()) {
      std::swap(ready[static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(ready.size()) - 1))],
                ready.back());
      std::uint32_t step = ready.back();
      ready.pop_back();
      scratch_.assign(plan_.scratch_bytes, 0xCC);
      for (std::size_t t = plan_.step_starts[step]; t < plan_.step_starts[step + 1]; ++t)
        if (std::string wrong = run_task(t); !wrong.empty()) return wrong;
      for (std::uint32_t k = plan_.successor_starts[step]; k < plan_.successor_starts[step + 1]; ++k)
        if (--waits[plan_.successors[k]] == 0) ready.push_back(plan_.successors[k]);
    }
    for (std::size_t i = 0; i < plan_.results.size(); ++i)
      if (read(plan_.results[i]) != truth_.value(graph_.results()[i].ref)) return "a result is wrong";
    return "";
  }

 private:
  std::uint8_t* address(BufferId id) {
    const Buffer& b = plan_.buffers[id.index()];
    switch (b.home) {
      case Buffer::Home::input:
        return inputs_[b.index].data();
      case Buffer::Home::constant:
        return constants_[b.index].data();
      case Buffer::Home::result:
        return results_[b.index].data();
      case Buffer::Home::arena:
        return arena_.data() + b.offset;
      case Buffer::Home::scratch:
        return scratch_.data() + b.offset;
    }
    return nullptr;
  }
  Bytes read(BufferId id) {
    Bytes bytes(plan_.buffers[id.index()].type->bytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), address(id), bytes.size());
    return bytes;
  }

  std::string run_task(std::size_t t) {
    const PlanTask& task = plan_.tasks[t];
    std::vector<Bytes> in;
    for (std::size_t k = 0; k < graph_.in(task.node).size(); ++k) {
      in.push_back(read(plan_.operands[task.first_in + k]));
      if (in.back() != truth_.value(graph_.in(task.node)[k]))
        return graph_.path(task.node) + " reads what is not its input";
    }
    for (std::size_t k = 0; k < graph_.out(task.node).size(); ++k) {
      Bytes out = work(graph_, task.node, k, in);
      if (!out.empty()) std::memcpy(address(plan_.operands[task.first_out + k]), out.data(), out.size());
    }
    return "";
  }

  const Plan& plan_;
  const TaskGraph& graph_;
  const Truth& truth_;
  Bytes arena_, scratch_;
  std::vector<Bytes> inputs_, constants_, results_;
};

}  // namespace

TEST_CASE("[A13] [chains-prop] I6, I11: plans compute the same on any schedule, whatever shares bytes") {
  std::size_t takeovers = 0, smaller = 0;
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::shared_ptr<TaskGraph> graph = SizedGraphMaker(random).run();
    REQUIRE(verify_graph(*graph) == "");
    Truth truth(*graph);
    const bool donated[] = {true, false, true};
    for (SinkRule rule : {SinkRule::task, SinkRule::output})
      for (int option = 0; option < 4; ++option) {
        PlanOptions options{option != 1, option != 2, {}};
        if (option == 3) options.donated = donated;
        Chains chains = aggregate(*graph, {.sink_rule = rule});
        std::shared_ptr<const Plan> plan = make_plan(graph, chains, options);
        REQUIRE(verify_plan(*plan) == "");
        for (int order = 0; order < 3; ++order) REQUIRE(Machine(*plan, truth).run(random) == "");
        std::uint64_t kept = 0;
        for (const GraphResult& result : graph->results()) kept += bytes_of(*graph, result.ref);
        REQUIRE(plan->peak_bytes <= plan->arena_bytes + kept);
        for (const Buffer& buffer : plan->buffers) takeovers += buffer.shares != UINT32_MAX;
        smaller += plan->arena_bytes < make_plan(graph, chains, {false, false, {}})->arena_bytes;
      }
  }
  CHECK(takeovers > 1000);
  CHECK(smaller > 100);
}

namespace {

// Bytes by lifetimes in program order alone, as if there were one worker.
void place_for_one_worker(Plan& plan) {
  for (Buffer& b : plan.buffers)
    if (b.home == Buffer::Home::arena && b.shares == UINT32_MAX) {
      b.offset = 0;
      auto clash = [&](const Buffer& other) {
        return &other < &b && other.home == Buffer::Home::arena && other.first <= b.last && b.first <= other.last &&
               other.offset < b.offset + b.type->bytes() && b.offset < other.offset + other.type->bytes();
      };
      while (std::any_of(plan.buffers.begin(), plan.buffers.end(), clash)) b.offset += 64;
      plan.arena_bytes = std::max(plan.arena_bytes, b.offset + b.type->bytes());
    }
}

// Every op in place, whoever else may read its input.
void overwrite_everything(Plan& plan) {
  for (const PlanTask& task : plan.tasks) {
    if (plan.graph->definition(task.node).op != &fake_relu) continue;
    Buffer& out = plan.buffers[plan.operands[task.first_out].index()];
    std::uint32_t old = plan.operands[task.first_in].value;
    const Buffer& in = plan.buffers[old];
    if (in.home != Buffer::Home::arena || out.home != in.home || in.type->bytes() != out.type->bytes()) continue;
    out.shares = old;
    out.offset = in.offset;
  }
}

int caught(void (*mistake)(Plan&), const PlanOptions& options) {
  int graphs = 0;
  for (std::uint64_t seed : random_seeds(300, 3'000)) {
    std::mt19937_64 random(seed);
    std::shared_ptr<TaskGraph> graph = SizedGraphMaker(random).run();
    Plan plan = *make_plan(graph, aggregate(*graph), options);
    mistake(plan);
    graphs += !verify_plan(plan).empty();
  }
  return graphs;
}

}  // namespace

TEST_CASE("[A13] [chains-prop] mutation caught: bytes shared by steps that may run at once") {
  CHECK(caught(place_for_one_worker, {false, false, {}}) > 10);
}

TEST_CASE("[A13] [chains-prop] mutation caught: in place though others read the old value") {
  CHECK(caught(overwrite_everything, {false, false, {}}) > 10);
}

TEST_CASE("[A13] [chains-prop] mutation caught: an order that the tasks do not have, a lifetime that is too short") {
  auto lose_an_edge = [](Plan& plan) {
    if (plan.successors.empty()) return;
    --plan.predecessors[plan.successors.back()];
    plan.successors.pop_back();
    for (std::uint32_t& start : plan.successor_starts)
      start = std::min(start, static_cast<std::uint32_t>(plan.successors.size()));
  };
  auto die_early = [](Plan& plan) {
    for (Buffer& b : plan.buffers)
      if (b.first < b.last) b.last = b.first;
  };
  CHECK(caught(lose_an_edge, {}) > 200);
  CHECK(caught(die_early, {}) > 200);
}

}  // namespace taskspec::plan_prop_test
