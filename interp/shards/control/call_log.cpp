#include "interp/shards/control/call_log.hpp"

namespace taskspec {

CallLog::Entry& CallLog::next(CallKind kind, CallArguments& arguments) {
  const Hash128 before = last_ > 0 ? hash(last_) : Hash128{};
  Entry& entry = entries_[++last_ % kept];
  entry.hash = is_hashed() ? arguments.hash(before, last_, kind) : Hash128{};
  entry.kind = kind;
  return entry;
}

// A place keeps its memory: in the long run nothing is allocated.
void CallLog::keep(std::string_view name, const CallArguments& arguments, Span span,
                   std::span<const std::size_t> numbers) {
  Text& text = texts_[last_ % kept];
  text.arguments.assign(arguments.bytes().begin(), arguments.bytes().end());
  text.span = span;
  text.name.assign(name);
  text.marks.assign(arguments.marks().begin(), arguments.marks().end());
  text.numbers.assign(numbers.begin(), numbers.end());
}

std::uint64_t CallLog::record(CallKind kind, std::string_view name, CallArguments& arguments, Span span) {
  next(kind, arguments).again = 0;
  keep(name, arguments, span, {});
  return last_;
}

std::uint64_t CallLog::record_again(const Repeated& which, CallArguments& arguments) {
  Entry& entry = next(which.kind, arguments);
  if (which.numbers.size() > entry.numbers.size()) {
    entry.again = 0;
    keep(which.name, arguments, which.span, {});
    return last_;
  }
  for (std::size_t k = 0; k < which.numbers.size(); ++k) entry.numbers[k] = arguments.bits(which.numbers[k]);
  if (entry.again != which.id) keep(which.name, arguments, which.span, which.numbers);
  entry.again = which.id;
  return last_;
}

Bytes CallLog::arguments(std::uint64_t number) const {
  const Text& text = texts_[number % kept];
  Bytes made = text.arguments;
  for (std::size_t k = 0; k < text.numbers.size(); ++k)
    CallArguments::put_bits(made, text.marks[text.numbers[k]], entries_[number % kept].numbers[k]);
  return made;
}

CallLog::Call CallLog::operator[](std::uint64_t number) const {
  const Entry& entry = entries_[number % kept];
  const Text& text = texts_[number % kept];
  return {entry.kind, text.span, text.name, entry.hash, arguments(number), text.marks};
}

CallStamp CallLog::stamp(std::uint64_t number) const {
  if (!has(number)) return {};
  const Entry& entry = entries_[number % kept];
  return {number, entry.hash.low, static_cast<std::uint8_t>(entry.kind)};
}

std::vector<Hash128> CallLog::chain(std::uint64_t first, std::uint64_t last) const {
  std::vector<Hash128> chain;
  Hash128 before;
  for (std::uint64_t number = first; number <= last; ++number) {
    Hasher hasher;
    hasher.add(before).add(number).add(static_cast<std::uint64_t>(entries_[number % kept].kind));
    hasher.bytes(arguments(number));
    chain.push_back(before = hasher.digest());
  }
  return chain;
}

}  // namespace taskspec
