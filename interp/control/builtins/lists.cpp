// Lists and ranges: len, range, zip, enumerate, map, filter, sort.
#include <algorithm>

#include "interp/control/builtins/builtins.hpp"
#include "interp/control/interpreter.hpp"

namespace taskspec {

namespace {

using builtins::element_of;
using builtins::items_of;
using builtins::want;

Type len_type(RuleContext& c) {
  const Type& type = c.type(0);
  bool countable = type.is(Type::Kind::list) || type.is(Type::Kind::string) || type.is(Type::Kind::range) ||
                   type.is(Type::Kind::tuple) || type.is(Type::Kind::error);
  if (type.is_tensor()) c.fail("E1004", "a tensor has no length; its extents are in .shape", 0);
  if (!countable) builtins::wrong_type(c, 0, "a list, string or range");
  return Type::Kind::integer;
}

Value run_len(HostContext&, std::span<const Value> values) {
  const Value& value = values[0];
  if (value.is_range()) return Value(value.range().size());
  if (value.is_tuple()) return Value(static_cast<std::int64_t>(value.tuple().items.size()));
  if (value.is_list()) return Value(static_cast<std::int64_t>(value.list().size()));
  const std::string& text = value.string();  // counted in code points, as it is indexed
  return Value(static_cast<std::int64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; })));
}

Type range_type(RuleContext& c) {
  for (std::size_t i = 0; i < 3; ++i) want(c, i, Type::Kind::integer, "an int");
  return Type::list(Type::Kind::integer);
}

