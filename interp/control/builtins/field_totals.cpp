// What the elements of a field of a region come to: sum, prod, min, max. Ops of these names do the same to tensors.
#include "interp/control/builtins/region_operands.hpp"
#include "ir/records/reduce_op.hpp"

namespace taskspec {

namespace {

using Kind = Type::Kind;

// Along all axes: what the checker has seen to.
template <ReduceOp op>
Type total_type(RuleContext& c) {
  builtins::want(c, 0, Kind::region_field, "a field of a region, such as r.f");
  if (c.type(0).is(Kind::error)) return c.type(0);
  Type type(c.type(0).parts[0]);
  type.precision = reduced_precision(type.precision, op);
  type.dims.assign(c.type(1).is(Kind::none) ? 0 : type.rank(), Dim(1));
  return type;
}

template <ReduceOp op>
Value run_total(HostContext& host, std::span<const Value> values) {
  Target& target = builtins::target_of(host);
  const FieldValue& of = field_in(target, values[0], host.span);
  return target.field_total(of.space, of.field, op, !values[1].is_none(), builtins::site_of(host));
}

constexpr Operand operands[] = {{"field", OperandKind::data},
                                {.name = "axis", .kind = OperandKind::axes, .standard = Default::absent()}};

template <ReduceOp op>
constexpr BuiltinFields total(std::string_view name, std::string_view doc, std::string_view example) {
  return {.name = name,
          .operands = operands,
          .doc = doc,
          .example = example,
          .type = total_type<op>,
          .run = run_total<op>,
          .runs_in = RunsIn::graph};
}

#define TASKSPEC_FILLED "fields Cell { state: f64 }\nlet cells = region Cell[8]\nfill(cells.state, 2.0)\n"

}  // namespace

constinit const Builtin builtin_field_sum = total<ReduceOp::sum>(
    "field.sum",
    "The sum of a field of a region or piece, by a fixed tree over blocks of 64 elements of the region: the same bits "
    "however the region is cut, in a task and outside, on any number of shards.",
    TASKSPEC_FILLED "print(cells.state.sum().scalar)\n// expect: 16");

constinit const Builtin builtin_field_prod =
    total<ReduceOp::prod>("field.prod", "The product of a field of a region or piece, by the tree of `field.sum`.",
                          TASKSPEC_FILLED "print(cells.state.prod().scalar)\n// expect: 256");

constinit const Builtin builtin_field_min =
    total<ReduceOp::min>("field.min", "The least element of a field of a region or piece; E5003 where it has none.",
                         TASKSPEC_FILLED "print(cells.state.min().scalar)\n// expect: 2");

constinit const Builtin builtin_field_max =
    total<ReduceOp::max>("field.max", "The greatest element of a field of a region or piece; E5003 where it has none.",
                         TASKSPEC_FILLED "print(cells.state.max().scalar)\n// expect: 2");

#undef TASKSPEC_FILLED

}  // namespace taskspec
