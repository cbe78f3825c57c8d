// What comes out of launches, and which shard a point goes to.
#include "interp/control/builtins/region_operands.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

using Kind = Type::Kind;

// ---- maps ----

Type element_type(RuleContext& c) {
  builtins::want(c, 0, Kind::launch_map, "an output of a launch");
  return c.type(0).is(Kind::error) ? c.type(0) : Type(c.type(0).parts[0]);
}

template <ReduceOp op>
Type folded_type(RuleContext& c) {
  Type type = element_type(c);
  if (type.is_tensor()) type.precision = reduced_precision(type.precision, op);
  return type;
}

Type gathered_type(RuleContext& c) {
  Type type = element_type(c);
  if (type.is_tensor()) type.dims.insert(type.dims.begin(), c.unknown("points"));
  return type;
}

template <MapMember member>
Value run_member(HostContext& host, std::span<const Value> values) {
  auto* map = values[0].as<LaunchMap>();
  if (!map) throw failure("E1009", host.span, "outputs of a launch that only the graph knows are not built yet");
  return builtins::target_of(host).map_member(*map, member, builtins::site_of(host));
}

constexpr Operand map_operand[] = {{"map", OperandKind::data}};

// ---- shardings ----

Type sharding_type(RuleContext& c) {
  for (std::size_t i = 0; i < 3; ++i) builtins::want(c, i, Kind::integer, "an int");
  return Kind::integer;
}

std::int64_t positive(HostContext& host, const Value& value) {
  if (value.integer() <= 0) throw failure("E5002", host.span, "there is no shard for a point among none");
  return value.integer();
}

Value run_cyclic(HostContext& host, std::span<const Value> values) {
  return Value(values[0].integer() % positive(host, values[2]));
}

Value run_block(HostContext& host, std::span<const Value> values) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(values[0].integer(), values[2].integer(), &product))
    throw failure("E5001", host.span, "point times shards is beyond the largest int");
  return Value(product / positive(host, values[1]));
}

Type sharding_of_type(RuleContext& c) {
  for (std::size_t i = 3; i < c.count(); ++i) builtins::want(c, i, Kind::integer, "an int");
  return sharding_type(c);
}

Value run_owner(HostContext&, std::span<const Value> values) { return values[3]; }

// Shards as rows and columns of tiles, as square as their number goes.
Value run_tiled(HostContext& host, std::span<const Value> values) {
  const std::int64_t point = values[0].integer(), rows = values[3].integer(), columns = values[4].integer();
  const std::int64_t shards = positive(host, values[2]);
  std::int64_t points = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &points) || points != values[1].integer())
    throw failure("E5003", host.span,
                  "tiled(" + std::to_string(rows) + ", " + std::to_string(columns) + ") is for a launch over grid(" +
                      std::to_string(rows) + ", " + std::to_string(columns) + "), this one has " +
                      plural(static_cast<std::size_t>(values[1].integer()), "point"));
  if (point < 0 || point >= points)
    throw failure("E5003", host.span, "point " + std::to_string(point) + " is none of them");
  std::int64_t few = 1;
  for (std::int64_t k = 2; k * k <= shards && k <= (1 << 16); ++k)
    if (shards % k == 0) few = k;
  const std::int64_t across = rows > columns ? few : shards / few, down = shards / across;
  __extension__ using Wide = __int128;
  const auto part = [](std::int64_t at, std::int64_t of, std::int64_t parts) {
    return static_cast<std::int64_t>(Wide{at} * parts / of);
  };
  return Value(part(point / columns, rows, down) * across + part(point % columns, columns, across));
}

constexpr Operand owner_operands[] = {{"point", OperandKind::integer},
                                      {"size", OperandKind::integer},
                                      {"shards", OperandKind::integer},
                                      {"k", OperandKind::integer}};
constexpr Operand tiled_operands[] = {{"point", OperandKind::integer},
                                      {"size", OperandKind::integer},
                                      {"shards", OperandKind::integer},
                                      {"n", OperandKind::integer},
                                      {"m", OperandKind::integer}};
constexpr Operand sharding_operands[] = {
    {"point", OperandKind::integer}, {"size", OperandKind::integer}, {"shards", OperandKind::integer}};

