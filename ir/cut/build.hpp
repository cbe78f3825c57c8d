// Makes the two parts of a function out of what each side needs. Internal to ir/cut/.
#pragma once
#include "ir/cut/demand.hpp"
#include "ir/cut/sends.hpp"

namespace taskspec {

struct FunctionCut {
  Function host, graph;           // meaningful where the demand says that there is such a part
  std::vector<Channel> channels;  // in program order; calls name them by their position here
};

// Callees are still whole functions.
FunctionCut cut_function(const Program& program, FunctionId id, const FunctionDemand& demand, bool hoist);

}  // namespace taskspec
