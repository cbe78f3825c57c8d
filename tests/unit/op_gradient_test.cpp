// Every gradient of the table against central differences in f64: the reverse of one call, built by the record's
// own rule out of ops that run at once, must equal the slope of a random weighted sum of the results.
#include <doctest/doctest.h>

#include <cmath>
#include <deque>

#include "ir/records/op_outputs.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/op_samples.hpp"

namespace taskspec::op_gradient_test {

namespace {

// Runs every emitted op immediately.
class EagerBuilder final : public GradientBuilder {
 public:
  static constexpr std::size_t none = SIZE_MAX;
  // `absent`: an output on which nothing depends.
  EagerBuilder(OpCall call, const std::vector<Array>& outputs, const std::vector<Array>& upstream,
               std::size_t absent = none)
      : call_(std::move(call)), absent_(absent), gradients_(call_.tensors.size()) {
    for (const Array& tensor : call_.tensors) keep(tensor);
    for (const Array& output : outputs) outputs_.push_back(keep(output));
    for (const Array& gradient : upstream) upstream_.push_back(keep(gradient));
  }

  const OpInstance& call() const override { return call_.instance; }
  Var input(std::size_t i) override {
    reads_.inputs |= 1U << i;
    return static_cast<Var>(i);
  }
  Var output(std::size_t i) override {
    reads_.outputs |= 1U << i;
    return outputs_[i];
  }
  bool has_upstream(std::size_t i) const override { return i != absent_; }
  Var upstream(std::size_t i) override {
    REQUIRE(i != absent_);
    return upstream_[i];
  }
  Var emit(const OpDef& op, const std::vector<std::variant<Var, Value>>& operands) override {
    Operands values;
    for (const auto& operand : operands) {
      if (const Var* var = std::get_if<Var>(&operand))
        values.push_back(arrays_[*var]);
      else
        values.push_back(std::get<Value>(operand));
    }
    return keep(call_op(op.name, values));
  }
  const ArrayType& type(Var v) override { return arrays_[v].type(); }
  void add(std::size_t input, Var gradient) override {
    std::optional<Array>& sum = gradients_[input];
    sum = sum ? call_op("add", {*sum, arrays_[gradient]}) : arrays_[gradient];
  }

  const std::vector<std::optional<Array>>& gradients() const { return gradients_; }
  const ReverseReads& reads() const { return reads_; }
  std::int64_t largest() const {  // elements of the largest array in it
    std::int64_t most = 0;
    for (const Array& array : arrays_) most = std::max(most, array.elements());
    return most;
  }

 private:
  Var keep(Array array) {
    arrays_.push_back(std::move(array));
    return static_cast<Var>(arrays_.size() - 1);
  }

