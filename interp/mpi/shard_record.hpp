// What one shard of a run did, kept where somebody will look at it (tab Shards): its calls, what each of them had to
// wait for and why, its own part of the graph, what it sent to whom, and when it ran and waited. The first calls and
// bars are kept one by one; counts go on.
//
//   ShardRecord record(forest, ShardId(0));
//   record.called(17, "launch stencil", place);  record.coarse(op, found);  record.found(op, fine);
//   const Bytes packed = record.packed();
#pragma once
#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <unordered_map>

#include "interp/shards/analysis/coarse.hpp"
#include "interp/shards/analysis/fine.hpp"
#include "interp/shards/bytes.hpp"
#include "interp/shards/traces/template.hpp"
#include "interp/shards/transport/transport.hpp"
#include "ir/base/source.hpp"

namespace taskspec {

class ShardRecord {
 public:
  // A wait that the call could not be spared, or one that it was, with the call before it and the reason.
  struct Order {
    std::uint64_t before = 0;
    bool is_fence = false;
    std::string why;
  };
  struct Edge {
    std::uint64_t from = 0;   // a call
    std::uint64_t count = 0;  // of its points that own points of this one wait for
  };
  struct Call {
    std::uint64_t number = 0;
    std::string what;
    Span place;
    Hash128 hash;             // of all calls up to it; zero where nothing is hashed
    std::int64_t points = 0;  // of the domain; 0: no operation on regions
    std::vector<Order> orders;
    bool is_replayed = false;
    std::uint64_t own = 0;  // points of this shard
    std::vector<Edge> edges;
  };
  enum class Bar : std::uint8_t { run, fences, check, contents, others };
  struct Spent {
    Bar what{};
    std::uint64_t call = 0;
    std::int64_t begin = 0, end = 0;  // nanoseconds since the run began in this process
  };
  struct Sent {
    std::uint64_t messages = 0, bytes = 0;
  };
  // What the analysis came to: what it looked at, what it found, what it asked of memory and what it holds at the end.
  static constexpr std::array<std::string_view, 12> work_names = {
      "coarse_steps", "coarse_entries", "elided_more", "fine_steps",      "fine_entries", "edges",
      "plans",        "plan_points",    "allocations", "allocated_bytes", "bytes",        "packed_elements"};
  using Work = std::array<std::uint64_t, work_names.size()>;

  using Clock = std::chrono::steady_clock;
  // Times count from `begin`, which all shards of a process share.
  ShardRecord(const RegionForest& forest, std::size_t shards, Clock::time_point begin = Clock::now());

  void called(std::uint64_t number, std::string what, Span place, Hash128 hash = {});
  void coarse(const Operation& op, const CoarseResult& found);
  void found(const Operation& op, const FineResult& found);
  void replayed(const Operation& op, const TemplateCall& call);
  void sent(ShardId to, std::size_t bytes);
  std::int64_t now() const { return (Clock::now() - begin_).count(); }
  void spent(Bar what, std::uint64_t call, std::int64_t begin, std::int64_t end);
  // A batch, which may have waited for contents meanwhile: that is not counted as running.
  void ran(std::uint64_t call, std::int64_t begin, std::int64_t waited_before);
  Bar waits_for = Bar::contents;  // the next waits of this shard
  Work work{};
  std::uint64_t newest() const { return all_calls_; }

  Bytes packed() const;
  static ShardRecord unpacked(const Bytes& bytes);

  const std::deque<Call>& calls() const { return calls_; }
  const std::vector<Spent>& bars() const { return bars_; }
  const std::vector<Sent>& to() const { return to_; }
  std::uint64_t all_calls() const { return all_calls_; }
  std::uint64_t all_bars() const { return all_bars_; }
  // Of each kind, in nanoseconds, also of what is not kept.
  std::int64_t total(Bar what) const { return totals_[static_cast<std::size_t>(what)]; }

  static constexpr std::size_t most_calls = 400, most_orders = 8, most_edges = 8;

 private:
  Call* call(std::uint64_t number);  // null: it is not kept
  std::string reason(const Operation& earlier, const Operation& later, bool is_fence) const;

  const RegionForest* forest_ = nullptr;
  Clock::time_point begin_;
  std::size_t most_bars_ = 0;
  std::deque<Call> calls_;
  std::unordered_map<std::uint64_t, Operation> operations_;  // of those that are kept
  std::vector<Spent> bars_;
  std::vector<Sent> to_;  // by shard
  std::uint64_t all_calls_ = 0, all_bars_ = 0;
  std::array<std::int64_t, 5> totals_{};
};

// Passes everything on, and tells a record of the contents that are sent.
class RecordedTransport final : public Transport {
 public:
  RecordedTransport(Transport& to, ShardRecord& record) : to_(to), record_(record) {}
  ShardId self() const override { return to_.self(); }
  std::size_t shards() const override { return to_.shards(); }
  void send(ShardMessage message) override;
  std::optional<ShardMessage> receive() override { return to_.receive(); }
  void wait(std::int64_t nanoseconds) override;
  void wake() override { to_.wake(); }
  std::optional<ShardId> lost() const override { return to_.lost(); }

 private:
  Transport& to_;
  ShardRecord& record_;
};

}  // namespace taskspec
