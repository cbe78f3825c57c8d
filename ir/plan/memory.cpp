#include "ir/plan/memory.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "ir/plan/free_blocks.hpp"

namespace taskspec {

namespace {

using Home = Buffer::Home;
constexpr std::uint64_t line = 64;  // values begin at cache lines, so that no two steps write to one

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + line - 1) / line * line; }

// Storages that no reader of theirs ends: in a stencil each value has several, and these meet only at the very end. The
// bytes go to the first step that comes after all who touch them, if it is near: mostly they are its predecessors.
class OpenStorages {
 public:
  OpenStorages(const Plan& plan, const std::vector<Storage>& storages, const StepOrder& order, bool reuse)
      : plan_(plan), storages_(storages), order_(order), state_(storages.size(), State::elsewhere) {
    for (std::uint32_t i = 0; i < storages.size(); ++i) {
      const bool ends_at_reader = storages[i].free_after.valid() && !storages[i].free_before;
      if (reuse && !ends_at_reader && root(i).home == Home::arena) state_[i] = State::open;
    }
    if (std::find(state_.begin(), state_.end(), State::open) != state_.end()) find_touches();
  }

  // False when the bytes went to somebody already.
  bool end(std::uint32_t storage) { return std::exchange(state_[storage], State::ended) != State::ended; }

  // Work is bounded; only bytes of the same number, so that none are lost.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint32_t step) {
    if (by_step_.empty()) return std::nullopt;
    constexpr std::size_t most_predecessors = 8;
    std::size_t looks = 48;
    std::span<const std::uint32_t> before = order_.predecessors(StepId(step));
    for (std::uint32_t predecessor : before.last(std::min(before.size(), most_predecessors)))
      for (const Touch& touch : of(by_step_, starts_by_step_, predecessor)) {
        if (looks-- == 0) return std::nullopt;
        const std::uint32_t i = touch.storage;
        if (state_[i] != State::open || rounded(root(i).type->bytes()) != bytes || !all_before(i, step)) continue;
        end(i);
        return root(i).offset;
      }
    return std::nullopt;
  }

 private:
  enum class State : std::uint8_t { elsewhere, open, ended };
  struct Touch {
    std::uint32_t storage, step;
  };
  const Buffer& root(std::uint32_t storage) const { return plan_.buffers[storages_[storage].root]; }

  void find_touches() {
    constexpr std::uint32_t none = UINT32_MAX;
    std::vector<std::uint32_t> storage_of(plan_.buffers.size(), none);
    for (std::uint32_t i = 0; i < storages_.size(); ++i)
      if (state_[i] == State::open) storage_of[storages_[i].root] = i;
    for (std::uint32_t step = 0; step < plan_.steps(); ++step)
      for (std::uint32_t t = plan_.step_starts[step]; t < plan_.step_starts[step + 1]; ++t) {
        const std::size_t end = t + 1 < plan_.tasks.size() ? plan_.tasks[t + 1].first_in : plan_.operands.size();
        for (std::size_t k = plan_.tasks[t].first_in; k < end; ++k) {
          const std::uint32_t buffer = plan_.operands[k].value, old = plan_.buffers[buffer].shares;
          if (old != none && storage_of[buffer] == none) storage_of[buffer] = storage_of[old];
          if (storage_of[buffer] != none) by_step_.push_back({storage_of[buffer], step});
        }
      }
    starts_by_step_ = starts(by_step_, plan_.steps(), &Touch::step);
    by_storage_ = by_step_;
    std::stable_sort(by_storage_.begin(), by_storage_.end(),
                     [](const Touch& a, const Touch& b) { return a.storage < b.storage; });
    starts_by_storage_ = starts(by_storage_, storages_.size(), &Touch::storage);
  }

  static std::vector<std::uint32_t> starts(const std::vector<Touch>& touches, std::size_t size,
                                           std::uint32_t Touch::*by) {
    std::vector<std::uint32_t> starts(size + 1, 0);
    for (const Touch& touch : touches) ++starts[touch.*by + std::size_t{1}];
    for (std::size_t i = 0; i < size; ++i) starts[i + 1] += starts[i];
    return starts;
  }
  static std::span<const Touch> of(const std::vector<Touch>& touches, const std::vector<std::uint32_t>& starts,
                                   std::uint32_t id) {
    return std::span(touches).subspan(starts[id], starts[id + 1] - starts[id]);
  }

  // The first one writes the value; the others come after it, so it need not be asked about where there are any.
  bool all_before(std::uint32_t storage, std::uint32_t step) const {
    constexpr std::size_t most = 16;
    std::span<const Touch> users = of(by_storage_, starts_by_storage_, storage);
    if (users.size() > most) return false;
    if (users.size() > 1) users = users.subspan(1);
    return std::all_of(users.begin(), users.end(),
                       [&](const Touch& touch) { return order_.before(StepId(touch.step), StepId(step)); });
  }

  const Plan& plan_;
  const std::vector<Storage>& storages_;
  const StepOrder& order_;
  std::vector<State> state_;  // by storage
  std::vector<Touch> by_step_, by_storage_;
  std::vector<std::uint32_t> starts_by_step_, starts_by_storage_;
};

