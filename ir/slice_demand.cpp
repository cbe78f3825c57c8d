#include "ir/slice_demand.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include "ir/op_outputs.hpp"
#include "ir/slice_program.hpp"
#include "ir/slice_repeat.hpp"

namespace taskspec {

namespace {

constexpr Part sides[] = {Part::host, Part::graph};

class Search {
 public:
  Search(const Program& program, const SliceOptions& options)
      : program_(program), options_(options), reach_(program), demand_(program.functions.size()) {
    for (FunctionId id : reach_.functions) begin(id);
  }

  std::vector<FunctionDemand> run() {
    for (FunctionId id : reach_.graphs) want_global(program_[id]);
    for (FunctionId id : reach_.functions) start_from_effects(id);
    settle();
    // Every host value is computed on one side at least, so that what is wrong in it is found.
    for (bool more = true; more;) {
      more = false;
      for (FunctionId id : reach_.functions) more = take_in(id) || more;
      settle();
    }
    for (FunctionId id : reach_.functions) settle_double(id);
    return std::move(demand_);
  }

 private:
  struct Known {
    std::unique_ptr<CallTree> tree;
    std::unique_ptr<Repeatable> repeatable;
    std::vector<std::vector<CallId>> writes;  // by variable
    std::vector<CallId> parameter_calls, returns;
  };
  struct Item {
    FunctionId function;
    CallId call;
    Part side;
    bool value;  // wanted, not only run
  };

  void begin(FunctionId id) {
    const Function& f = program_[id];
    FunctionDemand& d = demand_[id.index()];
    d.reached = true;
    for (Part side : sides) {
      d[side].runs.resize(f.calls.size(), false);
      d[side].wanted.resize(f.calls.size(), false);
      d[side].variables.resize(f.variables.size(), false);
      d[side].parameters.resize(f.parameters.size(), false);
    }
    for (auto* flags : {&d.sent, &d.received, &d.named, &d.entered, &d.counted}) flags->resize(f.calls.size(), false);
    Known& known = known_.emplace_back();
    known_of_.emplace(id.value, known_.size() - 1);
    known.tree = std::make_unique<CallTree>(f);
    known.repeatable = std::make_unique<Repeatable>(f, *known.tree, options_.fold);
    known.writes.resize(f.variables.size());
    for (std::size_t i = 0; i < f.calls.size(); ++i) {
      const Call& call = f.calls[i];
      if (!known.tree->listed(CallId(i))) continue;
      if (call.form == Form::write || call.form == Form::store)
        known.writes[call.variable.index()].push_back(CallId(i));
      for (const Place& place : call.places) known.writes[place.variable.index()].push_back(CallId(i));
      if (call.form == Form::return_) known.returns.push_back(CallId(i));
    }
  }
  const Known& known(FunctionId id) const { return known_[known_of_.at(id.value)]; }
  FunctionDemand& of(FunctionId id) { return demand_[id.index()]; }

  // ---- what is found, and what follows from it ----

  void run_call(FunctionId f, CallId c, Part side) {
    if (!c.valid() || of(f)[side].runs[c.index()]) return;
    of(f)[side].runs[c.index()] = true;
    todo_.push_back({f, c, side, false});
  }
  void want(FunctionId f, CallId c, Part side) {
    if (!c.valid() || of(f)[side].wanted[c.index()]) return;
    of(f)[side].wanted[c.index()] = true;
    todo_.push_back({f, c, side, true});
  }
  void want_all(FunctionId f, const Call& call, Part side, std::size_t from = 0) {
    for (std::size_t i = from; i < call.in.size(); ++i) want(f, call.in[i], side);
  }
  void want_variable(FunctionId f, VariableId v, Part side) {
    if (of(f)[side].variables[v.index()]) return;
    of(f)[side].variables[v.index()] = true;
    for (CallId write : known(f).writes[v.index()]) run_call(f, write, side);
    const Function& function = program_[f];
    for (std::size_t k = 0; k < function.parameters.size(); ++k)
      if (function.parameters[k].variable == v) want_parameter(f, k, side);
  }
  void want_parameter(FunctionId f, std::size_t k, Part side) {
    if (of(f)[side].parameters[k]) return;
    of(f)[side].parameters[k] = true;
    const CallId standard = program_[f].parameters[k].default_value;
    want(f, standard, side);
    // Both sides must agree on whether an argument was given.
    if (standard.valid()) want_parameter(f, k, side == Part::host ? Part::graph : Part::host);
    for (const CallSite& site : reach_.sites[f.index()])
      if (of(site.function)[side].runs[site.call.index()]) want_argument(site, f, k, side);
  }
  void want_argument(const CallSite& site, FunctionId callee, std::size_t parameter, Part side) {
    want(site.function, argument_of(program_, site, callee, parameter), side);
  }
  void want_result(FunctionId f, Part side) {
    if (of(f)[side].result) return;
    of(f)[side].result = true;
    for (CallId c : known(f).returns) {
      run_call(f, c, side);
      if (!program_[f][c].in.empty()) want(f, program_[f][c].in[0], side);
    }
  }
  void want_global(const Function& function) {
    for (const Call& call : function.calls)
      if (call.form == Form::global)
        want_variable(program_.modules[call.module.index()].top_level, call.variable, Part::graph);
  }

