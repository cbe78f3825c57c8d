#include "stdlib/ops/standardising.hpp"

#include <fmt/format.h>

#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec {

Type standardising_type(RuleContext& c, std::string_view name, std::size_t rank, int axis) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, name, 0, Takes::floats);
  if (x.rank() < rank)
    refuse(c, "E2001",
           fmt::format("'{}' takes at least {} {}, not {}", name, rank, rank == 1 ? "axis" : "axes", x.text()), 0);
  const Dim& extent = axis < 0 ? x.dims.back() : x.dims[static_cast<std::size_t>(axis)];
  for (std::size_t operand : {1, 2}) {
    const Type& factor = tensor_operand(c, name, operand, Takes::floats);
    require_one_precision(c, name, {x, factor});
    std::vector<Dim> wanted{extent};
    require_same_dims(
        c, fmt::format("{} of {} with a {} of {}", name, x.text(), operand == 1 ? "scale" : "shift", factor.text()),
        wanted, factor.dims);
  }
  return x;
}

StandardisePlan channels_plan(const ArrayType& x, double epsilon) {
  std::int64_t pixels = 1;
  for (std::size_t d = 2; d < x.extents.size(); ++d) pixels *= x.extents[d];
  return {.precision = x.precision,
          .groups = x.extents[1],
          .pieces = x.extents[0],
          .length = pixels,
          .group_step = pixels,
          .piece_step = x.extents[1] * pixels,
          .epsilon = epsilon};
}

StandardisePlan rows_plan(const ArrayType& x, double epsilon) {
  const std::int64_t length = x.extents.back();
  return {.precision = x.precision,
          .groups = length == 0 ? 0 : x.elements() / length,
          .length = length,
          .group_step = length,
          .factor_per_element = true,
          .epsilon = epsilon};
}

void require_like_x(RuleContext& c, std::string_view name, std::size_t operand) {
  const Type &x = c.type(0), &other = tensor_operand(c, name, operand, Takes::floats);
  require_one_precision(c, name, {x, other});
  require_same_dims(c, fmt::format("{} of {} and {}", name, x.text(), other.text()), x.dims, other.dims);
}

void require_per_channel(RuleContext& c, std::string_view name, std::size_t operand) {
  const Type &x = c.type(0), &factor = tensor_operand(c, name, operand, Takes::floats);
  require_one_precision(c, name, {x, factor});
  const std::vector<Dim> wanted{x.dims[1]};
  require_same_dims(c, fmt::format("{} of {} with {}", name, x.text(), factor.text()), wanted, factor.dims);
}

Precision sums_precision(Precision x) { return x == Precision::f16 ? Precision::f32 : x; }

void add_channel_gradients(GradientBuilder& g, GradientBuilder::Var sums, std::size_t scale) {
  const Precision precision = g.call().in[0].precision;
  g.add(0, g.emit(op_batchnorm_input_grad, {g.input(0), g.upstream(), g.input(scale), sums}));
  auto row = [&](SumRow r) {
    const auto at = static_cast<std::int64_t>(r);
    GradientBuilder::Var var = g.emit(op_slice, {sums, Value("i"), Value(at), Value(at + 1)});
    return g.type(var).precision == precision ? var : g.emit(op_cast, {var, Value(Type::tensor(precision, {}))});
  };
  g.add(scale, row(row_scale));
  g.add(scale + 1, row(row_shift));
}

CallBuilder::Var channel_sums(CallBuilder& b, CallBuilder::Var x) {
  Tuple axes;
  for (std::size_t d = 0; d < b.type(x).extents.size(); ++d)
    if (d != 1) axes.items.push_back(static_cast<std::int64_t>(d));
  return b.emit(op_sum, {x, Value(std::move(axes))});
}

CallBuilder::Var beside(CallBuilder& b, CallBuilder::Var per_channel, std::size_t rank) {
  std::vector<std::variant<CallBuilder::Var, Value>> shape{per_channel};
  for (std::size_t d = 0; d < rank; ++d) shape.emplace_back(Value(d == 1 ? b.type(per_channel).extents[0] : 1));
  return b.emit(op_reshape, shape);
}

CallBuilder::Var per_channel(CallBuilder& b, CallBuilder::Var sums) {
  return b.emit(op_reshape, {sums, Value(b.type(sums).extents[1])});
}

CallBuilder::Var per_deviation(CallBuilder& b, CallBuilder::Var variance, double epsilon) {
  return b.emit(op_rsqrt, {b.emit(op_add, {variance, Value(epsilon)})});
}

Moments batch_moments(CallBuilder& b, CallBuilder::Var x) {
  const ArrayType type = b.type(x);
  const Value count(static_cast<double>(type.elements() / type.extents[1]));
  const CallBuilder::Var mean = b.emit(op_div, {channel_sums(b, x), count});
  const CallBuilder::Var d = b.emit(op_sub, {x, mean});
  return {mean, b.emit(op_div, {channel_sums(b, b.emit(op_mul, {d, d})), count})};
}

CallBuilder::Var standardised(CallBuilder& b, CallBuilder::Var x, Moments by, CallBuilder::Var scale,
                              CallBuilder::Var shift, double epsilon) {
  const std::size_t rank = b.type(x).extents.size();
  const CallBuilder::Var n = b.emit(op_mul, {b.emit(op_sub, {x, by.mean}), per_deviation(b, by.variance, epsilon)});
  return b.emit(op_add, {b.emit(op_mul, {n, beside(b, scale, rank)}), beside(b, shift, rank)});
}

std::vector<Split> channel_splits(const OpInstance& call, std::vector<CallBuilder::Var> (*made_of)(CallBuilder&)) {
  const ArrayType& x = call.in[0];
  auto channels = [](const ArrayType& type) {
    if (type.extents.size() > 1) return 1;
    return type.extents.size() == 1 && type.elements() > 1 ? 0 : Split::whole;
  };
  auto rows = [&](const ArrayType& type) { return type.extents == x.extents ? 0 : Split::whole; };
  Split by_channel, by_row{.in = {}, .out = {}, .made_of = made_of};
  for (const ArrayType& in : call.in) by_channel.in.push_back(channels(in)), by_row.in.push_back(rows(in));
  for (const ArrayType& out : call.out) by_channel.out.push_back(channels(out)), by_row.out.push_back(rows(out));
  std::vector<Split> splits;
  if (x.extents[1] > 1) splits.push_back(std::move(by_channel));
  if (x.extents[0] > 1) splits.push_back(std::move(by_row));
  return splits;
}

Work standardising_work(const OpInstance& call) {
  return {8 * static_cast<double>(call.in[0].elements()), 2 * static_cast<double>(call.in[0].bytes())};
}

}  // namespace taskspec
