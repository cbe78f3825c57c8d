// What matmul, linear and convolution have in common: the precision of a product and its tolerance.
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/product.hpp"

namespace taskspec {

// The precision of the product of two operands: tern u4 i8 u8 i9 i28 and mixes of them give i32, other equal
// ones their own; bool and other mixes are E2002.
Precision product_precision(RuleContext& ctx, std::string_view symbol, std::size_t left, std::size_t right);

// A bias that is given is [outputs] and has the precision of the result: E1004, E2001, E2002.
void require_bias(RuleContext& ctx, std::string_view symbol, std::size_t operand, Precision precision,
                  const Dim& outputs);

// Sums in another order, and f32 through oneDNN: relative to the largest term, between implementations.
inline constexpr double product_tolerance = 1e-5;

// Operations and bytes of a call whose every result element is a sum of `depth` products.
Work product_work(const OpInstance& call, std::int64_t depth);

}  // namespace taskspec