  OpCall call_;
  const std::size_t absent_;
  ReverseReads reads_;
  std::deque<Array> arrays_;
  std::vector<std::optional<Array>> gradients_;
  std::vector<Var> outputs_, upstream_;
};

// ---- slopes ---------------------------------------------------------------------------------------

std::vector<Array> outputs_of(const OpDef& op, const Operands& operands) {
  OpCall call = prepare(op.name, operands);
  Serial serial;
  return run(*op.kernel(call.instance), call, serial);
}

// Indices that an op gives beside its values have no slope.
double weighted_sum(const OpDef& op, const Operands& operands, const std::vector<Array>& weights) {
  std::vector<Array> y = outputs_of(op, operands);
  double sum = 0;
  for (std::size_t k = 0; k < y.size(); ++k)
    for (std::int64_t e = 0; is_float(y[k].precision()) && e < y[k].elements(); ++e)
      sum += y[k].number(e) * weights[k].number(e);
  return sum;
}

// The inputs of the call that are given as tensors; the others are host numbers where a tensor may stand.
std::vector<std::size_t> given_tensors(const OpDef& op, const Operands& operands) {
  std::vector<std::size_t> given;
  std::size_t input = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool is_number = k < op.operands.size() && operands[k].is_number() &&
                           (op.operands[k].kind == OperandKind::tensor || op.operands[k].at_run);
    const std::size_t tensors = !holds_tensors(operands[k]) ? 0 : operands[k].is_list() ? operands[k].list().size() : 1;
    for (std::size_t t = 0; t < tensors; ++t) given.push_back(input + t);
    input += tensors + (is_number ? 1 : 0);
  }
  return given;
}

// Tensor number n among the operands that are tensors.
Value& tensor_of(Operands& operands, std::size_t n) {
  for (Value& value : operands) {
    if (value.is_array() && n-- == 0) return value;
    if (!value.is_list() || !holds_tensors(value)) continue;
    if (n < value.list().size()) return value.unique_list()[n];
    n -= value.list().size();
  }
  throw failure("E5003", {}, "no such tensor operand");
}

double slope(const OpDef& op, const Operands& operands, std::size_t n, std::int64_t element,
             const std::vector<Array>& weights) {
  constexpr double h = 1e-3;  // with five points the error is h^4
  auto at = [&](double offset) {
    Operands moved = operands;
    Value& place = tensor_of(moved, n);
    const Array& tensor = place.array();
    Array copy = Array::make(tensor.type());
    std::copy(tensor.raw(), tensor.raw() + tensor.bytes(), copy.raw());
    copy.set_number(element, copy.number(element) + offset);
    place = Value(copy);
    return weighted_sum(op, moved, weights);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

// Random gradients of the outputs; 0 of new versions of places, which are kept statistics and carry none.
std::vector<Array> random_upstream(const OpDef& op, const std::vector<Array>& y) {
  std::vector<Array> upstream;
  for (const Array& output : y) {
    const bool kept = op.outputs.size() == y.size() && is_place(op, op.outputs[upstream.size()]);
    upstream.push_back(kept ? Array::make(output.type()) : random_array(output.type(), 99 + upstream.size()));
  }
  return upstream;
}

// The gradient of a spike is meant to be another one than its slope.
bool has_slope(const OpDef& op) { return op.gradient.build && op.name != "spike"; }

void check_gradient(const OpDef& op, const Operands& operands) {
  OpCall call = prepare(op.name, operands);
  std::vector<Array> y = outputs_of(op, operands), upstream = random_upstream(op, y);
  EagerBuilder builder(call, y, upstream);
  op.gradient.build(builder);
  const std::vector<std::size_t> given = given_tensors(op, operands);
  for (std::size_t n = 0; n < given.size(); ++n) {
    const std::size_t input = given[n];
    if (!is_float(call.tensors[input].precision())) continue;
    CAPTURE(input);
    const std::optional<Array>& gradient = builder.gradients()[input];
    if (input < op.operands.size() && is_place(op, op.operands[input].name)) {
      CHECK(!gradient);
      continue;
    }
    REQUIRE(gradient);
    REQUIRE(gradient->type() == call.tensors[input].type());
    double worst = 0, largest = 1;
    for (std::int64_t e = 0; e < gradient->elements(); ++e) {
      double expected = slope(op, operands, n, e, upstream);
      largest = std::max(largest, std::abs(expected));
      worst = std::max(worst, std::abs(gradient->number(e) - expected));
    }
    CHECK(worst / largest < 1e-6);
  }
}

}  // namespace

TEST_CASE("every gradient equals central differences [ops] [ops-grad]") {
  for (const OpDef* op : standard_ops().all()) {
    if (!has_slope(*op)) continue;
    CAPTURE(op->name);
    std::vector<Operands> cases = sample_operands(*op);
    for (std::size_t k = 0; k < cases.size(); ++k) {
      CAPTURE(k);
      check_gradient(*op, cases[k]);
    }
  }
}

TEST_CASE("the gradient of a spike is that of a fast sigmoid [ops] [ops-grad]") {
  const OpDef& op = *standard_ops().find("spike");
  const Array u = array_of(List{-0.5, 0.25, 1.5}, Precision::f64);
  for (const double threshold : {0.0, 0.25}) {
    const Operands operands{u, threshold, 2.0};
    const std::vector<Array> y = outputs_of(op, operands), upstream = random_upstream(op, y);
    EagerBuilder builder(prepare(op.name, operands), y, upstream);
    op.gradient.build(builder);
    for (std::int64_t e = 0; e < u.elements(); ++e) {
      const double root = 1 + 2 * std::abs(u.number(e) - threshold);
      CHECK(y[0].number(e) == (u.number(e) >= threshold ? 1 : 0));
      CHECK(builder.gradients()[0]->number(e) == doctest::Approx(upstream[0].number(e) / (root * root)));
    }
  }
}

TEST_CASE("what has no gradient, lowering or sharding says why [ops]") {
  for (const OpDef* op : standard_ops().all()) {
    CAPTURE(op->name);
    CHECK((op->gradient.build != nullptr) != !op->gradient.why_none.empty());
    CHECK((op->lower.build != nullptr) != !op->lower.why_none.empty());
    CHECK((op->sharding.splits != nullptr) != !op->sharding.why_none.empty());
  }
}

namespace {

// What the call gives and random gradients of that, for a reverse of it.
// `zero`: the absent one is there, and 0.
EagerBuilder reverse_of(const OpDef& op, const Operands& operands, std::size_t absent = EagerBuilder::none,
                        bool zero = false) {
  std::vector<Array> y = outputs_of(op, operands), upstream;
  for (const Array& output : y) upstream.push_back(random_array(output.type(), 99 + upstream.size()));
  if (zero) upstream[absent] = Array::make(y[absent].type());
  return {prepare(op.name, operands), y, upstream, zero ? EagerBuilder::none : absent};
}

Array narrowed(const Array& array) {
  if (array.precision() != Precision::f64) return array;
  Array narrow = Array::make({Precision::f32, array.extents()});
  for (std::int64_t e = 0; e < array.elements(); ++e) narrow.set_number(e, array.number(e));
  return narrow;
}

// What is f64 in it as f32: tensors, lists of them and written types.
Value narrowed(const Value& value) {
  if (value.is_array()) return narrowed(value.array());
  if (value.is_list() && holds_tensors(value)) {
    List items;
    for (const Value& item : value.list()) items.push_back(narrowed(item.array()));
    return items;
  }
  if (value.is_type() && value.type().parts[0].is_tensor() && value.type().parts[0].precision == Precision::f64)
    return Type::of(Type::tensor(Precision::f32, value.type().parts[0].dims));
  return value;
}

Operands narrowed(const Operands& operands) {
  Operands narrow;
  for (const Value& value : operands) narrow.push_back(narrowed(value));
  return narrow;
}

// Numbers of f32 against the same of f64.
void check_narrow(const Array& narrow, const Array& wide) {
  REQUIRE(narrow.extents() == wide.extents());
  CHECK(narrow.precision() == (wide.precision() == Precision::f64 ? Precision::f32 : wide.precision()));
  double worst = 0, largest = 1;
  for (std::int64_t e = 0; e < wide.elements(); ++e) {
    worst = std::max(worst, std::abs(narrow.number(e) - wide.number(e)));
    largest = std::max(largest, std::abs(wide.number(e)));
  }
  CHECK(worst / largest < 1e-5);
}

// Makers of random numbers have others in each precision.
bool reads_tensors(const OpDef& op) {
  return std::any_of(op.operands.begin(), op.operands.end(), [](const Operand& operand) {
    return operand.kind == OperandKind::tensor || operand.kind == OperandKind::tensors;
  });
}

bool same(const std::optional<Array>& a, const std::optional<Array>& b) {
  const std::optional<Array>& any = a ? a : b;
  if (!any) return true;
  for (std::int64_t e = 0; e < any->elements(); ++e)
    if ((a ? a->number(e) : 0) != (b ? b->number(e) : 0)) return false;
  return true;
}

}  // namespace

TEST_CASE("every op gives in f32 what it gives in f64 [ops] [ops-fwd]") {
  for (const OpDef* op : standard_ops().all()) {
    if (!reads_tensors(*op)) continue;
    CAPTURE(op->name);
    for (const Operands& operands : sample_operands(*op)) {
      const std::vector<Array> wide = outputs_of(*op, operands), narrow = outputs_of(*op, narrowed(operands));
      for (std::size_t k = 0; k < wide.size(); ++k) check_narrow(narrow[k], wide[k]);
    }
  }
}

TEST_CASE("every reverse gives in f32 what it gives in f64 [ops] [ops-grad]") {
  for (const OpDef* op : standard_ops().all()) {
    if (!op->gradient.build) continue;
    CAPTURE(op->name);
    for (const Operands& operands : sample_operands(*op)) {
      EagerBuilder wide = reverse_of(*op, operands), narrow = reverse_of(*op, narrowed(operands));
      op->gradient.build(wide);
      op->gradient.build(narrow);
      for (std::size_t i = 0; i < wide.gradients().size(); ++i) {
        CAPTURE(i);
        REQUIRE(wide.gradients()[i].has_value() == narrow.gradients()[i].has_value());
        if (wide.gradients()[i]) check_narrow(*narrow.gradients()[i], *wide.gradients()[i]);
      }
    }
  }
}

TEST_CASE("what networks are trained with has a gradient, in f32 and f64 [ops] [ops-fwd] [ops-grad]") {
  for (std::string_view name : {"linear",    "conv2d",    "max_pool",    "avg_pool", "running_batchnorm",
                                "batchnorm", "layernorm", "softmax",     "dropout",  "gather",
                                "matmul",    "exp",       "add",         "sub",      "mul",
                                "div",       "relu",      "sigmoid",     "tanh",     "gelu",
                                "elu",       "sin",       "cos",         "rsqrt",    "pow",
                                "copy",      "maximum",   "minimum",     "concat",   "split",
                                "reshape",   "permute",   "reverse",     "topk",     "sum",
                                "mean",      "cast",      "broadcast",   "log",      "sqrt",
                                "max",       "min",       "prod",        "where",    "slice",
                                "pad",       "spike",     "log_softmax", "clamp",    "global_pool",
                                "erf"}) {
    CAPTURE(name);
    const OpDef* op = standard_ops().find(name);
    REQUIRE(op);
    CHECK((op->gradient.build != nullptr));
  }
  CHECK(!standard_ops().find("argmax")->gradient.why_none.empty());
}

TEST_CASE("a reverse reads what its record says, no more and no less [ops]") {
  for (const OpDef* op : standard_ops().all()) {
    if (!op->gradient.build) continue;
    CAPTURE(op->name);
    ReverseReads reads;
    for (const Operands& operands : sample_operands(*op)) {
      EagerBuilder builder = reverse_of(*op, operands);
      op->gradient.build(builder);
      reads.inputs |= builder.reads().inputs;
      reads.outputs |= builder.reads().outputs;
    }
    CHECK(reads.inputs == op->gradient.reads.inputs);
    CHECK(reads.outputs == op->gradient.reads.outputs);
  }
}

TEST_CASE("an output on which nothing depends counts as one with a gradient of 0 [ops]") {
  int tried = 0;
  for (const OpDef* op : standard_ops().all()) {
    if (!op->gradient.build || op->outputs.empty()) continue;
    CAPTURE(op->name);
    for (const Operands& operands : sample_operands(*op)) {
      const std::size_t outputs = prepare(op->name, operands).instance.out.size();
      for (std::size_t absent = 0; outputs > 1 && absent < outputs; ++absent, ++tried) {
        CAPTURE(absent);
        EagerBuilder without = reverse_of(*op, operands, absent);
        op->gradient.build(without);
        EagerBuilder zeros = reverse_of(*op, operands, absent, true);
        op->gradient.build(zeros);
        for (std::size_t i = 0; i < zeros.gradients().size(); ++i)
          CHECK(same(without.gradients()[i], zeros.gradients()[i]));
      }
    }
  }
  CHECK(tried > 3);
}

TEST_CASE("the gradient of topk is as large as its input, not a row for each value [ops]") {
  const OpDef& op = *standard_ops().find("topk");
  const Operands operands{random_array({Precision::f64, {20, 50}}, 1), Value(std::int64_t{10})};
  EagerBuilder builder = reverse_of(op, operands);
  op.gradient.build(builder);
  CHECK(builder.largest() == 1000);
}

}  // namespace taskspec::op_gradient_test
