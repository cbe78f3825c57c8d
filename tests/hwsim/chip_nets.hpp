// Nets for tests of chips: several inputs, convolutions, pools, sums with skips, tables, chains of CVM, neurons, cuts
// and joins, delayed edges forwards and in loops; chips that are variants of a preset.
#pragma once
#include <random>

#include "hwsim/chip/chip.hpp"
#include "tests/unit/block_graphs.hpp"

namespace taskspec::tests {

struct ChipNetKinds {
  bool delays = true, neurons = true;
  std::int64_t stages = 6, planes = 9, features = 40;  // at most
};
BlockGraph random_chip_net(std::mt19937_64& random, const ChipNetKinds& kinds = {});

// A preset whose text is changed: each `from` stands there once or more, and its first becomes `to`.
std::shared_ptr<const Chip> chip_variant(std::string_view preset,
                                         const std::vector<std::pair<std::string, std::string>>& changes = {});
// tianjicx, tiny, or tiny with other numbers of cores and bytes.
std::shared_ptr<const Chip> random_chip(std::mt19937_64& random);

// A convolution of 3 x 3 that keeps the plane, cut to bytes behind it if `cuts`.
BlockGraph conv_graph(std::int64_t y, std::int64_t x, std::int64_t r, std::int64_t f, bool cuts);

// x -> f x f -> f x f ..., each product cut to bytes; by their names.
BlockGraph products_in_turn(const std::vector<std::string>& names, std::int64_t f);

// LeNet of the golden files, 32 x 32 to 10, with weights of our own: convolutions of 5 x 5, pools of 2 x 2, products.
BlockGraph lenet_blocks();

}  // namespace taskspec::tests
