// Block graphs for tests: put together line by line, compared whole, and random ones.
#pragma once
#include <random>
#include <string>

#include "ir/blocks/block_graph.hpp"
#include "stdlib/blocks.hpp"

namespace taskspec::tests {

// BlockGraphMaker make("front");
// BlockId x = make.block("x", "SI", Precision::i8, {.y = 4, .x = 4, .f = 2});
// make.edge(x, y, "input", {}, {{"reflect", {1}}});
class BlockGraphMaker {
 public:
  explicit BlockGraphMaker(std::string name) { graph.name = std::move(name); }

  BlockId block(std::string name, std::string_view kind, Precision precision, BlockShape shape,
                std::vector<std::pair<std::string_view, std::int64_t>> attributes = {});
  // Of its extents, with numbers within its precision.
  Array data(BlockId block, std::int64_t first = 0);
  // Whole ends, unless boxes are given.
  BlockEdge& edge(BlockId from, BlockId to, std::string_view cluster = "input",
                  std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> moves = {});

  BlockGraph graph;
};

// But for spans.
bool same(const BlockGraph& a, const BlockGraph& b);

// Well formed, whatever happens: storage, convolutions, pools, sums, tables, neurons, parts that are cut and joined,
// rearrangements, groups. Numbers as in files: some of everything that files hold.
BlockGraph random_block_graph(std::mt19937_64& random);

}  // namespace taskspec::tests
