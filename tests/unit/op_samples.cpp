#include "tests/unit/op_samples.hpp"

#include <cmath>
#include <map>

namespace taskspec {

namespace {

using Samples = std::map<std::string_view, std::vector<Operands>>;

// Makes arrays, no two with the same numbers.
class Maker {
 public:
  // Magnitudes in [0.3, 0.9), so that no kink at 0 and no pole is near.
  Array tensor(Extents extents) {
    Array array = random_array({Precision::f64, std::move(extents)}, ++seed_);
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
  Array ints(Extents extents) { return random_array({Precision::i32, std::move(extents)}, ++seed_); }
  Array truths(Extents extents) { return random_array({Precision::boolean, std::move(extents)}, ++seed_); }

 private:
  std::uint64_t seed_ = 0;
};

Value i(std::int64_t value) { return value; }
Value tuple(std::initializer_list<std::int64_t> values) {
  Tuple out;
  for (std::int64_t value : values) out.items.push_back(value);
  return out;
}
Value type(Precision precision, std::vector<Dim> dims) { return Type::of(Type::tensor(precision, std::move(dims))); }
Value type_f64(std::vector<Dim> dims) { return type(Precision::f64, std::move(dims)); }
Array index(List values) { return array_of(values, Precision::i64); }
Array floats(List values) { return array_of(values, Precision::f64); }

Samples elementwise(Maker m) {
  return {
      {"log", {{m.positive({2, 3})}}},
      {"sqrt", {{m.positive({2, 3})}}},
      {"rsqrt", {{m.positive({2, 3})}}},
      {"pow", {{m.positive({2, 3}), m.tensor({3})}, {m.positive({3}), 2.5}}},
      {"mod", {{floats({1.3, -2.6, 3.1}), floats({1.0, 1.2, -2.0})}}},  // far from the jumps of the quotient
      {"where", {{m.truths({2, 3}), m.tensor({2, 3}), m.tensor({3})}, {m.truths({4}), m.tensor({4}), m.tensor({4})}}},
      {"clamp",  // bounds between the numbers, never near one
       {{m.tensor({5, 4}), -0.2, 0.95},
        {m.tensor({5, 4}), floats({-0.2, 0.0, 0.1, 0.2}), 1.0},
        {m.tensor({5, 4}), -1.0, floats({-0.2, 0.0, 0.1, 0.2})}}},
      {"and", {{m.truths({2, 3}), m.truths({3})}, {m.ints({2, 3}), m.ints({2, 3})}}},
      {"or", {{m.truths({2, 3}), m.truths({3})}, {m.ints({4}), i(3)}}},
      {"xor", {{m.truths({2, 3}), m.truths({3})}, {m.ints({4}), i(3)}}},
      {"not", {{m.truths({2, 3})}, {m.ints({4})}}},
      {"shift_left", {{m.ints({2, 3}), i(3)}}},
      {"shift_right", {{m.ints({2, 3}), i(3)}}},
  };
}

Samples makers(Maker m) {
  return {
      {"cast", {{m.tensor({2, 3}), type_f64({2, 3})}, {m.ints({2, 3}), type(Precision::i8, {2, 3})}}},
      {"fill", {{type_f64({2, 3}), 0.5}}},
      {"iota", {{i(5)}}},
      {"one_hot", {{index({i(2), i(0), i(2)}), i(3)}, {index({i(1)}), i(2), "i8"}}},
      {"uniform", {{type_f64({2, 3}), i(7)}, {type(Precision::f16, {5}), i(7), -1.0, 1.0, i(3), i(4)}}},
      {"normal", {{type_f64({3}), i(7)}, {type(Precision::f32, {2, 3}), i(7), 1.0, 2.0}}},
      {"truncated_normal", {{type_f64({100}), i(7)}}},
      {"bernoulli", {{type(Precision::boolean, {9}), i(7)}, {type_f64({4}), i(7), 0.25}}},
      {"dropout", {{m.tensor({2, 3}), 0.25, i(7)}, {m.tensor({9}), 0.5, i(7), i(3), i(4)}}},
      {"glorot_uniform", {{type_f64({4, 3}), i(7)}}},
      {"glorot_normal", {{type_f64({4, 3, 2}), i(7)}}},
      {"kaiming_normal", {{type_f64({4, 3}), i(7)}, {type_f64({4, 3, 2, 2}), i(7), "fan_out"}}},
  };
}

Samples reductions(Maker m) {
  std::vector<Operands> one_axis{{m.tensor({2, 3, 4}), i(1)}, {m.tensor({3, 2})}}, several = one_axis;
  several.push_back({m.tensor({2, 3}), tuple({0, 1})});
  return {
      {"argmax", one_axis},
      {"argmin", one_axis},
      {"sum", several},
      {"mean", several},
      {"prod", several},
      {"max", several},
      {"min", several},
      {"softmax", {{m.tensor({2, 3, 4})}, {m.tensor({2, 3, 4}), i(1)}}},
      {"log_softmax", {{m.tensor({2, 3, 4})}, {m.tensor({2, 3, 4}), i(0)}}},
      {"topk", {{m.tensor({2, 7}), i(3)}, {m.tensor({3, 5, 2}), i(2), i(1)}, {m.tensor({4}), i(4)}}},
      {"layernorm",
       {{m.tensor({3, 4}), m.tensor({4}), m.tensor({4})}, {m.tensor({5}), m.tensor({5}), m.tensor({5}), 0.1}}},
      {"batchnorm",
       {{m.tensor({3, 2, 2}), m.tensor({2}), m.tensor({2})}, {m.tensor({4, 3}), m.tensor({3}), m.tensor({3}), 0.1}}},
      {"running_batchnorm",
       {{m.tensor({3, 2, 2}), m.tensor({2}), m.positive({2}), m.tensor({2}), m.tensor({2}), 1e-5, 0.1, i(1)},
        {m.tensor({4, 3}), m.tensor({3}), m.positive({3}), m.tensor({3}), m.tensor({3}), 0.1, 0.5, i(0)}}},
      {"batchnorm_sums",
       {{m.tensor({3, 2, 2}), m.tensor({3, 2, 2})},
        {m.tensor({4, 3}), m.tensor({4, 3}), 0.1, m.tensor({3}), m.positive({3}), i(0)}}},
      {"batchnorm_input_grad", {{m.tensor({3, 2, 2}), m.tensor({3, 2, 2}), m.tensor({2}), m.tensor({5, 2})}}},
      {"layernorm_input_grad", {{m.tensor({3, 4}), m.tensor({3, 4}), m.tensor({4})}}},
  };
}

Samples movement(Maker m) {
  return {
      {"reshape", {{m.tensor({2, 6}), i(3), i(-1)}}},
      {"permute", {{m.tensor({2, 3, 4}), i(2), i(0), i(1)}}},
      {"broadcast", {{m.tensor({3, 1}), i(2), i(3), i(4)}, {m.tensor({}), i(2)}}},
      {"reverse", {{m.tensor({2, 3}), tuple({0, 1})}, {m.tensor({2, 3}), i(0)}}},
      {"concat", {{List{m.tensor({2, 3}), m.tensor({2, 1}), m.tensor({2, 2})}, i(1)}}},
      {"slice",
       {{m.tensor({4, 5, 2}), "ir", i(2), i(3), i(1), i(4)}, {m.tensor({4, 5}), "*i", i(0), i(4), i(4), i(5)}}},
      {"pad", {{m.tensor({2, 3}), i(1), i(2), i(1), 0.5}}},
      {"shift", {{m.tensor({2, 5}), i(1), i(2)}, {m.tensor({4, 2}), i(0), i(-1), true}}},
      {"drop", {{m.tensor({1, 3, 1}), tuple({0, 2})}}},
      {"lift", {{m.tensor({3}), i(0)}}},
      {"tile", {{m.tensor({2, 3}), i(0), i(3)}, {m.tensor({2, 3}), i(1), i(2)}}},
      {"gather", {{m.tensor({3, 2}), index({i(2), i(0), i(2)}), i(0)}, {m.tensor({3, 4}), index({i(1)}), i(1)}}},
      {"split",
       {{m.tensor({2, 6}), i(3), i(1)},
        {m.tensor({4, 3}), i(2), i(0)},
        {m.tensor({3}), i(1), i(0)},
        {m.tensor({2, 6}), List{i(3), i(1), i(2)}, i(1)},
        {m.tensor({4, 3}), List{i(4), i(0)}, i(0)}}},
      {"reflect", {{m.tensor({2, 3}), i(0)}, {m.tensor({2, 3}), i(1)}}},
      {"rotate", {{m.tensor({2, 3}), i(1)}, {m.tensor({2, 3, 4}), i(2)}, {m.tensor({2, 3, 4}), i(-1), tuple({1, 2})}}},
      {"scale", {{m.tensor({2, 3}), i(0), i(3)}, {m.tensor({2, 3}), i(1), i(2)}}},
      {"scatter_add", {{m.tensor({3, 2}), index({i(2), i(0), i(2)}), m.tensor({3, 2}), i(0)}}},
  };
}

Samples products(Maker m) {
  return {
      {"matmul",
       {{m.tensor({2, 3}), m.tensor({3, 4})},
        {m.tensor({3}), m.tensor({3, 2})},
        {m.tensor({2, 3}), m.tensor({3})},
        {m.tensor({3}), m.tensor({3})},
        {m.tensor({2, 1, 2, 3}), m.tensor({4, 3, 2})},
        {m.tensor({4, 2, 3}), m.tensor({3, 2})},
        {m.tensor({3}), m.tensor({2, 3, 2})}}},
      {"linear",
       {{m.tensor({2, 3}), m.tensor({4, 3}), m.tensor({4})},
        {m.tensor({2, 2, 3}), m.tensor({4, 3})},
        {m.tensor({3}), m.tensor({2, 3}), m.tensor({2})}}},
      {"conv2d",
       {{m.tensor({2, 2, 5, 4}), m.tensor({3, 2, 3, 2}), m.tensor({3}), tuple({2, 1}), tuple({1, 2})},
        {m.tensor({4, 6, 6}), m.tensor({2, 2, 2, 2}), m.tensor({2}), i(1), i(1), tuple({1, 2}), i(2)}}},
      {"conv1d",
       {{m.tensor({2, 2, 7}), m.tensor({3, 2, 3}), m.tensor({3}), i(2), i(1)},
        {m.tensor({4, 9}), m.tensor({2, 2, 2}), m.tensor({2}), i(1), i(1), i(3), i(2)}}},
      {"conv2d_input_grad",
       {{type_f64({2, 2, 5, 4}), m.tensor({2, 3, 2, 3}), m.tensor({3, 2, 3, 2}), i(2), tuple({0, 1})}}},
      {"conv2d_weight_grad",
       {{type_f64({3, 2, 3, 2}), m.tensor({2, 2, 5, 4}), m.tensor({2, 3, 2, 3}), i(2), tuple({0, 1})}}},
  };
}

Samples pools(Maker m) {
  Array x = m.tensor({2, 5, 6});
  std::vector<Operands> pool{{x, i(2)}, {x, tuple({3, 2}), tuple({2, 1}), tuple({1, 0})}};
  return {
      {"max_pool", pool},
      {"avg_pool", pool},
      {"global_pool", {{x}, {x, "max"}}},
      {"max_pool_grad",
       {{m.tensor({1, 4, 4}), m.tensor({1, 2, 2}), i(2)},
        {m.tensor({2, 5, 7}), m.tensor({2, 3, 4}), i(3), i(2), i(1)}}},
      {"avg_pool_grad",
       {{type_f64({1, 5, 6}), m.tensor({1, 2, 3}), i(2)},
        {type_f64({5, 4, 4}), m.tensor({5, 2, 3}), tuple({3, 2}), tuple({2, 1}), tuple({1, 0})}}},
  };
}

Samples neurons(Maker m) {
  Array table = Array::make({Precision::i8, {256}});
  for (std::int64_t k = 0; k < 256; ++k) table.set_integer(k, (k * 37) % 256 - 128);
  Array ticks = array_of(List{i(2)}, Precision::i32), random = array_of(List{i(12345)}, Precision::i32);
  Array counts = array_of(List{i(0), i(2), i(1), i(0), i(0)}, Precision::i32);
  const Value none;
  return {
      {"graph_print", {{"x", m.tensor({2, 3})}}},
      {"lookup", {{table, m.ints({4})}, {table, random_array({Precision::i8, {2, 3}}, 5)}}},
      {"lif",
       {{m.ints({5}), m.ints({5}), i(20)},
        {m.ints({5}), m.ints({5}), i(10), i(3), "subtract", i(0), i(200), i(3), counts},
        {m.ints({5}), m.ints({5}), i(5), i(0),  "constant", i(4), none,  i(0), none,   m.ints({5}),
         i(250),      i(1),        i(7), i(15), random,     i(2), ticks, i(1), i(-40), i(3)}}},
  };
}

// One or two tensors that broadcast; nothing where an operand must be something else.
std::vector<Operands> tensors(const OpDef& op, Maker m) {
  std::size_t count = 0;
  for (const Operand& operand : op.operands) {
    if (operand.standard.kind != Default::Kind::none) continue;
    if (operand.kind != OperandKind::tensor) return {};
    ++count;
  }
  if (count == 1) return {{m.tensor({2, 3})}, {m.tensor({})}};
  if (count == 2)
    return {{m.tensor({2, 3}), m.tensor({2, 3})}, {m.tensor({2, 1}), m.tensor({3})}, {m.tensor({4}), m.tensor({3, 1})}};
  return {};
}

}  // namespace

std::vector<Operands> sample_operands(const OpDef& op) {
  for (Samples (*family)(Maker) : {elementwise, makers, reductions, movement, products, pools, neurons}) {
    Samples samples = family(Maker());
    if (auto found = samples.find(op.name); found != samples.end()) return found->second;
  }
  std::vector<Operands> samples = tensors(op, Maker());
  if (samples.empty())
    throw failure("E1003", {}, "no sample operands for " + std::string(op.name) + ": add them to op_samples.cpp");
  return samples;
}

}  // namespace taskspec
