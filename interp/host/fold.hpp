// Arithmetic of contributions and of maps: element by element, one combination for each.
//
//   const Fold fold = fold_of(Precision::f64, ReduceOp::sum);
//   fold.clear(buffer, 16);               // the identity, to which contributions are added
//   fold.into(field, buffer, 16);         // field[i] = field[i] + buffer[i]
#pragma once
#include <cstddef>

#include "ir/records/reduce_op.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

struct Fold {
  void (*clear)(std::byte* at, std::size_t count) = nullptr;
  void (*into)(std::byte* at, const std::byte* from, std::size_t count) = nullptr;
};
Fold fold_of(Precision precision, ReduceOp op);

// `row_count` tensors of `count` elements each, one behind the other, become one by a fixed binary tree: the left child
// of n leaves has the first 2^(ceil(log2 n) - 1) of them. No rows give the identity. Its precision is that of
// reduced_precision.
void reduce_rows(Precision precision, ReduceOp op, const std::byte* rows, std::size_t row_count, std::size_t count,
                 std::byte* into);

}  // namespace taskspec
