// Graphs of Task IR blocks as JSON, and back.
//
//   {"name": "front", "blocks": [{"name": "conv", "type": "CC2D", "precision": "i32", "shape": {"y": 24, ...},
//    "attributes": [["stride_x", 1]], "in": [[{"edge": 1, "position": [0, 0, 0], "size": [28, 28, 1]}]], ...}],
//    "edges": [{"id": 0, "from": {"block": 0, "cluster": "output", ...}, "to": {...}, "moves": [["reflect", [1]]]}]}
#pragma once
#include <memory>

#include "ir/blocks/value.hpp"
#include "ir/json/item.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

void put_block_graph(JsonText& out, const BlockGraph& graph);

// E7003 for what is no block graph, as far as the form goes; check_blocks says the rest.
std::shared_ptr<const BlockGraph> read_block_graph(const Item& item, const BlockTable& table);

}  // namespace taskspec
