// The op list of a task: its body as one straight list of ops, with fns inlined and host control carried out. Whoever
// needs to know what a task computes reads it: backends, fused code, gradients, lowering, proofs about numbers.
//
//   task f(in x: f32[N]) -> (y: f32[N]) { y = x; for i in 0..2 { y = relu(y * 2.0) } }
//
//   %0 = input x : f32[N]        %3 = mul(%0, %1) : f32[N]        %5 = mul(%4, %2) : f32[N]
//   %1 = constant 2 : f32[]      %4 = relu(%3) : f32[N]           %6 = relu(%5) : f32[N]
//   %2 = constant 2 : f32[]                                       y = %6
//
// A number of the host that may be another one in each call, `rate: float`, is an input of one element (f64, i64,
// bool). What is done to such numbers before tensors meet them is worked out as in host code, once per run: it stands
// among the constants, as `mul(rate, 2) : f32`, in the precision of the tensors beside it.
//
// It is as concrete as what it was made for: extents and host values that nobody gave are symbols, and of a task whose
// inputs are known every type is. It is made anew for the shapes that come (interp/control/op_lists.hpp), not filled
// in: what the rules of ops say of real extents is checked then, and control that counts to one is carried out.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

struct ValueTag;
using ValueId = Id<ValueTag>;  // of an op list: its inputs, its constants, then what lines make, in order

struct OpList {
  struct Input {
    std::string name;
    Privilege privilege = Privilege::in;
    std::optional<SlotKind> slot;  // of the agent, by that name
  };
  struct Line {
    const OpDef* op = nullptr;
    std::vector<ValueId> in;        // its tensors in order, those of a list one after another
    std::vector<Value> attributes;  // one per operand, none for tensors
    std::vector<ValueId> out;
    FunctionId function;  // where it stands: the task, or a fn or task that it calls; nowhere: an op of a graph
    CallId call;
    Span span;
    Span site = {};  // where the body of the task comes to it: at its own place, or where it calls the fn around it
    std::shared_ptr<const std::string> task = nullptr;  // whose body that is, "Net.c1.forward"; none: that of the list
  };
  struct Output {
    std::string name;
    ValueId value;
    bool version = false;  // of the place of that name, which is an input
  };

  FunctionId task;   // none: a list that stands in no text
  std::string name;  // "Net.forward"
  std::vector<Input> inputs;
  std::vector<Value> constants;  // arrays; numbers made of inputs, or not known yet (GraphScalar)
  std::vector<Type> types;       // by value
  std::vector<Line> lines;
  std::vector<Output> outputs;

  const Type& type(ValueId value) const { return types[value.index()]; }
  std::size_t first_made() const { return inputs.size() + constants.size(); }  // by a line
};

// A line as kernels know it. Its types must have no symbols.
OpInstance instance(const OpList& list, const OpList::Line& line);

// As `graph --stage ops` shows it; the places of lines are those of the program's texts.
std::string op_list_text(const Program& program, const OpList& list);

}  // namespace taskspec
