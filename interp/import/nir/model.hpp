// A NIR file as it lies there: nodes with parameters, graphs inside of graphs. What it means is network.hpp's.
//
//   nir::Model model = nir::read_model("net.nir");
//   model.root.nodes[0].type          // "LIF"
//   nir::write_model(model, "copy.nir");
#pragma once
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/types/array.hpp"

namespace taskspec::nir {

// Numbers (f32, f64 or i64, rank 0 for scalars) or a word ("same").
using Parameter = std::variant<Array, std::string>;

struct Node {
  std::string name, type;
  std::map<std::string, Parameter> parameters;
  std::vector<Node> nodes;  // of a NIRGraph
  std::vector<std::pair<std::string, std::string>> edges;
};

struct Model {
  std::string version;
  Node root;  // a NIRGraph
};

inline constexpr const char* written_version = "1.0.7";

// Throws Error: E7001 not found, E7003 broken or of another layout, E5008 more than the file can hold.
Model read_model(const std::string& path);
// Whole or not at all (E7004), in the layout of current files: every array packed, edges in order of (source,
// destination).
void write_model(const Model& model, const std::string& path);

// What older files leave out stands in it: v_reset 0, w_in 1.
Model completed(Model model);
// Equal nodes, parameters bit for bit, and edges, in whatever order.
bool same(const Node& a, const Node& b);

}  // namespace taskspec::nir
