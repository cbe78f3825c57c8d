// The host code of a program: the functions that are cut, who calls whom among them, and what single calls do.
// Internal to ir/slice*.cpp.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "ir/program.hpp"

namespace taskspec {

struct CallSite {
  FunctionId function;
  CallId call;
  friend bool operator==(const CallSite&, const CallSite&) = default;
};

class HostCode {
 public:
  explicit HostCode(const Program& program);

  std::vector<FunctionId> functions;         // fns and top levels that host code reaches, in order of their ids
  std::vector<FunctionId> graphs;            // what bodies of tasks and graphs reach from there, them included
  std::vector<std::vector<CallSite>> sites;  // by function: calls in `functions` that may enter it
  bool is_site(FunctionId function, CallId call) const;
  const std::vector<FunctionId>& values() const { return values_; }  // functions that are used as values
  // Functions that a call may enter: its callee, or every function value that takes as many arguments.
  std::vector<FunctionId> callees(FunctionId function, CallId call) const;

 private:
  void reach(FunctionId id);
  void reach_graph(FunctionId id);
  void reach_slots(AgentId agent);
  void find_sites(FunctionId id);
  std::size_t declared(FunctionId id) const;

  const Program& program_;
  std::vector<bool> seen_, seen_graph_;
  std::vector<FunctionId> values_;
};

// What a call gives for a parameter of a function it enters; invalid: nothing, or not here.
CallId argument_of(const Program& program, const CallSite& site, FunctionId callee, std::size_t parameter);

// A host value that only the graph program can know: receives, shapes, reports.
bool comes_from_graph(const Function& function, const Call& call);
// It makes tensors, states or graph output, whether or not its value is used. Pure operations without use do not
// count when dead code goes.
bool acts_on_graph(const Program& program, const Function& function, const Call& call, bool dead_code);
// Some call of it writes to the console.
bool prints(const Function& function);
// It can fail, or take time: not to be left out on both sides.
bool computes(const Call& call);
// The host program may end at it: exit, a failed assert, a division by zero. Not a receive: of a failed one the graph
// program knows itself.
bool may_end(const Program& program, const Call& call);
// Its failing would show if it changed places with a receive: divisions, elements, texts that are read.
bool may_fail(const Function& function, const Call& call);
// It ends the program, whatever its operands are.
bool exits(const Call& call);
// Host integers of the same function that its types and guards name.
void for_each_host_symbol(const Call& call, const std::function<void(CallId)>& visit);
void for_each_host_symbol(const Function& function, const std::function<void(CallId)>& visit);

}  // namespace taskspec
