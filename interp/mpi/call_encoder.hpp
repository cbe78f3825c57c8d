// The arguments of a call as they are hashed; with --inject one of them, on one shard, is another one than it was.
//
//   run.begin_call().created("task", Created::task, 3).domain("domain", domain);
#pragma once
#include <optional>
#include <string>

#include "interp/shards/control/call.hpp"

namespace taskspec {

// --inject SHARD:CALL:ARGUMENT
struct Injection {
  std::uint32_t shard = 0;
  std::uint64_t call = 0;
  std::string argument;
};
// None: it is written otherwise.
std::optional<Injection> injection_of(std::string_view text);

// What a call made: one of its outputs. Call 0: none.
struct CallFuture {
  std::uint64_t call = 0;
  std::uint32_t slot = 0;
  std::uint64_t work = 0;  // what was called, which is the same in each turn of a loop
};

class CallEncoder {
 public:
  CallEncoder(CallArguments& into, std::uint64_t call, const std::optional<Injection>& inject, ShardId self)
      : into_(into), inject_(inject && inject->shard == self.value && inject->call == call ? &*inject : nullptr) {
    into_.clear();
  }
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
  bool begin(const char* name) {
    into_.argument(name);
    return inject_ && inject_->argument == name;
  }
  CallArguments& into_;
  const Injection* inject_;
};

}  // namespace taskspec
