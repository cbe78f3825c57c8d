// Rearrangements that know axes or elements, but no plane: identity, reshape, permute, reflect, shuffle.
#include <algorithm>
#include <numeric>

#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

namespace {

Extents steps_through(const Extents& extents) {
  Extents steps(extents.size());
  std::int64_t step = 1;
  for (std::size_t k = extents.size(); k-- > 0; step *= std::max<std::int64_t>(extents[k], 1)) steps[k] = step;
  return steps;
}

// Is each of 0, 1, ... count - 1 there once?
bool is_permutation_of(std::span<const std::int64_t> numbers, std::size_t count) {
  std::vector<bool> seen(count);
  for (const std::int64_t number : numbers) {
    if (number < 0 || static_cast<std::size_t>(number) >= count || seen[static_cast<std::size_t>(number)]) return false;
    seen[static_cast<std::size_t>(number)] = true;
  }
  return numbers.size() == count;
}

Result<std::vector<std::int64_t>> axes_arguments(std::span<const Value> given, Span span) {
  std::vector<std::int64_t> axes;
  if (given[0].is_none()) return axes;
  const List one{given[0]};
  for (const Value& value : given[0].is_list() ? given[0].list() : one) {
    Result<std::int64_t> axis = axis_argument(value, span);
    if (!axis) return axis.diags();
    axes.push_back(*axis);
  }
  return axes;
}

// Names where all axes of a plane with channels are meant.
std::string axes_text(std::span<const std::int64_t> axes) {
  if (!is_permutation_of(axes, 3)) return plain_arguments(axes);
  return axis_text(axes[0]) + ", " + axis_text(axes[1]) + ", " + axis_text(axes[2]);
}

IndexMap permuted(const Extents& source, std::span<const std::int64_t> axes, const Extents& target) {
  const Extents steps = steps_through(source);
  Extents strides;
  for (const std::int64_t axis : axes) strides.push_back(steps[static_cast<std::size_t>(axis)]);
  return IndexMap::affine(source, target, 0, std::move(strides));
}

// ---- identity --------------------------------------------------------------------------------------

Result<Extents> identity_target(const RearrangeCall& call) { return call.source; }

IndexMap identity_map(const RearrangeCall& call, const Extents&) { return IndexMap::identity(call.source); }

// ---- reshape ---------------------------------------------------------------------------------------

// The axes of the source from slowest to fastest; empty: they cannot be told from the numbers.
std::vector<std::int64_t> reading_order(std::span<const std::int64_t> numbers, std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  const bool natural = std::ranges::is_sorted(numbers, std::ranges::greater());
  if (natural) return order;
  // Ids of more axes than there are: which of them are missing does not matter where they are simply reversed.
  if (numbers.size() > rank && !std::ranges::is_sorted(numbers)) return {};
  if (numbers.size() > rank) return std::ranges::reverse(order), order;
  std::vector<std::int64_t> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  for (std::size_t k = 0; k < rank; ++k)
    order[rank - 1 - k] = std::ranges::lower_bound(sorted, numbers[k]) - sorted.begin();
  return order;
}

Result<Extents> reshape_target(const RearrangeCall& call) {
  const std::size_t rank = call.source.size();
  std::vector<std::int64_t> ids(call.numbers.begin(), call.numbers.end());
  std::ranges::sort(ids);
  if (std::ranges::adjacent_find(ids) != ids.end() || (!ids.empty() && ids[0] < 0))
    return does_not_fit(call, "reshape takes each axis once, not " + plain_arguments(call.numbers));
  if (!ids.empty() && (ids.size() < rank || reading_order(call.numbers, rank).empty()))
    return does_not_fit(call, "reshape of " + extents_text(call.source) + " takes its " + std::to_string(rank) +
                                  " axes from fastest to slowest, not " + plain_arguments(call.numbers));
  const std::int64_t count = places_of(call.source);
  if (call.wanted.empty()) return Extents{count};
  if (places_of(call.wanted) == count) return call.wanted;
  Diags diags;
  diags.error("E2001", call.span,
              "shapes differ: " + extents_text(call.source) + " cannot be reshaped to " + extents_text(call.wanted));
  return diags;
}

IndexMap reshape_map(const RearrangeCall& call, const Extents& target) {
  const std::vector<std::int64_t> order = reading_order(call.numbers, call.source.size());
  Extents read;
  for (const std::int64_t axis : order) read.push_back(call.source[static_cast<std::size_t>(axis)]);
  return permuted(call.source, order, read).seen_as(call.source, target);
}

// ---- permute ---------------------------------------------------------------------------------------

Result<Extents> permute_target(const RearrangeCall& call) {
  if (!is_permutation_of(call.numbers, call.source.size()))
    return does_not_fit(call, "permute of " + extents_text(call.source) + " takes each of its " +
                                  std::to_string(call.source.size()) + " axes once, not " +
                                  (call.numbers.empty() ? "none" : plain_arguments(call.numbers)));
  Extents target;
  for (const std::int64_t axis : call.numbers) target.push_back(call.source[static_cast<std::size_t>(axis)]);
  return target;
}

IndexMap permute_map(const RearrangeCall& call, const Extents& target) {
  return permuted(call.source, call.numbers, target);
}

Extents permute_before(std::span<const std::int64_t> numbers, const Extents& target) {
  if (!is_permutation_of(numbers, target.size())) return {};
  Extents source(target.size());
  for (std::size_t k = 0; k < target.size(); ++k) source[static_cast<std::size_t>(numbers[k])] = target[k];
  return source;
}

// ---- reflect ---------------------------------------------------------------------------------------

Result<std::vector<std::int64_t>> reflect_numbers(std::span<const Value> given, Span span) {
  Result<std::int64_t> axis = axis_argument(given[0], span);
  if (!axis) return axis.diags();
  return std::vector{*axis};
}

std::string reflect_text(std::span<const std::int64_t> numbers) {
  return "axis: " + (numbers.empty() ? std::string("0") : axis_text(numbers[0]));
}

Result<Extents> reflect_target(const RearrangeCall& call) {
  if (Diags diags = check_count(call, 1, 1, "reflect takes one axis"); diags.has_errors()) return diags;
  if (call.numbers[0] < 0 || static_cast<std::size_t>(call.numbers[0]) >= call.source.size())
    return does_not_fit(call, extents_text(call.source) + " has no axis " + std::to_string(call.numbers[0]));
  return call.source;
}

IndexMap reflect_map(const RearrangeCall& call, const Extents& target) {
  Extents strides = steps_through(call.source);
  const auto axis = static_cast<std::size_t>(call.numbers[0]);
  const std::int64_t offset = std::max<std::int64_t>(call.source[axis] - 1, 0) * strides[axis];
  strides[axis] = -strides[axis];
  return IndexMap::affine(call.source, target, offset, std::move(strides));
}

// ---- shuffle ---------------------------------------------------------------------------------------

// Its numbers are places of all elements; else of columns.
bool shuffles_all(const RearrangeCall& call) {
  return static_cast<std::int64_t>(call.numbers.size()) == places_of(call.source);
}

bool shuffles_columns(const RearrangeCall& call) {
  return call.source.size() >= 2 && call.source.size() <= 3 &&
         static_cast<std::int64_t>(call.numbers.size()) == call.source[1];
}

Result<Extents> shuffle_target(const RearrangeCall& call) {
  if (!shuffles_all(call) && !shuffles_columns(call))
    return does_not_fit(call, "shuffle of " + extents_text(call.source) +
                                  " takes one place per element or one per column (x), not " +
                                  std::to_string(call.numbers.size()));
  if (!is_permutation_of(call.numbers, call.numbers.size()))
    return does_not_fit(call, "shuffle takes each place from 0 to " + std::to_string(call.numbers.size() - 1) +
                                  " once: nothing may be lost or copied");
  return call.source;
}

IndexMap shuffle_map(const RearrangeCall& call, const Extents& target) {
  std::vector<std::int32_t> places;
  if (shuffles_all(call)) {
    for (const std::int64_t place : call.numbers) places.push_back(static_cast<std::int32_t>(place));
    return IndexMap::table(call.source, target, std::move(places));
  }
  const std::int64_t inner = call.source.size() == 3 ? call.source[2] : 1;
  for (std::int64_t y = 0; y < call.source[0]; ++y)
    for (const std::int64_t column : call.numbers)
      for (std::int64_t f = 0; f < inner; ++f)
        places.push_back(static_cast<std::int32_t>((y * call.source[1] + column) * inner + f));
  return IndexMap::table(call.source, target, std::move(places));
}

constexpr Operand order_operands[] = {
    {.name = "order", .kind = OperandKind::value, .standard = Default::absent(), .variadic = true}};
constexpr Operand axes_operands[] = {{.name = "axes", .kind = OperandKind::value, .variadic = true}};
constexpr Operand axis_operands[] = {{.name = "axis", .kind = OperandKind::value}};
constexpr Operand places_operands[] = {{.name = "places", .kind = OperandKind::integer, .variadic = true}};

}  // namespace

