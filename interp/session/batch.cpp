#include "interp/session/batch.hpp"

#include <algorithm>

#include "interp/control/value_key.hpp"

namespace taskspec {

namespace {

// Maps references of the session to references inside one batch.
class Renumber {
 public:
  explicit Renumber(const std::vector<NodeId>& nodes) : nodes_(nodes) {}
  Ref operator()(Ref ref, std::vector<Ref>& inputs) {
    if (ref.is_future())
      if (std::size_t at = position(ref.node()); at < nodes_.size()) return Ref::future(NodeId(at), ref.slot);
    std::uint64_t name = (static_cast<std::uint64_t>(ref.id) << 20) | (static_cast<std::uint64_t>(ref.slot) << 4) |
                         static_cast<std::uint64_t>(ref.kind);
    if (name == last_) return Ref::input(last_input_);
    auto [known, fresh] = inputs_.try_emplace(name, inputs.size());
    if (fresh) inputs.push_back(ref);
    last_ = name;
    return Ref::input(last_input_ = known->second);
  }

 private:
  // Ids grow, so a node stands no further than its id from the first one; nearly always just there.
  std::size_t position(NodeId node) const {
    if (node < nodes_.front()) return nodes_.size();
    std::size_t most = std::min<std::size_t>(node.value - nodes_.front().value, nodes_.size() - 1);
    if (nodes_[most] == node) return most;
    auto found = std::lower_bound(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(most), node);
    return *found == node ? static_cast<std::size_t>(found - nodes_.begin()) : nodes_.size();
  }

  const std::vector<NodeId>& nodes_;  // in program order
  std::unordered_map<std::uint64_t, std::size_t> inputs_;
  std::uint64_t last_ = UINT64_MAX;  // that was looked up: the number of a loop stands in each of its tasks
  std::size_t last_input_ = 0;
};

const std::vector<Requirement>& requirements_of(const Requirements& requirements, NodeId node) {
  static const std::vector<Requirement> none;
  auto found = requirements.empty() ? requirements.end() : requirements.find(node.value);
  return found == requirements.end() ? none : found->second;
}

// What a body sees of its agent. Slots come as inputs of the node.
void put_agent(std::string& key, const TaskGraph& session, InstanceId agent) {
  put_number(key, agent.valid());
  if (!agent.valid()) return;
  const AgentInstance& instance = session.agents()[agent.index()];
  put_number(key, instance.definition.value);
  for (const Value& value : instance.arguments) put_value(key, value);
}

// Host operands of tasks. Equal ones are one list of the graph, which a long batch tells once.
class ToldArguments {
 public:
  ToldArguments(const TaskGraph& session, std::size_t nodes) {
    constexpr std::size_t long_batch = 64;
    if (nodes > long_batch) numbers_.resize(session.argument_list_count(), 0);
  }
  void put(std::string& key, const TaskGraph& session, NodeId node) {
    if (!numbers_.empty()) {
      std::uint32_t& number = numbers_[session[node].arguments];
      put_number(key, number);
      if (number > 0) return;
      number = ++told_;
    }
    put_number(key, session.arguments(node).size());
    for (const Value& value : session.arguments(node)) put_value(key, value);
  }

 private:
  std::vector<std::uint32_t> numbers_;  // by list, counted from 1; empty: every task tells its own
  std::uint32_t told_ = 0;
};

// The calls of the session that tasks of a batch stand in, counted anew: the plan may be that of many turns.
class Scopes {
 public:
  Scopes(const TaskGraph& session, TaskGraph& graph) : session_(session), graph_(graph) {}
  ScopeId operator()(ScopeId id, int levels = most_levels) {
    const Scope& scope = session_.scopes()[id.index()];
    if (!scope.parent.valid() || levels == 0) return ScopeId(0);
    if (auto known = known_.find(id.value); known != known_.end()) return known->second;
    ScopeId parent = (*this)(scope.parent, levels - 1);
    std::string_view callee = std::string_view(scope.name).substr(0, scope.name.rfind('#'));
    return known_.emplace(id.value, graph_.open_scope(parent, callee, scope.function)).first->second;
  }

