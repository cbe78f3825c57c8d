// Index tensors of gather and scatter_add: reading them in any integer precision, and checking them all
// before anything is written.
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

// x seen around one axis: x[outer, axis, inner], and the number of indices that pick along it.
struct AroundAxis {
  std::int64_t outer = 1, extent = 1, inner = 1, indices = 1;
};
AroundAxis around_axis(const ArrayType& x, std::size_t axis, const ArrayType& index);

using IndexReader = std::int64_t (*)(const std::byte* indices, std::int64_t position);
IndexReader index_reader(Precision precision);

// E5003 for the first index that is not in [0, extent).
std::optional<Fault> index_fault(IndexReader read, const std::byte* indices, const AroundAxis& shape);

// Type rule of an index operand: a tensor of integers, else E1004 or E2002.
const Type& index_operand(RuleContext& ctx, std::string_view symbol, std::size_t operand);

}  // namespace taskspec
