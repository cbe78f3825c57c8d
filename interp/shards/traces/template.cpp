#include "interp/shards/traces/template.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"

namespace taskspec {

std::uint32_t TraceTemplate::operation(std::uint64_t token, const Operation& op) {
  const auto index = static_cast<std::uint32_t>(ops.size());
  steps.push_back({token, index});
  ops.push_back({.kind = op.kind, .lanes = {}, .found = {}, .edges = {}});
  return index;
}

std::uint32_t TraceTemplate::lane(LaneKey key, bool& is_new) {
  const auto known = std::find(lane_keys.begin(), lane_keys.end(), key);
  is_new = known == lane_keys.end();
  if (!is_new) return static_cast<std::uint32_t>(known - lane_keys.begin());
  lane_keys.push_back(key);
  lanes.emplace_back();
  return static_cast<std::uint32_t>(lanes.size() - 1);
}

void TraceTemplate::use(std::uint32_t op, LaneKey lane_key, const LaunchUse& use, KeyId key) {
  bool is_new = false;
  const std::uint32_t at = lane(lane_key, is_new);
  if (std::find(ops[op].lanes.begin(), ops[op].lanes.end(), at) == ops[op].lanes.end()) ops[op].lanes.push_back(at);
  lanes[at].uses.push_back({key, use.privilege, use.op});
}

bool TraceTemplate::names(FunctionRef<bool(KeyId)> key, FunctionRef<bool(LaneKey, LaneTree::Place)> place) const {
  for (const SignatureItem& item : entry)
    if (key(item.key) || (!item.is_exact && place(lane_keys[item.lane], item.place))) return true;
  for (std::size_t at = 0; at < lanes.size(); ++at) {
    const Lane& lane = lanes[at];
    for (const LaneUse& use : lane.uses)
      if (key(use.key)) return true;
    for (const LaneState* state : {&lane.before, &lane.after}) {
      for (const auto& [of, entry_there] : state->coarse)
        if (key(entry_there.key) || place(lane_keys[at], of)) return true;
      for (const ExactLists::User& user : state->exact)
        if (key(user.key)) return true;
    }
    for (const auto& [op, user] : lane.left)
      if (key(user.key)) return true;
  }
  return false;
}

void TraceTemplate::learn(std::uint32_t op, const FineResult& found) {
  ops[op].found = found;
  ops[op].is_known = true;
}

void TraceTemplate::finish(std::span<const std::uint64_t> before, std::span<const std::uint64_t> own,
                           ExactLists& lists) {
  window_.assign(before.begin(), before.end());
  window_.insert(window_.end(), own.begin(), own.end());
  TraceSignature exit;
  for (std::uint32_t at = 0; at < lanes.size(); ++at) {
    Lane& lane = lanes[at];
    add_to_signature(entry, at, lane.before, lane.uses, before);
    add_to_signature(exit, at, lane.after, lane.uses, own);
    lane.before = {};
    for (const ExactLists::User& user : lane.after.exact)
      for (std::uint64_t i = user.ops.count; i-- > 0 && user.ops[i] >= own.front();) {
        const auto found = std::lower_bound(own.begin(), own.end(), user.ops[i]);
        lane.left.push_back({static_cast<std::uint32_t>(found - own.begin()), user});
        lane.piles_up.push_back(std::none_of(lane.uses.begin(), lane.uses.end(), [&](const LaneUse& use) {
          return use.privilege != Privilege::in && use.privilege != Privilege::reduce &&
                 lists.covers(use.key, user.key);
        }));
        piles_up = piles_up || lane.piles_up.back();
      }
    lane.after.exact.clear();
    // What is older than the execution is so for ever; fences in it have passed, as the one at the exit comes later.
    for (auto& [place, entry_after] : lane.after.coarse) {
      const auto found = std::lower_bound(own.begin(), own.end(), entry_after.op);
      const bool is_own = !entry_after.is_fence && found != own.end() && *found == entry_after.op;
      entry_after.op = is_own ? static_cast<std::uint64_t>(found - own.begin()) : no_op;
    }
  }
  put_in_order(entry);
  put_in_order(exit);
  follows_itself = leaves_what_it_found(exit);
}

// Edges from an older user that the next execution would find, and this one does not have, are not needed where the
// template has an equal use: that one stands between them. Edges that it has from users that have been covered since
// are true all the same.
bool TraceTemplate::leaves_what_it_found(const TraceSignature& exit) const {
  auto is_old = [](const SignatureItem& item) { return item.is_exact && item.at == SignatureItem::long_ago; };
  TraceSignature near, near_after;
  auto is_near = [&](const SignatureItem& item) { return !is_old(item); };
  std::copy_if(entry.begin(), entry.end(), std::back_inserter(near), is_near);
  std::copy_if(exit.begin(), exit.end(), std::back_inserter(near_after), is_near);
  return near == near_after && std::all_of(exit.begin(), exit.end(), [&](const SignatureItem& item) {
           const std::vector<LaneUse>& uses = lanes[item.lane].uses;
           return !is_old(item) || std::binary_search(entry.begin(), entry.end(), item) ||
                  std::any_of(uses.begin(), uses.end(), [&](const LaneUse& use) {
                    return use.key == item.key && use.privilege == item.privilege && use.reduce == item.reduce;
                  });
         });
}

const TraceTemplate::Op& TraceTemplate::relative(std::uint32_t index) {
  Op& op = ops[index];
  if (op.is_relative) return op;
  if (!op.is_known) bug("a call is replayed before it has been analysed");
  const std::size_t length = ops.size();
  op.edges.reserve(op.found.edges.size());
  for (const PointEdge& edge : op.found.edges) {
    const auto found = std::lower_bound(window_.begin(), window_.end(), edge.from.op);
    std::size_t from = static_cast<std::size_t>(found - window_.begin());
    if (found == window_.end() || *found != edge.from.op) {
      const auto known = std::find(others.begin(), others.end(), edge.from.op);
      from = 2 * length + static_cast<std::size_t>(known - others.begin());
      if (known == others.end()) others.push_back(edge.from.op);
    }
    op.edges.push_back({static_cast<std::uint32_t>(from), edge.from.point, edge.to.point, edge.why});
  }
  op.found.edges = {};
  op.is_relative = true;
  return op;
}

TraceSignature TraceTemplate::signature(std::span<const LaneState> states,
                                        std::span<const std::uint64_t> before) const {
  TraceSignature signature;
  for (std::uint32_t at = 0; at < lanes.size(); ++at)
    add_to_signature(signature, at, states[at], lanes[at].uses, before);
  put_in_order(signature);
  return signature;
}

}  // namespace taskspec
