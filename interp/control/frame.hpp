// One activation of a function: the values of its calls, its variables, and what its symbols stand for.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/control/facts.hpp"
#include "ir/task_graph.hpp"

namespace taskspec {

struct Frame {
  Frame(const Function& f, FunctionId self, const FunctionFacts& known);

  const Function& function;
  FunctionId id;
  const FunctionFacts& facts;
  std::vector<Value> values;                          // by CallId
  std::vector<Value> variables;                       // by VariableId; none = not set yet
  std::vector<Value> arguments;                       // by parameter
  Value self;                                         // the agent of a member
  std::unordered_map<std::uint32_t, Dim> dimensions;  // by symbol id
  ScopeId scope = ScopeId(0);
  std::uint64_t activation = 0;  // of a part: which call of it this is, the same on both sides
  bool in_graph = false;         // control flow makes structured nodes instead of being executed
  Value result;
  std::unordered_map<std::string, std::uint32_t> agents;  // how many of each name were made in this activation

  Value& operator[](CallId call) { return values[call.index()]; }
  Value& operator[](VariableId variable) { return variables[variable.index()]; }
};

// The extent with everything that the frame knows put in.
Dim evaluate(const Dim& dim, const Frame& frame);
Type evaluate(const Type& type, const Frame& frame);

// What an int of the host program is as an extent; nothing for other values.
std::optional<Dim> extent_of(const Value& value);

// Binds the callee's dimension variables from the types of its arguments. Throws E5004 on disagreement.
void bind_dimensions(const Type& parameter, const Type& argument, Frame& frame, Span span, const std::string& name);

}  // namespace taskspec
