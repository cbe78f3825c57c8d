// Op lists made and run in tests, and slopes of what they compute.
//
//   OpListBuilder list;  ValueId y = emit(list, "tanh", {x});
//   run_list(list, {array})[y.index()]
#pragma once
#include <algorithm>
#include <functional>
#include <random>

#include "ir/graph/op_list_builder.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/op_call.hpp"

namespace taskspec {

inline const OpDef& op_named(const char* name) { return *standard_ops().find(name); }

inline ValueId emit(OpListBuilder& list, const char* name, const std::vector<OpListBuilder::Operand>& operands) {
  return list.emit(op_named(name), operands, {FunctionId(0), CallId(0), {}})[0];
}

inline Type f64_type(const std::vector<std::int64_t>& extents) { return ArrayType{Precision::f64, extents}.type(); }

// All values of the list.
inline std::vector<Array> run_list(const OpList& list, const std::vector<Array>& inputs) {
  std::vector<Array> values = inputs;
  for (const Value& constant : list.constants) values.push_back(constant.array());
  Serial serial;
  for (const OpList::Line& line : list.lines) {
    OpCall call{instance(list, line), {}};
    for (ValueId value : line.in) call.tensors.push_back(values[value.index()]);
    for (Array& made : run(*line.op->kernel(call.instance), call, serial)) values.push_back(std::move(made));
  }
  return values;
}

inline double weighted_sum(std::span<const Array> values, std::span<const Array> weights) {
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    for (std::int64_t e = 0; e < weights[k].elements(); ++e) sum += values[k].number(e) * weights[k].number(e);
  return sum;
}

// Of what `compute` says, in one element of one input.
inline double slope(const std::function<double(const std::vector<Array>&)>& compute, std::vector<Array> inputs,
                    std::size_t input, std::int64_t element) {
  constexpr double h = 1e-3;  // with five points the error is h^4
  const Array there = inputs[input];
  auto at = [&](double offset) {
    Array moved = Array::make(there.type());
    std::copy(there.raw(), there.raw() + there.bytes(), moved.raw());
    moved.set_number(element, there.number(element) + offset);
    inputs[input] = moved;
    return compute(inputs);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

// The largest difference between given gradients (none: zeros) and slopes, relative to the largest slope.
inline double worst_difference(const std::function<double(const std::vector<Array>&)>& compute,
                               const std::vector<Array>& inputs, const std::vector<std::optional<Array>>& gradients) {
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::int64_t e = 0; e < inputs[i].elements(); ++e) {
      const double expected = slope(compute, inputs, i, e);
      const double given = gradients[i] ? gradients[i]->number(e) : 0.0;
      largest = std::max(largest, std::abs(expected));
      worst = std::max(worst, std::abs(given - expected));
    }
  return worst / largest;
}

// Smooth ops on values of a few shapes: read several times, stretched, several outputs.
class RandomList {
 public:
  explicit RandomList(std::mt19937_64& random) : random_(random) {
    const std::vector<std::vector<std::int64_t>> shapes = {{3, 4}, {1, 4}, {4, 3}, {3, 1}, {}, {2, 6}};
    for (std::size_t i = 0; i < 5; ++i)
      values_.push_back(
          made_.input({"x" + std::to_string(i), Privilege::in, {}}, f64_type(shapes[pick(shapes.size())])));
  }

  OpList list() {
    for (std::size_t i = 0, count = 3 + pick(12); i < count; ++i) values_.push_back(step());
    std::vector<OpListBuilder::Output> outputs;
    for (std::size_t k = 0, count = 1 + pick(3); k < count; ++k)
      outputs.push_back({"y" + std::to_string(k),
                         values_[values_.size() - 1 - pick(std::min<std::size_t>(3, values_.size()))], false});
    return std::move(made_).finish(FunctionId(0), "random", outputs);
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  ValueId some() { return values_[pick(values_.size())]; }
  std::vector<Dim> dims(ValueId v) const { return made_.type(v).dims; }
  bool stretch(ValueId a, ValueId b) const {
    const auto x = concrete(made_.type(a)).extents, y = concrete(made_.type(b)).extents;
    for (std::size_t i = 1; i <= std::min(x.size(), y.size()); ++i)
      if (x[x.size() - i] != y[y.size() - i] && x[x.size() - i] != 1 && y[y.size() - i] != 1) return false;
    return true;
  }
  // Values stay small and away from kinks: all functions here are smooth.
  ValueId smooth(ValueId v) {
    const char* const names[] = {"tanh", "sin", "cos", "sigmoid", "gelu"};
    return emit(made_, names[pick(5)], {v});
  }
  ValueId step() {
    const ValueId a = some(), b = some();
    const std::size_t rank = made_.type(a).rank();
    switch (pick(9)) {
      case 0:
      case 1:
        if (stretch(a, b)) return smooth(emit(made_, pick(2) ? "add" : "sub", {a, b}));
        return smooth(a);
      case 2:
        if (stretch(a, b)) return smooth(emit(made_, "mul", {a, b}));
        return emit(made_, "mul", {a, Value(0.5)});
      case 3:
        return rank == 2 && made_.type(b).rank() == 2 && dims(a)[1] == dims(b)[0]
                   ? smooth(emit(made_, "matmul", {a, b}))
                   : smooth(a);
      case 4:
        return rank == 2 ? emit(made_, "sum", {a, Value(static_cast<std::int64_t>(pick(2)))}) : smooth(a);
      case 5:
        return rank == 2 ? emit(made_, "permute", {a, Value(std::int64_t{1}), Value(std::int64_t{0})}) : smooth(a);
      case 6:
        return rank == 2 ? emit(made_, "softmax", {a, Value(std::int64_t{1})}) : smooth(a);
      case 7:
        return emit(made_, "mul", {a, a});  // one value twice
      default:
        return smooth(a);
    }
  }

  std::mt19937_64& random_;
  OpListBuilder made_;
  std::vector<ValueId> values_;
};

}  // namespace taskspec
