// A NIR model as one flat network that can be run: nested graphs are spliced, edges that close a loop are found, and
// every node knows the shape of what it takes and gives.
//
//   Network net = make_network(model);
//   for (std::size_t i : net.order) ... net.nodes[i]          // what a node reads stands before it, or is from before
#pragma once
#include "interp/import/nir/model.hpp"

namespace taskspec::nir {

using Shape = Extents;

std::int64_t volume(const Shape& shape);
std::string shape_text(const Shape& shape);  // "[2, 34, 34]"

// What is wrong with one node, or where it stands; all of them are told at once.
struct Problem {
  std::string text;
};

struct Kind;

struct Population {
  std::string path;  // "lif1/lif"
  const Kind* kind = nullptr;
  const Node* node = nullptr;
  std::vector<std::size_t> from, back;  // what leads into it: in the same step; from the step before
  Shape in, out;
  bool inner = false;  // the Input or Output of a graph that was spliced
};

struct Network {
  std::vector<Population> nodes;   // by path
  std::vector<std::size_t> order;  // of one step
  std::vector<std::string> notes;
};

// Throws Error E7003, which lists all that is wrong.
Network make_network(const Model& model, const std::string& path);

}  // namespace taskspec::nir
