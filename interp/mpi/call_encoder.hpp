// The arguments of a call as they are hashed; with --inject one of them, on one shard, is another one than it was.
//
//   run.begin_call().created("task", Created::task, 3).domain("domain", domain);
//
// What the program has sent to the graph since the last call stands in front of the arguments of the next one:
//
//   run.begin_call().sent(hash); ... run.begin_call().created("region", Created::region, 0)
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/shards/control/call.hpp"

namespace taskspec {

// --inject SHARD:CALL:ARGUMENT
struct Injection {
  std::uint32_t shard = 0;
  std::uint64_t call = 0;
  std::string argument;
  // What came of it, for all copies: the arguments of that call, once it came.
  std::shared_ptr<std::vector<std::string>> met = std::make_shared<std::vector<std::string>>();
  bool has_met() const { return std::ranges::find(*met, argument) != met->end(); }
};
// None: it is written otherwise.
std::optional<Injection> injection_of(std::string_view text);

// The names of arguments; those of several go by numbers, too: "value 3".
inline constexpr std::string_view argument_names[] = {
    "argument",   "arguments", "capture", "captures", "colour",    "colours",   "domain", "element",  "elide",
    "extents",    "fields",    "files",   "level",    "operation", "partition", "pieces", "position", "program",
    "projection", "region",    "sent",    "sharding", "shards",    "task",      "type",   "value"};
inline bool goes_by_numbers(std::string_view name) {
  return name == "argument" || name == "value" || name == "capture";
}
inline bool is_argument_name(std::string_view name) {
  const std::size_t end = name.find(' ');
  const std::string_view word = name.substr(0, end);
  return std::ranges::find(argument_names, word) != std::end(argument_names) &&
         goes_by_numbers(word) == (end != std::string_view::npos);
}

// "value 1", "value 2", ...: the last of them stands for all behind it. The log keeps them as they are.
class NumberedNames {
 public:
  explicit NumberedNames(const std::string& what) {
    constexpr std::size_t most = 64;
    for (std::size_t k = 1; k < most; ++k) names_.push_back(what + " " + std::to_string(k));
    names_.push_back(what + " " + std::to_string(most) + " or a later one");
  }
  const char* operator[](std::size_t k) const { return names_[std::min(k, names_.size() - 1)].c_str(); }

 private:
  std::vector<std::string> names_;
};

// What a call made: one of its outputs. Call 0: none.
struct CallFuture {
  std::uint64_t call = 0;
  std::uint32_t slot = 0;
  std::uint64_t work = 0;  // what was called, which is the same in each turn of a loop
};

class CallEncoder {
 public:
  CallEncoder(CallArguments& into, std::uint64_t call, const std::optional<Injection>& inject, ShardId self)
      : into_(into),
        inject_(inject && inject->call == call ? &*inject : nullptr),
        is_other_(inject_ && inject->shard == self.value) {
    if (!has_only_sent(into_)) into_.clear();
  }
  static bool has_sent(const CallArguments& call) {
    return !call.marks().empty() && call.marks().front().name == sent_name;
  }
  // What was sent waits for the call that it goes with: no call has it alone.
  static bool has_only_sent(const CallArguments& call) { return call.marks().size() == 1 && has_sent(call); }
  void sent(const Hash128& contents) { text(sent_name, contents.text()); }
  // Names live as long as the program.
  CallEncoder& created(const char* name, Created what, std::uint64_t number) {
    const bool other = begin(name);
    into_.created(what, number + other);
    return *this;
  }
  CallEncoder& domain(const char* name, Rect domain) {
    if (begin(name)) ++domain.hi[0];
    into_.domain(domain);
    return *this;
  }
  CallEncoder& sharding(const char* name, const PointSharding& value) {
    const bool other = begin(name);
    const bool is_block = value.kind == PointSharding::Kind::block;
    into_.sharding(!other ? value : is_block ? PointSharding::cyclic() : PointSharding::block());
    return *this;
  }
  CallEncoder& projection(const char* name, const Projection& value) {
    if (begin(name))
      into_.integer(-1);
    else
      into_.projection(value);
    return *this;
  }
  CallEncoder& future(const char* name, std::uint64_t call, std::uint32_t slot) {
    const bool other = begin(name);
    into_.future(call, slot + other);
    return *this;
  }
  CallEncoder& integer(const char* name, std::int64_t value) {
    const bool other = begin(name);
    into_.integer(value + other);
    return *this;
  }
  CallEncoder& real(const char* name, double value) {
    const bool other = begin(name);
    into_.real(value + (other ? 1.0 : 0.0));
    return *this;
  }
  CallEncoder& text(const char* name, std::string_view value) {
    into_.text(begin(name) ? std::string(value) + "?" : std::string(value));
    return *this;
  }

 private:
  static constexpr const char* sent_name = "sent";
  bool begin(const char* name) {
    into_.argument(name);
    if (!inject_) return false;
    inject_->met->emplace_back(name);
    return is_other_ && inject_->argument == name;
  }
  CallArguments& into_;
  const Injection* inject_;  // of this call, on whichever shard
  const bool is_other_;      // on this one
};

}  // namespace taskspec
