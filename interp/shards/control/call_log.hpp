// The calls that a shard has made: the newest 4,096 with their arguments and lines, and the hash of all.
//
//   CallLog log(CallLog::Hashes::chained);
//   const std::uint64_t number = log.record(CallKind::launch, "stencil", arguments, span);    // from 1
#pragma once
#include <array>

#include "interp/shards/control/call.hpp"

namespace taskspec {

class CallLog {
 public:
  static constexpr std::uint64_t kept = 4096;
  enum class Hashes : std::uint8_t { none, chained };
  struct Call {
    CallKind kind{};
    Span span;
    std::string name;  // of what was called
    Hash128 hash;      // of all calls up to it; zero without hashes
    Bytes arguments;
    std::vector<CallArguments::Mark> marks;
  };

  explicit CallLog(Hashes hashes) : hashes_(hashes), entries_(kept), texts_(kept) {}

  std::uint64_t record(CallKind kind, std::string_view name, CallArguments& arguments, Span span);
  struct Repeated {
    CallKind kind{};
    Span span;
    std::string name;
    std::uint64_t id = 0;     // not 0; equal: they differ in the numbers alone
    CallArguments arguments;  // as they were the last time
    struct Number {
      CallArguments::Number place;
      std::size_t value = 0;  // which one it is of those that the call is given
    };
    std::vector<Number> numbers;
  };
  std::uint64_t record_again(Repeated& which, std::span<const std::uint64_t> values);
  std::uint64_t last() const { return last_; }                                 // 0: none yet
  std::uint64_t first() const { return last_ < kept ? 1 : last_ - kept + 1; }  // the oldest that is kept
  bool has(std::uint64_t number) const { return number >= first() && number <= last_; }
  Call operator[](std::uint64_t number) const;  // as it was made
  const Hash128& hash(std::uint64_t number) const { return entries_[number % kept].hash; }
  bool is_hashed() const { return hashes_ == Hashes::chained; }
  CallStamp stamp(std::uint64_t number) const;
  CallStamp stamp() const { return stamp(last_); }

  // A chain over the calls `first`..`last` alone, which begins with zero: equal where all of them are. By number.
  std::vector<Hash128> chain(std::uint64_t first, std::uint64_t last) const;

 private:
  // Nothing else is written of a call that comes again and again, in a loop: a line of the cache.
  struct alignas(64) Entry {
    Hash128 hash;
    std::uint64_t again = 0;  // which repeated call it was; 0: it was none
    CallKind kind{};
    std::array<std::uint64_t, 4> numbers;  // of a repeated one, as many as there is room for
  };
  static_assert(sizeof(Entry) == 64);
  // The rest, as the last call had it that was no such repeated one, or the first one that was.
  struct Text {
    Span span;
    std::string name;
    Bytes arguments;
    std::vector<CallArguments::Mark> marks;
    std::vector<std::uint32_t> numbers;  // where those of the entry stand in the arguments
  };

  Bytes arguments(std::uint64_t number) const;
  Entry& next(CallKind kind, CallArguments& arguments) {
    const Hash128 before = hash(last_);  // of none: zero
    Entry& entry = entries_[++last_ % kept];
    entry.hash = is_hashed() ? arguments.hash(before, last_, kind) : Hash128{};
    entry.kind = kind;
    return entry;
  }
  Text& keep(std::string_view name, const CallArguments& arguments, Span span);
  void keep_again(const Repeated& which, bool has_room);

  const Hashes hashes_;
  std::vector<Entry> entries_;  // by number modulo their count, as the next ones
  std::vector<Text> texts_;
  std::uint64_t last_ = 0;
};

}  // namespace taskspec
