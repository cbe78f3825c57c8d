#include "ir/slice_sends.hpp"

#include "ir/slice_shape.hpp"

namespace taskspec {

namespace {

class Walk {
 public:
  using Available = std::vector<bool>;  // by variable: the graph has its newest version

  Walk(const Function& function, const FunctionDemand& demand, VariableSends& sends)
      : function_(function), demand_(demand), sends_(sends) {}

  void block(const Block& block, Available& available) {
    for (CallId id : block.calls) call(id, available);
  }

 private:
  bool is_sent_read(CallId id) const { return demand_.sent[id.index()] && function_[id].form == Form::variable; }

  void call(CallId id, Available& available) {
    const Call& call = function_[id];
    if (is_sent_read(id)) {
      sends_.reused[id.index()] = available[call.variable.index()];
      available[call.variable.index()] = true;
    }
    if (is_loop(call.form)) send_before(id, available);
    for (const Block& inner : call.blocks) {
      Available there = available;
      block(inner, there);
      if (call.form == Form::run) available = there;
    }
    for (std::size_t v = 0; v < available.size(); ++v)
      if (available[v] && writes(call, VariableId(v))) available[v] = false;
  }

  // What the loop reads and never changes goes in front of it.
  void send_before(CallId loop, Available& available) {
    for (std::size_t v = 0; v < available.size(); ++v) {
      const VariableId variable(v);
      if (writes(function_[loop], variable)) {
        available[v] = false;
      } else if (!available[v] && reads(function_[loop], variable)) {
        sends_.before[loop.value].push_back(variable);
        available[v] = true;
      }
    }
  }

  bool writes(const Call& call, VariableId variable) const {
    if ((call.form == Form::write || call.form == Form::store) && call.variable == variable) return true;
    for (const Place& place : call.places)
      if (place.variable == variable) return true;
    return any_inside(call, [&](CallId id) { return writes(function_[id], variable); });
  }
  bool reads(const Call& call, VariableId variable) const {
    return any_inside(call, [&](CallId id) {
      return (is_sent_read(id) && function_[id].variable == variable) || reads(function_[id], variable);
    });
  }
  template <class F>
  static bool any_inside(const Call& call, F&& test) {
    for (const Block& block : call.blocks)
      for (CallId id : block.calls)
        if (test(id)) return true;
    return false;
  }

  const Function& function_;
  const FunctionDemand& demand_;
  VariableSends& sends_;
};

}  // namespace

VariableSends place_variable_sends(const Function& function, const FunctionDemand& demand, bool hoist) {
  VariableSends sends{std::vector<bool>(function.calls.size(), false), {}};
  if (!hoist) return sends;
  Walk::Available available(function.variables.size(), false);
  Walk(function, demand, sends).block(function.body, available);
  return sends;
}

}  // namespace taskspec
