#include "interp/host/step_runner.hpp"

#include <algorithm>

namespace taskspec {

StepRunner::StepRunner(HostExecutable& executable, RunContext& context, std::span<const char> needed)
    : executable_(executable), context_(context), needed_(needed) {
  if (!needed.empty()) context.flags.raise(RunFlags::careful);
  if (context.record || context.record_ops) context.flags.raise(RunFlags::recorded);
}

StepRunner::~StepRunner() {
  for (Lane& lane : executable_.lanes)
    if (lane.scratch.data()) context_.memory.give_back(std::move(lane.scratch), executable_.scratch_bytes());
}

void StepRunner::lend_scratch(Lane& lane) {
  lane.scratch = context_.memory.borrow(executable_.scratch_bytes());
  lane.context.scratch = lane.scratch.data() + executable_.code_scratch_at();
}

bool StepRunner::call_with_scratch(Lane& lane, const CodeCall& call) {
  try {
    lend_scratch(lane);
  } catch (...) {
    return call_with_little(lane, call);
  }
  return this->call(lane, call);
}

// There is no memory for the largest of all calls; this one may do with less, if nothing of others lies there.
bool StepRunner::call_with_little(Lane& lane, const CodeCall& call) {
  MemoryBlock own;
  try {
    if (call.in_scratch) throw;
    own = context_.memory.borrow(call.code->scratch_bytes());
  } catch (...) {
    for (std::uint32_t task = 0; task < call.code->tasks; ++task) keep_thrown(lane.context, task);
    return false;
  }
  lane.context.scratch = own.data();
  const bool ran = call.code->run(executable_.operands(call, lane), lane.context);
  lane.context.scratch = nullptr;
  context_.memory.give_back(std::move(own), call.code->scratch_bytes());
  return ran;
}

bool StepRunner::call_timed(Lane& lane, const CodeCall& call) {
  lane.times.begin(&executable_.plan->tasks[call.task]);
  if (call.needs_scratch && !lane.scratch.data()) {
    try {
      lend_scratch(lane);
    } catch (...) {
      return call_with_little(lane, call);
    }
  }
  return call.code->run_timed(executable_.operands(call, lane), lane.context, lane.times);
}

template <bool (StepRunner::*call)(Lane&, const CodeCall&)>
void StepRunner::run_calls(Lane& lane, std::span<const CodeCall> calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!(this->*call)(lane, calls[i]))
      settle(lane, calls[i]);
    else if (calls[i].code->outputs)
      publish(calls[i]);
    if (!context_.flags.is_careful()) continue;
    return run_rest_carefully(lane, calls.subspan(i + 1));
  }
}

template void StepRunner::run_calls<&StepRunner::call>(Lane&, std::span<const CodeCall>);

// Of a step: from here on every task is looked at; those that do not run any more were counted already.
void StepRunner::run_rest_carefully(Lane& lane, std::span<const CodeCall> calls) {
  for (const CodeCall& call : calls) {
    lane.tasks -= call.code->tasks;
    run_call_carefully(lane, call);
  }
}

std::uint32_t StepRunner::run_codes(Lane& lane, std::span<BoundCode* const> codes) {
  std::size_t done = 0;
  bool ran = true;
  while (ran && done < codes.size() && !context_.flags.is_careful()) ran = codes[done++]->run(lane.context);
  if (done == 0) return 0;
  const std::uint32_t last = executable_.step_at(done - 1);
  lane.dispatches += last + 1;
  lane.tasks += executable_.plan->step_starts[last + 1] - executable_.plan->step_starts[0];
  const std::span<const CodeCall> calls = executable_.calls(last);
  const std::size_t of_last = done - static_cast<std::size_t>(calls.data() - executable_.calls(0).data());
  if (!ran) settle(lane, calls[of_last - 1]);
  run_rest_carefully(lane, calls.subspan(of_last));
  return last + 1;
}

void StepRunner::run_watched(Lane& lane, std::uint32_t step, std::uint32_t worker) {
  if (context_.flags.is_careful()) return run_carefully(lane, step, worker);
  const std::int64_t begin = context_.record ? now() : 0;  // else another run of this backend is recorded, or ops are
  count(lane, step);
  if (context_.record_ops)
    run_calls<&StepRunner::call_timed>(lane, executable_.calls(step));
  else
    run_calls<&StepRunner::call>(lane, executable_.calls(step));
  if (context_.record) lane.records.push_back({ChainId(step), worker, begin, now()});
}

