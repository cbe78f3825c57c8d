#include "interp/shards/traces/signature.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {
namespace {

std::uint32_t place_of(std::uint64_t number, std::span<const std::uint64_t> before) {
  const auto found = std::lower_bound(before.begin(), before.end(), number);
  if (number == 0 || found == before.end() || *found != number) return SignatureItem::long_ago;
  return static_cast<std::uint32_t>(found - before.begin());
}

std::string text(const SignatureItem& item, std::size_t length, const KeyTable& keys) {
  if (item.is_fence) return "a fence";
  const std::string of = item.key.valid() ? keys[item.key].use.name : "";
  const char* what = item.privilege == Privilege::in       ? "a read"
                     : item.privilege == Privilege::reduce ? "a reduction"
                                                           : "a write";
  const std::string when =
      item.at == SignatureItem::long_ago ? "long ago" : fmt::format("{} operations back", length - item.at);
  return fmt::format("{} of {}{}, {}", what, of.empty() ? "a region" : of,
                     item.is_exact ? " that nobody has covered" : "", when);
}

}  // namespace

void add_to_signature(TraceSignature& signature, std::uint32_t lane, const LaneState& state,
                      std::span<const LaneUse> uses, std::span<const std::uint64_t> before) {
  // What a use takes was written since by the same points, which have waited for whatever is long ago.
  const auto stands_between = [&](KeyId key) {
    return std::any_of(state.exact.begin(), state.exact.end(), [&](const ExactLists::User& user) {
      return user.key == key && user.privilege != Privilege::in && user.privilege != Privilege::reduce &&
             place_of(user.ops.last(), before) != SignatureItem::long_ago;
    });
  };
  for (const auto& [place, entry] : state.coarse)
    if (entry.is_fence)
      signature.push_back({.lane = lane, .is_fence = true, .place = place, .key = {}});
    else
      signature.push_back({.lane = lane,
                           .place = place,
                           .key = entry.key,
                           .privilege = entry.privilege,
                           .reduce = entry.reduce,
                           .at = place_of(entry.op, before)});
  for (const ExactLists::User& user : state.exact) {
    const auto matters = [&](const LaneUse& use) {
      return hazard(user.privilege, user.reduce, use.privilege, use.reduce) != Hazard::none;
    };
    if (std::none_of(uses.begin(), uses.end(), matters)) continue;
    SignatureItem item{
        .lane = lane, .is_exact = true, .key = user.key, .privilege = user.privilege, .reduce = user.reduce};
    // Of a run the newest may be within reach.
    OperationRun old = user.ops;
    for (; old.count > 0; --old.count) {
      item.at = place_of(old.last(), before);
      if (item.at == SignatureItem::long_ago) break;
      signature.push_back(item);
    }
    const auto matters_now = [&](const LaneUse& use) { return matters(use) && !stands_between(use.key); };
    if (old.count == 0 || std::none_of(uses.begin(), uses.end(), matters_now)) continue;
    item.at = SignatureItem::long_ago;
    item.old = old;
    if (old.count == 1) item.old.stride = 0;
    signature.push_back(item);
  }
}

void put_in_order(TraceSignature& signature) {
  std::sort(signature.begin(), signature.end());
  signature.erase(std::unique(signature.begin(), signature.end()), signature.end());
}

SignatureDifference first_difference(const TraceSignature& present, const TraceSignature& of_template,
                                     std::span<const LaneKey> lanes, std::size_t length, const RegionForest& forest,
                                     const KeyTable& keys) {
  const auto [here, there] = std::mismatch(present.begin(), present.end(), of_template.begin(), of_template.end());
  if (here == present.end() && there == of_template.end()) return {};
  const bool is_present = there == of_template.end() || (here != present.end() && *here < *there);
  const SignatureItem& item = is_present ? *here : *there;
  const Region& region = forest[lanes[item.lane].root];
  const std::string lane = region.name + "." + region.fields[lanes[item.lane].field].name;
  const bool is_near = !item.is_fence && item.at != SignatureItem::long_ago;
  const std::string one = text(item, length, keys);
  return {is_present ? fmt::format("{}: there is {}, and the template has none", lane, one)
                     : fmt::format("{}: the template has {}, and there is none", lane, one),
          is_near ? length - item.at : 0};
}

}  // namespace taskspec
