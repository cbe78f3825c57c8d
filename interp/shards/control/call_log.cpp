#include "interp/shards/control/call_log.hpp"

#include <algorithm>
#include <cstring>

namespace taskspec {

// A place keeps its memory: in the long run nothing is allocated.
CallLog::Text& CallLog::keep(std::string_view name, const CallArguments& arguments, Span span) {
  Text& text = texts_[last_ % kept];
  text.arguments.assign(arguments.bytes().begin(), arguments.bytes().end());
  text.span = span;
  text.name.assign(name);
  text.marks.assign(arguments.marks().begin(), arguments.marks().end());
  text.numbers.clear();
  return text;
}

void CallLog::keep_again(const Repeated& which, bool has_room) {
  Text& text = keep(which.name, which.arguments, which.span);
  if (!has_room) return;
  for (const Repeated::Number& number : which.numbers) text.numbers.push_back(number.place.begin);
}

std::uint64_t CallLog::record(CallKind kind, std::string_view name, CallArguments& arguments, Span span) {
  next(kind, arguments).again = 0;
  keep(name, arguments, span);
  return last_;
}

std::uint64_t CallLog::record_again(Repeated& which, std::span<const std::uint64_t> values) {
  const auto put = [&](const Repeated::Number& number) {
    return which.arguments.put(number.place, values[number.value]);
  };
  Entry& entry = entries_[(last_ + 1) % kept];
  const bool has_room = which.numbers.size() <= entry.numbers.size();
  if (has_room)
    std::ranges::transform(which.numbers, entry.numbers.begin(), put);
  else
    std::ranges::for_each(which.numbers, put);
  next(which.kind, which.arguments);
  const std::uint64_t again = has_room ? which.id : 0;
  if (again == 0 || entry.again != again) keep_again(which, has_room);
  entry.again = again;
  return last_;
}

Bytes CallLog::arguments(std::uint64_t number) const {
  const Text& text = texts_[number % kept];
  Bytes made = text.arguments;
  for (std::size_t k = 0; k < text.numbers.size(); ++k)
    std::memcpy(made.data() + text.numbers[k], &entries_[number % kept].numbers[k], sizeof(std::uint64_t));
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
