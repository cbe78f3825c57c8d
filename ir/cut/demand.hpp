// What each side of a cut program needs. Starts from what acts (prints, writes, tensor operations, receives) and
// follows values, control and calls backwards until nothing new is needed. Internal to ir/cut/.
#pragma once
#include <vector>

#include "ir/cut/cut_program.hpp"

namespace taskspec {

// Where values of a type live. Lists of tensors, function values and agents exist on both sides; the host's have
// nothing where tensors stand.
enum class ValueSide : std::uint8_t { host, graph, both };
ValueSide home_of(const Type& type);

// What one side needs of a function.
struct SideDemand {
  std::vector<bool> runs;        // by call: it is executed there
  std::vector<bool> wanted;      // by call: and its value is used
  std::vector<bool> variables;   // by variable: it is kept up to date there
  std::vector<bool> parameters;  // by parameter: callers give it
  bool result = false;           // some caller uses the result there
  bool part = false;             // something of it runs there
};

struct FunctionDemand {
  bool reached = false;
  SideDemand host, graph;
  // By call.
  std::vector<bool> sent;      // a host value that the graph needs and cannot compute again
  std::vector<bool> received;  // a value of the graph that the host needs
  std::vector<bool> named;     // host code that wants its tensor operands: names, contents
  std::vector<bool> entered;   // a call that is sent, and whose function does something in the graph program as well
  std::vector<bool> counted;   // a loop over a list of the host that the graph repeats as often
  std::vector<bool> ordered;   // an effect of the graph, which waits until the host has come there
  std::vector<bool> passed;    // something of the host that may exit: behind it the graph waits for the host

  SideDemand& operator[](Part side) { return side == Part::host ? host : graph; }
  const SideDemand& operator[](Part side) const { return side == Part::host ? host : graph; }
};

// By function; those that are not reached from a top level through host code are empty.
std::vector<FunctionDemand> find_demand(const Program& program, const CutOptions& options);

}  // namespace taskspec
