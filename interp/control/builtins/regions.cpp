// Regions and their pieces: fill, shrink, grid; and what the other builtins of regions share.
#include <algorithm>
#include <utility>

#include "interp/control/builtins/region_operands.hpp"
#include "interp/control/recorder.hpp"

namespace taskspec {

namespace builtins {

namespace {

// What stands there in place of what is wanted, with the way that works.
void refuse(RuleContext& c, std::size_t operand, Type::Kind given, const std::string& wanted, const std::string& help) {
  if (c.type(operand).is(given))
    c.fail("E1004", "expected " + wanted + ", found " + c.type(operand).text(), static_cast<int>(operand), help);
}

}  // namespace

const Type& want_region(RuleContext& c, std::size_t operand) {
  refuse(c, operand, Type::Kind::partition, "a region", "one of its pieces: p[0]");
  refuse(c, operand, Type::Kind::region_field, "a region", "the region itself, without its field");
  want(c, operand, Type::Kind::region, "a region");
  return c.type(operand);
}

const Type& want_index_field(RuleContext& c, std::size_t operand) {
  want(c, operand, Type::Kind::region_field, "a field of a region, such as r.f");
  const Type& type = c.type(operand);
  if (!type.is(Type::Kind::error) && !is_integer(type.parts[0].precision))
    c.fail("E1004", "a field of indices holds integers, this is " + type.parts[0].text(), static_cast<int>(operand));
  return type;
}

const Type& want_partition(RuleContext& c, std::size_t operand) {
  refuse(c, operand, Type::Kind::region, "a partition", "cut it first: blocks(r, n)");
  want(c, operand, Type::Kind::partition, "a partition");
  return c.type(operand);
}

Type partition_of(const Type& data, std::uint32_t colour_rank) {
  if (data.is(Type::Kind::error)) return data;
  Type type(Type::Kind::partition);
  type.fields = data.fields;
  type.names = {data.names[0]};
  type.dims = data.is(Type::Kind::region_field) ? data.parts[0].dims : data.dims;
  type.inputs = colour_rank;
  return type;
}

FieldContents contents_of(HostContext& host, const Value& field) {
  Target& target = target_of(host);
  const FieldValue& of = field_in(target, field, host.span);
  const Space all{of.space.root};
  const Region& region = target.regions()[of.space.root];
  const Target::HeldElements contents = target.held_elements(all, of.field, site_of(host));
  const RegionField& read = region.fields[of.field];
  FieldContents found{
      {}, contents.held, {nullptr, read.precision, region.name + "." + read.name, {of.space.root, of.field}}};
  found.values.known = of.region->recorder()->executes();
  if (!found.values.known) return found;
  found.array = target.receive(contents.tensor, host.span);
  found.values.base = std::as_const(found.array).raw();
  found.values.held = found.held.get();
  return found;
}

}  // namespace builtins

namespace {

using builtins::target_of;
using Kind = Type::Kind;

// ---- fill ----

// A region is none, and is told so.
bool is_data_field(const Type& first) {
  return first.is(Kind::region_field) || first.is(Kind::region) || first.is(Kind::partition);
}

Type fill_type(RuleContext& c) {
  builtins::want(c, 0, Kind::region_field, "a field of a region, such as r.f");
  if (c.type(0).is(Kind::error)) return c.type(0);
  const Type& field = c.type(0).parts[0];
  const Type& value = c.type(1);
  const PrecisionInfo& to = info(field.precision);
  const std::string what = std::string(to.name);
  if (value.is(Kind::real) && !is_float(field.precision))
    c.fail("E2002", "a float does not go into a field of " + what, 1, "convert it with 'as'");
  if (value.is(Kind::boolean) != (field.precision == Precision::boolean) && !value.is_tensor())
    c.fail("E1004", "a field of " + what + " is not filled with " + value.text(), 1);
  if (!value.is_number() && !value.is(Kind::boolean) && !value.is_tensor() && !value.is(Kind::error))
    c.fail("E1004", "a field is filled with a number or a tensor, this is " + value.text(), 1);
  if (value.is_tensor() && value.precision != field.precision)
    c.fail("E2002", "precision differs: the field is " + what + ", this is " + std::string(info(value.precision).name),
           1, "convert it with 'as'");
  if (const Value* known = c.constant(1); known && known->is_integer() && !is_float(field.precision))
    if (known->integer() < to.minimum || known->integer() > to.maximum)
      c.fail("E2003", std::to_string(known->integer()) + " does not fit " + what, 1);
  const bool one = value.is_tensor() && std::ranges::all_of(value.dims, [](const Dim& d) { return d == Dim(1); });
  if (value.is_tensor() && !one) {
    Dim points(1);
    for (const Dim& extent : field.dims) points = points * extent;
    if (value.rank() == 1 && field.rank() > 1) {  // in the order of the points
      c.require_same(value.dims[0], points, "points differ: the field is " + field.text());
      return Kind::none;
    }
    if (value.rank() != field.rank())
      c.fail("E2001", "shapes differ: the field is " + field.text() + ", this is " + value.text(), 1);
    for (std::size_t i = 0; i < value.rank(); ++i)
      c.require_same(value.dims[i], field.dims[i], "shapes differ: the field is " + field.text());
  }
  return Kind::none;
}

Value run_fill(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const FieldValue& field = field_in(target, values[0], host.span);
  const Precision precision = target.regions()[field.space.root].fields[field.field].precision;
  const PrecisionInfo& to = info(precision);
  Value contents = values[1];
  if (contents.is_integer() && is_float(precision)) contents = Value(contents.real());
  if (contents.is_integer() && (contents.integer() < to.minimum || contents.integer() > to.maximum))
    throw failure("E5001", host.span, std::to_string(contents.integer()) + " does not fit " + std::string(to.name));
  target.fill(field.space, field.field, contents, builtins::site_of(host));
  return {};
}

// ---- shrink ----

Type shrink_type(RuleContext& c) {
  Type type = builtins::want_region(c, 0);
  builtins::want(c, 1, Kind::integer, "an int");
  for (Dim& dim : type.dims) dim = c.unknown("_");
  return type;
}

Value run_shrink(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const SpaceValue& of = space_in(target, values[0], host.span);
  return space_value(of.region, shrink(target.regions(), of.space, values[1].integer(), host.span));
}

// ---- grid ----

Type grid_type(RuleContext& c) {
  for (std::size_t i = 0; i < c.count(); ++i) builtins::want(c, i, Kind::integer, "an int");
  if (c.count() > highest_rank) c.fail("E1003", "a grid has one to four extents");
  return Type::list(Type::tuple(std::vector<Type>(c.count(), Kind::integer)));
}

Value run_grid(HostContext&, std::span<const Value> values) {
  std::vector<std::int64_t> extents;
  for (const Value& value : values) extents.push_back(std::max<std::int64_t>(0, value.integer()));
  const Rect rect = Rect::of(extents);
  builtins::want_memory_for(static_cast<std::uint64_t>(rect.size()));
  List points;
  each_point(rect, [&](const Point& point) {
    Tuple tuple;
    for (std::size_t axis = 0; axis < point.rank; ++axis) tuple.items.push_back(Value(point[axis]));
    points.push_back(Value(std::move(tuple)));
    return true;
  });
  return Value(std::move(points));
}

// ---- the points of a region, for a loop of the host ----

Type points_type(RuleContext& c) {
  const Type& data = builtins::want_region(c, 0);
  if (data.is(Kind::error)) return data;
  return Type::list(data.dims.size() > 1 ? Type::tuple(std::vector<Type>(data.dims.size(), Kind::integer))
                                         : Type(Kind::integer));
}

Value run_points(HostContext& host, std::span<const Value> values) {
  Target& target = target_of(host);
  const Space space = space_in(target, values[0], host.span).space;
  const Rect& root = target.regions().root(space);
  const IndexSpace points = target.regions().points(space);
  builtins::want_memory_for(static_cast<std::uint64_t>(points.size()));
  List list;
  points.runs(root, [&](Run run) {
    for (std::int64_t i = run.lo; i < run.hi; ++i) {
      const Point point = root.point(i);
      Tuple tuple;
      for (std::size_t axis = 0; axis < point.rank; ++axis) tuple.items.push_back(Value(point[axis]));
      list.push_back(point.rank == 1 ? tuple.items[0] : Value(std::move(tuple)));
    }
  });
  return Value(std::move(list));
}

constexpr Operand fill_operands[] = {{"field", OperandKind::data}, {"v", OperandKind::value}};
constexpr Operand shrink_operands[] = {{"r", OperandKind::data}, {"k", OperandKind::integer}};
constexpr Operand points_operands[] = {{"r", OperandKind::data}};
constexpr Operand grid_operands[] = {{.name = "n", .kind = OperandKind::integer},
                                     {.name = "m", .kind = OperandKind::integer, .variadic = true}};

}  // namespace

constinit const Builtin builtin_fill_field = BuiltinFields{
    .name = "fill",
    .operands = fill_operands,
    .doc = "Writes a number, or the elements of a tensor in the order of the points, to a field of a region or piece.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[4]\nfill(cells.state, 2.5)\n"
        "print(cells.state.array)\n// expect: [2.5, 2.5, 2.5, 2.5]",
    .type = fill_type,
    .run = run_fill,
    .runs_in = RunsIn::graph,
    .takes = is_data_field};

constinit const Builtin builtin_shrink = BuiltinFields{
    .name = "shrink",
    .operands = shrink_operands,
    .doc =
        "The points of a region or piece whose k neighbours in every direction belong to it, too: it without its "
        "outer points.",
    .example =
        "fields Cell { state: f64 }\nlet cells = region Cell[4]\nlet inner = shrink(cells, 1)\n"
        "fill(inner.state, 1.0)\nprint(cells.state.array)\n// expect: [0, 1, 1, 0]",
    .type = shrink_type,
    .run = run_shrink,
    .method = true,
    .runs_in = RunsIn::graph};

constinit const Builtin builtin_region_points = BuiltinFields{
    .name = "region.points",
    .operands = points_operands,
    .doc =
        "What a loop of the host over a region or piece runs over: its points, ascending, row by row; of several axes "
        "tuples.",
    .example =
        "fields Cell { state: f64 }\nlet p = blocks(region Cell[8], 4)\nfor i in p[1] { print(i) }\n"
        "// expect: 2\n// expect: 3\n"
        "for (i, j) in region Cell[2, 2] { print(i, j) }\n"
        "// expect: 0 0\n// expect: 0 1\n// expect: 1 0\n// expect: 1 1",
    .type = points_type,
    .run = run_points,
    .runs_in = RunsIn::asked};

constinit const Builtin builtin_grid = BuiltinFields{
    .name = "grid",
    .operands = grid_operands,
    .doc = "The points of a grid, row by row: what a launch over a partition of several axes runs over.",
    .example =
        "for (i, j) in grid(2, 2) { print(i, j) }\n// expect: 0 0\n// expect: 0 1\n// expect: 1 0\n// expect: 1 1",
    .type = grid_type,
    .run = run_grid,
    .runs_in = RunsIn::either,
    .serves = Serves::grids};

}  // namespace taskspec
