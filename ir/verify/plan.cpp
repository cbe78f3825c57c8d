// Check of a plan against its graph: nothing of the planner is used. Bytes are checked by walking through the tasks
// with a map of who lies where: whoever writes over something must come after everybody who ever touched it.
#include <fmt/format.h>

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>
#include <set>

#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

using Home = Buffer::Home;
using StepGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

// All ancestors of every step; for very large plans only their numbering, which is a topological order.
class Ancestors {
 public:
  explicit Ancestors(const StepGraph& steps) {
    constexpr std::size_t exact_up_to = 4096;
    if (num_vertices(steps) > exact_up_to) return;
    std::vector<std::size_t> order;
    boost::topological_sort(steps, std::back_inserter(order));
    rows_.resize(num_vertices(steps), boost::dynamic_bitset<>(num_vertices(steps)));
    for (auto step = order.rbegin(); step != order.rend(); ++step) {
      auto [begin, end] = boost::in_edges(*step, steps);
      for (auto edge = begin; edge != end; ++edge) {
        rows_[*step] |= rows_[source(*edge, steps)];
        rows_[*step].set(source(*edge, steps));
      }
    }
  }
  bool before(std::size_t a, std::size_t b) const { return rows_.empty() ? a < b : rows_[b].test(a); }

 private:
  std::vector<boost::dynamic_bitset<>> rows_;
};

class PlanCheck {
 public:
  explicit PlanCheck(const Plan& plan) : plan_(plan), graph_(*plan.graph) {}

  std::string run() {
    for (auto check :
         {&PlanCheck::tasks, &PlanCheck::operands, &PlanCheck::steps, &PlanCheck::homes, &PlanCheck::bytes})
      if (std::string wrong = (this->*check)(); !wrong.empty()) return wrong;
    return "";
  }

 private:
  std::string name(std::size_t task) const { return graph_.path(plan_.tasks[task].node); }
  const Buffer& buffer(BufferId id) const { return plan_.buffers[id.index()]; }
  std::span<const BufferId> part(std::size_t begin, std::size_t end) const {
    return std::span(plan_.operands).subspan(begin, end - begin);
  }
  std::span<const BufferId> in(std::size_t t) const { return part(plan_.tasks[t].first_in, plan_.tasks[t].first_out); }
  std::span<const BufferId> out(std::size_t t) const {
    return part(plan_.tasks[t].first_out,
                t + 1 < plan_.tasks.size() ? plan_.tasks[t + 1].first_in : plan_.operands.size());
  }

  std::string tasks() {
    position_.assign(graph_.size(), SIZE_MAX);
    for (std::size_t s = 0; s < plan_.steps(); ++s) {
      if (plan_.step_starts[s] >= plan_.step_starts[s + 1]) return fmt::format("step {} has no tasks", s);
      for (std::size_t t = plan_.step_starts[s]; t < plan_.step_starts[s + 1]; ++t) {
        std::size_t& position = position_.at(plan_.tasks.at(t).node.index());
        if (position != SIZE_MAX) return name(t) + " runs twice";
        position = t;
        step_of_.push_back(s);
      }
    }
    return step_of_.size() == graph_.size() ? "" : "a task never runs";
  }

