#include "interp/report/drawn_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ir/base/text.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

namespace {

constexpr std::uint32_t most_points = 8;  // of a launch; of more, one less and the rest
constexpr std::size_t longest_period = 64, shown_turns = 2;

// What the program did at once: the points of a launch, or one task.
struct Unit {
  std::uint32_t first = 0, count = 1;
  const PointGroup* group = nullptr;
  std::uint64_t does = 0;  // equal ones do the same
  // Of turns that are not drawn: the unit that stands for this one, and those that it stands for.
  std::uint32_t stand_in = UINT32_MAX;
  std::uint32_t last_ordinal = 0;
};

class Drawing {
 public:
  Drawing(const Plan& plan, const Chains& chains) : plan_(plan), graph_(*plan.graph), chains_(chains) {}

  DrawnPlan make() {
    find_units();
    fold_turns();
    made_.graph = std::make_shared<TaskGraph>();
    made_.graph->name = graph_.name;
    made_.nodes.assign(graph_.size(), UINT32_MAX);
    outside_ = made_.graph->add_constant(Type::tensor(Precision::boolean, {}), Value());
    copy_tables();
    for (const Unit& unit : units_) draw(unit);
    for (const GraphResult& result : graph_.results())
      if (const std::optional<Ref> ref = kept(result.ref)) made_.graph->add_result({result.name, result.type, *ref});
    cut_chains();
    return std::move(made_);
  }

 private:
  // ---- what there is ----

  void find_units() {
    auto group = graph_.point_groups().begin();
    for (std::uint32_t node = 0; node < graph_.size();) {
      while (group != graph_.point_groups().end() && group->first.value < node) ++group;
      Unit unit{.first = node};
      if (group != graph_.point_groups().end() && group->first.value == node && group->count > 0) {
        unit.group = &*group;
        unit.count = group->count;
        unit.does = number("l" + std::to_string(reinterpret_cast<std::uintptr_t>(group->launch.get())) +
                           (group->folds ? "f" : ""));
      } else {
        const TaskNode& one = graph_[NodeId(node)];
        unit.does = number(fmt::format("n{} {} {}", one.definition.value, one.scope.value, one.arguments));
      }
      unit.last_ordinal = graph_[NodeId(node)].ordinal;
      node += unit.count;
      units_.push_back(unit);
    }
  }

  std::uint64_t number(const std::string& what) { return numbers_.emplace(what, numbers_.size()).first->second; }

  // From each unit on the shortest period that comes at least twice more than is drawn.
  void fold_turns() {
    for (std::size_t at = 0; at < units_.size();) {
      std::size_t period = 0, equal = 0;
      for (std::size_t p = 1; p <= longest_period && at + p < units_.size(); ++p) {
        std::size_t same = 0;
        while (at + p + same < units_.size() && units_[at + same].does == units_[at + p + same].does) ++same;
        if (same < (shown_turns + 1) * p) continue;
        period = p;
        equal = same / p * p;
        break;
      }
      if (period == 0) {
        ++at;
        continue;
      }
      const std::size_t stand_ins = at + shown_turns * period, end = at + period + equal;
      for (std::size_t k = stand_ins; k < end; ++k) {
        const std::size_t stand_in = stand_ins + (k - stand_ins) % period;
        units_[k].stand_in = static_cast<std::uint32_t>(stand_in);
        units_[stand_in].last_ordinal = graph_[NodeId(units_[k].first)].ordinal;
      }
      at = end;
    }
  }

  // ---- what is drawn ----

  void copy_tables() {
    for (std::size_t i = 1; i < graph_.scopes().size(); ++i) {
      const Scope& scope = graph_.scopes()[i];
      made_.graph->open_scope(scope.parent, scope.name, scope.function);
    }
    for (std::size_t i = 0; i < graph_.agents().size(); ++i) {
      AgentInstance copy = graph_.agents()[i];
      copy.layers.clear();
      made_.graph->add_agent(std::move(copy));
    }
    for (const GraphInput& input : graph_.inputs()) made_.graph->add_input(input);
    for (std::size_t i = 0; i < graph_.constant_count(); ++i)
      made_.graph->add_constant(graph_.constant_type(i), graph_.holds_constant(i) ? graph_.constant(i) : Value());
  }

