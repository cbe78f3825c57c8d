#include "interp/shards/analysis/exact_lists.hpp"

#include <algorithm>

namespace taskspec {

// Not by contributions, of which several stand side by side.
static bool is_write(Privilege privilege) { return privilege == Privilege::out || privilege == Privilege::inout; }

bool OperationRun::add(std::uint64_t op) {
  if (count == 1 ? op <= first : op != last() + stride) return false;
  if (count == 1) stride = op - first;
  ++count;
  return true;
}

OperationRun OperationRun::behind(std::uint64_t op) const {
  if (op < first) return *this;
  const std::uint64_t before = count == 1 || op >= last() ? count : (op - first) / stride + 1;
  return {first + before * stride, stride, count - before};
}

ExactLists::Users& ExactLists::users(LaneKey lane) {
  if (lanes_.size() <= lane.root.index()) lanes_.resize(lane.root.index() + 1);
  auto& fields = lanes_[lane.root.index()];
  if (fields.size() <= lane.field) fields.resize(lane.field + 1);
  return fields[lane.field];
}

void ExactLists::add(Users& users, const User& user) {
  // Writes of one key cover one another: only what does not write alone can be there already.
  if (user.ops.count == 1 && !is_write(user.privilege))
    for (User& known : users)
      if (known.key == user.key && known.privilege == user.privilege && known.reduce == user.reduce &&
          known.ops.add(user.ops.first))
        return;
  users.push_back(user);
}

ExactLists::Found ExactLists::enter(const Operation& op) {
  Found found;
  found.keys.reserve(op.uses.size());
  for (const LaunchUse& use : op.uses) found.keys.push_back(keys_.of(op, use));
  auto each = [&](auto visit) {
    for (std::uint32_t i = 0; i < op.uses.size(); ++i)
      op.uses[i].fields.each([&](std::uint32_t field) { visit(i, op.uses[i], users({op.uses[i].space.root, field})); });
  };
  each([&](std::uint32_t i, const LaunchUse& use, Users& users) {
    // Point by point, an equal write has waited already for all that stood before it: what a loop leaves uncovered
    // piles up, and is asked for once.
    std::uint64_t has_waited = 0;
    if (is_write(use.privilege))
      for (const User& user : users)
        if (user.key == found.keys[i] && is_write(user.privilege)) has_waited = std::max(has_waited, user.ops.last());
    for (const User& user : users) {
      ++entries_;
      const Hazard why = hazard(user.privilege, user.reduce, use.privilege, use.op);
      if (why == Hazard::none) continue;
      const OperationRun ops = has_waited > user.ops.first ? user.ops.behind(has_waited - 1) : user.ops;
      if (ops.count > 0) found.sources.push_back({ops, user.key, i, why});
    }
  });
  // The fine stage comes upon edges in their order then, mostly.
  std::sort(found.sources.begin(), found.sources.end(),
            [](const Source& a, const Source& b) { return a.ops.first < b.ops.first; });
  each([&](std::uint32_t i, const LaunchUse& use, Users& users) {
    if (!is_write(use.privilege)) return;
    std::erase_if(users, [&](const User& user) { return covers(found.keys[i], user.key); });
  });
  each([&](std::uint32_t i, const LaunchUse& use, Users& users) {
    add(users, {{op.number}, found.keys[i], use.privilege, use.op});
  });
  return found;
}

bool ExactLists::covers(KeyId later, KeyId earlier) {
  if (later == earlier) return true;
  const auto [known, is_new] = covered_.try_emplace(std::uint64_t{later.value} << 32 | earlier.value, false);
  if (is_new && covers_bound(forest_, keys_[later])) {
    const Space outer = bound(forest_, keys_[later].use), inner = bound(forest_, keys_[earlier].use);
    known->second = outer.root == inner.root && forest_.common_ancestor(outer, inner) == outer;
  }
  return known->second;
}

bool ExactLists::names(RegionId root, PartitionId partition) const {
  return root.index() < lanes_.size() && std::ranges::any_of(lanes_[root.index()], [&](const Users& users) {
           return std::ranges::any_of(users,
                                      [&](const User& user) { return taskspec::names(keys_[user.key], partition); });
         });
}

void ExactLists::forget(std::span<const KeyId> gone) {
  std::erase_if(covered_, [&](const auto& pair) {
    return std::ranges::binary_search(gone, KeyId(static_cast<std::uint32_t>(pair.first))) ||
           std::ranges::binary_search(gone, KeyId(static_cast<std::uint32_t>(pair.first >> 32)));
  });
}

std::size_t ExactLists::bytes() const {
  std::size_t bytes = covered_.size() * 40;
  for (const auto& fields : lanes_)
    for (const Users& users : fields) bytes += users.capacity() * sizeof(User);
  return bytes;
}

}  // namespace taskspec
