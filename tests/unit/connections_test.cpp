// Connection matrices: their block density, orders that raise it, and the layer that stays the same.
#include "ir/blocks/connections.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/block_cases.hpp"
#include "tests/unit/block_oracle.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::connections_test {

namespace {

constexpr std::int64_t outputs = 24, inputs = 40;
constexpr ConnectionBlocks blocks{8, 10};

bool is_order(std::vector<std::int64_t> order) {
  std::ranges::sort(order);
  for (std::size_t k = 0; k < order.size(); ++k)
    if (order[k] != static_cast<std::int64_t>(k)) return false;
  return true;
}

// Three blocks of outputs that read inputs of their own, and one column of blocks that nobody reads; shuffled.
Array hidden_blocks(std::mt19937_64& random) {
  std::vector<std::int64_t> f(outputs), r(inputs);
  std::iota(f.begin(), f.end(), 0), std::iota(r.begin(), r.end(), 0);
  for (std::size_t k = f.size(); k > 1; --k) std::swap(f[k - 1], f[random() % k]);
  for (std::size_t k = r.size(); k > 1; --k) std::swap(r[k - 1], r[random() % k]);
  Array matrix = Array::make({Precision::i8, {outputs, inputs}});
  for (std::int64_t i = 0; i < outputs; ++i)
    for (std::int64_t j = 0; j < inputs; ++j)
      if (i / 8 == j / 10)
        matrix.set_integer(f[static_cast<std::size_t>(i)] * inputs + r[static_cast<std::size_t>(j)], 1);
  return matrix;
}

}  // namespace

TEST_CASE("the block density of a connection matrix [rich-neuron]") {
  Array matrix = Array::make({Precision::i8, {4, 6}});
  CHECK(block_density(matrix, {2, 3}) == 1);
  matrix.set_integer(0, 1);
  CHECK(block_density(matrix, {2, 3}) == doctest::Approx(1.0 / 6));
  matrix.set_integer(1, 1);
  matrix.set_integer(23, 1);
  CHECK(block_density(matrix, {2, 3}) == doctest::Approx(3.0 / 12));
  CHECK(block_density(matrix, {3, 4}) == doctest::Approx(3.0 / (12 + 2)));  // the last block is smaller
}

TEST_CASE("hidden blocks of connections are found again, and the layer stays the same [rich-neuron]") {
  for (std::uint64_t seed : random_seeds(20, 200)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Array connections = hidden_blocks(random);
    CHECK(block_density(connections, blocks) < 0.5);
    const ConnectionOrder order = dense_order(connections, blocks);
    CHECK(is_order(order.outputs));
    CHECK(is_order(order.inputs));
    CHECK(order.density == 1);
    CHECK(block_density(reordered(connections, order), blocks) == 1);
    // Weights where there are connections: outputs of the ordered layer are those of the layer, in that order.
    Array weights = random_array(random, Precision::i8, {outputs, inputs});
    for (std::int64_t i = 0; i < weights.elements(); ++i)
      weights.set_integer(i, weights.integer(i) * connections.integer(i));
    const Array x = random_array(random, Precision::i8, {inputs});
    Array moved = Array::make({Precision::i8, {inputs}});
    for (std::int64_t r = 0; r < inputs; ++r)
      moved.set_integer(r, x.integer(order.inputs[static_cast<std::size_t>(r)]));
    auto layer = [&](const Array& w, const Array& input) {
      BlockCase c("CVM", {.f = outputs, .r = inputs}, Precision::i32);
      c.feed(0, input, true);
      c.feed(1, w);
      return integers_of(c.run({}));
    };
    const std::vector<std::int64_t> plain = layer(weights, x), ordered = layer(reordered(weights, order), moved);
    for (std::size_t k = 0; k < ordered.size(); ++k)
      CHECK(ordered[k] == plain[static_cast<std::size_t>(order.outputs[k])]);
  }
}

TEST_CASE("an order is never worse than none [rich-neuron]") {
  for (std::uint64_t seed : random_seeds(40, 400)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Array matrix = Array::make({Precision::i8, {between(random, 1, 20), between(random, 1, 20)}});
    for (std::int64_t i = 0; i < matrix.elements(); ++i) matrix.set_integer(i, random() % 4 == 0 ? 1 : 0);
    const ConnectionBlocks any{between(random, 1, 6), between(random, 1, 6)};
    const ConnectionOrder order = dense_order(matrix, any);
    CHECK(order.density >= block_density(matrix, any));
    CHECK(order.density == block_density(reordered(matrix, order), any));
  }
}

}  // namespace taskspec::connections_test
