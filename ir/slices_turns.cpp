// Which functions run more than once for one call of the text, so that what stands in them stands in a loop.
#include <algorithm>

#include "ir/slices_parts.hpp"
#include "ir/top_level.hpp"

namespace taskspec {

namespace {

class Repeats {
 public:
  Repeats(const Slices& slices, const Reached& reached)
      : repeats_(slices.parts.size(), false), callees_(slices.parts.size()) {
    for (std::size_t i = 0; i < callees_.size(); ++i)
      if (reached.host[i] || reached.graph[i]) look_at(slices.program.functions[i], callees_[i]);
  }

  std::vector<bool> find() && {
    for (std::size_t i = 0; i < callees_.size(); ++i)
      if (!callees_[i].empty() && calls_itself(i)) repeats_[i] = true;
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < repeats_.size(); ++i)
      if (repeats_[i]) todo.push_back(i);
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      for (const std::size_t callee : callees_[i]) {
        if (!repeats_[callee]) todo.push_back(callee);
        repeats_[callee] = true;
      }
    }
    return std::move(repeats_);
  }

 private:
  void look_at(const Function& function, std::vector<std::size_t>& callees) {
    const std::vector<CallPlace> places = places_of(function);
    auto called = [&](FunctionId callee, bool often) {
      if (!callee.valid() || callee.index() >= repeats_.size()) return;
      callees.push_back(callee.index());
      if (often) repeats_[callee.index()] = true;
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

  bool calls_itself(std::size_t function) const {
    std::vector<bool> seen(callees_.size(), false);
    std::vector<std::size_t> todo = callees_[function];
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      if (i == function) return true;
      if (seen[i]) continue;
      seen[i] = true;
      todo.insert(todo.end(), callees_[i].begin(), callees_[i].end());
    }
    return false;
  }

  std::vector<bool> repeats_;                      // by whole function
  std::vector<std::vector<std::size_t>> callees_;  // likewise
};

}  // namespace

std::vector<bool> repeating(const Slices& slices, const Reached& reached) { return Repeats(slices, reached).find(); }

}  // namespace taskspec
