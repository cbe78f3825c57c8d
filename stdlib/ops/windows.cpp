#include "stdlib/ops/windows.hpp"

#include <fmt/format.h>

namespace taskspec {

std::optional<std::array<Dim, 2>> pair_dims(RuleContext& ctx, std::size_t operand, std::string_view name,
                                            std::int64_t least) {
  if (const Value* value = ctx.constant(operand)) {
    Pair pair = pair_value(*value);
    for (std::int64_t part : pair)
      if (part < least)
        refuse(ctx, "E1003", fmt::format("{} must be at least {}, not {}", name, least, part),
               static_cast<int>(operand));
    return std::array<Dim, 2>{pair[0], pair[1]};
  }
  if (std::optional<Dim> both = ctx.type(operand).is(Type::Kind::integer) ? ctx.dim(operand) : std::nullopt)
    return std::array<Dim, 2>{*both, *both};
  return std::nullopt;
}

Pair pair_value(const Value& value) {
  if (value.is_integer()) return {value.integer(), value.integer()};
  const List& items = value.tuple().items;
  return {items[0].integer(), items[1].integer()};
}

Dim window_count(RuleContext& ctx, const WindowAxis& a) {
  if (!a.image || !a.kernel || !a.pad || !a.stride || !a.dilation) return ctx.unknown("windows");
  Dim last = *a.image + Dim(2) * *a.pad - *a.dilation * (*a.kernel - Dim(1)) - Dim(1);  // start of the last window
  if (last.is_constant() && *last.constant() < 0)
    refuse(ctx, "E2001",
           fmt::format("a window of {} does not fit into {} elements with {} of padding on both sides",
                       (*a.dilation * (*a.kernel - Dim(1)) + Dim(1)).text(), a.image->text(), a.pad->text()));
  if (*a.stride == Dim(1)) return last + Dim(1);
  if (last.is_constant() && a.stride->is_constant()) return *last.constant() / *a.stride->constant() + 1;
  return ctx.unknown(fmt::format("({}) / {} + 1", last.text(), a.stride->text()));
}

void require_one_precision(RuleContext& ctx, std::string_view symbol, std::initializer_list<Type> types) {
  Precision first = types.begin()->precision;
  for (const Type& type : types)
    if (type.precision != first)
      refuse(ctx, "E2002",
             fmt::format("precision differs: {} and {} in {}; convert one side with 'as'", info(first).name,
                         info(type.precision).name, symbol));
}

void require_image(RuleContext& ctx, const Type& x, std::size_t operand) {
  if (x.rank() != 4 && x.rank() != 3)
    refuse(ctx, "E2001", "images are [B, C, H, W], or [C, H, W] for a single one; this is " + x.text(),
           static_cast<int>(operand));
}

ImageBatch image_batch(const Extents& e) {
  if (e.size() == 3) return {1, e[0], {e[1], e[2]}};
  return {e[0], e[1], {e[2], e[3]}};
}

}  // namespace taskspec
