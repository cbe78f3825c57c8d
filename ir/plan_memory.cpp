#include "ir/plan_memory.hpp"

#include <algorithm>
#include <memory>

#include "ir/free_blocks.hpp"

namespace taskspec {

namespace {

using Home = Buffer::Home;
constexpr std::uint64_t line = 64;  // values begin at cache lines, so that no two steps write to one

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + line - 1) / line * line; }

// Places what lives longer than its step. Free bytes lie at a step, where everybody who ever touched them is that
// step or before it, until a later one takes them: what it needs itself, and as the last successor all that is left.
// So whoever takes bytes comes after all their users, however the steps are spread over workers.
class Arena {
 public:
  Arena(Plan& plan, const std::vector<Storage>& storages, const StepOrder& order)
      : plan_(plan), storages_(storages), order_(order), pools_(plan.steps()), outer_(plan.steps(), none) {}

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
      pool(step).give(root(storages_[i]).offset, rounded(root(storages_[i]).type->bytes()));
  }

  std::uint64_t take(std::uint64_t bytes, std::uint32_t step) {
    constexpr int far = 16;  // forks that are looked back at: bounds the work
    for (int k = 0; k < far && step != none; ++k, step = outer_[step])
      if (pools_[step])
        if (std::optional<std::uint64_t> offset = pools_[step]->take(bytes)) return *offset;
    plan_.arena_bytes = static_cast<std::uint64_t>(
        checked_add(static_cast<std::int64_t>(plan_.arena_bytes), static_cast<std::int64_t>(bytes)));
    return plan_.arena_bytes - bytes;
  }

  Plan& plan_;
  const std::vector<Storage>& storages_;
  const StepOrder& order_;
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
  Arena(plan, storages, order).place();
  place_scratch(plan, storages);
  measure(plan, storages);
  for (Buffer& buffer : plan.buffers)  // a buffer that shares stands behind the one it shares with
    if (buffer.shares != UINT32_MAX) buffer.offset = plan.buffers[buffer.shares].offset;
}

}  // namespace taskspec
