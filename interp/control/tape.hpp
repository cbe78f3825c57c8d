// Runs a body on arrays and writes down what it does: the straight list of the ops that its tensors chose. What stands
// in loops and branches can be reversed by that.
//
//   TapeTarget tape(inputs);
//   ... an interpreter with this target runs the body, outputs are values of it ...
//   Tape ran = std::move(tape).finish(outputs);
//   gradients_of(ran, ...)               // tape_gradients.hpp
#pragma once
#include "interp/control/list_target.hpp"

namespace taskspec {

struct Tape {
  OpList list;
  std::vector<Array> values;  // by value of the list
};

class TapeTarget final : public ListTarget {
 public:
  explicit TapeTarget(std::vector<Array> inputs);
  Tape finish(const std::vector<Value>& outputs) &&;

  void op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) override;
  bool decide(const Value& value, Span) override { return contents(value).integer(0) != 0; }
  Array receive(const Value& value, Span) override { return contents(value); }

 private:
  Array contents(const Value& value) const;
  Value known(const Value& value) const;  // with contents in place of tensors, also inside of lists

  std::vector<Array> contents_;  // of inputs, then of what ops made
};

// The outputs of a list of concrete types, on the calling thread; `inputs` as it says.
std::vector<Array> run_list(const OpList& list, std::vector<Array> inputs);

}  // namespace taskspec
