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
    worker.push({middle, range.end});
    range.end = middle;
  }
  std::uint32_t take = std::clamp(range.size() / (share * pool_.size()), 1U, chunk);
  if (take < range.size()) worker.push({range.begin + take, range.end});
  run_chunk(worker, {range.begin, range.begin + take});
}

void ParallelRun::run_chunk(Worker& worker, StepRange range) {
  Pending pending;
  for (std::uint32_t i = range.begin; i + 1 < range.end; ++i) {
    std::uint32_t step = links_.targets[i] & ~StepLinks::only;
    run_step(worker, step);
    release_together(worker, step, pending);
  }
  std::uint32_t last = links_.targets[range.end - 1] & ~StepLinks::only;
  flush(worker, pending);
  run_on(worker, last);
}

// A step, then one that it set free, and so on.
void ParallelRun::run_on(Worker& worker, std::uint32_t step) {
  while (step != none) {
    if (step == links_.end()) return pool_.finish();
    run_step(worker, step);
    step = release(worker, step);
  }
}

StepRange ParallelRun::successors(std::uint32_t step) const {
  const std::vector<std::uint32_t>& starts = executable_.plan->successor_starts;
  if (starts[step] < starts[step + 1]) return {starts[step], starts[step + 1]};
  return {links_.end_position(), links_.end_position() + 1};
}

// Tells `target`, as it stands in the list, of `count` predecessors; true if it waits for nobody any more.
bool ParallelRun::arrive(std::uint32_t target, std::uint32_t count) {
  if (target & StepLinks::only) return true;
  return std::atomic_ref(executable_.counters[target]).fetch_sub(count, std::memory_order_acq_rel) == count;
}

// The first step that becomes ready is for this worker, the others are pushed: neighbours in the list as
// one range. After the last arrival the run may be over: nothing of it is touched then.
std::uint32_t ParallelRun::release(Worker& worker, std::uint32_t step) {
  std::uint32_t next = none;
  StepRange ready;
  for (auto [i, end] = successors(step); i < end; ++i) {
    std::uint32_t target = links_.targets[i];
    if (!arrive(target)) continue;
    if (next == none) {
      next = target & ~StepLinks::only;
    } else if (!ready.empty() && ready.end == i) {
      ++ready.end;
    } else {
      if (!ready.empty()) worker.push(ready);
      ready = {i, i + 1};
    }
  }
  if (!ready.empty()) worker.push(ready);
  return next;
}

// The same in the middle of a chunk: what becomes ready is pushed, and a target that comes again and again
// (the end of a fan) is told in the end.
void ParallelRun::release_together(Worker& worker, std::uint32_t step, Pending& pending) {
  StepRange all = successors(step);
  if (all.size() > 1) {
    std::uint32_t first = release(worker, step);
    if (first != none) {
      auto at = std::find_if(links_.targets.begin() + all.begin, links_.targets.begin() + all.end,
                             [&](std::uint32_t t) { return (t & ~StepLinks::only) == first; });
      auto position = static_cast<std::uint32_t>(at - links_.targets.begin());
      worker.push({position, position + 1});
    }
    return;
  }
  if (pending.target != all.begin) {
    bool same = pending.target != none && links_.targets[pending.target] == links_.targets[all.begin];
    if (!same) flush(worker, pending);
    pending.target = all.begin;
  }
  ++pending.count;
}

void ParallelRun::flush(Worker& worker, Pending& pending) {
  if (pending.target == none) return;
  if (arrive(links_.targets[pending.target], pending.count)) worker.push({pending.target, pending.target + 1});
  pending = {};
}

void run_serially(HostExecutable& executable, StepRunner& runner, Lane& lane) {
  for (std::uint32_t step = 0; step < executable.plan->steps(); ++step) runner.run(lane, step, 0);
}

}  // namespace taskspec
