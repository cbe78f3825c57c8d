// The calls that a shard has made: the newest 4,096 with their arguments and lines, and the hash of all.
//
//   CallLog log(CallLog::Hashes::chained);
//   const std::uint64_t number = log.record(CallKind::launch, "stencil", arguments, span);    // from 1
#pragma once
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
    std::uint64_t again = 0;  // which repeated call it was; 0: it was none
  };

  explicit CallLog(Hashes hashes) : hashes_(hashes), ring_(kept) {}

  std::uint64_t record(CallKind kind, std::string_view name, CallArguments& arguments, Span span);
  struct Repeated {
    CallKind kind{};
    Span span;
    std::string name;
    std::uint64_t id = 0;              // not 0; equal: they differ in the numbers alone
    std::vector<std::size_t> numbers;  // their marks
  };
  std::uint64_t record_again(const Repeated& which, CallArguments& arguments);
  std::uint64_t last() const { return last_; }                                 // 0: none yet
  std::uint64_t first() const { return last_ < kept ? 1 : last_ - kept + 1; }  // the oldest that is kept
  bool has(std::uint64_t number) const { return number >= first() && number <= last_; }
  const Call& operator[](std::uint64_t number) const { return ring_[number % kept]; }
  bool is_hashed() const { return hashes_ == Hashes::chained; }
  CallStamp stamp(std::uint64_t number) const;
  CallStamp stamp() const { return stamp(last_); }

  // A chain over the calls `first`..`last` alone, which begins with zero: equal where all of them are. By number.
  std::vector<Hash128> chain(std::uint64_t first, std::uint64_t last) const;

 private:
  Call& next(CallKind kind, CallArguments& arguments);
  static void keep(Call& call, CallKind kind, std::string_view name, const CallArguments& arguments, Span span);

  const Hashes hashes_;
  std::vector<Call> ring_;  // by number modulo its size
  std::uint64_t last_ = 0;
};

}  // namespace taskspec
