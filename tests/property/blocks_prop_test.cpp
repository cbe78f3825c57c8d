// Random blocks: fast kernels, the ordered loop and plain loops give the same bits, in both worlds of numbers; parts of
// a block give what the whole one gives.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/blocks/rewrites.hpp"
#include "stdlib/kernels/integer_dots.hpp"
#include "tests/unit/block_oracle.hpp"
#include "tests/unit/random_blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::blocks_prop_test {

namespace {

using Numbers = std::vector<std::int64_t>;

struct Ran {
  Numbers out;
  bool ordered = false;
  std::int64_t saturations = 0;
};

Ran ran(const RandomBlock& made, const ExactOptions& options) {
  const BlockCase one = made.block_case();
  ExactEngine engine = one.engine(options);
  Ran result{integers_of(engine.run(one.inputs)[0])};
  const BlockRow row = engine.report().rows[0];
  result.ordered = row.ordered_steps > 0;
  result.saturations = row.saturations;
  return result;
}

bool is_sum(const RandomBlock& made) {
  const std::string_view name = made.block.def->name;
  return name == "CC" || name == "CC2D" || name == "CVM" || name == "CADD" || name == "CAVG";
}

}  // namespace

TEST_CASE("random blocks are plain loops, fast and in order [ir-loops][overflow]") {
  int ordered = 0, proven = 0;
  for (std::uint64_t seed : random_seeds(600, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::string_view name = compute_blocks[seed % std::size(compute_blocks)];
    CAPTURE(std::string(name));
    const RandomBlock made = random_block(random, name, random() % 2 == 0);
    CAPTURE(made.block.shape.text());
    const Numbers chip = plain_block(made.block, made.in, BlockMode::chip);
    const Numbers reference = plain_block(made.block, made.in, BlockMode::rabbit);
    const Ran fast = ran(made, {}), slow = ran(made, {.force_ordered = true});
    REQUIRE(fast.out == chip);
    REQUIRE(slow.out == chip);
    const Ran rabbit = ran(made, {.mode = BlockMode::rabbit});
    REQUIRE(rabbit.out == reference);
    REQUIRE(ran(made, {.mode = BlockMode::rabbit, .force_ordered = true}).out == reference);
    if (!is_sum(made)) continue;
    (fast.ordered ? ordered : proven) += 1;
    // Where the proof holds nothing was cut, and both worlds agree, but for a bias that only one of them knows.
    if (fast.ordered) continue;
    REQUIRE(slow.saturations == 0);
    if (made.block.bias != BiasKind::constant) REQUIRE(chip == reference);
  }
  CHECK(ordered > 20);
  CHECK(proven > 20);
}

TEST_CASE("all instruction sets give the same sums [ir-loops][overflow]") {
  for (std::uint64_t seed : random_seeds(60, 1'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::string_view names[] = {"CC", "CC2D", "CVM"};
    const RandomBlock made = random_block(random, names[seed % 3], false);
    CAPTURE(made.block.shape.text());
    const Numbers plain = plain_block(made.block, made.in, BlockMode::chip);
    for (const DotSet* set : all_dot_sets()) {
      CAPTURE(std::string(set->name));
      prefer_dot_set(set);
      const Numbers ours = ran(made, {}).out;
      prefer_dot_set(nullptr);
      REQUIRE(ours == plain);
    }
  }
}

namespace {

// What a part reads of an operand, in its own extents.
Array cut_out(const Array& whole_array, const Extents& extents, const Box& box) {
  Array made = Array::make({whole_array.precision(), box.size});
  for (std::int64_t i = 0; i < made.elements(); ++i) {
    std::int64_t left = i, place = 0, stride = 1;
    for (std::size_t k = extents.size(); k-- > 0;) {
      place += (left % box.size[k] + box.position[k]) * stride;
      left /= box.size[k];
      stride *= extents[k];
    }
    made.set_integer(i, whole_array.integer(place));
  }
  return made;
}

void put_back(Numbers& all, const Extents& extents, const Box& box, const Numbers& part, bool adds) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    auto left = static_cast<std::int64_t>(i);
    std::int64_t place = 0, stride = 1;
    for (std::size_t k = extents.size(); k-- > 0;) {
      place += (left % box.size[k] + box.position[k]) * stride;
      left /= box.size[k];
      stride *= extents[k];
    }
    std::int64_t& to = all[static_cast<std::size_t>(place)];
    to = adds ? to + part[i] : part[i];
  }
}

Extents random_sizes(std::mt19937_64& random, std::int64_t extent) {
  Extents sizes;
  for (std::int64_t left = extent; left > 0; left -= sizes.back()) sizes.push_back(between(random, 1, left));
  return sizes;
}

// Of all parts together.
Numbers from_parts(const RandomBlock& made, BlockAxis axis, const std::vector<BlockPart>& parts) {
  Numbers all(static_cast<std::size_t>(value_type(made.block).elements()), 0);
  for (const BlockPart& part : parts) {
    RandomBlock piece{part.block, {}};
    for (std::size_t c = 0; c < made.in.size(); ++c) {
      const ClusterDef& cluster = made.block.in_cluster(c);
      const bool is_there = made.in[c].valid() && (!cluster.present || cluster.present(part.block));
      piece.in.push_back(is_there ? cut_out(made.in[c], cluster_extents(made.block, cluster), part.in[c]) : Array());
      if (is_there) CHECK(part.in[c].size == cluster_extents(part.block, cluster));
    }
    put_back(all, value_type(made.block).extents, part.out, ran(piece, {}).out, axis == BlockAxis::r);
  }
  return all;
}

}  // namespace

TEST_CASE("parts of a block make what the whole one makes [split]") {
  int cuts[block_axes] = {};
  for (std::uint64_t seed : random_seeds(500, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::string_view name = compute_blocks[seed % std::size(compute_blocks)];
    const RandomBlock made = random_block(random, name, false);
    CAPTURE(std::string(name));
    CAPTURE(made.block.shape.text());
    for (BlockAxis axis : {BlockAxis::y, BlockAxis::x, BlockAxis::f, BlockAxis::r}) {
      if (made.block.shape[axis] == 0) continue;
      CAPTURE(std::string(text(axis)));
      Result<std::vector<BlockPart>> parts = split(made.block, axis, random_sizes(random, made.block.shape[axis]));
      if (!parts) {
        CHECK(parts.diags().items()[0].message.find("padding") != std::string::npos);
        continue;
      }
      ++cuts[static_cast<std::size_t>(axis)];
      REQUIRE(from_parts(made, axis, *parts) == ran(made, {}).out);
    }
  }
  for (BlockAxis axis : {BlockAxis::y, BlockAxis::x, BlockAxis::f, BlockAxis::r})
    CHECK(cuts[static_cast<std::size_t>(axis)] > 50);
}

}  // namespace taskspec::blocks_prop_test
