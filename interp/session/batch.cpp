#include "interp/session/batch.hpp"

#include <algorithm>

#include "interp/control/value_key.hpp"
#include "interp/session/points.hpp"
#include "ir/base/key.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

namespace {

// What the points of a launch make side by side: they write it in memory that comes from outside, and others read it
// there.
bool is_map(const TaskGraph& session, Ref ref) { return ref.is_future() && session[ref.node()].maps; }

// Maps references of the session to references inside one batch: positions, until `starts` tells what became of them.
class Renumber {
 public:
  Renumber(const TaskGraph& session, const std::vector<NodeId>& nodes) : session_(session), nodes_(nodes) {}
  Ref operator()(Ref ref, std::vector<Ref>& inputs) {
    if (ref.is_future() && !is_map(session_, ref))
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

  const TaskGraph& session_;
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
    // Whichever regions a launch is on: its inputs say which of them are the same.
    for (const Value& value : session.arguments(node))
      if (auto* launch = value.as<Launch>())
        put_text(key, launch->shape(session.regions));
      else
        put_value(key, value);
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
               FunctionRef<bool(NodeId, std::size_t)> live, FunctionRef<bool(Ref)> donated,
               FunctionRef<bool(Ref)> constant) {
  Batch batch;
  batch.nodes = std::move(nodes);
  batch.key.reserve(batch.nodes.size() * 32);
  Renumber renumber(session, batch.nodes);
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
      if (session[node].maps) {
        renumber(Ref::future(node, slot), batch.inputs);
        batch.made.push_back(batch.inputs.size() - 1);
        batch.key += 'm';
        continue;
      }
      const bool kept = live(node, slot);
      batch.key += kept ? '!' : '.';
      if (!kept) continue;
      batch.results.push_back(Ref::future(node, slot));
    }
    batch.key += ';';
  }
  for (Ref ref : batch.inputs) {
    batch.donated.push_back(!is_map(session, ref) && donated(ref));
    batch.key += batch.donated.back() ? 'd' : '.';
    batch.constants.push_back(constant(ref));
    if (batch.constants.back()) batch.key += 'c';
  }
  return batch;
}

std::size_t BatchGraph::position(NodeId node) const {
  if (starts.empty()) return node.index();
  return static_cast<std::size_t>(std::ranges::upper_bound(starts, node.value) - starts.begin()) - 1;
}

namespace {

class GraphOfBatch {
 public:
  GraphOfBatch(const Batch& batch, const TaskGraph& session, const Requirements& requirements, FieldUsers& users,
               const FieldMemory* memory)
      : batch_(batch),
        session_(session),
        requirements_(requirements),
        users_(users),
        memory_(memory),
        renumber_(session, batch.nodes),
        scope_of_(session, *graph_) {
    graph_->name = session.name;
  }

  BatchGraph run() {
    for (Ref ref : batch_.inputs) {
      renumber_(ref, inputs_);
      graph_->add_input({"input" + std::to_string(inputs_.size() - 1), session_.type(ref), Privilege::in});
    }
    for (std::size_t position = 0; position < batch_.nodes.size(); ++position) add(position);
    for (Ref ref : batch_.results) {
      const Ref inside = in_graph(ref);
      graph_->add_result({graph_->path(inside.node()), session_.type(ref), inside});
    }
    return {std::move(graph_), std::move(starts_)};
  }

 private:
  Ref in_graph(Ref ref) {
    Ref inside = renumber_(ref, inputs_);
    if (inside.is_future() && !starts_.empty()) inside.id = starts_[inside.id];
    return inside;
  }

  void add(std::size_t position) {
    const NodeId node = batch_.nodes[position];
    const bool launches = session_.definition(node).kind == Definition::Kind::launch;
    if (launches && starts_.empty())
      for (std::uint32_t k = 0; k < position; ++k) starts_.push_back(k);
    if (launches || !starts_.empty()) starts_.push_back(static_cast<std::uint32_t>(graph_->size()));
    std::vector<Ref> in;
    for (Ref ref : session_.in(node)) in.push_back(in_graph(ref));
    const DefinitionId definition = graph_->define(session_.definition(node));
    launches ? add_launch(node, definition, in) : add_task(node, definition, in);
  }

  void add_launch(NodeId node, DefinitionId definition, std::span<const Ref> in) {
    if (!points_) points_ = std::make_unique<Points>(session_, *graph_, users_, memory_);
    std::vector<Ref> maps;
    for (std::size_t slot = 0; session_[node].maps && slot < session_.out(node).size(); ++slot)
      maps.push_back(in_graph(Ref::future(node, slot)));
    points_->add({node, definition, scope_of_(session_[node].scope), agent(session_[node].agent), in, maps});
  }

  void add_task(NodeId node, DefinitionId definition, std::span<const Ref> in) {
    std::vector<TypeId> out;
    for (TypeId type : session_.out(node)) out.push_back(graph_->intern(session_.type(type)));
    std::vector<Requirement> inner = requirements_of(requirements_, node);
    for (Requirement& requirement : inner) {
      auto [place, fresh] = places_.emplace(requirement.place.value, PlaceId());
      if (fresh) {  // a console has a first version that nobody reads
        Ref initial = requirement.reads() ? in[requirement.slot_in] : Ref();
        place->second = graph_->add_place(session_.place_name(requirement.place), initial);
      }
      requirement.place = place->second;
    }
    graph_->add(definition,
                {.in = in,
                 .out = out,
                 .scope = scope_of_(session_[node].scope),
                 .agent = agent(session_[node].agent),
                 .arguments = session_.arguments(node),
                 .span = session_[node].span},
                inner);
  }

  InstanceId agent(InstanceId agent) {
    if (!agent.valid()) return agent;
    auto [known, fresh] = agents_.emplace(agent.value, InstanceId());
    if (!fresh) return known->second;
    const AgentInstance& made = session_.agents()[agent.index()];
    return known->second = graph_->add_agent({made.definition, made.path, made.arguments, {}});
  }

  const Batch& batch_;
  const TaskGraph& session_;
  const Requirements& requirements_;
  FieldUsers& users_;
  const FieldMemory* const memory_;
  std::shared_ptr<TaskGraph> graph_ = std::make_shared<TaskGraph>();
  Renumber renumber_;
  Scopes scope_of_;
  std::vector<Ref> inputs_;
  std::vector<std::uint32_t> starts_;
  std::unordered_map<std::uint32_t, PlaceId> places_;
  std::unordered_map<std::uint32_t, InstanceId> agents_;
  std::unique_ptr<Points> points_;
};

}  // namespace

BatchGraph graph_of(const Batch& batch, const TaskGraph& session, const Requirements& requirements, FieldUsers& users,
                    const FieldMemory* memory) {
  return GraphOfBatch(batch, session, requirements, users, memory).run();
}

}  // namespace taskspec
