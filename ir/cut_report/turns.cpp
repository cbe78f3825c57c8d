// Which functions run more than once for one call of the text, so that what stands in them stands in a loop.
#include "ir/cut_report/parts.hpp"
#include "ir/program/call_graph.hpp"
#include "ir/program/top_level.hpp"

namespace taskspec {

namespace {

class Repeats {
 public:
  Repeats(const CutProgram& cut, const Reached& reached) : often_(cut.parts.size(), false), calls_(cut.parts.size()) {
    for (std::size_t i = 0; i < often_.size(); ++i)
      if (reached.host[i] || reached.graph[i]) look_at(cut.program.functions[i], FunctionId(i));
  }

  std::vector<bool> find() && {
    const std::vector<bool> recurring = calls_.recurring();
    for (std::size_t i = 0; i < often_.size(); ++i) often_[i] = often_[i] || recurring[i];
    return calls_.with_callees(std::move(often_));
  }

 private:
  void look_at(const Function& function, FunctionId caller) {
    const std::vector<CallPosition> places = positions_of(function);
    auto called = [&](FunctionId callee, bool often) {
      if (!callee.valid() || callee.index() >= often_.size()) return;
      calls_.add(caller, callee);
      if (often) often_[callee.index()] = true;
    };
    each_call(function, function.body, [&](CallId id) {
      const Call& call = function[id];
      const bool in_loop = places[id.index()].loops > 0;
      if (call.form == Form::call || call.form == Form::invoke) called(call.callee, in_loop);
      if (call.form == Form::apply)
        for (FunctionId value : values_of(function, call.in[0])) called(value, in_loop);
      if (call.form == Form::builtin)  // map, filter: once for each element
        for (CallId in : call.in)
          for (FunctionId value : values_of(function, in)) called(value, true);
    });
  }

  // The functions that a value may be, as far as this function tells.
  static std::vector<FunctionId> values_of(const Function& function, CallId id) {
    if (!id.valid()) return {};
    const Call& call = function[id];
    if (call.form == Form::function || call.form == Form::closure) return {call.callee};
    std::vector<FunctionId> values;
    if (call.form != Form::variable) return values;
    for (const Call& write : function.calls) {
      if (write.form != Form::write || write.variable != call.variable || !write.in[0].valid()) continue;
      const Call& value = function[write.in[0]];
      if (value.form == Form::function || value.form == Form::closure) values.push_back(value.callee);
    }
    return values;
  }

  std::vector<bool> often_;  // by whole function: something calls it more than once
  CallGraph calls_;
};

}  // namespace

std::vector<bool> repeating(const CutProgram& cut, const Reached& reached) { return Repeats(cut, reached).find(); }

}  // namespace taskspec
