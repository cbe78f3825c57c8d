#include "interp/shards/control/call_log.hpp"

namespace taskspec {

// A place of the ring keeps its memory, and in a loop mostly gets what it had before: in the long run nothing is
// allocated, and of a repeated call little is written.
CallLog::Call& CallLog::next(CallKind kind, CallArguments& arguments) {
  const Hash128 before = last_ > 0 ? (*this)[last_].hash : Hash128{};
  Call& call = ring_[++last_ % kept];
  call.hash = is_hashed() ? arguments.hash(before, last_, kind) : Hash128{};
  return call;
}

void CallLog::keep(Call& call, CallKind kind, std::string_view name, const CallArguments& arguments, Span span) {
  call.arguments.assign(arguments.bytes().begin(), arguments.bytes().end());
  call.kind = kind;
  call.span = span;
  call.name.assign(name);
  call.marks.assign(arguments.marks().begin(), arguments.marks().end());
}

std::uint64_t CallLog::record(CallKind kind, std::string_view name, CallArguments& arguments, Span span) {
  Call& call = next(kind, arguments);
  call.again = 0;
  keep(call, kind, name, arguments, span);
  return last_;
}

std::uint64_t CallLog::record_again(const Repeated& which, CallArguments& arguments) {
  Call& call = next(which.kind, arguments);
  if (call.again == which.id) {
    for (const std::size_t mark : which.numbers) arguments.copy_bits(mark, call.arguments);
    return last_;
  }
  keep(call, which.kind, which.name, arguments, which.span);
  call.again = which.id;
  return last_;
}

CallStamp CallLog::stamp(std::uint64_t number) const {
  if (!has(number)) return {};
  const Call& call = (*this)[number];
  return {number, call.hash.low, static_cast<std::uint8_t>(call.kind)};
}

std::vector<Hash128> CallLog::chain(std::uint64_t first, std::uint64_t last) const {
  std::vector<Hash128> chain;
  Hash128 before;
  for (std::uint64_t number = first; number <= last; ++number) {
    const Call& call = (*this)[number];
    Hasher hasher;
    hasher.add(before).add(number).add(static_cast<std::uint64_t>(call.kind)).bytes(call.arguments);
    chain.push_back(before = hasher.digest());
  }
  return chain;
}

}  // namespace taskspec