#define TASKSPEC_LAUNCHED                                                                                     \
  "fields Cell { state: f64 }\ntask one(in c: Cell[_].{state}) -> (y: f64[1]) { y = c.state.sum(0) + 1.0 }\n" \
  "let p = blocks(region Cell[8], 4)\nlet m = launch one(p[i]) for i in 0..4\n"

}  // namespace

constinit const Builtin builtin_launch_sum =
    BuiltinFields{.name = "launch.sum",
                  .operands = map_operand,
                  .doc = "The sum of what the points of a launch gave, element by element and in a fixed order.",
                  .example = TASKSPEC_LAUNCHED "print(m.y.sum().scalar)\n// expect: 4",
                  .type = folded_type<ReduceOp::sum>,
                  .run = run_member<MapMember::sum>,
                  .runs_in = RunsIn::graph};

constinit const Builtin builtin_launch_prod =
    BuiltinFields{.name = "launch.prod",
                  .operands = map_operand,
                  .doc = "The product of what the points of a launch gave, element by element and in a fixed order.",
                  .example = TASKSPEC_LAUNCHED "print(m.y.prod().scalar)\n// expect: 1",
                  .type = folded_type<ReduceOp::prod>,
                  .run = run_member<MapMember::prod>,
                  .runs_in = RunsIn::graph};

constinit const Builtin builtin_launch_min =
    BuiltinFields{.name = "launch.min",
                  .operands = map_operand,
                  .doc = "The least of what the points of a launch gave, element by element.",
                  .example = TASKSPEC_LAUNCHED "print(m.y.min().scalar)\n// expect: 1",
                  .type = folded_type<ReduceOp::min>,
                  .run = run_member<MapMember::min>,
                  .runs_in = RunsIn::graph};

constinit const Builtin builtin_launch_max =
    BuiltinFields{.name = "launch.max",
                  .operands = map_operand,
                  .doc = "The greatest of what the points of a launch gave, element by element.",
                  .example = TASKSPEC_LAUNCHED "print(m.y.max().scalar)\n// expect: 1",
                  .type = folded_type<ReduceOp::max>,
                  .run = run_member<MapMember::max>,
                  .runs_in = RunsIn::graph};

constinit const Builtin builtin_launch_gather =
    BuiltinFields{.name = "launch.gather",
                  .operands = map_operand,
                  .doc = "What the points of a launch gave, in their order along a new first axis.",
                  .example = TASKSPEC_LAUNCHED "print(m.y.gather().array)\n// expect: [[1], [1], [1], [1]]",
                  .type = gathered_type,
                  .run = run_member<MapMember::gather>,
                  .runs_in = RunsIn::graph};

#undef TASKSPEC_LAUNCHED

constinit const Builtin builtin_cyclic =
    BuiltinFields{.name = "cyclic",
                  .operands = sharding_operands,
                  .doc = "A sharding: points of a launch go to the shards in turn.",
                  .example = "let how = cyclic\nprint(how(5, 8, 4))\n// expect: 1",
                  .type = sharding_type,
                  .run = run_cyclic,
                  .runs_in = RunsIn::either};

constinit const Builtin builtin_owner =
    BuiltinFields{.name = "owner",
                  .operands = owner_operands,
                  .doc = "owner(k) is a sharding: all points of a launch go to shard k.",
                  .example = "let how = owner(2)\nprint(how(5, 8, 4))\n// expect: 2",
                  .type = sharding_of_type,
                  .run = run_owner,
                  .runs_in = RunsIn::either};

constinit const Builtin builtin_tiled =
    BuiltinFields{.name = "tiled",
                  .operands = tiled_operands,
                  .doc =
                      "tiled(n, m) is a sharding for launches over grid(n, m): points that are neighbours in any "
                      "direction go to the same shard, as far as that can be.",
                  .example =
                      "let how = tiled(4, 4)\nprint(how(0, 16, 4), how(3, 16, 4), how(12, 16, 4))\n"
                      "// expect: 0 1 2",
                  .type = sharding_of_type,
                  .run = run_tiled,
                  .runs_in = RunsIn::either};

constinit const Builtin builtin_block =
    BuiltinFields{.name = "block",
                  .operands = sharding_operands,
                  .doc =
                      "A sharding: neighbouring points of a launch go to the same shard, as many to each. It is what "
                      "a launch does that says nothing.",
                  .example = "let how = block\nprint(how(5, 8, 4))\n// expect: 2",
                  .type = sharding_type,
                  .run = run_block,
                  .runs_in = RunsIn::either};

}  // namespace taskspec
