#include "ir/plan/plan.hpp"

#include <algorithm>
#include <map>

#include "ir/plan/memory.hpp"

namespace taskspec {

namespace {

// Concrete types of a plan, each once, with a short way from the graph's own type ids.
class PlanTypes {
 public:
  PlanTypes(const TaskGraph& graph, Plan& plan) : graph_(graph), plan_(plan) {}

  SharedType of(TypeId id) {
    if (by_id_.size() <= id.index()) by_id_.resize(id.index() + 1);
    if (!by_id_[id.index()]) by_id_[id.index()] = find(graph_.type(id));
    return SharedType(by_id_[id.index()]);
  }
  SharedType of(const Type& type) { return SharedType(find(type)); }

 private:
  const ArrayType* find(const Type& type) {
    ArrayType array = concrete(type);
    auto [known, fresh] = known_.try_emplace({array.precision, array.extents}, nullptr);
    if (fresh) {
      array.bytes();  // refuses what does not fit in 64 bits, once per type
      plan_.types.push_back(std::make_shared<const ArrayType>(std::move(array)));
      known->second = plan_.types.back().get();
    }
    return known->second;
  }

  const TaskGraph& graph_;
  Plan& plan_;
  std::vector<const ArrayType*> by_id_;
  std::map<std::pair<Precision, Extents>, const ArrayType*> known_;
};

class Planner {
 public:
  Planner(std::shared_ptr<const TaskGraph> graph, const Chains& chains)
      : graph_(*graph), chains_(chains), types_(graph_, plan_) {
    plan_.graph = std::move(graph);
  }

  Plan run() {
    number_outputs();
    lay_out_tasks();
    find_homes();
    link_steps();
    bind_results();
    return std::move(plan_);
  }

 private:
  // What is looked up in random order, side by side: at 10^6 tasks cache misses decide the time.
  struct Known {
    std::uint32_t first_out = 0;
    StepId step, last;          // of the node; of the last step that reads its first output
    std::uint32_t readers = 0;  // steps that were found to come after it, some of them twice
  };
  // How many tasks ahead the lookups of a task are announced to the cache.
  static constexpr std::size_t ahead = 12;

  // The buffer of an output has the output's position in the graph; those of inputs and constants follow.
  void number_outputs() {
    std::size_t operands = 0;
    std::uint32_t outputs = 0;
    known_.reserve(graph_.size());
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      StepId step(chains_.chain_of(NodeId(i)).index());
      known_.push_back({outputs, step, step, 0});
      outputs += static_cast<std::uint32_t>(graph_.out(NodeId(i)).size());
      operands += graph_.in(NodeId(i)).size();
    }
    plan_.operands.reserve(operands + outputs);
    plan_.buffers.reserve(outputs + graph_.inputs().size() + graph_.constant_count());
    plan_.buffers.resize(outputs);
    plan_.tasks.reserve(graph_.size());
    plan_.step_starts.reserve(chains_.size() + 1);
    plan_.step_starts.push_back(0);
    inputs_.assign(graph_.inputs().size(), BufferId());
    constants_.assign(graph_.constant_count(), BufferId());
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i)
      for (TypeId type : graph_.out(NodeId(i))) {
        Buffer& buffer = plan_.buffers[out++];
        buffer.type = types_.of(type);
        buffer.first = buffer.last = known_[i].step;
      }
  }