  void settle() {
    while (!todo_.empty()) {
      Item item = todo_.back();
      todo_.pop_back();
      if (item.value)
        follow_value(item.function, item.call, item.side);
      else
        follow_run(item.function, item.call, item.side);
    }
  }

  // ---- a call that runs on a side ----

  // Something happens there on this side: control must come to it as often as in the whole function.
  void stand(FunctionId f, CallId c, Part side) {
    enter(f, side);
    run_call(f, known(f).tree->owner(c), side);
    for (CallId exit : known(f).tree->exits())
      if (exit != c && known(f).tree->skips(exit, c)) run_call(f, exit, side);
  }
  void enter(FunctionId f, Part side) {
    if (of(f)[side].part) return;
    of(f)[side].part = true;
    for (const CallSite& site : reach_.sites[f.index()]) run_call(site.function, site.call, side);
    if (side == Part::graph) want_signature(f);
  }

  void follow_run(FunctionId f, CallId c, Part side) {
    const Function& function = program_[f];
    const Call& call = function[c];
    stand(f, c, side);
    if (side == Part::graph) want_extents(f, call);
    switch (call.form) {
      case Form::if_:
        want(f, call.in[0], side);
        break;
      case Form::while_:
        want(f, call.blocks[0].result, side);
        break;
      case Form::for_:
        run_loop(f, c, side);
        break;
      case Form::both:
      case Form::either:
        want(f, call.in[0], side);
        want(f, call.blocks[0].result, side);
        break;
      case Form::run:
        if (side == Part::graph) want(f, call.in[0], side), want(f, call.blocks[0].result, side);
        break;
      case Form::return_:
        if (of(f)[side].result) want_all(f, call, side);
        break;
      case Form::write:
      case Form::store:
        want_all(f, call, side);
        break;
      case Form::agent:
        want_all(f, call, side);
        break;
      default:
        break;
    }
    for (const Place& place : call.places) run_place(f, call, place, side);
    if (reach_.is_site(f, c)) run_site(f, c, side);
  }

  // A call with an inout argument makes a new version of a variable.
  void run_place(FunctionId f, const Call& call, const Place& place, Part side) {
    const bool here = home_of(program_[f].variables[place.variable.index()].type) == Home::host || side == Part::graph;
    if (!here) return;
    want(f, call.in[place.operand], side);
    want_variable(f, place.variable, side);
  }

  // Functions that a call may enter: those of its callee, or of a value.
  void run_site(FunctionId f, CallId c, Part side) {
    const Call& call = program_[f][c];
    if (call.form == Form::apply) want(f, call.in[0], side);
    const bool applies_task = call.form == Form::apply && program_[f][call.in[0]].type.is(Type::Kind::task);
    if (call.form == Form::builtin || (applies_task && side == Part::graph)) want_all(f, call, side);
    const CallSite site{f, c};
    for (FunctionId callee : reach_.callees(f, c)) {
      if (program_[callee].agent.valid() && call.form == Form::call) want(f, call.in[0], side);
      if (!of(callee).reached) {  // a task or graph of a value: all of it is on the graph's side
        if (side == Part::graph) want_all(f, call, side);
        continue;
      }
      for (std::size_t k = 0; k < program_[callee].parameters.size(); ++k) {
        if (of(callee)[side].parameters[k]) want_argument(site, callee, k, side);
        const Parameter& parameter = program_[callee].parameters[k];
        if (parameter.privilege != Privilege::inout || !parameter.variable.valid()) continue;
        if (side == Part::graph || home_of(parameter.type) == Home::host)
          want_variable(callee, parameter.variable, side);
      }
      // Whether a filter keeps an item decides how often it calls: its function's result is wanted wherever it runs.
      const bool used = call.form == Form::builtin || of(f)[side].wanted[c.index()];
      if (used && gives_result(call, side)) want_result(callee, side);
    }
  }

