// The operands of ops that say along which axes they go.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/records/rules.hpp"

namespace taskspec {

namespace {

std::size_t checked_axis(RuleContext& c, std::size_t operand, std::int64_t axis, std::size_t rank) {
  if (axis >= 0 && axis < static_cast<std::int64_t>(rank)) return static_cast<std::size_t>(axis);
  std::string has =
      rank == 0 ? "a tensor of rank 0 has no axes" : fmt::format("rank {} has axes 0..{}", rank, rank - 1);
  refuse(c, "E2004", fmt::format("axis {} is outside the shape; {}", axis, has), static_cast<int>(operand),
         axis < 0 && rank > 0 ? fmt::format("axes count from 0; the last one is {}", rank - 1) : "");
}

[[noreturn]] void fail_axis(RuleContext& c, std::size_t operand) {
  refuse(c, "E1004", "an axis is an int or a tuple of ints, not " + c.type(operand).text(), static_cast<int>(operand));
}

void require_axis_type(RuleContext& c, std::size_t operand) {
  const Type& type = c.type(operand);
  auto is_int = [](const Type& t) { return t.is(Type::Kind::integer); };
  bool fine = is_int(type) || type.is(Type::Kind::none) ||
              (type.is(Type::Kind::tuple) && std::all_of(type.parts.begin(), type.parts.end(), is_int));
  if (!fine) fail_axis(c, operand);
}

}  // namespace

std::optional<std::size_t> axis_operand(RuleContext& c, std::size_t operand, std::size_t rank) {
  if (!c.type(operand).is(Type::Kind::integer)) fail_axis(c, operand);
  const Value* value = c.constant(operand);
  if (!value) return std::nullopt;
  return checked_axis(c, operand, value->integer(), rank);
}

std::optional<std::vector<std::size_t>> axes_operand(RuleContext& c, std::size_t operand, std::size_t rank) {
  require_axis_type(c, operand);
  if (c.type(operand).is(Type::Kind::none)) return axes_of({}, rank);
  const Value* value = c.constant(operand);
  if (!value) return std::nullopt;
  if (value->is_integer()) checked_axis(c, operand, value->integer(), rank);
  if (value->is_tuple())
    for (const Value& item : value->tuple().items) checked_axis(c, operand, item.integer(), rank);
  std::vector<std::size_t> axes = axes_of(*value, rank);
  auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) refuse(c, "E2004", fmt::format("axis {} is given twice", *twice), static_cast<int>(operand));
  return axes;
}

std::vector<std::size_t> axes_of(const Value& value, std::size_t rank) {
  std::vector<std::size_t> axes;
  if (value.is_integer()) {
    axes.push_back(static_cast<std::size_t>(value.integer()));
  } else if (value.is_tuple()) {
    for (const Value& item : value.tuple().items) axes.push_back(static_cast<std::size_t>(item.integer()));
    std::sort(axes.begin(), axes.end());
  } else {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
  }
  return axes;
}

}  // namespace taskspec
