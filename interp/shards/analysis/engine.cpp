#include "interp/shards/analysis/engine.hpp"

#include <utility>

namespace taskspec {

// Through the fine stage when nothing is waited for any more.
struct AnalysisEngine::Op {
  Operation op;
  std::size_t waits = 0;
  std::vector<std::uint64_t> ops_behind, fences_behind;
};

struct AnalysisEngine::Fence {
  CallStamp stamp;
  std::size_t waits = 0;  // for its arrival
  bool has_arrived = false;
  std::vector<std::uint64_t> ops_behind;     // wait until it is complete
  std::vector<std::uint64_t> fences_behind;  // wait until it has arrived
};

AnalysisEngine::AnalysisEngine(const RegionForest& forest, Collectives& collectives, Executor& executor,
                               Options options)
    : collectives_(collectives),
      executor_(executor),
      options_(std::move(options)),
      coarse_(forest, keys_, options_.elides),
      fine_(forest, keys_, collectives.shards(), collectives.self()) {}
AnalysisEngine::~AnalysisEngine() = default;

void AnalysisEngine::issue(Operation op) { issued_.push_back(std::move(op)); }

bool AnalysisEngine::turn() {
  bool did = collectives_.poll();
  for (std::size_t i = 0; i < options_.coarse_in_a_turn && !issued_.empty(); ++i, did = true) {
    Operation op = std::move(issued_.front());
    issued_.pop_front();
    admit(std::move(op));
  }
  for (; !ready_ops_.empty() || !ready_fences_.empty(); did = true) {
    if (!ready_ops_.empty()) {
      const std::uint64_t number = ready_ops_.front();
      ready_ops_.pop_front();
      run_fine(number);
    } else {
      const std::uint64_t number = ready_fences_.front();
      ready_fences_.pop_front();
      arrive(number);
    }
  }
  return did;
}

void AnalysisEngine::admit(Operation op) {
  CoarseResult found = coarse_.analyse(op);
  if (options_.found) options_.found(op, found);
  const std::uint64_t number = op.number;
  if (found.has_fence) {
    auto fence = std::make_unique<Fence>();
    fence->stamp = {number, 0, static_cast<std::uint8_t>(op.kind)};
    for (const std::uint64_t before : found.arrives_after)
      if (const auto known = ops_.find(before); known != ops_.end()) {
        known->second->fences_behind.push_back(number);
        ++fence->waits;
      }
    for (const std::uint64_t before : found.arrives_after_fences)
      if (const auto known = fences_.find(before); known != fences_.end() && !known->second->has_arrived) {
        known->second->fences_behind.push_back(number);
        ++fence->waits;
      }
    if (fence->waits == 0) ready_fences_.push_back(number);
    fences_.emplace(number, std::move(fence));
  }
  auto made = std::make_unique<Op>();
  made->op = std::move(op);
  for (const std::uint64_t before : found.local)
    if (const auto known = ops_.find(before); known != ops_.end()) {
      known->second->ops_behind.push_back(number);
      ++made->waits;
    }
  for (const std::uint64_t before : found.fences)
    if (const auto known = fences_.find(before); known != fences_.end()) {
      known->second->ops_behind.push_back(number);
      ++made->waits;
    }
  if (made->waits == 0) ready_ops_.push_back(number);
  ops_.emplace(number, std::move(made));
}

void AnalysisEngine::less_for_op(std::uint64_t number) {
  if (--ops_.at(number)->waits == 0) ready_ops_.push_back(number);
}

void AnalysisEngine::less_for_fence(std::uint64_t number) {
  if (--fences_.at(number)->waits == 0) ready_fences_.push_back(number);
}

void AnalysisEngine::run_fine(std::uint64_t number) {
  const std::unique_ptr<Op> op = std::move(ops_.extract(number).mapped());
  executor_.found(op->op, fine_.analyse(op->op), collectives_.tick());
  for (const std::uint64_t behind : op->ops_behind) less_for_op(behind);
  for (const std::uint64_t behind : op->fences_behind) less_for_fence(behind);
}

void AnalysisEngine::arrive(std::uint64_t number) {
  Fence& fence = *fences_.at(number);
  fence.has_arrived = true;
  for (const std::uint64_t behind : std::exchange(fence.fences_behind, {})) less_for_fence(behind);
  collectives_.barrier(
      {Purpose::fence, number}, [this, number] { complete(number); }, fence.stamp);
}

void AnalysisEngine::complete(std::uint64_t number) {
  const std::unique_ptr<Fence> fence = std::move(fences_.extract(number).mapped());
  for (const std::uint64_t behind : fence->ops_behind) less_for_op(behind);
}

std::size_t AnalysisEngine::bytes() const {
  return coarse_.bytes() + fine_.bytes() + keys_.size() * sizeof(UseKey) + ops_.size() * sizeof(Op) +
         fences_.size() * sizeof(Fence);
}

}  // namespace taskspec
