// topk: the largest elements along an axis, and where they stand.
#include <algorithm>

#include "ir/base/text.hpp"
#include "stdlib/ops/dispatch.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/normalising.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::topk_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "k", .kind = OperandKind::integer},
                                {.name = "axis", .kind = OperandKind::integer, .standard = Default::absent()}};
constexpr std::string_view outputs[] = {"values", "indices"};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "topk", 0, Takes::ordered);
  if (x.rank() == 0) refuse(c, "E2004", "topk goes along an axis, and " + x.text() + " has none", 0);
  Dim k = extent_operand(c, 1);
  std::vector<Dim> dims = x.dims;
  const bool last = c.type(2).is(Type::Kind::none);
  std::optional<std::size_t> axis = last ? std::optional(x.rank() - 1) : axis_operand(c, 2, x.rank());
  if (axis) {
    std::optional<std::int64_t> extent = dims[*axis].constant(), wanted = k.constant();
    if (extent && wanted && *wanted > *extent)
      refuse(c, "E2004",
             "topk of " + k.text() + " along an axis of " + plural(static_cast<std::size_t>(*extent), "element"), 1);
    dims[*axis] = k;
  } else {
    dims = unknown_dims(c, x.rank());
  }
  Type result(Type::Kind::invocation);
  result.parts = {Type::tensor(x.precision, dims), Type::tensor(Precision::i64, dims)};
  result.names = {"values", "indices"};
  return result;
}

// A heap of the k best so far, the worst of them on top, in the place of the results; then sorted there.
template <class T>
class Best {
 public:
  Best(T* values, std::int64_t* places, std::int64_t k, std::int64_t step)
      : values_(values), places_(places), k_(k), step_(step) {}

  void find(const T* x, std::int64_t extent) {
    for (std::int64_t i = 0; i < k_; ++i) put(i, x[i * step_], i);
    for (std::int64_t i = k_ / 2; i-- > 0;) sift(i, k_);
    for (std::int64_t i = k_; i < extent; ++i)
      if (may_enter(x[i * step_]) && before(x[i * step_], i, values_[0], places_[0])) {
        put(0, x[i * step_], i);
        sift(0, k_);
      }
    for (std::int64_t end = k_; end-- > 1;) {
      swap(0, end);
      sift(0, end);
    }
  }

 private:
  // nan first, then the larger; of equals the one with the lower index.
  static bool before(T a, std::int64_t at, T b, std::int64_t bt) {
    Computed<T> x = convert<Computed<T>>(a), y = convert<Computed<T>>(b);
    if (x != x || y != y) return x != x && (y == y || at < bt);
    return x > y || (x == y && at < bt);
  }
  // Most elements do not: one comparison tells, as a later one loses against an equal one.
  bool may_enter(T x) const { return !(convert<Computed<T>>(x) <= convert<Computed<T>>(values_[0])); }
  bool worse(std::int64_t a, std::int64_t b) const {
    return before(values_[b * step_], places_[b * step_], values_[a * step_], places_[a * step_]);
  }
  void put(std::int64_t i, T value, std::int64_t place) {
    values_[i * step_] = value;
    places_[i * step_] = place;
  }
  void swap(std::int64_t a, std::int64_t b) {
    std::swap(values_[a * step_], values_[b * step_]);
    std::swap(places_[a * step_], places_[b * step_]);
  }
  void sift(std::int64_t top, std::int64_t end) {
    for (std::int64_t child; (child = 2 * top + 1) < end; top = child) {
      if (child + 1 < end && worse(child + 1, child)) ++child;
      if (!worse(child, top)) return;
      swap(child, top);
    }
  }

  T* values_;
  std::int64_t* places_;
  std::int64_t k_, step_;
};

template <class T>
class Topk final : public Kernel {
 public:
  Topk(const SoftmaxPlan& lines, std::int64_t k) : lines_(lines), k_(k) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    if (k_ == 0) return std::nullopt;
    const T* x = reinterpret_cast<const T*>(args.in[0]);
    T* values = reinterpret_cast<T*>(args.out[0]);
    auto* places = reinterpret_cast<std::int64_t*>(args.out[1]);
    std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, lines_.extent));
    args.parallel.for_each(lines_.outer * lines_.inner, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t o = i / lines_.inner, column = i % lines_.inner, to = o * k_ * lines_.inner + column;
        Best<T>(values + to, places + to, k_, lines_.inner)
            .find(x + o * lines_.extent * lines_.inner + column, lines_.extent);
      }
    });
    return std::nullopt;
  }

 private:
  SoftmaxPlan lines_;
  std::int64_t k_;
};

