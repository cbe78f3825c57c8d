// Makes op lists out of calls of ops, and of other op lists: what is composed or reversed comes from here.
//
//   OpListBuilder made;
//   ValueId x = made.input({"x"}, type);
//   ValueId y = made.emit(op_mul, {x, Value(2.0)}, {task, call, span})[0];
//   OpList list = std::move(made).finish(task, "twice", {{"y", y}});     // without what nobody needs
#pragma once
#include <variant>

#include "ir/graph/op_list.hpp"

namespace taskspec {

Type host_type(const Value& value);  // as the rule of an op sees a value of the host

class OpListBuilder {
 public:
  struct Origin {  // of a line, in the text
    FunctionId function;
    CallId call;
    Span span;
    Span site = {};  // as in OpList::Line
    std::shared_ptr<const std::string> task = nullptr;
  };
  // Tensors, and what the host gives; in declared order, what is left out at the end has its default.
  using Operand = std::variant<ValueId, Value>;

  // Positions in the builder, in order of appearance: finish() gives those of the list.
  ValueId input(OpList::Input input, Type type);
  ValueId constant(Value value, Type type);  // an array; a number made of inputs of this list
  // Its types come from the rule of the op, which must know all extents. A number beside tensors becomes a constant.
  std::vector<ValueId> emit(const OpDef& op, std::span<const Operand> operands, const Origin& origin);
  // The lines of another list, whose inputs are these values; gives those of its outputs. Numbers that constants are
  // made of must be inputs here, too. `task`: whose lines these are; none: as the list says.
  std::vector<ValueId> append(const OpList& list, std::span<const ValueId> inputs,
                              const std::shared_ptr<const std::string>& task = nullptr);
  // One line as it stands, with its inputs here.
  std::vector<ValueId> append(const OpInstance& op, std::span<const ValueId> inputs, const Origin& origin);
  // A number of another list, made of inputs of that; `input` says what they are here.
  Value number(const Value& of_other, FunctionRef<ValueId(std::uint32_t)> input) const;

  const Type& type(ValueId value) const { return values_[value.index()].type; }
  std::size_t lines() const { return lines_.size(); }
  std::size_t inputs() const { return inputs_.size(); }

  struct Output {
    std::string name;
    ValueId value;
    bool version = false;
  };
  // Lines and constants that no output needs are left out; inputs stay.
  OpList finish(FunctionId task, std::string name, const std::vector<Output>& outputs) &&;

 private:
  enum class Kind : std::uint8_t { input, constant, line };
  struct Made {
    Kind kind = Kind::line;
    std::uint32_t position = 0;  // among the inputs, constants or lines
    Type type;
  };
  ValueId add(Kind kind, std::size_t position, Type type);
  std::vector<bool> needed(const std::vector<Output>& outputs) const;

  std::vector<Made> values_;
  std::vector<OpList::Input> inputs_;
  std::vector<Value> constants_;
  std::vector<OpList::Line> lines_;
};

}  // namespace taskspec