 private:
  static constexpr int most_levels = 16;  // of a deep recursion each plan would hold all calls
  const TaskGraph& session_;
  TaskGraph& graph_;
  std::unordered_map<std::uint32_t, ScopeId> known_;
};

}  // namespace

Batch batch_of(const TaskGraph& session, std::vector<NodeId> nodes, const Requirements& requirements,
               FunctionRef<bool(NodeId, std::size_t)> live, FunctionRef<bool(Ref)> donated) {
  Batch batch;
  batch.nodes = std::move(nodes);
  batch.key.reserve(batch.nodes.size() * 32);
  Renumber renumber(batch.nodes);
  std::unordered_map<std::uint32_t, std::uint64_t> places;
  ToldArguments told(session, batch.nodes.size());
  for (std::size_t position = 0; position < batch.nodes.size(); ++position) {
    const NodeId node = batch.nodes[position];
    put_number(batch.key, session[node].definition.value);
    put_agent(batch.key, session, session[node].agent);
    told.put(batch.key, session, node);
    put_number(batch.key, session.in(node).size());
    for (Ref ref : session.in(node)) {
      const std::size_t known = batch.inputs.size();
      Ref inside = renumber(ref, batch.inputs);
      // How far back a task stands is a small number, where its own may be large.
      put_number(batch.key, static_cast<std::uint64_t>(inside.kind) + 4 * std::uint64_t{inside.slot});
      put_number(batch.key, inside.is_future() ? position - inside.id : inside.id);
      if (batch.inputs.size() > known) put_text(batch.key, session.type(ref).text());
    }
    const std::vector<Requirement>& own = requirements_of(requirements, node);
    put_number(batch.key, own.size());
    for (const Requirement& requirement : own) {
      auto place = places.emplace(requirement.place.value, places.size()).first->second;
      put_number(batch.key, (place << 32) | (std::uint64_t{requirement.slot_in} << 16) | requirement.slot_out);
      batch.key += static_cast<char>('0' + static_cast<int>(requirement.privilege));
    }
    auto out = session.out(node);
    put_number(batch.key, out.size());
    for (std::size_t slot = 0; slot < out.size(); ++slot) {
      put_number(batch.key, out[slot].value);
      const bool kept = live(node, slot);
      batch.key += kept ? '!' : '.';
      if (!kept) continue;
      batch.results.push_back(Ref::future(node, slot));
    }
    batch.key += ';';
  }
  for (Ref ref : batch.inputs) {
    batch.donated.push_back(donated(ref));
    batch.key += batch.donated.back() ? 'd' : '.';
  }
  return batch;
}

std::shared_ptr<const TaskGraph> graph_of(const Batch& batch, const TaskGraph& session,
                                          const Requirements& requirements) {
  auto graph = std::make_shared<TaskGraph>();
  Renumber renumber(batch.nodes);
  std::vector<Ref> inputs;
  for (Ref ref : batch.inputs) {
    renumber(ref, inputs);
    graph->add_input({"input" + std::to_string(inputs.size() - 1), session.type(ref), Privilege::in});
  }
  std::unordered_map<std::uint32_t, PlaceId> places;
  std::unordered_map<std::uint32_t, InstanceId> agents;
  Scopes scope_of(session, *graph);
  for (NodeId node : batch.nodes) {
    std::vector<Ref> in;
    for (Ref ref : session.in(node)) in.push_back(renumber(ref, inputs));
    std::vector<TypeId> out;
    for (TypeId type : session.out(node)) out.push_back(graph->intern(session.type(type)));
    std::vector<Requirement> inner = requirements_of(requirements, node);
    for (Requirement& requirement : inner) {
      auto [place, fresh] = places.emplace(requirement.place.value, PlaceId());
      if (fresh) {  // a console has a first version that nobody reads
        Ref initial = requirement.reads() ? in[requirement.slot_in] : Ref();
        place->second = graph->add_place(session.place_name(requirement.place), initial);
      }
      requirement.place = place->second;
    }
    InstanceId agent = session[node].agent;
    if (agent.valid()) {
      auto [known, fresh] = agents.emplace(agent.value, InstanceId());
      if (fresh) {
        const AgentInstance& made = session.agents()[agent.index()];
        known->second = graph->add_agent({made.definition, made.path, made.arguments, {}});
      }
      agent = known->second;
    }
    graph->add(graph->define(session.definition(node)),
               {.in = in,
                .out = out,
                .scope = scope_of(session[node].scope),
                .agent = agent,
                .arguments = session.arguments(node),
                .span = session[node].span},
               inner);
  }
  for (Ref ref : batch.results) {
    Ref inside = renumber(ref, inputs);
    graph->add_result({graph->path(inside.node()), session.type(ref), inside});
  }
  return graph;
}

}  // namespace taskspec
