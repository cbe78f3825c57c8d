// Makes compact programs. The rows of form_steps.cpp say which form has instructions of its own; the others run by
// their steps.
//
//   void emit_give(CompactBuilder& code, CallId id);      // what such a row names
#pragma once
#include "interp/control/compact.hpp"
#include "interp/control/facts.hpp"
#include "interp/control/launch_turns.hpp"

namespace taskspec {

class CompactBuilder {
 public:
  using Kind = Instruction::Kind;
  // Where jumps stand that go to one place, which comes later.
  using Jumps = std::vector<std::size_t>;

  explicit CompactBuilder(const CompactSource& source);

  const CompactSource& source() const { return source_; }
  const Program& program() const { return source_.program; }
  const Function& function() const { return source_.function; }
  const FunctionFacts& facts() const { return source_.facts; }
  const Call& operator[](CallId id) const { return source_.function[id]; }

  // `decision`: the value that whoever asks for them will ask `unless` about.
  void calls(std::span<const CallId> calls, CallId decision = {});
  std::size_t emit(Kind kind, CallId call, std::int32_t a = 0, std::int32_t b = 0, std::int32_t c = 0);
  void step(CallId call);  // by the step of its form
  // In a graph: jumps over all that follows until `land` where the call becomes a node.
  Jumps node(CallId call);
  // Goes on where the value is true; jumps where it is not.
  Jumps unless(CallId value, CallId owner);
  void land(const Jumps& jumps);  // here
  void jump_back(std::size_t to, Kind kind, CallId call, std::int32_t a = 0, std::int32_t b = 0);
  std::size_t here() const { return code_.instructions.size(); }

  // A loop from here to its end; `continue` goes to where `turns` is told.
  void enter_loop() { loops_.emplace_back(); }
  void turns();
  void leave_loop();
  void leave(Flow flow, CallId call);

  // Offsets: of a register_of, and of a register_of or a constant (~).
  std::int32_t at(CallId call) const;
  std::int32_t at(VariableId variable) const;
  std::int32_t any(CallId call) const { return at(call); }
  bool is_constant(CallId call) const { return facts().registers.is_constant(call); }
  // A comparison that only decides gives no value: `unless` compares.
  bool defer(CallId comparison, Kind unless);
  CallId next() const { return next_; }  // the call behind the one that is made, in its block

  bool is_set(VariableId variable) const { return set_[variable.index()]; }
  void set(VariableId variable);
  // A call of a host function with host values.
  std::int32_t plan(const Call& call);
  // A loop's turn of launches alone, behind the whole turn that begins at `whole`.
  void turn_again(const LaunchTurns& turns, std::size_t whole);
  Compact finish();

 private:
  struct Loop {
    Jumps breaks, continues;  // of `step` the operand a or b, of `jump` c
  };
  void target(std::size_t jump, std::size_t to, bool next_turn);

  const CompactSource source_;
  Compact code_;
  CallId next_, decision_;
  CallId deferred_;
  Kind unless_ = Kind::branch;
  std::vector<Loop> loops_;
  std::vector<bool> set_;             // by variable: where this code comes to, it has a value
  std::vector<VariableId> set_here_;  // in blocks that are still open
};

// How forms become instructions: named in the table of form_steps.cpp.
void emit_nothing(CompactBuilder& code, CallId id);
void emit_variable(CompactBuilder& code, CallId id);
void emit_write(CompactBuilder& code, CallId id);
void emit_store(CompactBuilder& code, CallId id);
void emit_op(CompactBuilder& code, CallId id);
void emit_type(CompactBuilder& code, CallId id);
void emit_builtin(CompactBuilder& code, CallId id);
void emit_list(CompactBuilder& code, CallId id);
void emit_item(CompactBuilder& code, CallId id);
void emit_call(CompactBuilder& code, CallId id);
void emit_projection(CompactBuilder& code, CallId id);
void emit_if(CompactBuilder& code, CallId id);
void emit_for(CompactBuilder& code, CallId id);
void emit_while(CompactBuilder& code, CallId id);
void emit_both(CompactBuilder& code, CallId id);
void emit_either(CompactBuilder& code, CallId id);
void emit_return(CompactBuilder& code, CallId id);
template <Flow flow>
void emit_leave(CompactBuilder& code, CallId id) {
  code.leave(flow, id);
}

}  // namespace taskspec
