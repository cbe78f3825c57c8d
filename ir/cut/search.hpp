// Follows what the two sides of a cut program need, call by call, through all host code (find_demand). A call *runs*
// on a side when it is executed there, and is *wanted* when its value is used there too.
// Internal to ir/cut/demand.cpp and ir/cut/search.cpp.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <unordered_map>

#include "ir/base/function_ref.hpp"
#include "ir/cut/host_code.hpp"
#include "ir/cut/repeat.hpp"
#include "ir/program/call_graph.hpp"
#include "ir/program/host_symbols.hpp"

namespace taskspec {

class Search {
 public:
  Search(const Program& program, const CutOptions& options);
  std::vector<FunctionDemand> run();

 private:
  struct Known {
    std::unique_ptr<CallTree> tree;
    std::unique_ptr<Repeatable> repeatable;
    std::vector<std::vector<CallId>> writes;  // by variable
    std::vector<CallId> returns;
    std::array<std::unique_ptr<Exits>, 2> exits;  // by side: those that do not run there yet
  };
  struct Item {
    FunctionId function;
    CallId call;
    Part side;
    bool value;  // wanted, not only run
  };
  const Known& known(FunctionId id) const { return known_[known_of_.at(id.value)]; }
  Exits& exits_of(FunctionId id, Part side) {
    return *known_[known_of_.at(id.value)].exits[side == Part::host ? 0 : 1];
  }
  FunctionDemand& of(FunctionId id) { return demand_[id.index()]; }
  void begin(FunctionId id, bool fold);

  // Where it starts, and what is left at the end.
  void want_global(const Function& function);
  void start_from_effects(FunctionId f);
  void settle_double(FunctionId f);
  bool take_in(FunctionId f);

  // Who waits for whom where the program may end early (order.cpp).
  using Sites = std::vector<CallRef>;
  CallId outermost(FunctionId f, CallId c, Part side);
  Sites settled_sites(Part side, FunctionRef<bool(FunctionId, CallId)> is_one);
  void order_exits();
  bool may_exit(FunctionId f, CallId c);
  void run_ways_out(const CallRef& site);
  void order_effects();
  bool host_may_end();
  bool is_effect(FunctionId f, CallId c);

  // What is found; each follows once.
  void run_call(FunctionId f, CallId c, Part side);
  void want(FunctionId f, CallId c, Part side);
  void want_all(FunctionId f, const Call& call, Part side);
  void want_variable(FunctionId f, VariableId v, Part side);
  void want_parameter(FunctionId f, std::size_t k, Part side);
  void want_argument(const CallRef& site, FunctionId callee, std::size_t parameter, Part side);
  void want_group_argument(std::size_t group, std::size_t position, Part side);
  void want_result(FunctionId f, Part side);
  void stand(FunctionId f, CallId c, Part side);
  void enter(FunctionId f, Part side);
  void want_extents(FunctionId f, const Call& call);
  void want_dimensions(FunctionId f, const Type& type);
  void want_dimensions(FunctionId f, const Dim& dim);
  void want_signature(FunctionId f);

  // What follows from it.
  void settle();
  void follow_run(FunctionId f, CallId c, Part side);
  void run_place(FunctionId f, const Call& call, const Place& place, Part side);
  void run_site(FunctionId f, CallId c, Part side);
  void run_call_of(FunctionId callee, const CallRef& site, Part side);
  void run_call_of_value(std::size_t group, const CallRef& site, Part side);
  void want_places(FunctionId callee, Part side);
  bool wants_result(const CallRef& site, Part side);
  void run_loop(FunctionId f, CallId c, Part side);
  bool loop_variable_wanted(FunctionId f, const Call& loop);
  void follow_value(FunctionId f, CallId c, Part side);
  void graph_wants_host_value(FunctionId f, CallId c);
  void host_wants(FunctionId f, CallId c);
  void evaluate(FunctionId f, CallId c, Part side);
  void want_operands_on_host(FunctionId f, CallId c);

  // What a side needs of a group of function values: each of it is followed once for all of them.
  struct GroupDemand {
    bool entered = false, called = false, result = false;
    std::vector<bool> arguments;  // by position
  };
  GroupDemand& of_group(std::size_t group, Part side) { return groups_[2 * group + (side == Part::host ? 0 : 1)]; }

  const Program& program_;
  const CutOptions options_;
  const HostCode reach_;
  const CallGraph calls_;
  // By function: it prints from inside the graph, it calls exit; or something that it calls does.
  const std::vector<bool> shows_, exits_;
  const std::vector<bool> asked_;  // by function: the graph program alone calls it
  std::vector<FunctionDemand> demand_;
  std::vector<GroupDemand> groups_;               // by group and side
  std::vector<std::vector<FunctionId>> exiting_;  // by group: its functions that may exit
  bool shows_by_value_ = false;                   // a value that is all on the graph's side shows something
  std::deque<Known> known_;
  std::unordered_map<std::uint32_t, std::size_t> known_of_;
  std::vector<Item> todo_;
};

}  // namespace taskspec
