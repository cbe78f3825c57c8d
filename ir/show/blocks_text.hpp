// A graph of Task IR blocks as an `ir` declaration: every line is one that the grammar has.
//
//   fmt::print("{}", blocks_text(graph));       ir front { ... }, for people: what data hold stands behind them
//   blocks_text(graph, "front.npz").text        the same for a reader, with its data in that file
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/blocks/block_graph.hpp"
#include "ir/files/files.hpp"

namespace taskspec {

std::string blocks_text(const BlockGraph& graph);

struct BlocksText {
  std::string text;
  std::vector<NamedArray> arrays;  // of the archive
};
BlocksText blocks_text(const BlockGraph& graph, std::string_view archive);

}  // namespace taskspec