  // Direct calls of host results are sent by the caller; functions inside builtins give theirs themselves.
  static bool gives_result(const Call& call, Part side) {
    return call.form == Form::builtin || side == Part::host || home_of(call.type) != Home::host;
  }

  void run_loop(FunctionId f, CallId c, Part side) {
    const Call& call = program_[f][c];
    if (side == Part::host || known(f).repeatable->call(call.in[0]) || loop_variable_wanted(f, call)) {
      want(f, call.in[0], side);
    } else {
      of(f).counted[c.index()] = true;
      want(f, call.in[0], Part::host);
      run_call(f, c, Part::host);
    }
  }
  bool loop_variable_wanted(FunctionId f, const Call& loop) {
    const Block& body = loop.blocks[0];
    return !body.calls.empty() && program_[f][body.calls[0]].form == Form::loop &&
           of(f).graph.wanted[body.calls[0].index()];
  }

  // Host integers in the types and guards of what the graph does.
  void want_extents(FunctionId f, const Call& call) {
    for_each_host_symbol(call, [&](CallId value) { want(f, value, Part::graph); });
  }
  void want_signature(FunctionId f) {
    for_each_host_symbol(program_[f], [&](CallId value) { want(f, value, Part::graph); });
  }

  // ---- a value that is used on a side ----

  void follow_value(FunctionId f, CallId c, Part side) {
    const Call& call = program_[f][c];
    const Home home = home_of(call.type);
    if (side == Part::graph) {
      if (home == Home::host || call.form == Form::builtin)
        graph_wants_host_value(f, c);
      else
        evaluate(f, c, side);
      return;
    }
    if (home == Home::graph && !(call.form == Form::builtin && call.builtin->cut == Cut::host)) return;
    host_wants(f, c);
  }

  void graph_wants_host_value(FunctionId f, CallId c) {
    const Call& call = program_[f][c];
    if (known(f).repeatable->call(c)) {
      evaluate(f, c, Part::graph);
      return;
    }
    of(f).sent[c.index()] = true;
    stand(f, c, Part::graph);
    run_call(f, c, Part::host);
    if (home_of(call.type) == Home::host) want(f, c, Part::host);
    if (call.form == Form::builtin) want_operands_on_host(f, c);
  }

  void host_wants(FunctionId f, CallId c) {
    const Call& call = program_[f][c];
    if (comes_from_graph(program_[f], call)) {
      of(f).received[c.index()] = true;
      run_call(f, c, Part::host);
      evaluate(f, c, Part::graph);
      return;
    }
    evaluate(f, c, Part::host);
  }

  // The call runs on this side, and so must what its value is made of.
  void evaluate(FunctionId f, CallId c, Part side) {
    const Call& call = program_[f][c];
    run_call(f, c, side);
    switch (call.form) {
      case Form::variable:
        want_variable(f, call.variable, side);
        break;
      case Form::global:
        want_variable(program_.modules[call.module.index()].top_level, call.variable, side);
        break;
      case Form::parameter:
        want_parameter(f, call.index, side);
        break;
      case Form::loop: {
        const CallId loop = known(f).tree->owner(c);
        if (of(f)[side].runs[loop.index()]) run_loop(f, loop, side);
        break;
      }
      case Form::both:
      case Form::either:
        want(f, call.blocks[0].result, side);
        want_all(f, call, side);
        break;
      case Form::call:
      case Form::apply:
        run_site(f, c, side);
        break;
      case Form::closure:
        want_captures(f, c, side);
        break;
      case Form::builtin:
        if (side == Part::host && call.builtin->cut != Cut::either)
          want_operands_on_host(f, c);
        else
          want_all(f, call, side);
        if (reach_.is_site(f, c)) run_site(f, c, side);
        break;
      case Form::type:
        if (side == Part::host) for_each_host_symbol(call, [&](CallId value) { want(f, value, side); });
        break;
      case Form::run:
        break;
      default:
        want_all(f, call, side);
        break;
    }
  }

  // All of them: which ones are used is not known where the value goes.
  void want_captures(FunctionId f, CallId c, Part side) { want_all(f, program_[f][c], side); }

  // Tensors come by name or with their contents, everything else as it is.
  void want_operands_on_host(FunctionId f, CallId c) {
    const Call& call = program_[f][c];
    for (CallId in : call.in) {
      if (!in.valid()) continue;
      if (call.builtin->cut == Cut::either || home_of(program_[f][in].type) == Home::host) {
        want(f, in, Part::host);
        continue;
      }
      of(f).named[c.index()] = true;
      want(f, in, Part::graph);
      stand(f, c, Part::graph);  // there the graph sends
    }
  }

