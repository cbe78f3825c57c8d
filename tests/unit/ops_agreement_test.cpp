// Kernels against the arithmetic of host code, on random values: equal within the tolerance of the record, bit by bit
// where that is 0.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "stdlib/ops.hpp"
#include "tests/unit/op_call.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::ops_agreement_test {

namespace {

// It does the same to tensors and to host numbers, element by element.
bool is_comparable(const OpDef& op) {
  auto is_tensor = [](const Operand& operand) {
    return operand.kind == OperandKind::tensor && operand.standard.kind == Default::Kind::none;
  };
  return op.scalar && op.outputs.empty() && std::ranges::all_of(op.operands, is_tensor);
}

Array random_operand(Precision precision, std::mt19937_64& random) {
  Array array = random_array({precision, {257}}, random());
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_number(i, 4 * array.number(i));
  return array;
}

// What host code makes of the elements, rounded to the precision of `like`.
Array by_host(const OpDef& op, const std::vector<Array>& tensors, const Array& like) {
  Array made = Array::make(like.type());
  for (std::int64_t i = 0; i < made.elements(); ++i) {
    std::vector<Value> values;
    for (const Array& tensor : tensors) values.emplace_back(tensor.number(i));
    const Value value = op.scalar(values);
    if (value.is_bool())
      made.set_integer(i, value.boolean());
    else
      made.set_number(i, value.real());
  }
  return made;
}

// Relative to the largest of them.
double distance(const Array& a, const Array& b) {
  double worst = 0, largest = 1;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.number(i), y = b.number(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    worst = std::isfinite(x) && std::isfinite(y) ? std::max(worst, std::abs(x - y)) : INFINITY;
    largest = std::max(largest, std::abs(y));
  }
  return worst / largest;
}

}  // namespace

TEST_CASE("kernels give what host code gives, within the tolerance of their op [ops]") {
  std::set<std::string_view> tried, inexact;
  for (std::uint64_t seed : random_seeds(5, 200)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (const OpDef* op : standard_ops().all()) {
      if (!is_comparable(*op)) continue;
      CAPTURE(op->name);
      for (Precision precision : {Precision::f32, Precision::f64}) {
        std::vector<Array> tensors;
        while (tensors.size() < op->operands.size()) tensors.push_back(random_operand(precision, random));
        Array made;
        try {
          made = call_op(op->name, {tensors.begin(), tensors.end()});
        } catch (const Error&) {
          continue;  // it takes no floats
        }
        tried.insert(op->name);
        if (op->tolerance > 0) inexact.insert(op->name);
        const double found = distance(made, by_host(*op, tensors, made));
        CHECK(found <= op->tolerance);
      }
    }
  }
  CHECK(tried.size() >= 20);
  CHECK(inexact.size() >= 6);
}

}  // namespace taskspec::ops_agreement_test
