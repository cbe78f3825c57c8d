// What the records of rearrangements share.
#pragma once
#include <string>

#include "ir/blocks/rearrange.hpp"

namespace taskspec {

std::string extents_text(const Extents& extents);  // "[28, 28, 6]"

Diags does_not_fit(const RearrangeCall& call, std::string why);  // E2005
// E2005, unless there are from `least` to `most` numbers; `what` is how a text would name them.
Diags check_count(const RearrangeCall& call, std::size_t least, std::size_t most, std::string_view what);
// E2005 if this is more than a map can tell apart.
Result<Extents> bounded(const RearrangeCall& call, Extents target);

// Of the operands of a call: integers that fit into 32 bits. Several: those of a variadic operand.
Result<std::vector<std::int64_t>> integer_arguments(std::span<const Value> given, Span span);
std::string plain_arguments(std::span<const std::int64_t> numbers);  // "1, 0, 2"

// Axes by the names that they have in [y, x, f] and [y, x, r], or counted from 0.
Result<std::int64_t> axis_argument(const Value& given, Span span);
std::string axis_text(std::int64_t axis);  // "\"y\"", and "3" where there is no name

Extents same_extents(std::span<const std::int64_t> numbers, const Extents& target);
Extents unknown_extents(std::span<const std::int64_t> numbers, const Extents& target);

// One record per rearrangement.
extern const RearrangeDef rearrange_identity, rearrange_reshape, rearrange_permute, rearrange_reflect,
    rearrange_shuffle;
extern const RearrangeDef rearrange_shift, rearrange_rotate, rearrange_scale, rearrange_shear, rearrange_affine,
    rearrange_project;

}  // namespace taskspec
