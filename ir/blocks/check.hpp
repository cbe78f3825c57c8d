#pragma once
#include "ir/blocks/block_graph.hpp"
namespace taskspec {
Diags check_blocks(const BlockGraph& graph, const BlockTable& table);
}
