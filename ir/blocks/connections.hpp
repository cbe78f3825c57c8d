// Which inputs each output of a layer is connected to, as a matrix [f, r] of zeros and ones, and how well its ones lie
// together: chips hold weights in blocks of outputs and inputs, and one without a connection needs no memory and no
// time.
//
//   block_density(connections, {32, 16});                    // Q, in 0..1
//   ConnectionOrder order = dense_order(connections, {32, 16});
//   reordered(weights, order)                                // the weights of the same layer, whose outputs and inputs
//                                                            // come in that order: an edge with shuffle() each
#pragma once
#include <vector>

#include "ir/types/array.hpp"

namespace taskspec {

struct ConnectionBlocks {
  std::int64_t outputs = 32, inputs = 16;
};

// Q: connections, of the places of all blocks that have one. Blocks at the ends count as large as they are. Of no
// connection at all 1.
double block_density(const Array& connections, const ConnectionBlocks& blocks);

struct ConnectionOrder {
  std::vector<std::int64_t> outputs, inputs;  // the k-th one was this one before
  double density = 0;                         // Q
};

// Never worse than as it is. A search by steps: outputs that read the same come together, then inputs that the same
// blocks of outputs read. Takes about f * f * r operations.
ConnectionOrder dense_order(const Array& connections, const ConnectionBlocks& blocks);

Array reordered(const Array& matrix, const ConnectionOrder& order);  // of [f, r]

}  // namespace taskspec