Value axis_of(const OpInstance& call) {
  const Value& given = call.attributes[2];
  return given.is_none() ? Value(static_cast<std::int64_t>(call.in[0].extents.size()) - 1) : given;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Extents& extents = call.in[0].extents;
  auto axis = static_cast<std::size_t>(axis_of(call).integer());
  SoftmaxPlan lines{.precision = call.in[0].precision, .extent = extents[axis]};
  for (std::size_t i = 0; i < axis; ++i) lines.outer *= extents[i];
  for (std::size_t i = axis + 1; i < extents.size(); ++i) lines.inner *= extents[i];
  return with_storage(lines.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    return std::make_unique<Topk<decltype(element)>>(lines, call.out[0].extents[axis]);
  });
}

// The axis last, and everything in one row: there the gradient of a value goes to the place that it came from.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  if (!is_float(call.in[0].precision) || !g.has_upstream(0)) return;
  const Extents& extents = call.in[0].extents;
  const auto rank = static_cast<std::int64_t>(extents.size()), axis = axis_of(call).integer();
  const std::int64_t extent = extents[static_cast<std::size_t>(axis)],
                     k = call.out[0].extents[static_cast<std::size_t>(axis)];
  using Operands = std::vector<std::variant<GradientBuilder::Var, Value>>;
  Operands axis_last{g.upstream(0)}, lines_of_x{0U}, back{0U};
  std::int64_t lines = 1;
  for (std::int64_t d = 0; d < rank; ++d) {
    back.push_back(Value(d == axis ? rank - 1 : d - (d > axis ? 1 : 0)));
    if (d == axis) continue;
    axis_last.push_back(Value(d));
    lines_of_x.push_back(Value(extents[static_cast<std::size_t>(d)]));
    lines *= extents[static_cast<std::size_t>(d)];
  }
  axis_last.push_back(Value(axis));
  lines_of_x.push_back(Value(extent));
  GradientBuilder::Var upstream = g.emit(op_reshape, {g.emit(op_permute, axis_last), Value(lines * k)});
  axis_last[0] = g.output(1);
  GradientBuilder::Var indices = g.emit(op_reshape, {g.emit(op_permute, axis_last), Value(lines), Value(k)});
  GradientBuilder::Var begins = g.emit(op_mul, {g.emit(op_iota, {Value(lines)}), Value(extent)});
  GradientBuilder::Var places =
      g.emit(op_add, {indices, g.emit(op_reshape, {begins, Value(lines), Value(std::int64_t{1})})});
  const Type row = Type::tensor(call.in[0].precision, {Dim(lines * extent)});
  lines_of_x[0] =
      g.emit(op_scatter_add, {g.emit(op_fill, {Value(Type::of(row)), Value(0.0)}),
                              g.emit(op_reshape, {places, Value(lines * k)}), upstream, Value(std::int64_t{0})});
  back[0] = g.emit(op_reshape, lines_of_x);
  g.add(0, g.emit(op_permute, back));
}

Work work(const OpInstance& call) {
  double out = 0;
  for (const ArrayType& type : call.out) out += static_cast<double>(type.bytes());
  return {static_cast<double>(call.in[0].elements()), static_cast<double>(call.in[0].bytes()) + out};
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "topk",
    .operands = operands,
    .outputs = outputs,
    .doc =
        "The k largest elements along an axis, the last one when it is left out, in falling order, and their indices "
        "as i64: two outputs, `values` and `indices`. nan counts as the largest; of equals the lower index comes "
        "first. Takes bool, integers and floats (E2002); more than there are is E2004.",
    .example =
        "let best = ([3, 9, 4, 9] as i32[4]).topk(3)\n"
        "print(best.values.array, best.indices.array)\n"
        "// expect: [9, 9, 4] [1, 3, 2]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.outputs = 0b10}},
    .lower = Lowering::none("cores do not pick by data"),
    .sharding = Sharding::none(with_planner),
    .work = work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::topk_op