  void draw(const Unit& unit) {
    const std::uint32_t own = static_cast<std::uint32_t>(&unit - units_.data());
    if (unit.stand_in != UINT32_MAX && unit.stand_in != own) {  // of a later turn
      for (std::uint32_t k = 0; k < unit.count; ++k)
        made_.nodes[unit.first + k] = made_.nodes[units_[unit.stand_in].first];
      return;
    }
    if (unit.stand_in == own) {
      const std::string which = unit.group && !unit.group->launch->single ? points_text(unit, 0) : std::string();
      return draw_rest(unit, 0, fmt::format("..{}{}", unit.last_ordinal, which), graph_[NodeId(unit.first)].scope);
    }
    const bool is_group = unit.group && !unit.group->launch->single && unit.count > 1;
    ScopeId scope = graph_[NodeId(unit.first)].scope;
    if (is_group) scope = scope_of(unit, scope);
    const std::uint32_t shown = unit.count > most_points ? most_points - 1 : unit.count;
    for (std::uint32_t k = 0; k < shown; ++k) draw_task(NodeId(unit.first + k), scope);
    if (shown < unit.count) draw_rest(unit, shown, points_text(unit, shown), scope);
  }

  // Contributions are brought in where they were made.
  ScopeId scope_of(const Unit& unit, ScopeId outer) {
    const NodeId first(unit.first);
    const std::string name = fmt::format("{}#{}", graph_.definition(first).name, graph_[first].ordinal);
    const auto key = std::pair(outer.value, name);
    auto known = scopes_.find(key);
    if (known == scopes_.end()) known = scopes_.emplace(key, made_.graph->open_scope(outer, name, {})).first;
    return known->second;
  }

  static std::string points_text(const Unit& unit, std::uint32_t from) {
    const Rect& domain = unit.group->launch->domain;
    if (domain.rank == 1) return fmt::format("[{}..{}]", domain.lo[0] + from, domain.hi[0]);
    return from == 0 ? fmt::format("[{}]", domain.text()) : fmt::format("[{} more]", unit.count - from);
  }

  void draw_task(NodeId id, ScopeId scope) {
    Definition definition = graph_.definition(id);
    if (const PointGroup* group = graph_.points(id); group && !group->launch->single)
      definition.suffix =
          fmt::format("[{}]{}", group->launch->point(id.value - group->first.value).index(), definition.suffix);
    std::vector<Ref> in;
    for (const Ref& ref : graph_.in(id)) in.push_back(kept(ref).value_or(Ref::constant(outside_)));
    std::vector<TypeId> out;
    for (const TypeId type : graph_.out(id)) out.push_back(made_.graph->intern(graph_.type(type)));
    Edges edges;
    add_edges(id, edges);
    add(std::move(definition), id, scope, in, out, edges, graph_.arguments(id));
    rest_.push_back(false);
    made_.nodes[id.index()] = static_cast<std::uint32_t>(made_.graph->size() - 1);
  }

  void draw_rest(const Unit& unit, std::uint32_t from, const std::string& which, ScopeId scope) {
    Definition definition = graph_.definition(NodeId(unit.first));
    definition.suffix = which + definition.suffix;
    if (definition.structured()) definition.kind = Definition::Kind::native;  // nobody looks into all of them at once
    const auto place = static_cast<std::uint32_t>(made_.graph->size());
    Edges edges;
    for (std::uint32_t k = from; k < unit.count; ++k) add_edges(NodeId(unit.first + k), edges);
    add(std::move(definition), NodeId(unit.first), scope, {}, {}, edges, {});
    rest_.push_back(true);
    for (std::uint32_t k = from; k < unit.count; ++k) made_.nodes[unit.first + k] = place;
  }

  // A future of a task that is not drawn by itself is an order, as the box for it has no outputs.
  using Edges = std::set<std::tuple<std::uint32_t, std::uint32_t, Hazard>>;  // from, place, why

  void add_edges(NodeId id, Edges& edges) {
    for (const TaskEdge& edge : graph_.edges_into(id)) {
      const std::uint32_t from = made_.nodes[edge.from.index()];
      if (from == UINT32_MAX) continue;
      const bool order = edge.kind == EdgeKind::order;
      if (!order && is_itself(from)) continue;  // by its input
      edges.emplace(from, order ? place_of(edge.place) : place_of({}), order ? edge.why : Hazard::raw);
    }
  }

  std::uint32_t place_of(PlaceId place) {
    const std::string name = place.valid() ? graph_.place_name(place) : "outputs";
    auto known = places_.find(name);
    if (known == places_.end())
      known = places_.emplace(name, made_.graph->add_place(name, Ref::constant(outside_)).value).first;
    return known->second;
  }

  bool is_itself(std::uint32_t drawn) const { return !rest_[drawn]; }

  std::optional<Ref> kept(Ref ref) const {
    if (ref.kind == Ref::Kind::constant) return Ref{ref.id + 1, ref.slot, ref.kind, false};  // behind our own one
    if (ref.kind == Ref::Kind::input) return Ref{ref.id, ref.slot, ref.kind, false};
    if (!ref.is_future()) return std::nullopt;
    const std::uint32_t drawn = made_.nodes[ref.id];
    if (drawn == UINT32_MAX || !is_itself(drawn)) return std::nullopt;
    return Ref::future(NodeId(drawn), ref.slot);
  }