// ---- the careful way ------------------------------------------------------------------------------

void StepRunner::run_carefully(Lane& lane, std::uint32_t step, std::uint32_t worker) {
  if (context_.lost.load(std::memory_order_relaxed)) return;
  if (!needed_.empty() && !needed_[step]) return;
  std::int64_t begin = context_.record ? now() : 0;
  bool ran = false;
  for (const CodeCall& call : executable_.calls(step)) ran |= run_call_carefully(lane, call);
  if (!ran) return;
  ++lane.dispatches;
  if (context_.record) lane.records.push_back({ChainId(step), worker, begin, now()});
}

bool StepRunner::run_call_carefully(Lane& lane, const CodeCall& what) {
  bool stop = context_.flags.is_interrupted();
  lane.dead.assign(what.code->tasks, 0);
  for (std::uint32_t k = 0; k < what.code->tasks; ++k) {
    std::size_t task = what.task + k;
    std::optional<Poison> found = inherited(task);
    if (!found && stop) found = Poison{executable_.plan->tasks[task].node, {"E5009", "interrupted"}};
    if (!found) continue;
    lane.dead[k] = 1;
    poison(task, *found);
  }
  auto alive = static_cast<std::uint64_t>(std::ranges::count(lane.dead, 0));
  if (alive == 0) return lane.dead.clear(), false;
  lane.tasks += alive;
  if (alive < lane.dead.size()) lane.context.dead = lane.dead;
  context_.record_ops ? call_timed(lane, what) : call(lane, what);
  lane.context.dead = {};
  settle(lane, what);
  return true;
}

// After a call that may have failed: the cells of its tasks in their order, so that a poison goes on.
void StepRunner::settle(Lane& lane, const CodeCall& call) {
  lane.dead.resize(call.code->tasks);
  for (std::uint32_t k = 0; k < call.code->tasks; ++k) {
    if (lane.dead[k]) continue;
    std::size_t task = call.task + k;
    auto own = std::ranges::find(lane.context.faults, k, &TaskFault::task);
    if (auto found = inherited(task)) {
      poison(task, *found);
      --lane.tasks;  // it was counted, and did not run
    } else if (own != lane.context.faults.end()) {
      lane.failed.push_back({executable_.plan->tasks[task].node, own->fault});
      poison(task, lane.failed.back());
    } else {
      publish(task);
    }
  }
  lane.dead.clear();
  lane.context.faults.clear();
}

std::optional<Poison> StepRunner::inherited(std::size_t task) const {
  std::optional<Poison> first;
  for (BufferId buffer : executable_.inputs(task)) {
    if (executable_.table.state(buffer) != CellState::poisoned) continue;
    Poison poison = executable_.table.poison(buffer);
    if (!first || poison.origin < first->origin) first = std::move(poison);
  }
  if (!executable_.plan->graph->point_groups().empty()) {
    std::optional<Poison> point = inherited_by_point(executable_.plan->tasks[task].node);
    if (point && (!first || point->origin < first->origin)) first = std::move(point);
  }
  return first;
}

// What it reads in place was written by others in place: edges tell by whom.
std::optional<Poison> StepRunner::inherited_by_point(NodeId node) const {
  std::optional<Poison> first = executable_.table.poison(node);
  for (const TaskEdge& edge : executable_.plan->graph->edges_into(node)) {
    if (edge.kind != EdgeKind::order || edge.why != Hazard::raw) continue;
    std::optional<Poison> poison = executable_.table.poison(edge.from);
    if (poison && (!first || poison->origin < first->origin)) first = std::move(poison);
  }
  return first;
}

void StepRunner::poison(std::size_t task, const Poison& poison) {
  context_.flags.raise(RunFlags::careful);
  const NodeId node = executable_.plan->tasks[task].node;
  if (executable_.plan->graph->definition(node).kind == Definition::Kind::launch)
    executable_.table.poison(node, poison);
  for (BufferId buffer : executable_.outputs(task))
    if (!executable_.table.poison(buffer, poison)) bug("a cell was poisoned after it was published");
}

std::int64_t StepRunner::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - context_.start)
      .count();
}

}  // namespace taskspec
