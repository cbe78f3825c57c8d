#include "ir/blocks/rearrange.hpp"

#include <algorithm>
#include <limits>

#include "ir/base/text.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

namespace {

constexpr const RearrangeDef* rearrangements[] = {&rearrange_identity, &rearrange_reshape, &rearrange_permute,
                                                  &rearrange_rotate,   &rearrange_shift,   &rearrange_scale,
                                                  &rearrange_shear,    &rearrange_reflect, &rearrange_affine,
                                                  &rearrange_project,  &rearrange_shuffle};

bool fits_32_bits(std::int64_t number) {
  return number >= std::numeric_limits<std::int32_t>::min() && number <= std::numeric_limits<std::int32_t>::max();
}

// What is wanted behind each of the moves, as far as the target tells it.
std::vector<Extents> wanted_behind(std::span<const Rearrangement> moves, const Extents& target) {
  std::vector<Extents> wanted(moves.size());
  Extents behind = target;
  for (std::size_t k = moves.size(); k-- > 0;) {
    wanted[k] = behind;
    if (!behind.empty()) behind = moves[k].def->before(moves[k].numbers, behind);
  }
  return wanted;
}

Diags other_volume(const Extents& made, const Extents& target, Span span) {
  Diags diags;
  diags.error("E2001", span,
              "shapes differ: what arrives has " + extents_text(made) + ", " +
                  plural(static_cast<std::size_t>(std::max<std::int64_t>(places_of(made), 0)), "element") +
                  ", and the box there has " + extents_text(target));
  return diags;
}

// Calls visit(call, target) for each of the moves in turn; what comes out must be as large as the target.
template <class Visit>
Diags along(std::span<const Rearrangement> moves, const Extents& source, const Extents& target, Span span,
            Visit visit) {
  const std::vector<Extents> wanted = wanted_behind(moves, target);
  Extents at = source;
  if (places_of(source) < 1 || places_of(target) < 1)
    return does_not_fit({{}, source, target, span}, "an edge carries from 1 to 2147483647 elements, not " +
                                                        extents_text(places_of(source) < 1 ? source : target));
  for (std::size_t k = 0; k < moves.size(); ++k) {
    const RearrangeCall call{moves[k].numbers, at, wanted[k], moves[k].span.valid() ? moves[k].span : span};
    if (!std::ranges::all_of(call.numbers, fits_32_bits))
      return does_not_fit(call, "the numbers of a rearrangement have 32 bits");
    Result<Extents> made = moves[k].def->target(call);
    if (!made) return made.diags();
    visit(moves[k], call, *made);
    at = *std::move(made);
  }
  return places_of(at) == places_of(target) ? Diags() : other_volume(at, target, span);
}

}  // namespace

std::span<const RearrangeDef* const> all_rearrangements() { return rearrangements; }

const RearrangeDef* rearrangement_named(std::string_view name_or_label) {
  for (const RearrangeDef* def : rearrangements)
    if (def->name == name_or_label || def->label == name_or_label) return def;
  return nullptr;
}

const RearrangeDef* rearrangement_numbered(int number) {
  const auto* found = std::ranges::find(rearrangements, number, &RearrangeDef::number);
  return found == std::end(rearrangements) ? nullptr : *found;
}

std::string Rearrangement::text() const { return std::string(def->name) + "(" + def->arguments(numbers) + ")"; }

Diags check_rearrangements(std::span<const Rearrangement> moves, const Extents& source, const Extents& target,
                           Span span) {
  return along(moves, source, target, span, [](const Rearrangement&, const RearrangeCall&, const Extents&) {});
}

Result<IndexMap> compose(std::span<const Rearrangement> moves, const Extents& source, const Extents& target,
                         Span span) {
  // Of all moves before one map: a move that is refused must not cost a table.
  if (Diags diags = check_rearrangements(moves, source, target, span); diags.has_errors()) return diags;
  IndexMap all = IndexMap::identity(source);
  along(moves, source, target, span, [&](const Rearrangement& move, const RearrangeCall& call, const Extents& made) {
    all = all.then(move.def->map(call, made));
  });
  return all.seen_as(source, target);
}

// ---- what the records share ------------------------------------------------------------------------

std::string extents_text(const Extents& extents) {
  std::vector<std::string> parts;
  for (const std::int64_t extent : extents) parts.push_back(std::to_string(extent));
  return "[" + joined(parts, ", ") + "]";
}

Diags does_not_fit(const RearrangeCall& call, std::string why) {
  Diags diags;
  diags.error("E2005", call.span, std::move(why));
  return diags;
}

Diags check_count(const RearrangeCall& call, std::size_t least, std::size_t most, std::string_view what) {
  if (call.numbers.size() >= least && call.numbers.size() <= most) return {};
  return does_not_fit(call, std::string(what) + ", not " + plural(call.numbers.size(), "number"));
}

Result<Extents> bounded(const RearrangeCall& call, Extents target) {
  if (places_of(target) < 0)
    return does_not_fit(call, "this makes " + extents_text(target) + ": an edge carries at most 2147483647 elements");
  return target;
}

Result<std::vector<std::int64_t>> integer_arguments(std::span<const Value> given, Span span) {
  std::vector<std::int64_t> numbers;
  Diags diags;
  auto add = [&](const Value& value) {
    if (!value.is_integer() || !fits_32_bits(value.integer()))
      diags.error("E2005", span, "a rearrangement takes integers of 32 bits, not " + print(value));
    else
      numbers.push_back(value.integer());
  };
  for (const Value& value : given)
    if (value.is_list())
      for (const Value& item : value.list()) add(item);
    else if (!value.is_none())
      add(value);
  if (diags.has_errors()) return diags;
  return numbers;
}

std::string plain_arguments(std::span<const std::int64_t> numbers) {
  std::vector<std::string> parts;
  for (const std::int64_t number : numbers) parts.push_back(std::to_string(number));
  return joined(parts, ", ");
}

Result<std::int64_t> axis_argument(const Value& given, Span span) {
  if (given.is_integer() && given.integer() >= 0 && fits_32_bits(given.integer())) return given.integer();
  if (given.is_string()) {
    if (given.string() == "y") return 0;
    if (given.string() == "x") return 1;
    if (given.string() == "f" || given.string() == "r") return 2;
  }
  Diags diags;
  diags.error("E2005", span,
              (given.is_string() ? in_quotes(given.string()) : print(given)) +
                  " is no axis: \"y\", \"x\", \"f\", or a number from 0 on");
  return diags;
}

std::string axis_text(std::int64_t axis) {
  return axis == 0 ? "\"y\"" : axis == 1 ? "\"x\"" : axis == 2 ? "\"f\"" : std::to_string(axis);
}

Extents same_extents(std::span<const std::int64_t>, const Extents& target) { return target; }
Extents unknown_extents(std::span<const std::int64_t>, const Extents&) { return {}; }

}  // namespace taskspec
