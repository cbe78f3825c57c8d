#include "interp/mpi/shard_waits.hpp"

#include <algorithm>
#include <ctime>

#include "ir/base/diag.hpp"

namespace taskspec {

namespace {

// Who waits looks around much sooner again.
constexpr auto anew_after = std::chrono::milliseconds(200);

std::int64_t number_of(ShardWaits::Clock::time_point time) { return time.time_since_epoch().count(); }

}  // namespace

void ShardWaits::Shard::waits(const char* what, std::uint64_t call, Clock::time_point now) {
  const std::int64_t before = looked_at_.exchange(number_of(now), std::memory_order_relaxed);
  const bool is_other = what_.exchange(what, std::memory_order_relaxed) != what;
  const bool has_called = call_.exchange(call, std::memory_order_relaxed) != call;
  if (is_other || has_called || number_of(now) - before > Clock::duration(anew_after).count())
    came_.fetch_add(1, std::memory_order_relaxed);
}

void ShardWaits::Shard::calls(std::uint64_t number, Span span, Clock::time_point now) {
  called_at_.store(number_of(now), std::memory_order_relaxed);
  last_call_.store(number, std::memory_order_relaxed);
  source_.store(span.source.value, std::memory_order_relaxed);
  begin_.store(span.begin, std::memory_order_relaxed);
  end_.store(span.end, std::memory_order_relaxed);
  steps();
}

// By one thread alone: no more than a load and a store.
void ShardWaits::Shard::steps() { done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

void ShardWaits::Shard::set_elsewhere(bool elsewhere, Clock::time_point now) {
  called_at_.store(number_of(now), std::memory_order_relaxed);
  is_elsewhere_.store(elsewhere, std::memory_order_relaxed);
}

ShardWaits::Shard& ShardWaits::of(ShardId shard) {
  const auto at = std::ranges::find_if(shards_, [&](const Shard& one) { return one.id_ == shard; });
  if (at == shards_.end()) bug("a shard that is not here");
  return *at;
}

bool ShardWaits::is_running(Clock::time_point now) const {
  return std::ranges::any_of(shards_, [&](const Shard& shard) {
    return !shard.has_ended_ &&
           (shard.is_elsewhere_.load(std::memory_order_relaxed) ||
            number_of(now) - shard.looked_at_.load(std::memory_order_relaxed) > computes_after.count());
  });
}

std::optional<ShardWaits::Silence> ShardWaits::longest(Clock::time_point now) const {
  std::optional<Silence> longest;
  for (const Shard& shard : shards_) {
    if (shard.has_ended_ || shard.is_elsewhere_.load(std::memory_order_relaxed)) continue;
    const std::int64_t heard_at =
        std::max(shard.looked_at_.load(std::memory_order_relaxed), shard.called_at_.load(std::memory_order_relaxed));
    const Clock::duration time(number_of(now) - heard_at);
    if (longest && longest->time >= time) continue;
    longest = Silence{
        shard.id_, time, shard.last_call_, {SourceId(shard.source_.load()), shard.begin_.load(), shard.end_.load()}};
  }
  return longest;
}

std::uint64_t ShardWaits::done() const {
  std::uint64_t done = 0;
  for (const Shard& shard : shards_) done += shard.done_.load(std::memory_order_relaxed);
  return done;
}

ShardWaits::Clock::time_point ShardWaits::coarse_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // the clock of Clock, as it was at its last tick
  return Clock::time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

std::uint64_t ShardWaits::steps() const {
  std::uint64_t steps = done();
  for (const Shard& shard : shards_) steps += shard.came_.load(std::memory_order_relaxed);
  return steps;
}

std::string ShardWaits::text() const {
  std::string text;
  for (const Shard& shard : shards_) {
    text += "shard " + std::to_string(shard.id_.value);
    if (shard.has_ended_)
      text += " has ended\n";
    else if (shard.is_elsewhere_)
      text += " is in a run inside of this one\n";
    else
      text +=
          " waits for " + std::string(shard.what_.load()) + ", after call " + std::to_string(shard.call_.load()) + "\n";
  }
  return text;
}

}  // namespace taskspec
