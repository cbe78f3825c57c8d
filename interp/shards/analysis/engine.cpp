#include "interp/shards/analysis/engine.hpp"

#include <algorithm>
#include <utility>

#include "interp/shards/traces/token.hpp"

namespace taskspec {

// Through the fine stage when nothing is waited for any more.
struct AnalysisEngine::Op {
  Operation op;
  FineStage::Task task;
  TemplatePtr record;  // notes what is found
  std::uint32_t call = 0;
  bool is_dispatched = false;
  // Of a replayed one that waits for its turn.
  TemplatePtr replays;
  std::vector<std::uint64_t> window;
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
    : forest_(forest),
      collectives_(collectives),
      executor_(executor),
      options_(std::move(options)),
      coarse_(forest, keys_, options_.elides, options_.more),
      fine_(forest, keys_, collectives.shards(), collectives.self()),
      tracer_(*this, forest, keys_, fine_.lists(),
              {options_.automatic, options_.data_signature, options_.blur, options_.failed_guard}) {}
AnalysisEngine::~AnalysisEngine() = default;

void AnalysisEngine::issue(Operation op) {
  const AllocationMeter::Part counted(meter_);
  if (!options_.traces) return void(issued_.push_back({std::move(op), {}}));
  const std::uint64_t token = token_of(op);
  tracer_.issue(std::make_shared<Operation>(std::move(op)), token);
}

void AnalysisEngine::issue_again(const std::shared_ptr<Operation>& op, std::uint64_t token) {
  const AllocationMeter::Part counted(meter_);
  if (options_.traces)
    tracer_.issue(op, token, true);
  else
    issued_.push_back({*op, {}});
}

std::optional<Tracer::Place> AnalysisEngine::replay_place() const {
  if (!options_.traces || is_blocked_ || executor_.wants_replayed()) return std::nullopt;
  return tracer_.place();
}

void AnalysisEngine::replayed_again(const TraceTemplate& of, std::size_t executions) {
  for (const TraceTemplate::Op& op : of.ops)
    coarse_.count_replayed(executions * op.fences, executions * op.elided, executions * op.elided_more);
}

void AnalysisEngine::call(std::uint64_t token) {
  if (options_.traces) tracer_.call(token);
}

void AnalysisEngine::begin_trace(std::uint64_t id) {
  const AllocationMeter::Part counted(meter_);
  if (options_.traces) tracer_.begin(id);
}

void AnalysisEngine::end_trace(std::uint64_t id) {
  const AllocationMeter::Part counted(meter_);
  if (options_.traces) tracer_.end(id);
}

bool AnalysisEngine::turn() {
  bool did = collectives_.poll();
  for (std::size_t i = 0; i < options_.coarse_in_a_turn && !issued_.empty(); ++i, did = true) {
    Issued issued = std::move(issued_.front());
    issued_.pop_front();
    admit(std::move(issued));
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

void AnalysisEngine::admit(Issued issued) {
  const AllocationMeter::Part counted(meter_);
  const Operation& op = issued.op;
  const CoarseStage::Counts before = coarse_.counts();
  CoarseResult found = coarse_.analyse(op);
  if (issued.record)
    issued.record->count(issued.call, coarse_.counts().fences - before.fences, coarse_.counts().elided - before.elided,
                         coarse_.counts().elided_more - before.elided_more);
  if (options_.found) {
    const AllocationMeter::Part uncounted(meter_, false);
    options_.found(op, found);
  }
  if (found.has_fence) enter_fence(op, found);
  const std::uint64_t number = op.number;
  std::unique_ptr<Op>& slot = ops_[number];
  // One that waits to be replayed is analysed in place of that.
  const bool is_new = !slot;
  if (is_new) slot = std::make_unique<Op>();
  slot->task = fine_.enter(op);
  slot->is_dispatched = issued.was_replayed && is_new;
  slot->replays.reset();
  slot->record = std::move(issued.record);
  slot->call = issued.call;
  slot->op = std::move(issued.op);
  wait(*slot, found);
  if (slot->waits == 0) ready_ops_.push_back(number);
}

void AnalysisEngine::enter_fence(const Operation& op, const CoarseResult& found) {
  auto fence = std::make_unique<Fence>();
  fence->stamp = options_.stamp && op.kind != CallKind::deletion
                     ? options_.stamp(op.number)
                     : CallStamp{op.number, 0, static_cast<std::uint8_t>(op.kind)};
  for (const std::uint64_t before : found.arrives_after)
    if (const auto known = ops_.find(before); known != ops_.end()) {
      known->second->fences_behind.push_back(op.number);
      ++fence->waits;
    }
  for (const std::uint64_t before : found.arrives_after_fences)
    if (const auto known = fences_.find(before); known != fences_.end() && !known->second->has_arrived) {
      known->second->fences_behind.push_back(op.number);
      ++fence->waits;
    }
  if (fence->waits == 0) ready_fences_.push_back(op.number);
  fences_.emplace(op.number, std::move(fence));
}

void AnalysisEngine::wait(Op& op, const CoarseResult& found) {
  for (const std::uint64_t before : found.local)
    if (const auto known = ops_.find(before); known != ops_.end()) {
      known->second->ops_behind.push_back(op.op.number);
      ++op.waits;
    }
  for (const std::uint64_t before : found.fences)
    if (const auto known = fences_.find(before); known != fences_.end()) {
      known->second->ops_behind.push_back(op.op.number);
      ++op.waits;
    }
}

void AnalysisEngine::less_for_op(std::uint64_t number) {
  if (--ops_.at(number)->waits == 0) ready_ops_.push_back(number);
}

void AnalysisEngine::less_for_fence(std::uint64_t number) {
  if (--fences_.at(number)->waits == 0) ready_fences_.push_back(number);
}

void AnalysisEngine::run_fine(std::uint64_t number) {
  // One that was ready to be replayed may have got other waits since.
  const auto known = ops_.find(number);
  if (known == ops_.end() || known->second->waits > 0) return;
  const std::unique_ptr<Op> op = std::move(known->second);
  ops_.erase(known);
  const AllocationMeter::Part counted(meter_);
  if (op->replays) {
    dispatch(op->op, *op->replays, op->call, op->window);
  } else {
    FineResult& found = fine_.analyse(op->op, op->task);
    found.is_dispatched = op->is_dispatched;
    if (op->record) op->record->learn(op->call, found);
    const AllocationMeter::Part uncounted(meter_, false);
    executor_.found(op->op, found, collectives_.tick());
  }
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

void AnalysisEngine::analyse(Operation op, const TemplatePtr& record, std::uint32_t call, bool was_replayed) {
  issued_.push_back({std::move(op), record, call, was_replayed});
}

void AnalysisEngine::settle() {
  for (; !issued_.empty(); issued_.pop_front()) admit(std::move(issued_.front()));
}

LaneState AnalysisEngine::state(LaneKey lane) {
  LaneState state;
  coarse_.each_entry(
      lane, [&](LaneTree::Place place, const LaneTree::Entry& entry) { state.coarse.emplace_back(place, entry); });
  state.exact = fine_.lists().users(lane);
  return state;
}

void AnalysisEngine::begin_replay(const TraceTemplate& of) {
  blockers_.assign(of.lanes.size(), {});
  fences_before_.clear();
  is_blocked_ = false;
  for (std::size_t i = 0; i < of.lanes.size(); ++i) {
    auto block = [&](std::uint64_t number) {
      if (ops_.contains(number)) blockers_[i].push_back(number);
    };
    coarse_.each_entry(of.lane_keys[i], [&](LaneTree::Place, const LaneTree::Entry& entry) {
      if (entry.is_fence)
        fences_before_.push_back(entry.op);
      else
        block(entry.op);
    });
    for (const ExactLists::User& user : fine_.lists().users(of.lane_keys[i])) block(user.ops.last());
    is_blocked_ = is_blocked_ || !blockers_[i].empty();
  }
}

// At once, where nothing before it on its lanes is on its way.
void AnalysisEngine::replay(Operation& op, const TemplatePtr& of, std::uint32_t call,
                            std::span<const std::uint64_t> window) {
  const TraceTemplate::Op& known = of->ops[call];
  coarse_.count_replayed(known.fences, known.elided, known.elided_more);
  if (!is_blocked_) return dispatch(op, *of, call, window);
  bool is_blocked = false;
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < blockers_.size(); ++i) {
    std::erase_if(blockers_[i], [&](std::uint64_t number) { return !ops_.contains(number); });
    is_blocked = is_blocked || !blockers_[i].empty();
  }
  is_blocked_ = is_blocked;
  for (const std::uint32_t lane : of->ops[call].lanes)
    before.insert(before.end(), blockers_[lane].begin(), blockers_[lane].end());
  if (before.empty()) return dispatch(op, *of, call, window);
  auto waiting = std::make_unique<Op>();
  waiting->op = op;
  waiting->replays = of;
  waiting->call = call;
  waiting->window.assign(window.begin(), window.end());
  for (const std::uint64_t number : before) {
    ops_.at(number)->ops_behind.push_back(op.number);
    ++waiting->waits;
  }
  for (const std::uint32_t lane : of->ops[call].lanes) blockers_[lane] = {op.number};
  ops_.emplace(op.number, std::move(waiting));
}

void AnalysisEngine::dispatch(const Operation& op, TraceTemplate& of, std::uint32_t call,
                              std::span<const std::uint64_t> window) {
  const TraceTemplate::Op& known = of.relative(call);
  const AllocationMeter::Part uncounted(meter_, false);
  executor_.replayed(op, {call, of.ops.size(), known.found.own, known.edges, window, of.others});
}

void AnalysisEngine::take_back(const TraceTemplate& of, std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i)
    coarse_.count_replayed(-of.ops[i].fences, -of.ops[i].elided, -of.ops[i].elided_more);
}

void AnalysisEngine::executed() {
  executed_.clear();
  if (is_blocked_)
    for (const auto& lane : blockers_) executed_.insert(executed_.end(), lane.begin(), lane.end());
}

void AnalysisEngine::leave(const TraceTemplate& of, std::span<const std::uint64_t> numbers,
                           std::span<const std::vector<OperationRun>> piles) {
  const std::uint64_t last = numbers.back();
  CoarseResult found;
  std::vector<std::pair<LaneTree::Place, LaneTree::Entry>> entries;
  for (std::size_t i = 0; i < of.lanes.size(); ++i) {
    const TraceTemplate::Lane& lane = of.lanes[i];
    entries = lane.after.coarse;
    for (auto& [place, entry] : entries) entry.op = entry.op == TraceTemplate::no_op ? 0 : numbers[entry.op];
    coarse_.replace(of.lane_keys[i], entries, last);
    ExactLists::Users& users = fine_.lists().users(of.lane_keys[i]);
    std::erase_if(users, [&](const ExactLists::User& user) {
      return std::any_of(lane.uses.begin(), lane.uses.end(), [&](const LaneUse& use) {
        return use.privilege != Privilege::in && use.privilege != Privilege::reduce &&
               fine_.lists().covers(use.key, user.key);
      });
    });
    for (std::size_t k = 0; k < lane.left.size(); ++k) {
      auto [op, user] = lane.left[k];
      user.ops = {numbers[op]};
      if (lane.piles_up[k])
        for (const OperationRun& run : piles[op]) user.ops = run, ExactLists::add(users, user);
      else
        ExactLists::add(users, user);
    }
  }
  found.arrives_after = executed_;
  found.arrives_after_fences = fences_before_;
  enter_fence({.number = last, .kind = of.ops.back().kind}, found);
  coarse_.count_exit_fence();
}

// ---- what goes ------------------------------------------------------------------------------------

void AnalysisEngine::untrace(RegionId root) {
  tracer_.forget([&](const TraceTemplate& of) {
    return std::ranges::any_of(of.lane_keys, [&](LaneKey lane) { return lane.root == root; });
  });
}

void AnalysisEngine::untrace(PartitionId partition) {
  tracer_.forget([&](const TraceTemplate& of) {
    return of.names([&](KeyId key) { return key.valid() && names(keys_[key], partition); },
                    [&](LaneKey lane, LaneTree::Place place) {
                      const LaneTree* tree = coarse_.tree(lane);
                      return tree && tree->is_under(place, partition);
                    });
  });
}

void AnalysisEngine::forget(RegionId root) {
  coarse_.forget(root);
  fine_.lists().forget(root);
  forget_keys([&](const UseKey& key) { return key.use.space.root == root; });
}

bool AnalysisEngine::forget(PartitionId partition) {
  const RegionId root = forest_[partition].parent.root;
  if (coarse_.names(root, partition) || fine_.lists().names(root, partition)) return false;
  coarse_.forget(root, partition);
  forget_keys([&](const UseKey& key) { return names(key, partition); });
  return true;
}

void AnalysisEngine::force(RegionId root, std::uint64_t number) {
  untrace(root);
  settle();
  coarse_.force(root, number);
  fine_.lists().forget(root);
  enter_fence({.number = number, .kind = CallKind::deletion}, {});
}

void AnalysisEngine::forget_keys(FunctionRef<bool(const UseKey&)> is_gone) {
  std::vector<KeyId> gone;
  keys_.forget(is_gone, [&](KeyId key) { gone.push_back(key); });
  std::ranges::sort(gone);
  fine_.forget(gone);
}

std::size_t AnalysisEngine::bytes() const {
  return coarse_.bytes() + fine_.bytes() + keys_.size() * sizeof(UseKey) + ops_.size() * sizeof(Op) +
         fences_.size() * sizeof(Fence);
}

}  // namespace taskspec