extern constinit const RearrangeDef rearrange_identity{.name = "identity",
                                                       .label = "IDENTITY",
                                                       .number = 0,
                                                       .doc = "Everything stays where it is. No numbers.",
                                                       .operands = {},
                                                       .numbers = integer_arguments,
                                                       .arguments = plain_arguments,
                                                       .target = identity_target,
                                                       .map = identity_map,
                                                       .before = same_extents};

extern constinit const RearrangeDef rearrange_reshape{
    .name = "reshape",
    .label = "RESHAPE",
    .number = 1,
    .doc =
        "Reads the elements one after another and lays them out in the shape at the other end. Its numbers are the "
        "axes of the source from the fastest to the slowest; none: the last is the fastest, as in memory. "
        "`reshape()`, `reshape(\"y\", \"x\", \"f\")`.",
    .operands = order_operands,
    .numbers = axes_arguments,
    .arguments = axes_text,
    .target = reshape_target,
    .map = reshape_map,
    .before = unknown_extents};

extern constinit const RearrangeDef rearrange_permute{
    .name = "permute",
    .label = "PERMUTE",
    .number = 2,
    .doc = "Exchanges axes: axis k of the target is axis numbers[k] of the source. `permute(\"x\", \"y\", \"f\")`.",
    .operands = axes_operands,
    .numbers = axes_arguments,
    .arguments = axes_text,
    .target = permute_target,
    .map = permute_map,
    .before = permute_before};

extern constinit const RearrangeDef rearrange_reflect{
    .name = "reflect",
    .label = "REFLECT",
    .number = 7,
    .doc = "The mirror image along one axis: 0 is y, up and down; 1 is x, left and right. `reflect(axis: \"x\")`.",
    .operands = axis_operands,
    .numbers = reflect_numbers,
    .arguments = reflect_text,
    .target = reflect_target,
    .map = reflect_map,
    .before = same_extents};

extern constinit const RearrangeDef rearrange_shuffle{
    .name = "shuffle",
    .label = "SHUFFLE",
    .number = 10,
    .doc =
        "Element or column k of the target is number numbers[k] of the source: one number per element, or one per "
        "column (x). `shuffle(1, 3, 0, 2)`.",
    .operands = places_operands,
    .numbers = integer_arguments,
    .arguments = plain_arguments,
    .target = shuffle_target,
    .map = shuffle_map,
    .before = same_extents};

}  // namespace taskspec
