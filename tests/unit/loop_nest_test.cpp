// Blocks as loop nests: plain loops over affine indices compute what the blocks do, and lead back to them.
#include "ir/blocks/loop_nest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "stdlib/blocks.hpp"
#include "tests/unit/block_oracle.hpp"
#include "tests/unit/random_blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::loop_nest_test {

namespace {

// What a nest has no words for: comparisons that convert, or whose constant is a word of several.
bool is_plain(const RandomBlock& one) {
  if (one.block.def->kind != BlockKind::soma) return true;
  const Precision held = one.in[0].precision();
  const std::int64_t cmp = one.block.attribute("cmp");
  return one.block.precision == held && held != Precision::u8 && held != Precision::tern && cmp >= -128 && cmp <= 127;
}

LoopNest shuffled(const LoopNest& nest, std::mt19937_64& random) {
  std::vector<std::size_t> order(nest.loops.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t k = nest.outer; k > 1; --k) std::swap(order[k - 1], order[random() % k]);
  LoopNest made = with_loops(nest, order);
  for (LoopNest::Term& term : made.terms)
    if (random() % 2 == 0) std::ranges::reverse(term.reads);
  return made;
}

}  // namespace

TEST_CASE("the nest of a block runs as the block and leads back to it [loop-nest]") {
  int compared = 0;
  std::set<std::string_view> seen;
  for (std::uint64_t seed : random_seeds(400, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::string_view name = compute_blocks[seed % std::size(compute_blocks)];
    CAPTURE(std::string(name));
    RandomBlock one = random_block(random, name, random() % 2 == 0);
    CAPTURE(one.block.shape.text());
    if (!one.block.def->nest) {
      CHECK(name == "CLUT");
      continue;
    }
    if (!is_plain(one)) continue;
    const LoopNest nest = shuffled(one.block.def->nest(one.block), random);
    REQUIRE(run_nest(nest, one.in) == plain_block(one.block, one.in, BlockMode::chip));
    const std::vector<TaskBlock> found = matching_blocks(nest, standard_blocks());
    const auto same = std::ranges::find(found, one.block.def, &TaskBlock::def);
    REQUIRE(same != found.end());
    REQUIRE(same->def->nest(*same) == one.block.def->nest(one.block));
    // Whatever was found computes the same.
    for (TaskBlock block : found) {
      block.name = "c";
      REQUIRE(plain_block(block, one.in, BlockMode::chip) == plain_block(one.block, one.in, BlockMode::chip));
    }
    seen.insert(name);
    ++compared;
  }
  CHECK(compared > 150);
  CHECK(seen.size() == 10);
}

TEST_CASE("a nest that no primitive computes has none [loop-nest]") {
  TaskBlock conv;
  conv.def = standard_blocks().find("CC");
  conv.name = "c";
  conv.shape = {.y = 3, .x = 4, .f = 5, .r = 6, .ky = 2, .kx = 2};
  const LoopNest nest = conv.def->nest(conv);
  auto names = [&](const LoopNest& of) {
    std::vector<std::string> found;
    for (const TaskBlock& block : matching_blocks(of, standard_blocks())) found.emplace_back(block.def->name);
    return found;
  };
  CHECK(names(nest) == std::vector<std::string>{"CC", "CC2D"});
  // Sums in another order saturate in other places.
  CHECK(names(with_loops(nest, {0, 1, 2, 4, 5, 3})).empty());
  LoopNest other = nest;
  other.terms[0].reads[0].indices[0].factors[2] = 1;  // rows that depend on the output channel
  CHECK(names(other).empty());
  other = nest;
  other.terms[0].factor = 2;
  CHECK(names(other).empty());
  other = nest;
  other.terms[0].reads.push_back(other.terms[0].reads[1]);
  CHECK(names(other).empty());
  other = nest;
  other.reduce = NestReduce::most;
  CHECK(names(other).empty());
}

}  // namespace taskspec::loop_nest_test
