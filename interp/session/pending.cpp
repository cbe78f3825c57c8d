#include "interp/session/pending.hpp"

#include <algorithm>

#include "ir/base/at_end.hpp"
#include "ir/base/key.hpp"
#include "ir/graph/launch.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

namespace {

std::size_t bytes_of(const Type& type) {
  std::size_t bytes = info(type.precision).bytes;
  for (const Dim& dim : type.dims) bytes *= static_cast<std::size_t>(dim.constant().value_or(0));
  return bytes;
}

}  // namespace

void Pending::add(NodeId node, std::span<const Requirement> requirements) {
  for (std::size_t d = prints_.size(); d < graph_.definitions().size(); ++d) {
    const OpDef* op = graph_.definitions()[d].op;
    prints_.push_back(op && console_operand(*op));
  }
  if (!requirements.empty()) requirements_.emplace(node.value, std::vector(requirements.begin(), requirements.end()));
  nodes_.push_back(node);
  if (is_launch(graph_, node) && graph_.launch(node).work == Launch::Work::share && graph_.out(node).empty())
    shares_.push_back(node);
}

// The same on all shards, whichever points they have: they all cut their programs at the same places.
std::size_t Pending::tasks(NodeId node) const {
  if (!is_launch(graph_, node)) return 1;
  const Launch& launch = graph_.launch(node);
  return is_message(launch) ? 0 : static_cast<std::size_t>(launch.domain.size());
}

void Pending::added(NodeId node) {
  tasks_ += tasks(node);
  if (weight_ < weight_due) weight_ += weight(node);
  if (prints(node)) printing_ = node;
}

// Batches of the host fill a window sooner than tasks do.
bool Pending::fills_window(Span site) {
  if (schedule_ != Schedule::push || limit_ == 0) return false;
  constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of constants that go when the tasks have run
  return window_.ends(site, tasks_) || unnamed_bytes_ >= most_bytes;
}

// How long a task takes, very roughly, in small tasks; from the program alone.
std::size_t Pending::weight(NodeId node) const {
  const Definition& definition = graph_.definition(node);
  const bool of_unknown_length = definition.structured() || definition.kind == Definition::Kind::native ||
                                 definition.kind == Definition::Kind::launch || definition.embedded ||
                                 repeating_.contains(graph_[node].definition.value);
  if (of_unknown_length) return weight_due;
  std::size_t bytes = 0;
  for (Ref ref : graph_.in(node)) bytes += bytes_of(graph_.type(ref));
  for (TypeId type : graph_.out(node)) bytes += bytes_of(graph_.type(type));
  constexpr std::size_t small = 4096;
  return 1 + std::min(bytes / small, weight_due);
}

// ---- what to run ----------------------------------------------------------------------------------

std::vector<NodeId> Pending::needed_for(std::vector<NodeId> todo) {
  std::vector<NodeId> nodes;
  // They complete what is there already, so no edge leads to them from those that read it later.
  const NodeId last = todo.empty() ? NodeId(0) : *std::ranges::max_element(todo);
  for (NodeId share : shares_)
    if (share < last) todo.push_back(share);
  {
    const AtEnd unmark([&] {
      for (NodeId node : nodes) live_.task(node).wanted = false;
    });
    while (!todo.empty()) {
      NodeId node = todo.back();
      todo.pop_back();
      if (live_.is_done(node) || live_.task(node).wanted) continue;
      nodes.push_back(node);
      live_.task(node).wanted = true;
      for (const TaskEdge& edge : graph_.edges_into(node)) todo.push_back(edge.from);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// Walks the pending tasks backwards: a pure task whose outputs nobody can name any more is dropped.
std::vector<NodeId> Pending::needed(FunctionRef<void(NodeId)> drop) {
  std::vector<NodeId> nodes;
  nodes.reserve(nodes_.size());  // from here on nothing can fail
  for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
    NodeId node = *it;
    Liveness::Task& task = live_.task(node);
    if (std::exchange(task.wanted, false) || graph_[node].effect || live_.is_named(node)) {
      nodes.push_back(node);
      for (const TaskEdge& edge : graph_.edges_into(node))
        if (Liveness::Task* before = live_.find(edge.from)) before->wanted = !before->done;
    } else {
      tasks_ -= tasks(node);
      drop(node);
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  nodes_ = nodes;
  return nodes;
}

std::vector<NodeId> Pending::effects() {
  std::vector<NodeId> effects;
  std::ranges::copy_if(nodes_, std::back_inserter(effects),
                       [this](NodeId node) { return !live_.is_done(node) && graph_[node].effect; });
  return effects;
}

Batch Pending::take_batch(std::vector<NodeId> nodes) {
  const Liveness::Cutting cutting(live_, nodes);
  auto kept = [this](NodeId node, std::size_t slot) {
    const Liveness::Entry& e = live_.entry(node, slot);
    return e.handles > 0 || e.readers > e.inside;
  };
  Batch batch = batch_of(
      graph_, nodes, requirements_, kept, [&](Ref ref) { return cutting.is_last_use(ref); },
      [this](Ref ref) { return live_.is_of_call(ref); });
  for (const Ref ref : batch.inputs)
    if (ref.kind == Ref::Kind::field)
      if (const auto& room = live_.field_memory().room(RegionId(ref.id))) put_number(batch.key += 'p', room->number);
  return batch;
}

void Pending::settled(NodeId node) {
  if (!requirements_.empty()) requirements_.erase(node.value);
}

void Pending::tidy() {
  for (std::vector<NodeId>* pending : {&nodes_, &shares_})
    std::erase_if(*pending, [this](NodeId node) { return live_.is_done(node); });
  if (printing_.valid() && live_.is_done(printing_)) printing_ = {};
  unnamed_bytes_ = 0;
  window_.begin();
  weight_ = tasks_ = 0;
  for (NodeId node : nodes_) {
    tasks_ += tasks(node);
    if (weight_ < weight_due) weight_ += weight(node);
  }
}

}  // namespace taskspec