  // Chains are in program order of their heads, and whatever a chain needs ends before its head: that is a
  // topological order, in which step and chain have the same number.
  void lay_out_tasks() {
    before_.reserve(graph_.edges().size());
    plan_.predecessors.reserve(chains_.size());
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      StepId step(c);
      std::size_t first = before_.size();
      for (NodeId node : chains_.members(ChainId(c))) {
        announce(node.index() + ahead);
        PlanTask task{node, static_cast<std::uint32_t>(plan_.operands.size()), 0};
        for (Ref ref : graph_.in(node)) plan_.operands.push_back(read(ref, step));
        for (const TaskEdge& edge : graph_.edges_into(node))
          if (edge.kind == EdgeKind::order) come_after(known_[edge.from.index()], step);
        task.first_out = static_cast<std::uint32_t>(plan_.operands.size());
        for (std::size_t slot = 0; slot < graph_.out(node).size(); ++slot)
          plan_.operands.push_back(BufferId(known_[node.index()].first_out + slot));
        plan_.tasks.push_back(task);
      }
      keep_each_once(first);
      plan_.predecessors.push_back(static_cast<std::uint32_t>(before_.size() - first));
      plan_.step_starts.push_back(static_cast<std::uint32_t>(plan_.tasks.size()));
    }
  }

  void announce(std::size_t node) const {
    if (node >= graph_.size()) return;
    for (Ref ref : graph_.in(NodeId(node)))
      if (ref.is_future()) __builtin_prefetch(&known_[ref.id], 1);
  }

  void come_after(Known& known, StepId step) {
    if (known.step == step) return;
    before_.push_back(known.step.value);
    ++known.readers;
  }

  void keep_each_once(std::size_t first) {
    if (before_.size() - first < 2) return;
    auto begin = before_.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, before_.end());
    auto last = begin;
    for (auto next = begin + 1; next != before_.end(); ++next)
      if (*next == *last)
        found_twice_.push_back(*next);
      else
        *++last = *next;
    before_.erase(last + 1, before_.end());
  }

  BufferId read(Ref ref, StepId step) {
    if (ref.is_future()) {
      Known& known = known_[ref.id];
      BufferId id(known.first_out + std::size_t{ref.slot});
      if (ref.slot != 0 || known.last != step) come_after(known, step);
      (ref.slot == 0 ? known.last : plan_.buffers[id.index()].last) = step;
      return id;
    }
    BufferId id = given(ref);
    Buffer& buffer = plan_.buffers[id.index()];
    if (!buffer.first.valid()) buffer.first = step;
    buffer.last = step;
    return id;
  }

  // An output that nobody reads outside its step needs no place of its own.
  void find_homes() {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i)
      for (std::size_t slot = 0; slot < graph_.out(NodeId(i)).size(); ++slot) {
        Buffer& buffer = plan_.buffers[out++];
        if (slot == 0) buffer.last = known_[i].last;
        buffer.home = buffer.first == buffer.last ? Buffer::Home::scratch : Buffer::Home::arena;
      }
  }

  BufferId given(Ref ref) {
    bool is_input = ref.kind == Ref::Kind::input;
    BufferId& known = is_input ? inputs_[ref.id] : constants_[ref.id];
    if (!known.valid()) {
      known = BufferId(plan_.buffers.size());
      Buffer& buffer = plan_.buffers.emplace_back();
      buffer.type = types_.of(graph_.type(ref));
      buffer.home = is_input ? Buffer::Home::input : Buffer::Home::constant;
      buffer.index = ref.id;
    }
    return known;
  }

  void link_steps() {
    std::size_t steps = plan_.steps();
    LargeVector<std::uint32_t>& starts = plan_.successor_starts;
    starts.assign(steps + 1, 0);
    for (const Known& known : known_) starts[known.step.index() + 1] += known.readers;
    for (std::uint32_t step : found_twice_) --starts[step + 1];
    for (std::size_t s = 0; s < steps; ++s) starts[s + 1] += starts[s];
    plan_.successors.resize(before_.size());
    LargeVector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    std::size_t k = 0;
    for (std::uint32_t s = 0; s < steps; ++s)
      for (std::size_t end = k + plan_.predecessors[s]; k < end; ++k) {
        // Two lookups, one in the other: each is announced in time.
        if (k + 2 * ahead < before_.size()) __builtin_prefetch(&next[before_[k + 2 * ahead]], 1);
        if (k + ahead < before_.size()) __builtin_prefetch(&plan_.successors[next[before_[k + ahead]]], 1);
        plan_.successors[next[before_[k]]++] = s;
      }
  }

  void bind_results() {
    for (std::size_t i = 0; i < graph_.results().size(); ++i) {
      Ref ref = graph_.results()[i].ref;
      BufferId id = ref.is_future() ? BufferId(known_[ref.id].first_out + std::size_t{ref.slot}) : given(ref);
      plan_.results.push_back(id);
      Buffer& buffer = plan_.buffers[id.index()];
      bool made_here = buffer.home == Buffer::Home::arena || buffer.home == Buffer::Home::scratch;
      if (!made_here) continue;
      buffer.home = Buffer::Home::result;
      buffer.index = static_cast<std::uint32_t>(i);
    }
  }

  const TaskGraph& graph_;
  const Chains& chains_;
  Plan plan_;
  PlanTypes types_;
  LargeVector<Known> known_;                // by node
  LargeVector<std::uint32_t> before_;       // distinct predecessors, step after step
  std::vector<std::uint32_t> found_twice_;  // steps by which Known::readers count too many
  std::vector<BufferId> inputs_, constants_;
};

}  // namespace

std::size_t Plan::bytes() const {
  auto held = [](const auto& table) { return table.capacity() * sizeof(table[0]); };
  return held(tasks) + held(operands) + held(step_starts) + held(successor_starts) + held(successors) +
         held(predecessors) + held(buffers) + held(types) + held(results);
}

std::vector<std::uint32_t> taken_inputs(const Plan& plan) {
  std::vector<std::uint32_t> taken;
  std::vector<bool> gone(plan.donated.size());
  for (BufferId result : plan.results) {
    const Buffer* first = &plan.buffers[result.index()];
    while (first->shares != UINT32_MAX) first = &plan.buffers[first->shares];
    const bool takes = first->home == Buffer::Home::input && first->index < gone.size() && plan.donated[first->index] &&
                       !gone[first->index] && *first->type == *plan.buffers[result.index()].type;
    if (takes) gone[first->index] = true;
    taken.push_back(takes ? first->index : UINT32_MAX);
  }
  return taken;
}

bool has_concrete_types(const TaskGraph& graph) {
  auto is_concrete = [](const Type& type) { return type.is_tensor() && !type.has_symbols(); };
  for (const GraphResult& result : graph.results())
    if (!is_concrete(graph.type(result.ref))) return false;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (Ref ref : graph.in(NodeId(i)))
      if (!is_concrete(graph.type(ref))) return false;
    for (TypeId type : graph.out(NodeId(i)))
      if (!is_concrete(graph.type(type))) return false;
  }
  return true;
}

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const TaskGraph> graph, const Chains& chains,
                                      const PlanOptions& options) {
  auto plan = std::make_shared<Plan>(Planner(std::move(graph), chains).run());
  plan->donated.assign(options.donated.begin(), options.donated.end());
  place_buffers(*plan, options);
  if (plan->arena_bytes > memory_limit())
    throw failure("E5008", {},
                  "the values of this graph need " + std::to_string(plan->arena_bytes) +
                      " bytes at once; this machine allows " + std::to_string(memory_limit()));
  return plan;
}

}  // namespace taskspec
