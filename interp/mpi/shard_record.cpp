#include "interp/mpi/shard_record.hpp"

#include <algorithm>
#include <array>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_bars_of_all = 60'000;
// Shorter ones than this long after one of the same kind are one bar with it.
constexpr std::int64_t close_together = 20'000;

bool interferes(const LaunchUse& a, const LaunchUse& b) {
  if (!(a.space.root == b.space.root) || (a.privilege == Privilege::in && b.privilege == Privilege::in)) return false;
  if (a.privilege == Privilege::reduce && b.privilege == Privilege::reduce && a.op == b.op) return false;
  return a.fields.meets(b.fields);
}

}  // namespace

ShardRecord::ShardRecord(const RegionForest& forest, std::size_t shards, Clock::time_point begin)
    : forest_(&forest), begin_(begin), most_bars_(most_bars_of_all / std::max<std::size_t>(shards, 1)), to_(shards) {}

ShardRecord::Call* ShardRecord::call(std::uint64_t number) {
  const auto at = std::ranges::lower_bound(calls_, number, {}, &Call::number);
  return at != calls_.end() && at->number == number ? &*at : nullptr;
}

void ShardRecord::called(std::uint64_t number, std::string what, Span place, Hash128 hash) {
  ++all_calls_;
  if (calls_.size() < most_calls) calls_.push_back({number, std::move(what), place, hash, 0, {}, false, 0, {}});
}

// Which clause of the rule decides: equal domains and shardings, one partition and projection, pieces that are disjoint
// and taken once each.
std::string ShardRecord::reason(const Operation& earlier, const Operation& later, bool is_fence) const {
  for (const LaunchUse& a : earlier.uses)
    for (const LaunchUse& b : later.uses) {
      if (!interferes(a, b)) continue;
      std::string field;
      a.fields.each([&](std::uint32_t one) {
        if (field.empty() && b.fields.has(one)) field = (*forest_)[a.space.root].fields[one].name;
      });
      const std::string of = field + ": ";
      const PointSharding& s = earlier.sharding;
      if (!is_fence) {
        if (s.kind == PointSharding::Kind::owner && s == later.sharding) return of + "both are on one shard";
        if (earlier.domain != later.domain || a.partition != b.partition || !(a.projection == b.projection))
          return of + "points of equal number alone may meet, each on its own shard";
        return of + "each point takes the piece that it took before, on its own shard";
      }
      if (later.by_owners) return of + "it is received, from all shards";
      if (!a.partition.valid() || !b.partition.valid()) return of + "a whole region or piece is used";
      if (earlier.domain != later.domain) return of + "the launches have other domains";
      if (!(s == later.sharding)) return of + "points of the launches are on other shards";
      if (a.partition != b.partition) return of + "pieces of two partitions meet";
      if (!(a.projection == b.projection)) return of + "points take other pieces of the partition";
      if (!forest_->disjoint(b.partition)) return of + "pieces of the partition overlap";
      if (!b.projection.injective(later.domain)) return of + "several points take one piece";
      return of + "an older fence, or a long list";
    }
  return is_fence ? "it stands behind a fence" : "";
}

void ShardRecord::coarse(const Operation& op, const CoarseResult& found) {
  Call* const call = this->call(op.number);
  if (!call) return;
  call->points = op.domain.size();
  call->orders.clear();
  const auto add = [&](std::uint64_t before, bool is_fence) {
    if (call->orders.size() == most_orders) return;
    const auto known = operations_.find(before);
    if (known != operations_.end()) call->orders.push_back({before, is_fence, reason(known->second, op, is_fence)});
  };
  if (found.has_fence)
    for (const std::uint64_t before : found.arrives_after) add(before, true);
  for (const std::uint64_t before : found.local) add(before, false);
  if (found.has_fence && (call->orders.empty() || !call->orders.front().is_fence))
    call->orders.insert(call->orders.begin(), {0, true, "what all shards did before"});
  operations_.insert_or_assign(op.number, op);
}

void ShardRecord::found(const Operation& op, const FineResult& found) {
  Call* const call = this->call(op.number);
  if (!call) return;
  call->points = op.domain.size();
  call->own = found.own.size();
  call->is_replayed = call->is_replayed || found.is_dispatched;
  call->edges.clear();
  for (const PointEdge& edge : found.edges) {
    const auto known = std::ranges::find(call->edges, edge.from.op, &Edge::from);
    if (known != call->edges.end())
      ++known->count;
    else if (call->edges.size() < most_edges)
      call->edges.push_back({edge.from.op, 1});
  }
}

void ShardRecord::replayed(const Operation& op, const TemplateCall& of) {
  Call* const call = this->call(op.number);
  if (!call) return;
  call->points = op.domain.size();
  call->own = of.own.size();
  call->is_replayed = true;
}

void ShardRecord::sent(ShardId to, std::size_t bytes) {
  ++to_[to.index()].messages;
  to_[to.index()].bytes += bytes;
}

