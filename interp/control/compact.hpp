// Compact programs: what a block of a function is made into once, and the interpreter runs. One straight list, blocks
// inside it laid out with jumps; operands are registers of the frame and constants of the function, by their offsets in
// bytes.
//
//   while i < n { i = i + 1 }        0  unless_lt_ints i, n -> 5     (where those are no ints, the next line decides)
//                                    1  branch %4 -> 5
//                                    2  add_ints_constant i = i, 1
//                                    3  turn -> 0
#pragma once
#include <atomic>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

struct FunctionFacts;

struct Instruction {
  enum class Kind : std::uint32_t {
    leave,  // a: the Flow
#define TASKSPEC_INSTRUCTION(name, ...) name,
#include "interp/control/compact.def"
  };
  Kind kind = Kind::step;
  CallId call;  // that it is (a part of): of its span, and what runs where the instruction cannot
  std::int32_t a = 0, b = 0, c = 0;
};

// A call whose arguments go right into the registers of the function that is called.
struct PlannedCall {
  FunctionId callee;
  const Function* function = nullptr;
  struct Argument {
    std::int32_t from;  // a register, or ~offset of a constant
    bool is_float;      // for the function; an int becomes one
  };
  std::vector<Argument> arguments;
  // Found by the first one that calls; the body after the facts, and null where there is none.
  mutable std::atomic<const FunctionFacts*> facts = nullptr;
  mutable std::atomic<const struct Compact*> body = nullptr;
};

// A launch that comes again in each turn of a loop (launch_turns.hpp).
struct PlannedLaunch {
  std::vector<std::int32_t> numbers;  // that it is given: registers, and ~offsets of constants
};

struct Compact {
  std::vector<Instruction> instructions;  // the last one is `leave`
  std::deque<PlannedCall> calls;
  std::vector<PlannedLaunch> launches;
};

// What decides how a function is made into compact programs.
struct CompactSource {
  const Program& program;
  const Function& function;
  const FunctionFacts& facts;
  bool in_graph;  // where control flow may become nodes
};

Compact compact_of(const CompactSource& source, std::span<const CallId> calls);  // of a block, or of one of its calls

// One line per instruction, for people: "3  add_ints_constant r3, r3, 1".
std::string text(const Compact& code, const CompactSource& source);

}  // namespace taskspec
