#include "stdlib/ops/standardising.hpp"

#include <fmt/format.h>

#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec {

extern const OpDef op_add, op_mean, op_mul, op_reshape, op_rsqrt, op_sub;  // reverses are made of these

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

// With n = (x - mean) / deviation and d = scale * upstream: dx = (d - mean(d) - n * mean(d * n)) / deviation.
void standardising_gradient(GradientBuilder& g, const Value& axes, const Extents& shape) {
  using Var = GradientBuilder::Var;
  const OpInstance& call = g.call();
  auto mean = [&](Var v) { return g.emit(op_mean, {v, axes}); };
  auto times = [&](Var a, Var b) { return g.emit(op_mul, {a, b}); };
  Var centred = g.emit(op_sub, {g.input(0), mean(g.input(0))});
  Var variance = mean(times(centred, centred));
  Var per_deviation = g.emit(op_rsqrt, {g.emit(op_add, {variance, call.attributes[3]})});
  Var normal = times(centred, per_deviation);
  std::vector<std::variant<Var, Value>> beside{g.input(1)};
  for (std::int64_t extent : shape) beside.push_back(Value(extent));
  Var d = times(g.upstream(), g.emit(op_reshape, beside));
  Var rest = g.emit(op_add, {mean(d), times(normal, mean(times(d, normal)))});
  g.add(0, times(g.emit(op_sub, {d, rest}), per_deviation));
  const ArrayType factor{call.in[0].precision, shape};
  std::vector<std::variant<Var, Value>> flat{reduce_to(g, times(g.upstream(), normal), factor)};
  flat.push_back(Value(call.in[1].extents[0]));
  g.add(1, g.emit(op_reshape, flat));
  flat[0] = reduce_to(g, g.upstream(), factor);
  g.add(2, g.emit(op_reshape, flat));
}

Work standardising_work(const OpInstance& call) {
  return {8 * static_cast<double>(call.in[0].elements()), 2 * static_cast<double>(call.in[0].bytes())};
}

}  // namespace taskspec
