// What a form asks of the calls of a function that was read from a file: the checker's work that somebody could have
// undone. Whoever reads the file says what becomes of a fault.
//
//   FormCheck check(program, id, [&](const std::string& wrong) { def.fail(wrong); });
//   check.block(program[id].body);
#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program/kinds.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

class FormCheck {
 public:
  using Fault = std::function<void(const std::string&)>;  // throws
  FormCheck(const Program& program, FunctionId id, Fault fault);

  const Program& program;
  const Function& function;

  const Type& type(CallId id) const { return function[id].type; }
  const Type& type(const Call& call, std::size_t i) const { return function[call.in[i]].type; }
  const Type& type(VariableId id) const { return function.variables[id.index()].type; }
  void want(bool fine, std::string_view wrong) const;

  bool ints(const Call& call, std::size_t from) const;  // operands from here on
  bool is_turn(const Call& call) const;                 // the variable of a loop around it
  // Places are read beside the call, and nothing changes them in between: it goes on from their newest versions.
  void places(const Call& call) const;
  // Operands and result are what the rule of an op or builtin says of them.
  void record(const Call& call, std::span<const Operand> operands, TypeRule rule) const;

  // Checks all calls of a block of the function, in order.
  void block(const Block& block);

 private:
  void note_changes(const Call& call);
  void note_turn(const Call& call);
  Type spread(const Call& call) const;
  void written(const Call& call, std::span<const Operand> operands) const;

  Fault fault_;
  CallId at_;
  struct Seen {
    std::size_t block = 0, time = 0;
  };
  std::size_t blocks_ = 0, time_ = 0;
  std::vector<Seen> seen_;            // by call
  std::vector<std::size_t> changed_;  // by variable: when it was last
  std::set<CallId> turns_;            // variables of the loops seen so far
};

// Functions are values of these types, agents of those.
bool is_agent(const Type& type, AgentId agent);
bool is_condition(const Type& type);
std::size_t captures(const Function& function);

}  // namespace taskspec