// Places what lives longer than its step. Free bytes lie at a step, where everybody who ever touched them is that
// step or before it, until a later one takes them: what it needs itself, and as the last successor all that is left.
// So whoever takes bytes comes after all their users, however the steps are spread over workers.
class Arena {
 public:
  Arena(Plan& plan, const std::vector<Storage>& storages, const StepOrder& order, bool reuse)
      : plan_(plan),
        storages_(storages),
        order_(order),
        open_(plan, storages, order, reuse),
        pools_(plan.steps()),
        outer_(plan.steps(), none) {}

  void place() {
    std::vector<std::vector<std::uint32_t>> before(plan_.steps()), after(plan_.steps());
    for (std::uint32_t i = 0; i < storages_.size(); ++i)
      if (storages_[i].free_after.valid())
        (storages_[i].free_before ? before : after)[storages_[i].free_after.index()].push_back(i);
    auto next = storages_.begin();
    for (std::uint32_t s = 0; s < plan_.steps(); ++s) {
      inherit(s);
      give(before[s], s);
      for (; next != storages_.end() && next->first_task < plan_.step_starts[s + 1]; ++next)
        if (root(*next).home == Home::arena) root(*next).offset = take(rounded(root(*next).type->bytes()), s);
      give(after[s], s);
    }
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  Buffer& root(const Storage& storage) { return plan_.buffers[storage.root]; }

  FreeBlocks& pool(std::uint32_t step) {
    if (!pools_[step]) pools_[step] = std::make_unique<FreeBlocks>();
    return *pools_[step];
  }

  void inherit(std::uint32_t step) {
    for (std::uint32_t before : order_.predecessors(StepId(step))) {
      bool is_last = plan_.successors[plan_.successor_starts[before + 1] - 1] == step;
      if (is_last && pools_[before]) pool(step).give_all(*pools_[before]);
      if (is_last) pools_[before].reset();
      std::uint32_t fork = is_last ? outer_[before] : before;
      if (fork != none) outer_[step] = fork;
    }
  }

  void give(const std::vector<std::uint32_t>& storages, std::uint32_t step) {
    for (std::uint32_t i : storages)
      if (open_.end(i)) pool(step).give(root(storages_[i]).offset, rounded(root(storages_[i]).type->bytes()));
  }

  // What lies at a step, or at one right before it that has other successors still to come: where a loop updates
  // several values in each turn, the bytes of the last turn lie there.
  std::optional<std::uint64_t> take_from(std::uint32_t step, std::uint64_t bytes) {
    constexpr std::size_t most_predecessors = 8;  // bounds the work, too
    if (pools_[step])
      if (std::optional<std::uint64_t> offset = pools_[step]->take(bytes)) return offset;
    const std::span<const std::uint32_t> before = order_.predecessors(StepId(step));
    for (std::uint32_t fork : before.last(std::min(before.size(), most_predecessors)))
      if (pools_[fork])
        if (std::optional<std::uint64_t> offset = pools_[fork]->take(bytes)) return offset;
    return std::nullopt;
  }

  std::uint64_t take(std::uint64_t bytes, std::uint32_t step) {
    constexpr int far = 16;  // forks that are looked back at: bounds the work
    std::uint32_t at = step;
    for (int k = 0; k < far && at != none; ++k, at = outer_[at])
      if (std::optional<std::uint64_t> offset = take_from(at, bytes)) return *offset;
    if (std::optional<std::uint64_t> offset = open_.take(bytes, step)) return *offset;
    plan_.arena_bytes = static_cast<std::uint64_t>(
        checked_add(static_cast<std::int64_t>(plan_.arena_bytes), static_cast<std::int64_t>(bytes)));
    return plan_.arena_bytes - bytes;
  }

  Plan& plan_;
  const std::vector<Storage>& storages_;
  const StepOrder& order_;
  OpenStorages open_;
  std::vector<std::unique_ptr<FreeBlocks>> pools_;  // by step
  std::vector<std::uint32_t> outer_;                // by step: a fork before it that has successors still to come
};

// Places what lives inside one step, whose tasks run one after another: a line of tasks needs the bytes of its two
// largest neighbours.
void place_scratch(Plan& plan, const std::vector<Storage>& storages) {
  auto next = storages.begin();
  for (std::size_t s = 0; s < plan.steps(); ++s) {
    std::vector<const Storage*> alive;
    FreeBlocks pool;
    std::uint64_t top = 0;
    for (; next != storages.end() && next->first_task < plan.step_starts[s + 1]; ++next) {
      Buffer& root = plan.buffers[next->root];
      if (root.home != Home::scratch) continue;
      std::erase_if(alive, [&](const Storage* old) {
        if (old->last_task >= next->first_task) return false;
        pool.give(plan.buffers[old->root].offset, rounded(plan.buffers[old->root].type->bytes()));
        return true;
      });
      std::uint64_t bytes = rounded(root.type->bytes());
      std::optional<std::uint64_t> offset = pool.take(bytes);
      root.offset = offset ? *offset : top;
      if (!offset) top += bytes;
      alive.push_back(&*next);
    }
    plan.scratch_bytes = std::max(plan.scratch_bytes, top);
  }
}

// Bytes alive at most, when storage i lives in [begin[i], end[i]) of `moments` moments.
class Profile {
 public:
  explicit Profile(std::size_t moments) : change_(moments + 1, 0) {}
  void add(std::size_t begin, std::size_t end, std::uint64_t bytes) {
    change_[begin] += static_cast<std::int64_t>(bytes);
    change_[end] -= static_cast<std::int64_t>(bytes);
  }
  std::uint64_t peak() const {
    std::int64_t now = 0, peak = 0;
    for (std::int64_t change : change_) peak = std::max(peak, now += change);
    return static_cast<std::uint64_t>(peak);
  }

