// One activation of a function: the values of its calls, its variables, and what its symbols stand for.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interp/control/facts.hpp"
#include "interp/control/register_stack.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

using AgentCounts = std::map<std::string, std::uint32_t>;

// What few frames have: a call of a plain function makes and leaves its frame in some nanoseconds.
struct SeldomInFrame {
  using Dimensions = std::vector<std::pair<std::uint32_t, Dim>>;
  std::vector<Value> registers;  // of a frame that stays
  Dimensions dimensions;         // by symbol id
  AgentCounts agents;
  struct Delete {
    void operator()(SeldomInFrame* it) const;
  };
};

struct Frame {
  Frame(const Function& f, FunctionId self, const FunctionFacts& known);  // one that stays, and may grow
  Frame(const Function& f, FunctionId self, const FunctionFacts& known, RegisterStack& stack)
      : function(f), id(self), facts(known), registers(stack.take(known.registers.count)), stack_(&stack) {}
  Frame(const Frame&) = delete;
  [[gnu::always_inline]] ~Frame() {
    if (stack_) stack_->give_back(registers, facts.registers.count);
  }

  const Function& function;
  FunctionId id;
  bool in_graph = false;  // control flow makes structured nodes instead of being executed
  const FunctionFacts& facts;
  Value* registers;  // arguments, by parameter, stand first
  Value self;        // the agent of a member
  Value result;
  ScopeId scope = ScopeId(0);
  std::uint64_t activation = 0;  // of a part: which call of it this is, as on the other side

  std::span<Value> arguments() const { return {registers, function.parameters.size()}; }
  // Of a constant nobody changes it.
  [[gnu::always_inline]] Value& operator[](CallId call) {
    const std::int32_t position = facts.registers.calls[call.index()];
    return position < 0 ? const_cast<Value&>(facts.registers.constants[static_cast<std::size_t>(~position)])
                        : registers[position];
  }
  const Value& operator[](CallId call) const { return const_cast<Frame&>(*this)[call]; }
  // Variable without a value: not set yet.
  Value& operator[](VariableId variable) { return registers[facts.registers.variables[variable.index()]]; }
  const Value& operator[](VariableId variable) const { return const_cast<Frame&>(*this)[variable]; }
  std::uint32_t count_agent(const std::string& name);  // how many of that name were made before in this activation
  AgentCounts agent_counts() const;                    // of all names
  void set_agent_counts(AgentCounts counts);
  // What a symbol stands for, by its id.
  const Dim* dimension(std::uint32_t symbol) const;
  bool bind_dimension(std::uint32_t symbol, Dim dim);  // false: it has one already, and keeps it
  SeldomInFrame::Dimensions dimensions() const;
  // What only this call holds.
  void forget(CallId call) {
    if (facts.registers.own[call.index()]) (*this)[call] = Value();
  }
  // What loops run over that an exception ended.
  void forget_loops();
  void grow();  // to what its facts know by now

 private:
  RegisterStack* const stack_ = nullptr;
  SeldomInFrame& seldom();
  std::unique_ptr<SeldomInFrame, SeldomInFrame::Delete> seldom_;
};

// The extent with everything that the frame knows put in.
Dim evaluate(const Dim& dim, const Frame& frame);
Dim evaluate(const Dim& dim, const Frame& frame, Span span);  // where a quotient that leaves a rest is told
Type evaluate(const Type& type, const Frame& frame);

// What an int of the host program is as an extent; nothing for other values.
std::optional<Dim> extent_of(const Value& value);

// Binds the callee's dimension variables from the types of its arguments. Throws E5004 on disagreement.
void bind_dimensions(const Type& parameter, const Type& argument, Frame& frame, Span span, const std::string& name);

}  // namespace taskspec