void ShardRecord::spent(Bar what, std::uint64_t call, std::int64_t begin, std::int64_t end) {
  totals_[static_cast<std::size_t>(what)] += end - begin;
  if (!bars_.empty() && bars_.back().what == what && begin - bars_.back().end < close_together) {
    bars_.back().end = end;
    return;
  }
  ++all_bars_;
  if (bars_.size() < most_bars_) bars_.push_back({what, call, begin, end});
}

Bytes ShardRecord::packed() const {
  Bytes made;
  ByteWriter out(made);
  out.put(all_calls_).put(all_bars_).put(static_cast<std::uint64_t>(calls_.size()));
  for (const Call& call : calls_) {
    out.put(call.number).text(call.what).put(call.place.source.value).put(call.place.begin).put(call.place.end);
    out.put(call.hash.low)
        .put(call.hash.high)
        .put(call.points)
        .put(static_cast<std::uint8_t>(call.is_replayed))
        .put(call.own);
    out.put(static_cast<std::uint64_t>(call.orders.size()));
    for (const Order& order : call.orders)
      out.put(order.before).put(static_cast<std::uint8_t>(order.is_fence)).text(order.why);
    out.put(static_cast<std::uint64_t>(call.edges.size()));
    for (const Edge& edge : call.edges) out.put(edge.from).put(edge.count);
  }
  out.put(static_cast<std::uint64_t>(bars_.size()));
  for (const Spent& bar : bars_) out.put(bar.what).put(bar.call).put(bar.begin).put(bar.end);
  out.put(static_cast<std::uint64_t>(to_.size()));
  for (const Sent& sent : to_) out.put(sent.messages).put(sent.bytes);
  for (const std::int64_t total : totals_) out.put(total);
  for (const std::uint64_t count : work) out.put(count);
  return made;
}

ShardRecord ShardRecord::unpacked(const Bytes& bytes) {
  static const RegionForest none;
  ShardRecord made(none, 0);
  ByteReader in(bytes);
  made.all_calls_ = in.get<std::uint64_t>();
  made.all_bars_ = in.get<std::uint64_t>();
  for (auto left = in.get<std::uint64_t>(); left > 0 && in.ok(); --left) {
    Call& call = made.calls_.emplace_back();
    call.number = in.get<std::uint64_t>();
    call.what = in.text();
    call.place.source.value = in.get<decltype(call.place.source.value)>();
    call.place.begin = in.get<decltype(call.place.begin)>();
    call.place.end = in.get<decltype(call.place.end)>();
    call.hash.low = in.get<std::uint64_t>();
    call.hash.high = in.get<std::uint64_t>();
    call.points = in.get<std::int64_t>();
    call.is_replayed = in.get<std::uint8_t>() != 0;
    call.own = in.get<std::uint64_t>();
    for (auto orders = in.get<std::uint64_t>(); orders > 0 && in.ok(); --orders) {
      Order& order = call.orders.emplace_back();
      order.before = in.get<std::uint64_t>();
      order.is_fence = in.get<std::uint8_t>() != 0;
      order.why = in.text();
    }
    for (auto edges = in.get<std::uint64_t>(); edges > 0 && in.ok(); --edges) {
      const auto from = in.get<std::uint64_t>();
      call.edges.push_back({from, in.get<std::uint64_t>()});
    }
  }
  for (auto left = in.get<std::uint64_t>(); left > 0 && in.ok(); --left) {
    Spent& bar = made.bars_.emplace_back();
    bar.what = in.get<Bar>();
    bar.call = in.get<std::uint64_t>();
    bar.begin = in.get<std::int64_t>();
    bar.end = in.get<std::int64_t>();
  }
  for (auto left = in.get<std::uint64_t>(); left > 0 && in.ok(); --left) {
    const auto messages = in.get<std::uint64_t>();
    made.to_.push_back({messages, in.get<std::uint64_t>()});
  }
  for (std::int64_t& total : made.totals_) total = in.get<std::int64_t>();
  for (std::uint64_t& count : made.work) count = in.get<std::uint64_t>();
  return made;
}

void ShardRecord::ran(std::uint64_t call, std::int64_t begin, std::int64_t waited_before) {
  const std::int64_t end = now(), waited = total(Bar::contents) - waited_before;
  spent(Bar::run, call, begin, end);
  totals_[static_cast<std::size_t>(Bar::run)] -= waited;
}

void RecordedTransport::wait(std::int64_t nanoseconds) {
  const std::int64_t begin = record_.now();
  to_.wait(nanoseconds);
  record_.spent(record_.waits_for, record_.newest(), begin, record_.now());
}

void RecordedTransport::send(ShardMessage message) {
  if (message.purpose == Purpose::data) record_.sent(message.to, message.payload.size());
  to_.send(std::move(message));
}

}  // namespace taskspec
