// What convolution and pooling have in common: reading `pair` operands, the shape of the result, and the
// geometry for the kernels.
//
//   Dim rows = window_count(ctx, WindowAxis{.image = x.dims[2], .kernel = 3, .pad = 1});    // symbolic or not
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/windows.hpp"

namespace taskspec {

// An operand of kind `pair` as extents; empty when it is a pair that only the run knows. Where the value is
// known it must be at least `least` (E1003).
std::optional<std::array<Dim, 2>> pair_dims(RuleContext& ctx, std::size_t operand, std::string_view name,
                                            std::int64_t least);

// The value of a `pair` operand of an instance: an int counts for both.
Pair pair_value(const Value& value);

struct WindowAxis {
  std::optional<Dim> image, kernel, pad = Dim(0), stride = Dim(1), dilation = Dim(1);
};

// How many windows fit along an axis; an unknown extent when the division cannot be done on symbols.
Dim window_count(RuleContext& ctx, const WindowAxis& axis);

// E2002 unless all of these have the precision of the first.
void require_one_precision(RuleContext& ctx, std::string_view symbol, std::initializer_list<Type> types);

// x of convolution and pooling is [B, C, H, W] or one image [C, H, W]; E2001 otherwise.
void require_image(RuleContext& ctx, const Type& x, std::size_t operand);

// Extents of [B, C, H, W] or [C, H, W] as a batch.
struct ImageBatch {
  std::int64_t images, channels;
  Pair extent;
};
ImageBatch image_batch(const Extents& extents);

}  // namespace taskspec
