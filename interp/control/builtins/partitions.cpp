// Partitions: blocks, by_field, by_weight, cover, halo, image, preimage, cross, & | -, assume, len.
#include <algorithm>

#include "interp/control/builtins/region_operands.hpp"
#include "ir/region/operator_checks.hpp"

namespace taskspec {

namespace {

using builtins::FieldContents;
using builtins::partition_of;
using builtins::target_of;
using builtins::want_index_field;
using builtins::want_partition;
using builtins::want_region;
using Kind = Type::Kind;

Value partition_made(const std::shared_ptr<RegionHandle>& region, PartitionId id) {
  return partition_value(region, id);
}

// ---- by position ----

Type blocks_type(RuleContext& c) {
  const Type& data = want_region(c, 0);
  for (std::size_t i = 1; i < c.count(); ++i) builtins::want(c, i, Kind::integer, "an int");
  const auto counts = static_cast<std::uint32_t>(c.count() - 1);
  if (!data.is(Kind::error) && counts > data.dims.size())
    c.fail("E1003", "'" + data.text() + "' is cut along " + std::to_string(data.dims.size()) + " axes at most, not " +
                        std::to_string(counts));
  return partition_of(data, counts);
}

Value run_blocks(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const SpaceValue& of = space_in(target, values[0], host.span);
  Point counts = Point::none();
  for (const Value& count : values.subspan(1)) counts.at[counts.rank++] = count.integer();
  return partition_made(of.region, blocks(target.regions(), of.space, counts, host.span));
}

Type by_weight_type(RuleContext& c) {
  const Type& data = want_region(c, 0);
  const Type element = builtins::element_of(c, 1, "a list of numbers");
  if (!element.is_number() && !element.is(Kind::error)) builtins::wrong_type(c, 1, "a list of numbers");
  return partition_of(data, 1);
}

Value run_by_weight(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const SpaceValue& of = space_in(target, values[0], host.span);
  std::vector<double> weights;
  for (const Value& weight : builtins::items_of(values[1])) weights.push_back(weight.real());
  return partition_made(of.region, by_weight(target.regions(), of.space, weights, host.span));
}

Type cover_type(RuleContext& c) {
  const Type& data = want_region(c, 0);
  builtins::want(c, 1, Kind::integer, "an int");
  const Type piece = c.closure(2, {Kind::integer});
  const bool ranges = piece.is(Kind::list) && (piece.parts[0].is(Kind::range) || piece.parts[0].is(Kind::error));
  if (!ranges && !piece.is(Kind::error))
    c.fail("E1004", "cover wants a function that gives a list of ranges; this one gives " + piece.text(), 2);
  return partition_of(data, 1);
}

Value run_cover(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const SpaceValue& of = space_in(target, values[0], host.span);
  const std::int64_t count = values[1].integer();
  if (count < 0) throw failure("E1003", host.span, "a partition cannot have " + std::to_string(count) + " pieces");
  auto runs_of = [&](std::int64_t colour) {
    const Value runs = host.interpreter->apply(values[2], {Value(colour)}, {host.span, host.frame}).value;
    std::vector<Run> piece;
    for (const Value& run : runs.list()) piece.push_back({run.range().begin, run.range().end});
    return piece;
  };
  const std::string computed_by = host.interpreter->computed_by(values[2], {host.span, host.frame});
  return partition_made(of.region, cover(target.regions(), of.space, count, runs_of, host.span, computed_by));
}

Type halo_type(RuleContext& c) {
  const Type& p = want_partition(c, 0);
  builtins::want(c, 1, Kind::integer, "an int");
  builtins::want(c, 2, Kind::string, "\"box\" or \"star\"");
  if (const Value* shape = c.constant(2); shape && shape->string() != "box" && shape->string() != "star")
    c.fail("E1003", "a halo is a \"box\" or a \"star\", not \"" + shape->string() + "\"", 2);
  builtins::want(c, 3, Kind::boolean, "true or false");
  return p;
}

Value run_halo(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const PartitionValue& of = partition_in(target, values[0], host.span);
  const std::string& shape = values[2].string();
  if (shape != "box" && shape != "star")
    throw failure("E1003", host.span, "a halo is a \"box\" or a \"star\", not \"" + shape + "\"");
  const HaloShape form = shape == "box" ? HaloShape::box : HaloShape::star;
  const std::int64_t k = values[1].integer();
  return partition_made(of.region, values[3].boolean() ? periodic_halo(target.regions(), of.id, k, form, host.span)
                                                       : halo(target.regions(), of.id, k, form, host.span));
}

// ---- by contents ----

Type by_field_type(RuleContext& c) {
  const Type& field = want_index_field(c, 0);
  builtins::want(c, 1, Kind::integer, "an int");
  return partition_of(field, 1);
}

Value run_by_field(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const FieldValue& field = field_in(target, values[0], host.span);
  const FieldContents contents = builtins::contents_of(host, values[0]);
  return partition_made(field.region,
                        by_field(target.regions(), field.space, contents.values, values[1].integer(), host.span));
}

Type image_type(RuleContext& c) {
  const Type& data = want_region(c, 0);
  const Type& p = want_partition(c, 1);
  for (std::size_t i = 2; i < c.count(); ++i) {
    if (c.type(i).is(Kind::none)) continue;
    const Type& field = want_index_field(c, i);
    if (!field.is(Kind::error) && !p.is(Kind::error) && field.fields != p.fields)
      c.fail("E1004", "a field of '" + p.names[0] + "' names the points, this is of '" + field.names[0] + "'",
             static_cast<int>(i));
  }
  return p.is(Kind::error) ? p : partition_of(data, p.inputs);
}

Value run_image(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const SpaceValue& of = space_in(target, values[0], host.span);
  const PartitionValue& p = partition_in(target, values[1], host.span);
  const RegionForest& forest = target.regions();
  for (const Value& field : values.subspan(2))
    if (!field.is_none())
      check_same_root(forest, forest[p.id].parent.root, field_in(target, field, host.span).space.root, host.span);
  const FieldContents first = builtins::contents_of(host, values[2]);
  if (values[3].is_none())
    return partition_made(of.region, image(target.regions(), of.space, p.id, first.values, host.span));
  const FieldContents last = builtins::contents_of(host, values[3]);
  return partition_made(of.region, image(target.regions(), of.space, p.id, first.values, last.values, host.span));
}

Type preimage_type(RuleContext& c) {
  const Type& p = want_partition(c, 0);
  const Type& field = want_index_field(c, 1);
  return p.is(Kind::error) ? p : partition_of(field, p.inputs);
}

Value run_preimage(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const PartitionValue& p = partition_in(target, values[0], host.span);
  const FieldValue& field = field_in(target, values[1], host.span);
  const FieldContents contents = builtins::contents_of(host, values[1]);
  return partition_made(field.region, preimage(target.regions(), p.id, field.space, contents.values, host.span));
}

// ---- of other partitions ----

Type cross_type(RuleContext& c) {
  const Type& p = want_partition(c, 0);
  const Type& q = want_partition(c, 1);
  return p.is(Kind::error) ? p : partition_of(p, p.inputs + q.inputs);
}

Value run_cross(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const PartitionValue& p = partition_in(target, values[0], host.span);
  return partition_made(p.region,
                        cross(target.regions(), p.id, partition_in(target, values[1], host.span).id, host.span));
}

Type sets_type(RuleContext& c) {
  const Type& p = want_partition(c, 0);
  const Type& q = c.type(1);
  if (!q.is(Kind::partition) && !q.is(Kind::region) && !q.is(Kind::error))
    builtins::wrong_type(c, 1, "a partition or a region");
  if (q.fields != p.fields && !q.is(Kind::error) && !p.is(Kind::error))
    c.fail("E1004", "partitions of '" + p.names[0] + "' and of '" + q.names[0] + "' have no points in common");
  if (q.is(Kind::partition) && p.is(Kind::partition) && q.inputs != p.inputs)
    c.fail("E1003", "pieces go by " + std::to_string(p.inputs) + " and by " + std::to_string(q.inputs) + " numbers");
  return p;
}

using OfPartitions = PartitionId (*)(RegionForest&, PartitionId, PartitionId, Span);
using OfSpace = PartitionId (*)(RegionForest&, PartitionId, const Space&, Span);

template <OfPartitions pairs, OfSpace each>
Value run_sets(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const PartitionValue& p = partition_in(target, values[0], host.span);
  if (values[1].as<SpaceValue>())
    return partition_made(p.region,
                          each(target.regions(), p.id, space_in(target, values[1], host.span).space, host.span));
  return partition_made(p.region,
                        pairs(target.regions(), p.id, partition_in(target, values[1], host.span).id, host.span));
}

// ---- what is known of one ----

Type assume_type(RuleContext& c) {
  const Type& p = want_partition(c, 0);
  builtins::want(c, 1, Kind::string, "\"disjoint\" or \"complete\"");
  if (const Value* claim = c.constant(1); claim && claim->string() != "disjoint" && claim->string() != "complete")
    c.fail("E1003", "a partition is \"disjoint\" or \"complete\", not \"" + claim->string() + "\"", 1);
  return p;
}

// A claim stands for what it says; while the house is verified (ir/verify) it is looked at first.
#ifdef NDEBUG
constexpr bool checks_claims = false;
#else
constexpr bool checks_claims = true;
#endif

Value run_assume(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const PartitionValue& p = partition_in(target, values[0], host.span);
  const std::string& claim = values[1].string();
  if (claim != "disjoint" && claim != "complete")
    throw failure("E1003", host.span, "a partition is \"disjoint\" or \"complete\", not \"" + claim + "\"");
  target.regions().claim(p.id, claim == "disjoint" ? Claim::disjoint : Claim::complete, checks_claims, host.span);
  return values[0];
}

bool is_data(const Type& first) { return first.is(Kind::partition) || first.is(Kind::region); }

Type count_type(RuleContext&) { return Kind::integer; }

Value run_count(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  if (values[0].as<SpaceValue>())
    return Value(target.regions().points(space_in(target, values[0], host.span).space).size());
  return Value(target.regions()[partition_in(target, values[0], host.span).id].colours.size());
}

bool is_view(const Type& first) { return first.is(Kind::view); }

// Of a view, as whoever runs the body of a task counts them.
Value run_count_view(HostContext& host, std::span<const Value>) {
  throw failure("E1009", host.span, "the points of a view are counted in the bodies of tasks only");
}

constexpr Operand blocks_operands[] = {{"r", OperandKind::data},
                                       {.name = "n", .kind = OperandKind::integer, .variadic = true}};
constexpr Operand weight_operands[] = {{"r", OperandKind::data}, {"weights", OperandKind::value}};
constexpr Operand cover_operands[] = {
    {"r", OperandKind::data}, {"n", OperandKind::integer}, {"f", OperandKind::function}};
constexpr Operand halo_operands[] = {{"p", OperandKind::data},
                                     {"k", OperandKind::integer},
                                     {"shape", OperandKind::string, "box"},
                                     {"wrap", OperandKind::boolean, false}};
constexpr Operand field_operands[] = {{"field", OperandKind::data}, {"n", OperandKind::integer}};
constexpr Operand image_operands[] = {{"r", OperandKind::data},
                                      {"p", OperandKind::data},
                                      {"field", OperandKind::data},
                                      {"last", OperandKind::data, Default::absent()}};
constexpr Operand preimage_operands[] = {{"p", OperandKind::data}, {"field", OperandKind::data}};
constexpr Operand partition_pair[] = {{"p", OperandKind::data}, {"q", OperandKind::data}};
constexpr Operand assume_operands[] = {{"p", OperandKind::data}, {"claim", OperandKind::string}};
constexpr Operand one_operand[] = {{"p", OperandKind::data}};

}  // namespace

constinit const Builtin builtin_blocks = BuiltinFields{
    .name = "blocks",
    .operands = blocks_operands,
    .doc =
        "Cuts a region into n pieces of equal size along its first axis, or along several: piece c of n begins at "
        "floor(c * N / n).",
    .example =
        "fields Cell { state: f64 }\nprint(blocks(region Cell[64], 4))\n"
        "// expect: <partition Cell[64], 4 pieces, disjoint, complete>",
    .type = blocks_type,
    .run = run_blocks,
    .method = true,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_by_weight = BuiltinFields{
    .name = "by_weight",
    .operands = weight_operands,
    .doc = "Cuts a region along its first axis into as many pieces as there are weights, sized as they are.",
    .example =
        "fields Cell { state: f64 }\nprint(by_weight(region Cell[64], [3, 1])[0])\n"
        "// expect: <region Cell[0..48]>",
    .type = by_weight_type,
    .run = run_by_weight,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_cover = BuiltinFields{
    .name = "cover",
    .operands = cover_operands,
    .doc =
        "A partition of n pieces that a function says: ranges of points in the order of rows, which may overlap "
        "and be empty.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[8]\n"
        "print(cover(cells, 2, c => [c * 3..c * 3 + 4]))\n"
        "// expect: <partition Cell[8], 2 pieces, aliased, incomplete>",
    .type = cover_type,
    .run = run_cover,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_halo = BuiltinFields{
    .name = "halo",
    .operands = halo_operands,
    .doc =
        "Each piece together with its k neighbours along every axis, and across corners where the shape is \"box\" "
        "and not \"star\", as far as the region goes. With `wrap` the region has no ends: its first points are the "
        "neighbours of its last ones, along every axis. A body goes to them by the remainder: g[(i + n - 1) % n].f for "
        "an `in n: int`.",
    .example =
        "fields Cell { state: f64 }\nlet owned = blocks(region Cell[8], 2)\nprint(halo(owned, 1)[0])\n"
        "// expect: <region Cell[0..5]>\nprint(halo(owned, 1, wrap: true)[0])\n"
        "// expect: <region Cell, 6 points>",
    .type = halo_type,
    .run = run_halo,
    .method = true,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_by_field =
    BuiltinFields{.name = "by_field",
                  .operands = field_operands,
                  .doc = "A partition of n pieces by what a field holds now: piece c has the points whose value is c.",
                  .example =
                      "fields Node { part: int }\nlet nodes = region Node[4]\n"
                      "fill(nodes.part, tensor([0, 1, 1, 0], \"i64\"))\nprint(by_field(nodes.part, 2)[1])\n"
                      "// expect: <region Node[1..3]>",
                  .type = by_field_type,
                  .run = run_by_field,
                  .runs_in = RunsIn::graph};

constinit const Builtin builtin_image = BuiltinFields{
    .name = "image",
    .operands = image_operands,
    .doc =
        "The points of a region that a field names in each piece of a partition; with two fields the ranges from "
        "one up to the other.",
    .example =
        "fields Node { v: f64 }\nfields Wire { a: int }\nlet nodes = region Node[8]\nlet wires = region Wire[2]\n"
        "fill(wires.a, tensor([5, 2], \"i64\"))\nprint(image(nodes, blocks(wires, 2), wires.a)[0])\n"
        "// expect: <region Node[5..6]>",
    .type = image_type,
    .run = run_image,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_preimage = BuiltinFields{
    .name = "preimage",
    .operands = preimage_operands,
    .doc = "The points whose field names a point of each piece of a partition.",
    .example =
        "fields Node { v: f64 }\nfields Wire { a: int }\nlet nodes = region Node[8]\nlet wires = region Wire[2]\n"
        "fill(wires.a, tensor([5, 2], \"i64\"))\nprint(preimage(blocks(nodes, 2), wires.a)[0])\n"
        "// expect: <region Wire[1..2]>",
    .type = preimage_type,
    .run = run_preimage,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_cross = BuiltinFields{
    .name = "cross",
    .operands = partition_pair,
    .doc = "What each piece of one partition and each piece of another one have in common, by both colours.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[8]\n"
        "print(cross(blocks(cells, 2), blocks(cells, 4))[0, 1])\n// expect: <region Cell[2..4]>",
    .type = cross_type,
    .run = run_cross,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_partition_intersect = BuiltinFields{
    .name = "partition.&",
    .operands = partition_pair,
    .doc = "What pieces of equal colour have in common; with a region: what each piece has in common with it.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[8]\n"
        "print((blocks(cells, 2) & shrink(cells, 1))[0])\n// expect: <region Cell[1..4]>",
    .type = sets_type,
    .run = run_sets<static_cast<OfPartitions>(intersect), static_cast<OfSpace>(intersect)>,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_partition_subtract =
    BuiltinFields{.name = "partition.-",
                  .operands = partition_pair,
                  .doc = "The points of each piece that the piece of equal colour, or a region, does not have.",
                  .example =
                      "fields Cell { state: f64 }\nlet owned = blocks(region Cell[8], 2)\n"
                      "print((halo(owned, 1) - owned)[0])\n// expect: <region Cell[4..5]>",
                  .type = sets_type,
                  .run = run_sets<static_cast<OfPartitions>(subtract), static_cast<OfSpace>(subtract)>,
                  .runs_in = RunsIn::graph};

constinit const Builtin builtin_partition_unite =
    BuiltinFields{.name = "partition.|",
                  .operands = partition_pair,
                  .doc = "The points that one of the pieces of equal colour has, or the piece and a region.",
                  .example =
                      "fields Cell { state: f64 }\nlet cells = region Cell[8]\n"
                      "print((blocks(cells, 4) | blocks(cells, 4))[1])\n// expect: <region Cell[2..4]>",
                  .type = sets_type,
                  .run = run_sets<static_cast<OfPartitions>(unite), static_cast<OfSpace>(unite)>,
                  .runs_in = RunsIn::graph};

constinit const Builtin builtin_len_view =
    BuiltinFields{.name = "len",
                  .operands = one_operand,
                  .doc = "How many points a view has, in the body of a task.",
                  .example =
                      "fields Cell { state: f64 }\n"
                      "task count(in c: Cell[_].{state}) -> (n: i64) { n = len(c) as i64 }\n"
                      "let cells = region Cell[8]\nprint(count(cells).scalar, count(blocks(cells, 4)[1]).scalar)\n"
                      "// expect: 8 2",
                  .type = count_type,
                  .run = run_count_view,
                  .runs_in = RunsIn::graph,
                  .takes = is_view};

constinit const Builtin builtin_assume = BuiltinFields{
    .name = "assume",
    .operands = assume_operands,
    .doc =
        "The partition, of which the program says that it is \"disjoint\" or \"complete\"; E3102 with the point "
        "that shows the contrary.",
    .example =
        "fields Cell { state: f64 }\nlet p = cover(region Cell[8], 2, c => [c * 4..c * 4 + 4])\n"
        "print(assume(p, \"disjoint\"))\n// expect: <partition Cell[8], 2 pieces, disjoint, complete>",
    .type = assume_type,
    .run = run_assume,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_len_partition =
    BuiltinFields{.name = "len",
                  .operands = one_operand,
                  .doc = "How many pieces a partition has, or points a region or piece.",
                  .example =
                      "fields Cell { state: f64 }\nlet cells = region Cell[8, 8]\nlet p = blocks(cells, 4)\n"
                      "print(len(p), len(cells), len(p[0]))\n// expect: 4 64 16",
                  .type = count_type,
                  .run = run_count,
                  .method = true,
                  .runs_in = RunsIn::asked,
                  .takes = is_data};

}  // namespace taskspec
