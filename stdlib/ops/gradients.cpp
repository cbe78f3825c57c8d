#include "stdlib/ops/gradients.hpp"

#include "stdlib/ops/records.hpp"

namespace taskspec {

GradientBuilder::Var reduce_to(GradientBuilder& g, GradientBuilder::Var var, const ArrayType& type) {
  const Extents from = g.type(var).extents;
  if (from == type.extents) return var;
  std::size_t missing = from.size() - type.extents.size();
  Tuple axes;
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1 && (d < missing || type.extents[d - missing] == 1))
      axes.items.push_back(static_cast<std::int64_t>(d));
  if (!axes.items.empty()) var = g.emit(op_sum, {var, Value(std::move(axes))});
  if (g.type(var).extents == type.extents) return var;
  std::vector<std::variant<GradientBuilder::Var, Value>> shape{var};
  for (std::int64_t extent : type.extents) shape.push_back(Value(extent));
  return g.emit(op_reshape, shape);
}

GradientBuilder::Var expand(GradientBuilder& g, GradientBuilder::Var var, const ArrayType& type) {
  std::vector<std::variant<GradientBuilder::Var, Value>> operands{var};
  for (std::int64_t extent : type.extents) operands.push_back(Value(extent));
  return g.emit(op_broadcast, operands);
}

void extremum_gradient(GradientBuilder& g) {
  if (!differentiable(g, 0)) return;
  const ArrayType x = g.call().in[0];
  GradientBuilder::Var hit = g.emit(op_eq, {g.input(0), g.output()});
  GradientBuilder::Var one = g.emit(op_cast, {hit, Value(Type::tensor(x.precision, {}))});
  GradientBuilder::Var hits = g.emit(op_sum, {one, g.call().attributes[1]});
  GradientBuilder::Var share = g.emit(op_div, {g.upstream(), hits});
  g.add(0, g.emit(op_mul, {one, expand(g, share, x)}));
}

bool differentiable(GradientBuilder& g, std::size_t input) { return is_float(g.call().in[input].precision); }

void add_reduced(GradientBuilder& g, std::size_t input, GradientBuilder::Var gradient) {
  if (differentiable(g, input)) g.add(input, reduce_to(g, gradient, g.call().in[input]));
}

void chain(GradientBuilder& g, GradientBuilder::Var factor) { g.add(0, g.emit(op_mul, {g.upstream(), factor})); }

}  // namespace taskspec
