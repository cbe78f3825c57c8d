// Block graphs that the exact engine is measured with.
#pragma once
#include <memory>

#include "ir/blocks/block_graph.hpp"

namespace taskspec::bench {

std::shared_ptr<const BlockGraph> convolution_graph(const Array& weights,
                                                    const Array& bias);  // 56 x 56 x 64 -> 64, 3 x 3
std::shared_ptr<const BlockGraph> lenet_graph();
std::shared_ptr<const BlockGraph> table_graph(Precision in, std::int64_t bits, std::int64_t count);
Array random_bytes(const Extents& extents, std::uint64_t seed);

}  // namespace taskspec::bench