  // Operands are what the references say, with their types; lifetimes are those of all readers.
  std::string operands() {
    std::map<std::pair<int, std::uint32_t>, BufferId> given;  // kind and id
    std::vector<std::pair<StepId, StepId>> alive(plan_.buffers.size());
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t) {
      NodeId node = plan_.tasks[t].node;
      if (in(t).size() != graph_.in(node).size() || out(t).size() != graph_.out(node).size())
        return fmt::format("{} has another number of operands", name(t));
      StepId step(step_of_[t]);
      for (std::size_t k = 0; k < in(t).size(); ++k) {
        Ref ref = graph_.in(node)[k];
        BufferId wanted = ref.is_future()
                              ? out(position_[ref.id])[ref.slot]
                              : given.try_emplace({static_cast<int>(ref.kind), ref.id}, in(t)[k]).first->second;
        if (in(t)[k] != wanted) return fmt::format("{} reads something else in {}", name(t), graph_.slot_in(node, k));
        if (!(*buffer(wanted).type == concrete(graph_.type(ref))))
          return fmt::format("a buffer that {} reads has another type", name(t));
        auto& [first, last] = alive[wanted.index()];
        if (!first.valid()) first = step;
        last = step;
      }
      for (std::size_t k = 0; k < out(t).size(); ++k) {
        if (!(*buffer(out(t)[k]).type == concrete(graph_.type(Ref::future(node, k)))))
          return fmt::format("a buffer that {} writes has another type", name(t));
        auto& [first, last] = alive[out(t)[k].index()];
        if (first.valid()) return fmt::format("{} writes a buffer twice or after it was read", name(t));
        first = last = step;
      }
    }
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b)
      if (alive[b] != std::pair(plan_.buffers[b].first, plan_.buffers[b].last))
        return fmt::format("buffer {} has another lifetime", b);
    return "";
  }

  // The edges between steps are those between their tasks, each once.
  std::string steps() {
    std::set<std::pair<std::size_t, std::size_t>> wanted, found;
    for (const TaskEdge& edge : graph_.edges()) {
      std::size_t from = position_[edge.from.index()], to = position_[edge.to.index()];
      if (from >= to) return fmt::format("{} runs before {}", name(to), name(from));
      if (step_of_[from] != step_of_[to]) wanted.emplace(step_of_[from], step_of_[to]);
    }
    std::vector<std::uint32_t> predecessors(plan_.steps(), 0);
    for (std::size_t s = 0; s < plan_.steps(); ++s)
      for (std::size_t k = plan_.successor_starts[s]; k < plan_.successor_starts[s + 1]; ++k) {
        if (!found.emplace(s, plan_.successors[k]).second) return fmt::format("step {} has a successor twice", s);
        ++predecessors[plan_.successors[k]];
      }
    if (wanted != found) return "the steps are not ordered as their tasks are";
    return std::ranges::equal(predecessors, plan_.predecessors) ? "" : "the numbers of predecessors are wrong";
  }

  std::string homes() {
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
      for (BufferId id : out(t)) {
        const Buffer& b = buffer(id);
        if (b.home == Home::scratch && b.first != b.last)
          return fmt::format("a value of {} leaves its step in scratch", name(t));
        std::uint64_t room = b.home == Home::arena     ? plan_.arena_bytes
                             : b.home == Home::scratch ? plan_.scratch_bytes
                                                       : UINT64_MAX;
        if (b.type->bytes() > 0 && (b.offset > room || room - b.offset < b.type->bytes()))
          return fmt::format("a value of {} lies outside", name(t));
        if (b.shares == UINT32_MAX) {
          if (b.home == Home::input || b.home == Home::constant)
            return fmt::format("{} writes to what is given", name(t));
          continue;
        }
        const Buffer& old = plan_.buffers[b.shares];
        if (old.home != b.home || old.index != b.index || old.offset != b.offset ||
            old.type->bytes() != b.type->bytes())
          return fmt::format("a value of {} shares bytes and yet does not", name(t));
      }
    if (plan_.results.size() != graph_.results().size()) return "a result has no buffer";
    for (std::size_t i = 0; i < plan_.results.size(); ++i) {
      Ref ref = graph_.results()[i].ref;
      const Buffer& b = buffer(plan_.results[i]);
      if (!ref.is_future()) continue;
      if (out(position_[ref.id])[ref.slot] != plan_.results[i]) return fmt::format("result {} is another value", i);
      if (b.home == Home::arena || b.home == Home::scratch) return fmt::format("result {} is not kept", i);
    }
    return "";
  }

  // ---- who lies where ----

  struct Occupant {
    std::uint64_t end;
    std::vector<BufferId> values;  // one, and the aliases of it
  };
  using Space = std::map<std::uint64_t, Occupant>;  // by begin

  std::string bytes() {
    StepGraph graph(plan_.steps());
    for (std::size_t s = 0; s < plan_.steps(); ++s)
      for (std::size_t k = plan_.successor_starts[s]; k < plan_.successor_starts[s + 1]; ++k)
        boost::add_edge(s, plan_.successors[k], graph);
    Ancestors ancestors(graph);
    users_.resize(plan_.buffers.size());
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t) {
      for (BufferId id : in(t)) users_[id.index()].push_back(t);
      for (BufferId id : out(t)) users_[id.index()].push_back(t);
    }
    std::map<std::pair<Home, std::size_t>, Space> spaces;
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b)
      if (const Buffer& given = plan_.buffers[b];
          given.shares == UINT32_MAX && (given.home == Home::input || given.home == Home::constant))
        spaces[{given.home, given.index}][0] = {given.type->bytes(), {BufferId(b)}};
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
      for (BufferId id : out(t)) {
        const Buffer& b = buffer(id);
        if (b.type->bytes() == 0) continue;
        // Scratch belongs to the step, the arena to all.
        std::size_t which = b.home == Home::scratch ? step_of_[t] : b.home == Home::arena ? 0 : b.index;
        if (std::string wrong = occupy(spaces[{b.home, which}], id, t, ancestors); !wrong.empty()) return wrong;
      }
    return "";
  }

  bool is_alias(BufferId id, std::size_t task) const {
    const Definition& definition = graph_.definition(plan_.tasks[task].node);
    return buffer(id).shares != UINT32_MAX && definition.kind == Definition::Kind::op &&
           definition.op->sharing == Sharing::same_bytes;
  }

  std::string occupy(Space& space, BufferId id, std::size_t task, const Ancestors& ancestors) {
    std::uint64_t begin = buffer(id).offset, end = begin + buffer(id).type->bytes();
    if (is_alias(id, task)) {
      auto at = space.find(begin);
      if (at == space.end() || at->second.end != end || !contains(at->second.values, BufferId(buffer(id).shares)))
        return fmt::format("{} has the bytes of a value that is gone", name(task));
      at->second.values.push_back(id);
      return "";
    }
    auto at = space.lower_bound(begin);
    if (at != space.begin() && std::prev(at)->second.end > begin) --at;
    while (at != space.end() && at->first < end) {
      for (BufferId old : at->second.values)
        if (std::string wrong = may_replace(old, id, task, ancestors); !wrong.empty()) return wrong;
      Occupant gone = at->second;
      std::uint64_t gone_begin = at->first;
      at = space.erase(at);
      if (gone_begin < begin) space[gone_begin] = {begin, gone.values};
      if (gone.end > end) space[end] = gone, space[end].end = gone.end;
    }
    space[begin] = {end, {id}};
    return "";
  }

  static bool contains(const std::vector<BufferId>& values, BufferId id) {
    return std::find(values.begin(), values.end(), id) != values.end();
  }

  std::string may_replace(BufferId old, BufferId fresh, std::size_t task, const Ancestors& ancestors) const {
    const Buffer& gone = buffer(old);
    if (gone.home == Home::constant) return fmt::format("{} writes over a constant", name(task));
    if (gone.home == Home::input && (gone.index >= plan_.donated.size() || !plan_.donated[gone.index]))
      return fmt::format("{} writes over an input that is not donated", name(task));
    if (contains(plan_.results, old)) return fmt::format("{} writes over result of {}", name(task), users_text(old));
    for (std::size_t user : users_[old.index()]) {
      bool earlier = step_of_[user] == step_of_[task] ? user < task : ancestors.before(step_of_[user], step_of_[task]);
      bool same_task = user == task && takes_over(old, fresh);
      if (!earlier && !same_task)
        return fmt::format("{} writes over bytes that {} may still use", name(task), name(user));
    }
    return "";
  }

  // `fresh` lies in the bytes of `old` itself or of an alias of it.
  bool takes_over(BufferId old, BufferId fresh) const {
    const Buffer& a = buffer(old);
    const Buffer& b = buffer(fresh);
    return b.shares != UINT32_MAX && a.home == b.home && a.index == b.index && a.offset == b.offset;
  }

  std::string users_text(BufferId id) const {
    return users_[id.index()].empty() ? "nobody" : name(users_[id.index()].front());
  }

  const Plan& plan_;
  const TaskGraph& graph_;
  std::vector<std::size_t> position_, step_of_;  // node -> task, task -> step
  std::vector<std::vector<std::size_t>> users_;  // buffer -> tasks
};

}  // namespace

std::string verify_plan(const Plan& plan) { return PlanCheck(plan).run(); }

}  // namespace taskspec