 private:
  std::vector<std::int64_t> change_;
};

void measure(Plan& plan, const std::vector<Storage>& storages) {
  Profile by_step(plan.steps()), by_task(plan.tasks.size());
  std::vector<std::uint32_t> step_of(plan.tasks.size());
  for (std::uint32_t s = 0; s < plan.steps(); ++s)
    std::fill(step_of.begin() + plan.step_starts[s], step_of.begin() + plan.step_starts[s + 1], s);
  for (const Storage& storage : storages) {
    const Buffer& root = plan.buffers[storage.root];
    std::uint64_t bytes = root.type->bytes();
    by_task.add(storage.first_task, storage.kept ? plan.tasks.size() : storage.last_task + 1, bytes);
    if (root.home == Home::scratch) continue;
    by_step.add(step_of[storage.first_task], storage.kept ? plan.steps() : step_of[storage.last_task] + 1, bytes);
  }
  plan.peak_bytes = by_step.peak();
  plan.peak_without_chains = by_task.peak();
}

}  // namespace

void place_buffers(Plan& plan, const PlanOptions& options) {
  bool has_bytes =
      std::any_of(plan.types.begin(), plan.types.end(), [](const auto& type) { return type->bytes() > 0; });
  if (!has_bytes) return;
  StepOrder order(plan);
  std::vector<Storage> storages = share_buffers(plan, options, order);
  Arena(plan, storages, order, options.reuse).place();
  place_scratch(plan, storages);
  measure(plan, storages);
  for (Buffer& buffer : plan.buffers)  // a buffer that shares stands behind the one it shares with
    if (buffer.shares != UINT32_MAX) buffer.offset = plan.buffers[buffer.shares].offset;
}

}  // namespace taskspec
