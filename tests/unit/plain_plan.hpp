// A plan as plain as can be, to test backends and planners against: every chain is a step, every value has
// bytes of its own, nothing is taken over or used again.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "ir/plan/plan.hpp"

namespace taskspec {

class PlainPlanner {
 public:
  PlainPlanner(std::shared_ptr<const TaskGraph> graph, const Chains& chains)
      : graph_(*graph), chains_(chains), plan_(std::make_shared<Plan>()) {
    plan_->graph = std::move(graph);
  }

  std::shared_ptr<Plan> run() {
    number_outputs();
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      plan_->step_starts.push_back(static_cast<std::uint32_t>(plan_->tasks.size()));
      for (NodeId node : chains_.members(ChainId(c))) add_task(node);
    }
    plan_->step_starts.push_back(static_cast<std::uint32_t>(plan_->tasks.size()));
    link_steps();
    for (const GraphResult& result : graph_.results()) add_result(result.ref);
    return plan_;
  }

 private:
  BufferId add_buffer(const Type& type, Buffer::Home home, std::size_t index = 0) {
    plan_->types.push_back(std::make_shared<ArrayType>(concrete(type)));
    Buffer buffer{
        SharedType(plan_->types.back().get()), home, static_cast<std::uint32_t>(index), 0, UINT32_MAX, {}, {}};
    if (home == Buffer::Home::arena) {
      buffer.offset = plan_->arena_bytes;
      plan_->arena_bytes += (buffer.type->bytes() + 63) / 64 * 64;
    }
    plan_->buffers.push_back(buffer);
    return BufferId(plan_->buffers.size() - 1);
  }

  void number_outputs() {
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i)
      inputs_.push_back(add_buffer(graph_.inputs()[i].type, Buffer::Home::input, i));
    for (std::size_t i = 0; i < graph_.constant_count(); ++i)
      constants_.push_back(add_buffer(graph_.constant_type(i), Buffer::Home::constant, i));
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      first_out_.push_back(plan_->buffers.size());
      for (TypeId type : graph_.out(NodeId(n))) add_buffer(graph_.type(type), Buffer::Home::arena);
    }
  }

  BufferId buffer(Ref ref) const {
    if (ref.kind == Ref::Kind::input) return inputs_[ref.id];
    if (ref.kind == Ref::Kind::constant) return constants_[ref.id];
    return BufferId(first_out_[ref.id] + ref.slot);
  }

  void add_task(NodeId node) {
    PlanTask task{node, static_cast<std::uint32_t>(plan_->operands.size()), 0};
    for (Ref ref : graph_.in(node)) use(buffer(ref));
    task.first_out = static_cast<std::uint32_t>(plan_->operands.size());
    for (std::size_t k = 0; k < graph_.out(node).size(); ++k) use(buffer(Ref::future(node, k)));
    plan_->tasks.push_back(task);
  }

  void use(BufferId id) {
    plan_->operands.push_back(id);
    Buffer& buffer = plan_->buffers[id.index()];
    buffer.last = StepId(plan_->step_starts.size() - 1);
    if (!buffer.first.valid()) buffer.first = buffer.last;
  }

  void link_steps() {
    std::vector<std::vector<std::uint32_t>> next(chains_.size());
    plan_->predecessors.resize(chains_.size());
    for (const TaskEdge& edge : graph_.edges()) {  // into one chain they come one after another
      std::uint32_t from = chains_.chain_of(edge.from).value, to = chains_.chain_of(edge.to).value;
      if (from == to || (!next[from].empty() && next[from].back() == to)) continue;
      next[from].push_back(to);
      ++plan_->predecessors[to];
    }
    for (const auto& successors : next) {
      plan_->successor_starts.push_back(static_cast<std::uint32_t>(plan_->successors.size()));
      plan_->successors.insert(plan_->successors.end(), successors.begin(), successors.end());
    }
    plan_->successor_starts.push_back(static_cast<std::uint32_t>(plan_->successors.size()));
  }

  void add_result(Ref ref) {
    plan_->results.push_back(buffer(ref));
    Buffer& b = plan_->buffers[buffer(ref).index()];
    if (b.home == Buffer::Home::arena) b.home = Buffer::Home::result;
  }

  const TaskGraph& graph_;
  const Chains& chains_;
  std::shared_ptr<Plan> plan_;
  std::vector<BufferId> inputs_, constants_;
  std::vector<std::size_t> first_out_;  // by node
};

inline std::shared_ptr<Plan> plain_plan(std::shared_ptr<const TaskGraph> graph, const Chains& chains) {
  return PlainPlanner(std::move(graph), chains).run();
}

}  // namespace taskspec