Value run_range(HostContext&, std::span<const Value> values) {
  std::int64_t begin = values[0].integer(), end = values[1].integer(), step = values[2].integer();
  if (step == 0) throw failure("E5003", {}, "the step of a range is 0");
  auto distance = step > 0 ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin)
                           : static_cast<std::uint64_t>(begin) - static_cast<std::uint64_t>(end);
  if (step > 0 ? begin < end : begin > end)
    builtins::want_memory_for(
        1 + (distance - 1) / (step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step)));
  List items;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end;) {
    items.push_back(Value(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return Value(std::move(items));
}

Type zip_type(RuleContext& c) {
  return Type::list(Type::tuple({element_of(c, 0, "a list"), element_of(c, 1, "a list")}));
}

Value run_zip(HostContext&, std::span<const Value> values) {
  List a = items_of(values[0]), b = items_of(values[1]);
  if (a.size() != b.size())
    throw failure(
        "E5004", {},
        "zip wants lists of one length; these have " + std::to_string(a.size()) + " and " + std::to_string(b.size()));
  List pairs;
  for (std::size_t i = 0; i < a.size(); ++i) pairs.push_back(Value(Tuple{{a[i], b[i]}}));
  return Value(std::move(pairs));
}

Type enumerate_type(RuleContext& c) {
  return Type::list(Type::tuple({Type::Kind::integer, element_of(c, 0, "a list")}));
}

Value run_enumerate(HostContext&, std::span<const Value> values) {
  List pairs;
  for (const Value& item : items_of(values[0]))
    pairs.push_back(Value(Tuple{{Value(static_cast<std::int64_t>(pairs.size())), item}}));
  return Value(std::move(pairs));
}

Type map_type(RuleContext& c) { return Type::list(c.closure(1, {element_of(c, 0, "a list")})); }

Type filter_type(RuleContext& c) {
  Type element = element_of(c, 0, "a list");
  Type result = c.closure(1, {element});
  if (!result.is(Type::Kind::boolean) && !result.is(Type::Kind::error))
    c.fail("E1004", "filter wants a function that gives a bool; this one gives " + result.text(), 1);
  return Type::list(element);
}

Value apply(HostContext& host, const Value& function, const Value& item) {
  return host.interpreter->apply(function, {item}, {host.span, host.frame}).value;
}

Value run_map(HostContext& host, std::span<const Value> values) {
  List items;
  for (const Value& item : items_of(values[0])) items.push_back(apply(host, values[1], item));
  return Value(std::move(items));
}

Value run_filter(HostContext& host, std::span<const Value> values) {
  List items;
  for (const Value& item : items_of(values[0]))
    if (apply(host, values[1], item).boolean()) items.push_back(item);
  return Value(std::move(items));
}

Type sort_type(RuleContext& c) {
  Type element = element_of(c, 0, "a list");
  if (!element.is_number() && !element.is(Type::Kind::string) && !element.is(Type::Kind::error))
    builtins::wrong_type(c, 0, "a list of numbers or strings");
  return Type::list(element);
}

Value run_sort(HostContext&, std::span<const Value> values) {
  const List items = items_of(values[0]);
  std::vector<const Value*> order;
  for (const Value& item : items) order.push_back(&item);
  // A total order on floats: nan after everything else, so that the result does not depend on the input's order.
  std::ranges::stable_sort(order, [](const Value* a, const Value* b) {
    if (a->is_string()) return a->string() < b->string();
    if (a->is_integer()) return a->integer() < b->integer();
    return a->real() < b->real() || (b->real() != b->real() && a->real() == a->real());
  });
  List sorted;
  for (const Value* item : order) sorted.push_back(*item);
  return Value(std::move(sorted));
}

constexpr Operand value_operand[] = {{"x", OperandKind::value}};
constexpr Operand range_operands[] = {
    {"begin", OperandKind::integer}, {"end", OperandKind::integer}, {"step", OperandKind::integer, 1}};
constexpr Operand pair_operands[] = {{"a", OperandKind::value}, {"b", OperandKind::value}};
constexpr Operand function_operands[] = {{"items", OperandKind::value}, {"f", OperandKind::function}};

}  // namespace

// How many pieces a partition has, or points a region or view: other builtins of this name, in the graph program.
static bool is_no_data(const Type& first) {
  return !first.is(Type::Kind::partition) && !first.is(Type::Kind::region) && !first.is(Type::Kind::view);
}

constinit const Builtin builtin_len =
    BuiltinFields{.name = "len",
                  .operands = value_operand,
                  .doc = "How many elements a list, range or tuple has, or code points a string.",
                  .example = "print(len([1, 2, 3]), len(\"né\"), len(2..5))\n// expect: 3 2 3",
                  .type = len_type,
                  .run = run_len,
                  .method = true,
                  .runs_in = RunsIn::either,
                  .fails = BuiltinFails::never,
                  .serves = Serves::counts,
                  .takes = is_no_data};

constinit const Builtin builtin_range = BuiltinFields{
    .name = "range",
    .operands = range_operands,
    .doc = "The list of ints from begin up to but not including end, step apart; a negative step counts down.",
    .example = "print(range(0, 10, 4), range(3, 0, -1))\n// expect: [0, 4, 8] [3, 2, 1]",
    .type = range_type,
    .run = run_range,
    .runs_in = RunsIn::either};

constinit const Builtin builtin_zip =
    BuiltinFields{.name = "zip",
                  .operands = pair_operands,
                  .doc = "The list of pairs of two lists of one length; E5004 if they differ.",
                  .example = "print(zip([1, 2], [\"a\", \"b\"]))\n// expect: [(1, \"a\"), (2, \"b\")]",
                  .type = zip_type,
                  .run = run_zip,
                  .runs_in = RunsIn::either};

constinit const Builtin builtin_enumerate =
    BuiltinFields{.name = "enumerate",
                  .operands = value_operand,
                  .doc = "The list of (position, element) of a list.",
                  .example = "print(enumerate([\"a\", \"b\"]))\n// expect: [(0, \"a\"), (1, \"b\")]",
                  .type = enumerate_type,
                  .run = run_enumerate,
                  .method = true,
                  .runs_in = RunsIn::either};

// A net is mapped on a chip: another builtin of this name, which also says what both take where it is neither.
static bool is_no_net(const Type& first) {
  using Kind = Type::Kind;
  return !first.is(Kind::task) && !first.is(Kind::integer) && !first.is(Kind::real) && !first.is(Kind::boolean) &&
         !first.is(Kind::string);
}

constinit const Builtin builtin_map =
    BuiltinFields{.name = "map",
                  .operands = function_operands,
                  .doc = "The list of f(x) for every x of a list or range.",
                  .example = "print(map([1, 2, 3], x => x * x))\n// expect: [1, 4, 9]",
                  .type = map_type,
                  .run = run_map,
                  .method = true,
                  .runs_in = RunsIn::either,
                  .takes = is_no_net};

constinit const Builtin builtin_filter =
    BuiltinFields{.name = "filter",
                  .operands = function_operands,
                  .doc = "The elements of a list or range for which f gives true.",
                  .example = "print(filter(0..6, x => x % 2 == 0))\n// expect: [0, 2, 4]",
                  .type = filter_type,
                  .run = run_filter,
                  .method = true,
                  .runs_in = RunsIn::either};

constinit const Builtin builtin_sort =
    BuiltinFields{.name = "sort",
                  .operands = value_operand,
                  .doc = "A list of numbers or strings in ascending order; nan comes last.",
                  .example = "print(sort([3, 1, 2]))\n// expect: [1, 2, 3]",
                  .type = sort_type,
                  .run = run_sort,
                  .method = true};

}  // namespace taskspec
