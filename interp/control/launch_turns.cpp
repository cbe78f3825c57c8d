#include "interp/control/launch_turns.hpp"

#include <algorithm>
#include <set>

#include "ir/records/op_outputs.hpp"

namespace taskspec {

namespace {

bool is_plain_number(const Type& type) {
  return type.is(Type::Kind::integer) || type.is(Type::Kind::real) || type.is(Type::Kind::boolean);
}

class Turn {
 public:
  Turn(const CompactSource& source, std::span<const CallId> body)
      : program_(source.program), function_(source.function), facts_(source.facts) {
    for (const CallId id : body)
      if (function_[id].form == Form::write) written_.insert(function_[id].variable);
  }

  // False: it is no such turn.
  bool take(CallId id) {
    const Call& call = function_[id];
    if (!call.guards.empty() || !call.places.empty() || !call.blocks.empty()) return false;
    const InTurn in_turn = facts_.steps[id.index()]->in_turn;
    if (in_turn == InTurn::launch) return launches(call) && keep(id);
    if (in_turn == InTurn::still) {
      if (std::ranges::any_of(call.in, [&](CallId in) { return differs(in) || is_function(in); })) return false;
      still_.insert(id);
      return true;
    }
    if (names_something(call)) return true;
    if (!makes_number(call)) return false;
    if (std::ranges::any_of(call.in, [&](CallId in) { return still_.contains(in); })) return false;
    const bool is_written = call.form == Form::variable && written_.contains(call.variable);
    if (call.form == Form::loop || is_written || std::ranges::any_of(call.in, [&](CallId in) { return differs(in); }))
      differing_.insert(id);
    return keep(id);
  }
  LaunchTurns found() && { return std::move(found_); }

 private:
  // That stands still; nothing is done for it.
  bool names_something(const Call& call) const {
    const bool is_variable = call.form == Form::variable || call.form == Form::global;
    return call.form == Form::constant || call.form == Form::parameter ||
           (is_variable && !is_plain_number(call.type) && !written_.contains(call.variable));
  }
  bool differs(CallId id) const { return id.valid() && differing_.contains(id); }
  bool is_function(CallId id) const { return id.valid() && function_[id].type.is(Type::Kind::function); }
  bool makes_number(const Call& call) const {
    if (call.form == Form::write) return is_plain_number(function_.variables[call.variable.index()].type);
    if (!is_plain_number(call.type)) return false;
    if (call.form == Form::loop || call.form == Form::variable || call.form == Form::global) return true;
    return call.form == Form::op && call.op->scalar && !makes_tensors(*call.op, call.type) &&
           std::ranges::all_of(call.in, [&](CallId in) { return in.valid() && is_plain_number(function_[in].type); });
  }
  // Its domain and its distribution stand still, and its pieces cannot but do so. A number is one of the host, or one
  // for each point, which stands still.
  bool launches(const Call& call) {
    ++found_.launches;
    const Function& task = program_[call.callee];
    const bool is_plain = !task.agent.valid() && call.in[0].valid() && call.in.size() == 2 + task.parameters.size();
    return is_plain && !differs(call.in[0]) && !differs(call.in[1]) &&
           std::ranges::all_of(numbers_of(program_, call), [&](CallId in) {
             return in.valid() && (is_plain_number(function_[in].type) || still_.contains(in));
           });
  }
  bool keep(CallId id) {
    found_.calls.push_back(id);
    return true;
  }

  const Program& program_;
  const Function& function_;
  const FunctionFacts& facts_;
  std::set<VariableId> written_;
  std::set<CallId> differing_;  // from turn to turn
  std::set<CallId> still_;      // worked out, and the same in each turn
  LaunchTurns found_;
};

}  // namespace

std::vector<CallId> numbers_of(const Program& program, const Call& launch) {
  std::vector<CallId> numbers;
  const std::vector<Parameter>& parameters = program[launch.callee].parameters;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    if (!parameters[k].type.is(Type::Kind::view)) numbers.push_back(launch.in[2 + k]);
  return numbers;
}

LaunchTurns launch_turns(const CompactSource& source, std::span<const CallId> body) {
  Turn turn(source, body);
  for (const CallId id : body)
    if (!turn.take(id)) return {};
  return std::move(turn).found();
}

}  // namespace taskspec
