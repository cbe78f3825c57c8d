// Where the value of a variable that the host assigns goes to the graph: once per version, before the loops that do
// not change it, and from then on the graph reads a copy of its own. Internal to ir/cut/.
#pragma once
#include <unordered_map>

#include "ir/cut/demand.hpp"

namespace taskspec {

struct VariableSends {
  std::vector<bool> reused;  // by call: a read that finds its version on the graph's side
  std::unordered_map<std::uint32_t, std::vector<VariableId>> before;  // by loop: sent in front of it
};

// Without `hoist` each read is sent where it stands.
VariableSends place_variable_sends(const Function& function, const FunctionDemand& demand, bool hoist);

}  // namespace taskspec
