// Which calls of a function are lines of their own, and which stand inside the line that uses them. Internal to
// ir/cut_report/code_lines.cpp.
#pragma once
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

class CodeUses {
 public:
  explicit CodeUses(const Function& function);

  bool is_line(CallId id) const { return of(id).line; }
  // Does it stand in a block? What belongs to the other part only does not.
  bool is_here(CallId id) const { return of(id).placed; }
  bool is_used(CallId id) const { return !of(id).uses.empty() || of(id).in_type; }
  // The writing of a variable that nothing else writes: what the value is called from there on.
  CallId named_by(CallId id) const { return of(id).let; }
  // An enqueue that stands where its value is used: `if enqueue f:0 (c) {`.
  CallId sent_by(CallId id) const { return of(id).sent_by; }
  // A tuple that is taken apart at once: (a, b) = f(x). Its elements have names, and their `let`s are no lines.
  bool is_apart(CallId id) const { return of(id).apart; }
  bool has_lines(const Block& block) const;

 private:
  // Where something is used: by a call, or as the result of a block.
  struct Use {
    CallId user;             // the call; of the result of a block the call that the block belongs to
    bool as_result = false;  // then `position` is the end of the block
  };
  struct Entry {
    std::vector<Use> uses;
    std::uint32_t block = 0, position = 0, height = 0;
    bool placed = false;  // stands in a block at all: functions that were cut have calls left over
    bool line = false, apart = false;
    bool in_type = false;  // an extent of a type that is written: f32[n] needs an n
    CallId let, sent_by;
  };
  struct Room {
    const Block* block;
    CallId owner;  // the call that the block belongs to; invalid: the function
  };

  const Entry& of(CallId id) const { return entries_[id.index()]; }
  Entry& of(CallId id) { return entries_[id.index()]; }

  void place(const Block& block, CallId owner);
  void note_uses();
  void drop_unused();
  void count_writes();
  void find_names(CallId id);
  void find_sends(CallId id);
  void take_apart(CallId id);
  void decide(CallId id);
  bool is_captured(const Entry& entry) const;
  bool must_be_line(CallId id) const;
  bool keeps_order(std::uint32_t room);
  bool is_cheap(const Call& call) const;
  bool has_effect(const Call& call) const;
  bool writes(CallId id, VariableId variable) const;
  std::uint32_t ancestor(CallId id, std::uint32_t room) const;
  std::uint32_t root(CallId id) const;
  bool moved_over_write(CallId id) const;

  const Function& function_;
  std::vector<Entry> entries_;
  std::vector<Room> rooms_;            // inner blocks after outer ones
  std::vector<std::uint32_t> writes_;  // by variable: how many calls change it
};

}  // namespace taskspec
