#include "interp/host/schedule.hpp"

#include <algorithm>
#include <cstring>

namespace taskspec {

namespace {

// A long range is cut in halves for thieves until `pile` steps are left; of these a worker takes at most
// `chunk` at once, and never more than an eighth of its share: then no worker waits long for another.
constexpr std::uint32_t pile = 1024, chunk = 64, share = 8;

}  // namespace

ParallelRun::ParallelRun(HostExecutable& executable, StepRunner& runner, Pool& pool)
    : executable_(executable), runner_(runner), pool_(pool), links_(executable.links) {}

void ParallelRun::run(Worker& caller) {
  std::memcpy(executable_.counters.data(), links_.waits.data(), links_.waits.size() * sizeof links_.waits[0]);
  pool_.run(caller, *this, {links_.first_root, links_.end_position()});
}

void ParallelRun::process(Worker& worker, StepRange range) {
  while (range.size() > pile) {
    std::uint32_t middle = range.begin + range.size() / 2;
    push(worker, {middle, range.end});
    range.end = middle;
  }
  std::uint32_t take = std::clamp(range.size() / (share * pool_.size()), 1U, chunk);
  if (take < range.size()) push(worker, {range.begin + take, range.end});
  run_chunk(worker, {range.begin, range.begin + take});
  if (worker.parked != none) run_parked(worker);  // else the run may be over, and this gone
}

void ParallelRun::push(Worker& worker, StepRange range) {
  if (!worker.push(range)) park(worker, range);
}

// Without memory for more entries of its deque a worker keeps what is ready for itself, in a list that takes none: the
// counter of a step that waits for nobody any more is free to hold the position of the next one.
void ParallelRun::park(Worker& worker, StepRange range) {
  for (std::uint32_t position = range.begin; position < range.end; ++position) {
    executable_.counters[step_at(position)] = worker.parked;
    worker.parked = position;
  }
}

// While something is parked the run is not over; after that nothing of it may be touched, but the worker stays.
void ParallelRun::run_parked(Worker& worker) {
  while (worker.parked != none) {
    const std::uint32_t position = worker.parked;
    worker.parked = executable_.counters[step_at(position)];
    run_on(worker, position);
  }
}

void ParallelRun::run_chunk(Worker& worker, StepRange range) {
  Pending pending;
  for (std::uint32_t i = range.begin; i + 1 < range.end; ++i) {
    std::uint32_t step = step_at(i);
    run_step(worker, step);
    release_together(worker, step, pending);
  }
  flush(worker, pending);
  run_on(worker, range.end - 1);
}

// A step, then one that it set free, and so on.
void ParallelRun::run_on(Worker& worker, std::uint32_t position) {
  while (position != none) {
    std::uint32_t step = step_at(position);
    if (step == links_.end()) return pool_.finish();
    run_step(worker, step);
    position = release(worker, step);
  }
}

StepRange ParallelRun::successors(std::uint32_t step) const {
  std::span<const std::uint32_t> starts = executable_.plan->successor_starts;
  if (starts[step] < starts[step + 1]) return {starts[step], starts[step + 1]};
  return {links_.end_position(), links_.end_position() + 1};
}

// Tells the step at `position` of `count` predecessors; true if it waits for nobody any more.
bool ParallelRun::arrive(std::uint32_t position, std::uint32_t count) {
  std::uint32_t target = links_.targets[position];
  if (target & StepLinks::only) return true;
  return std::atomic_ref(executable_.counters[target]).fetch_sub(count, std::memory_order_acq_rel) == count;
}

// The position of one step that became ready, for this worker; the others are pushed, neighbours in the
// list as one range. After the last arrival the run may be over: nothing of it is touched then.
std::uint32_t ParallelRun::release(Worker& worker, std::uint32_t step) {
  std::uint32_t next = none;
  StepRange ready;
  for (auto [i, end] = successors(step); i < end; ++i) {
    if (!arrive(i)) continue;
    if (next == none) {
      next = i;
    } else if (!ready.empty() && ready.end == i) {
      ++ready.end;
    } else {
      if (!ready.empty()) push(worker, ready);
      ready = {i, i + 1};
    }
  }
  if (!ready.empty()) push(worker, ready);
  return next;
}

// The same in the middle of a chunk: all that becomes ready is pushed, and who is told again and again (the
// end of a fan) is told in the end.
void ParallelRun::release_together(Worker& worker, std::uint32_t step, Pending& pending) {
  StepRange all = successors(step);
  if (all.size() > 1) {
    std::uint32_t next = release(worker, step);
    if (next != none) push(worker, {next, next + 1});
    return;
  }
  if (pending.position == none || step_at(pending.position) != step_at(all.begin)) {
    flush(worker, pending);
    pending.position = all.begin;
  }
  ++pending.count;
}

void ParallelRun::flush(Worker& worker, Pending& pending) {
  if (pending.position != none && arrive(pending.position, pending.count))
    push(worker, {pending.position, pending.position + 1});
  pending = {};
}

void run_serially(HostExecutable& executable, StepRunner& runner, std::uint32_t worker) {
  Lane& lane = executable.lanes[0];
  for (std::uint32_t step = runner.run_bound(lane); step < executable.plan->steps(); ++step)
    runner.run(lane, step, worker);
}

}  // namespace taskspec
