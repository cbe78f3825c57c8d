// A graph that is one time step of a spiking network, as a network of NIR: https://neuroir.org. The way back from what
// `import "net.nir"` makes (interp/import/nir), of any graph that is written in its words: neurons of the modules nir
// and nir64, products, convolutions, pools, sums.
//
//   NirNet net = nir_net(program, *build_graph(interpreter, forward, agent, ViewContents::all));
//   net.nodes[0]       // {"fc", "Affine", {{"weight", f32[38, 12]}, {"bias", f32[38]}}}
//
// The time step, the integrator, the reset and the delay of edges backwards are not in the format: notes tell them.
#pragma once
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "interp/control/build_graph.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

struct NirNode {
  std::string name, type;
  std::vector<std::pair<std::string, std::variant<Array, std::string>>> parameters;
};

struct NirNet {
  std::vector<NirNode> nodes;
  std::vector<std::pair<std::string, std::string>> edges;  // source, destination
  std::vector<std::string> notes;
};

// Throws Error E4037: everything that NIR has no node for, at once. `view` has contents.
NirNet nir_net(const Program& program, const GraphView& view);

// The view of a graph for it; of a member of an agent without parameters, or of a graph that makes a net and calls it.
std::unique_ptr<GraphView> nir_view(Interpreter& interpreter, FunctionId graph);

}  // namespace taskspec