  // ---- where it starts ----

  void start_from_effects(FunctionId f) {
    const Function& function = program_[f];
    if (!function.extern_symbol.empty()) {  // C++: all of it is the host's
      enter(f, Part::host);
      for (std::size_t k = 0; k < function.parameters.size(); ++k) want_parameter(f, k, Part::host);
    }
    if (checks_extents(function)) {
      enter(f, Part::graph);
      for (std::size_t k = 0; k < function.parameters.size(); ++k)
        if (function.parameters[k].type.is_tensor()) want_parameter(f, k, Part::graph);
    }
    for (std::size_t i = 0; i < function.calls.size(); ++i) {
      const CallId c(i);
      const Call& call = function.calls[i];
      if (!known(f).tree->listed(c)) continue;
      if (call.form == Form::builtin && call.builtin->effect != Effect::pure) {
        run_call(f, c, Part::host);
        if (call.builtin->cut == Cut::asked)
          host_wants(f, c);
        else
          want_operands_on_host(f, c);
      }
      if (call.form == Form::call && !call.guards.empty()) {
        enter(call.callee, Part::graph);
        run_call(f, c, Part::graph);
      }
      if (acts_on_graph(program_, function, call, options_.dead_code)) {
        if (home_of(call.type) == Home::host)
          run_call(f, c, Part::graph), want_all(f, call, Part::graph);
        else
          want(f, c, Part::graph), run_call(f, c, Part::graph);
      }
    }
  }

  // What is sent and yet runs on the graph's side, because of something inside it.
  void settle_double(FunctionId f) {
    FunctionDemand& d = of(f);
    for (std::size_t i = 0; i < d.sent.size(); ++i) {
      if (!d.sent[i] || !d.graph.runs[i]) continue;
      const Form form = program_[f].calls[i].form;
      if (form == Form::both || form == Form::either)
        d.sent[i] = false;  // then its value is known there
      else
        d.entered[i] = true;
    }
  }

  // Its callers must give tensors of extents that it says.
  static bool checks_extents(const Function& function) {
    return std::ranges::any_of(function.parameters, [](const Parameter& parameter) {
      bool found = false;
      Function one;
      one.parameters = {parameter};
      for_each_host_symbol(one, [&](CallId) { found = true; });
      return found;
    });
  }

  // Host values that nobody has asked for.
  bool take_in(FunctionId f) {
    bool more = false;
    const Function& function = program_[f];
    FunctionDemand& d = of(f);
    for (std::size_t i = 0; i < function.calls.size(); ++i) {
      const CallId c(i);
      const Call& call = function.calls[i];
      if (!known(f).tree->listed(c) || d.host.runs[i] || d.graph.runs[i] || d.host.wanted[i]) continue;
      if (!computes(call) || (options_.dead_code && call.form == Form::receive)) continue;
      const CallId owner = known(f).tree->owner(c);
      const bool there =
          owner.valid() ? d.graph.runs[owner.index()] && !d.host.runs[owner.index()] : d.graph.part && !d.host.part;
      const CallId decides = call.form == Form::while_ ? call.blocks[0].result : c;
      const bool of_graph = home_of(call.type) == Home::graph;  // an item of a list of tensors
      const Part side = of_graph || (there && known(f).repeatable->call(decides)) ? Part::graph : Part::host;
      call.form == Form::while_ ? run_call(f, c, side) : want(f, c, side);
      more = true;
    }
    return more;
  }

  const Program& program_;
  const SliceOptions options_;
  const HostCode reach_;
  std::vector<FunctionDemand> demand_;
  std::deque<Known> known_;
  std::unordered_map<std::uint32_t, std::size_t> known_of_;
  std::vector<Item> todo_;
};

}  // namespace

Home home_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::tensor:
    case Type::Kind::invocation:
      return Home::graph;
    case Type::Kind::function:
    case Type::Kind::task:
    case Type::Kind::agent:
      return Home::both;
    case Type::Kind::list:
    case Type::Kind::tuple:
      return std::ranges::all_of(type.parts, [](const Type& part) { return home_of(part) == Home::host; }) ? Home::host
                                                                                                           : Home::both;
    default:
      return Home::host;
  }
}

std::vector<FunctionDemand> find_demand(const Program& program, const SliceOptions& options) {
  return Search(program, options).run();
}

}  // namespace taskspec
