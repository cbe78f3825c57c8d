#include "op_samples.hpp"

#include <cmath>
#include <functional>
#include <map>

namespace taskspec {

namespace {

std::uint64_t seed = 0;  // of the next array; every test case begins at 1

// Magnitudes in [0.3, 0.9), so that no kink at 0 and no pole is near.
Array tensor(Extents extents) {
  Array array = random_array({Precision::f64, std::move(extents)}, ++seed);
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    double x = array.number(i);
    array.set_number(i, std::copysign(0.3 + 0.6 * std::abs(x), x));
  }
  return array;
}

Array positive(Extents extents) {
  Array array = tensor(std::move(extents));
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_number(i, std::abs(array.number(i)));
  return array;
}

Value i(std::int64_t value) { return value; }
Value tuple(std::initializer_list<std::int64_t> values) {
  Tuple out;
  for (std::int64_t value : values) out.items.push_back(value);
  return out;
}
Value f64(std::vector<Dim> dims) { return Type::of(Type::tensor(Precision::f64, std::move(dims))); }
Array index(List values) { return array_of(values, Precision::i64); }
Array floats(List values) { return array_of(values, Precision::f64); }
Array ints(Extents extents) { return random_array({Precision::i32, std::move(extents)}, ++seed); }
Array truths(Extents extents) { return random_array({Precision::boolean, std::move(extents)}, ++seed); }

// What the shapes of tensor operands alone do not tell. Ops that take tensors only need no entry.
std::map<std::string_view, std::function<std::vector<Operands>()>> special_cases() {
  auto reduction = [] {
    return std::vector<Operands>{{tensor({2, 3, 4}), i(1)}, {tensor({2, 3}), tuple({0, 1})}, {tensor({3, 2})}};
  };
  auto one_axis = [] { return std::vector<Operands>{{tensor({2, 3, 4}), i(1)}, {tensor({3, 2})}}; };
  auto positive_only = [] { return std::vector<Operands>{{positive({2, 3})}}; };
  auto bits = [] {
    return std::vector<Operands>{{truths({2, 3}), truths({3})}, {ints({2, 3}), ints({2, 3})}, {ints({4}), i(3)}};
  };
  auto shifts = [] { return std::vector<Operands>{{ints({2, 3}), i(3)}}; };
  auto window = [](Array x) {
    return std::vector<Operands>{{x, i(2)}, {x, tuple({3, 2}), tuple({2, 1}), tuple({1, 0})}};
  };
  return {
      {"log", positive_only},
      {"sqrt", positive_only},
      {"rsqrt", positive_only},
      {"pow",
       [] {
         return std::vector<Operands>{{positive({2, 3}), tensor({3})}, {positive({3}), 2.5}};
       }},
      {"mod",  // far from the jumps of the quotient
       [] {
         return std::vector<Operands>{{floats({1.3, -2.6, 3.1}), floats({1.0, 1.2, -2.0})}};
       }},
      {"where",
       [] {
         return std::vector<Operands>{{truths({2, 3}), tensor({2, 3}), tensor({3})}};
       }},
      {"clamp",
       [] {
         return std::vector<Operands>{{tensor({5, 4}), -0.5, 0.6}, {tensor({5, 4}), tensor({4}), 1.0}};
       }},
      {"cast",
       [] {
         return std::vector<Operands>{{tensor({2, 3}), f64({2, 3})},
                                      {ints({2, 3}), Type::of(Type::tensor(Precision::i8, {2, 3}))}};
       }},
      {"fill",
       [] {
         return std::vector<Operands>{{f64({2, 3}), 0.5}};
       }},
      {"iota", [] { return std::vector<Operands>{{i(5)}}; }},
      {"and", bits},
      {"or", bits},
      {"xor", bits},
      {"not",
       [] {
         return std::vector<Operands>{{truths({2, 3})}, {ints({4})}};
       }},
      {"shift_left", shifts},
      {"shift_right", shifts},
      {"max_pool_grad",
       [] {
         return std::vector<Operands>{{tensor({1, 4, 4}), tensor({1, 2, 2}), i(2)}};
       }},
      {"argmax", one_axis},
      {"argmin", one_axis},
      {"sum", reduction},
      {"mean", reduction},
      {"prod", reduction},
      {"max", reduction},
      {"min", reduction},
      {"softmax",
       [] {
         return std::vector<Operands>{{tensor({2, 3, 4})}, {tensor({2, 3, 4}), i(1)}};
       }},
      {"log_softmax",
       [] {
         return std::vector<Operands>{{tensor({2, 3, 4})}, {tensor({2, 3, 4}), i(0)}};
       }},
      {"reshape",
       [] {
         return std::vector<Operands>{{tensor({2, 6}), i(3), i(-1)}};
       }},
      {"permute",
       [] {
         return std::vector<Operands>{{tensor({2, 3, 4}), i(2), i(0), i(1)}};
       }},
      {"broadcast",
       [] {
         return std::vector<Operands>{{tensor({3, 1}), i(2), i(3), i(4)}, {tensor({}), i(2)}};
       }},
      {"reverse",
       [] {
         return std::vector<Operands>{{tensor({2, 3}), tuple({0, 1})}};
       }},
      {"concat",
       [] {
         return std::vector<Operands>{{List{tensor({2, 3}), tensor({2, 1}), tensor({2, 2})}, i(1)}};
       }},
      {"slice",
       [] {
         return std::vector<Operands>{{tensor({4, 5, 2}), "ir", i(2), i(3), i(1), i(4)},
                                      {tensor({4, 5}), "*i", i(0), i(4), i(4), i(5)}};
       }},
      {"pad",
       [] {
         return std::vector<Operands>{{tensor({2, 3}), i(1), i(2), i(1), 0.5}};
       }},
      {"shift",
       [] {
         return std::vector<Operands>{{tensor({2, 5}), i(1), i(2)}, {tensor({4, 2}), i(0), i(-1), true}};
       }},
      {"drop",
       [] {
         return std::vector<Operands>{{tensor({1, 3, 1}), tuple({0, 2})}};
       }},
      {"lift",
       [] {
         return std::vector<Operands>{{tensor({3}), i(0)}};
       }},
      {"tile",
       [] {
         return std::vector<Operands>{{tensor({2, 3}), i(0), i(3)}, {tensor({2, 3}), i(1), i(2)}};
       }},
      {"gather",
       [] {
         return std::vector<Operands>{{tensor({3, 2}), index({i(2), i(0), i(2)}), i(0)},
                                      {tensor({3, 4}), index({i(1)}), i(1)}};
       }},
      {"scatter_add",
       [] {
         return std::vector<Operands>{{tensor({3, 2}), index({i(2), i(0), i(2)}), tensor({3, 2}), i(0)}};
       }},
      {"matmul",
       [] {
         return std::vector<Operands>{{tensor({2, 3}), tensor({3, 4})},
                                      {tensor({3}), tensor({3, 2})},
                                      {tensor({2, 3}), tensor({3})},
                                      {tensor({3}), tensor({3})},
                                      {tensor({2, 1, 2, 3}), tensor({4, 3, 2})},
                                      {tensor({4, 2, 3}), tensor({3, 2})},
                                      {tensor({3}), tensor({2, 3, 2})}};
       }},
      {"linear",
       [] {
         return std::vector<Operands>{{tensor({2, 3}), tensor({4, 3}), tensor({4})},
                                      {tensor({2, 2, 3}), tensor({4, 3})},
                                      {tensor({3}), tensor({2, 3}), tensor({2})}};
       }},
      {"conv2d",
       [] {
         return std::vector<Operands>{
             {tensor({2, 2, 5, 4}), tensor({3, 2, 3, 2}), tensor({3}), tuple({2, 1}), tuple({1, 2})},
             {tensor({4, 6, 6}), tensor({2, 2, 2, 2}), tensor({2}), i(1), i(1), tuple({1, 2}), i(2)}};
       }},
      {"conv2d_input_grad",
       [] {
         return std::vector<Operands>{
             {f64({2, 2, 5, 4}), tensor({2, 3, 2, 3}), tensor({3, 2, 3, 2}), i(2), tuple({0, 1})}};
       }},
      {"conv2d_weight_grad",
       [] {
         return std::vector<Operands>{
             {f64({3, 2, 3, 2}), tensor({2, 2, 5, 4}), tensor({2, 3, 2, 3}), i(2), tuple({0, 1})}};
       }},
      {"max_pool",
       [=] {
         return window(tensor({2, 5, 6}));
       }},
      {"avg_pool",
       [=] {
         return window(tensor({2, 5, 6}));
       }},
      {"avg_pool_grad",
       [] {
         return std::vector<Operands>{{f64({1, 5, 6}), tensor({1, 2, 3}), i(2)},
                                      {f64({5, 4, 4}), tensor({5, 2, 3}), tuple({3, 2}), tuple({2, 1}), tuple({1, 0})}};
       }},
  };
}

// One, two or three tensors that broadcast; nothing where an operand must be something else.
std::vector<Operands> tensor_cases(const OpDef& op) {
  std::size_t tensors = 0;
  for (const Operand& operand : op.operands) {
    if (operand.standard.kind != Default::Kind::none) continue;
    if (operand.kind != OperandKind::tensor) return {};
    ++tensors;
  }
  if (tensors == 1) return {{tensor({2, 3})}, {tensor({})}};
  if (tensors == 2)
    return {{tensor({2, 3}), tensor({2, 3})}, {tensor({2, 1}), tensor({3})}, {tensor({4}), tensor({3, 1})}};
  return {};
}

}  // namespace

std::vector<Operands> sample_operands(const OpDef& op) {
  seed = 0;
  auto special = special_cases();
  auto found = special.find(op.name);
  std::vector<Operands> samples = found == special.end() ? tensor_cases(op) : found->second();
  if (samples.empty())
    throw failure("E1003", {}, "no sample operands for " + std::string(op.name) + ": add them to op_samples.cpp");
  return samples;
}

}  // namespace taskspec
