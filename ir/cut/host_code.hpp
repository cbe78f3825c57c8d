// The host code of a program: the functions that are cut, who calls whom among them, and what single calls do.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

struct CallRef {
  FunctionId function;
  CallId call;
  friend bool operator==(const CallRef&, const CallRef&) = default;
};

class HostCode {
 public:
  explicit HostCode(const Program& program);

  std::vector<FunctionId> functions;        // fns and top levels that host code reaches, in order of their ids
  std::vector<FunctionId> graphs;           // what bodies of tasks and graphs reach from there, them included
  std::vector<std::vector<CallRef>> sites;  // by function: calls in `functions` that name it
  bool is_site(FunctionId function, CallId call) const;
  const std::vector<FunctionId>& values() const { return values_; }  // functions that are used as values
  // Fns that are values and take as many arguments, and the calls of a value that give as many: each of these may enter
  // each of those. Fns that are handed to nobody but the graph program are groups of their own.
  struct Group {
    std::vector<FunctionId> functions;
    std::vector<CallRef> sites;
  };
  std::vector<Group> groups;
  static constexpr std::size_t none = SIZE_MAX;
  std::size_t group_of(FunctionId value) const { return group_of_[value.index()]; }
  std::size_t group_of(FunctionId function, CallId site) const;

 private:
  void reach(FunctionId id);
  void reach_graph(FunctionId id);
  void reach_slots(AgentId agent);
  void find_groups();
  void find_sites(FunctionId id);

  const Program& program_;
  std::vector<bool> seen_, seen_graph_;
  std::vector<FunctionId> values_;
  std::vector<std::size_t> group_of_;                                // by function
  std::unordered_map<std::size_t, std::size_t> group_by_arguments_;  // how many there are
};

bool is_value(Form form);                              // a function as a value
std::size_t argument_count(const Function& function);  // that the call of such a value has
// The graph program itself calls the function that the call is given: for pieces of partitions, elements of maps and
// the ints of points.
bool graph_asks(const Function& function, const Call& call);
// And nobody else does: a training, say, is of both programs, and what brings its data may print.
bool only_graph_asks(const Function& function, const Call& call);
// The function, as far as the call names it.
FunctionId function_asked(const Function& function, const Call& call);

// What a call gives for a parameter of a function it enters; invalid: nothing, or not here.
CallId argument_of(const Program& program, const CallRef& site, FunctionId callee, std::size_t parameter);
// The same by the position among the declared parameters, for the call of a value.
CallId argument_at(const Call& call, std::size_t position);
// Of a parameter among those; nothing when it is none of them: an agent has it, or a closure.
std::optional<std::size_t> declared_position(const Function& function, std::size_t parameter);

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

}  // namespace taskspec