  void add(Definition definition, NodeId of, ScopeId scope, const std::vector<Ref>& in, const std::vector<TypeId>& out,
           const Edges& edges, const std::vector<Value>& arguments) {
    std::vector<TaskEdge> after;
    for (const auto& [from, place, why] : edges)
      after.push_back({NodeId(from), {}, 0, 0, EdgeKind::order, why, PlaceId(place)});
    const TaskNode& node = graph_[of];
    made_.graph->add(made_.graph->define(std::move(definition)), {.in = in,
                                                                  .out = out,
                                                                  .scope = scope,
                                                                  .agent = node.agent,
                                                                  .arguments = arguments,
                                                                  .span = node.span,
                                                                  .ordinal = node.ordinal,
                                                                  .after = after,
                                                                  .effect = node.effect});
  }

  // ---- chains and steps: those of the plan, as far as their tasks are drawn ----

  void cut_chains() {
    std::map<std::uint32_t, std::vector<NodeId>> lists;  // by the task at the head
    std::map<std::uint32_t, std::pair<ChainId, std::uint64_t>> of;
    std::vector<std::uint64_t> behind(made_.graph->size());
    for (const std::uint32_t node : made_.nodes) ++behind[node];
    std::set<std::uint32_t> seen;
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      std::vector<NodeId> own;
      for (const NodeId member : chains_.members(ChainId(c))) {
        const std::uint32_t node = made_.nodes[member.index()];
        if (!is_itself(node)) {
          if (!seen.insert(node).second) continue;
          lists[node] = {NodeId(node)};
          of[node] = {ChainId(c), behind[node]};
        } else {
          own.emplace_back(node);
        }
      }
      if (own.empty()) continue;
      const std::uint32_t head = own[0].value;
      of[head] = {ChainId(c), 0};
      lists[head] = std::move(own);
    }
    std::vector<std::vector<NodeId>> ordered;
    for (auto& [head, list] : lists) {
      made_.chain_of.push_back(of[head].first);
      made_.stands_for.push_back(of[head].second);
      ordered.push_back(std::move(list));
    }
    made_.chains = Chains::of_lists(*made_.graph, ordered);
    cut_steps(ordered);
  }

  void cut_steps(const std::vector<std::vector<NodeId>>& lists) {
    Plan& plan = made_.plan;
    plan.graph = made_.graph;
    std::vector<std::uint32_t> step_of(made_.graph->size());
    std::vector<std::set<std::uint32_t>> then(lists.size());
    for (std::size_t step = 0; step < lists.size(); ++step) {
      plan.step_starts.push_back(static_cast<std::uint32_t>(plan.tasks.size()));
      for (const NodeId node : lists[step]) {
        plan.tasks.push_back({node});
        step_of[node.index()] = static_cast<std::uint32_t>(step);
      }
    }
    plan.step_starts.push_back(static_cast<std::uint32_t>(plan.tasks.size()));
    for (const TaskEdge& edge : made_.graph->edges())
      if (step_of[edge.from.index()] != step_of[edge.to.index()])
        then[step_of[edge.from.index()]].insert(step_of[edge.to.index()]);
    for (const std::set<std::uint32_t>& next : then) {
      plan.successor_starts.push_back(static_cast<std::uint32_t>(plan.successors.size()));
      for (const std::uint32_t step : next) plan.successors.push_back(step);
    }
    plan.successor_starts.push_back(static_cast<std::uint32_t>(plan.successors.size()));
    plan.predecessors.resize(lists.size());
    plan.arena_bytes = plan_.arena_bytes;
    plan.scratch_bytes = plan_.scratch_bytes;
    plan.peak_bytes = plan_.peak_bytes;
    plan.peak_without_chains = plan_.peak_without_chains;
    for (std::size_t step = 0; step < plan_.steps(); ++step)
      made_.steps.push_back(step_of[made_.nodes[plan_.tasks[plan_.step_starts[step]].node.index()]]);
  }

  const Plan& plan_;
  const TaskGraph& graph_;
  const Chains& chains_;
  DrawnPlan made_;
  std::vector<Unit> units_;
  std::map<std::string, std::uint64_t> numbers_;
  std::map<std::pair<std::uint32_t, std::string>, ScopeId> scopes_;
  std::map<std::string, std::uint32_t> places_;
  std::vector<bool> rest_;  // by drawn task: it stands for several
  std::size_t outside_ = 0;
};

}  // namespace

std::optional<DrawnPlan> drawn(const Plan& plan, const Chains& chains) {
  if (plan.graph->point_groups().empty()) return std::nullopt;
  return Drawing(plan, chains).make();
}

}  // namespace taskspec
