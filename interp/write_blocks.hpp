// Who writes a graph of Task IR blocks, or a network of NIR, as a file of another format: a root knows it, others are
// handed it.
#pragma once
#include <functional>
#include <string>

namespace taskspec {

struct BlockGraph;
struct NirNet;  // interp/control/nir/net.hpp

// By the suffix of the path. Throws Error: E4008 what the format cannot say, E7003 no such format, E7004.
using WriteBlocks = std::function<void(const BlockGraph& graph, const std::string& path)>;
// E7001 where there is no such program, E7004.
using WriteNir = std::function<void(const NirNet& net, const std::string& path)>;

}  // namespace taskspec
