#include "ir/cut/sends.hpp"

#include <algorithm>

#include "ir/cut/shape.hpp"

namespace taskspec {

namespace {

// Variables of one kind inside a call, those of its blocks too: each once, in order.
using Variables = std::vector<VariableId>;

class Walk {
 public:
  Walk(const Function& function, const FunctionDemand& demand, VariableSends& sends)
      : function_(function),
        demand_(demand),
        sends_(sends),
        there_(function.variables.size(), false),
        writes_(function.calls.size()),
        reads_(function.calls.size()) {
    for (CallId id : function.body.calls) find_uses(id);
  }

  void block(const Block& block) {
    for (CallId id : block.calls) call(id);
  }

 private:
  bool is_sent_read(CallId id) const { return demand_.sent[id.index()] && function_[id].form == Form::variable; }

  // What a call writes, itself or inside, and which variables that are sent it reads inside of its blocks.
  void find_uses(CallId id) {
    const Call& call = function_[id];
    Variables &writes = writes_[id.index()], &reads = reads_[id.index()];
    if (call.form->writes()) writes.push_back(call.variable);
    for (const Place& place : call.places) writes.push_back(place.variable);
    for (const Block& inner : call.blocks)
      for (CallId within : inner.calls) {
        find_uses(within);
        add(writes, writes_[within.index()]);
        add(reads, reads_[within.index()]);
        if (is_sent_read(within)) reads.push_back(function_[within].variable);
      }
    once(writes);
    once(reads);
  }
  static void add(Variables& to, const Variables& from) { to.insert(to.end(), from.begin(), from.end()); }
  static void once(Variables& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  void call(CallId id) {
    const Call& call = function_[id];
    if (is_sent_read(id)) {
      sends_.reused[id.index()] = there_[call.variable.index()];
      set(call.variable, true);
    }
    if (call.form->repeats()) send_before(id);
    for (const Block& inner : call.blocks) {
      const std::size_t before = changed_.size();
      block(inner);
      if (call.form->to_run != FormRecord::ToRun::session) back_to(before);
    }
    for (VariableId variable : writes_[id.index()]) set(variable, false);
  }

  // What the loop reads and never changes goes in front of it.
  void send_before(CallId loop) {
    const Variables& writes = writes_[loop.index()];
    for (VariableId variable : writes) set(variable, false);
    for (VariableId variable : reads_[loop.index()]) {
      if (there_[variable.index()] || std::ranges::binary_search(writes, variable)) continue;
      sends_.before[loop.value].push_back(variable);
      set(variable, true);
    }
  }

  void set(VariableId variable, bool there) {
    if (there_[variable.index()] == there) return;
    there_[variable.index()] = there;
    changed_.push_back(variable);
  }
  void back_to(std::size_t before) {
    for (; changed_.size() > before; changed_.pop_back()) there_[changed_.back().index()].flip();
  }

  const Function& function_;
  const FunctionDemand& demand_;
  VariableSends& sends_;
  std::vector<bool> there_;        // by variable: the graph has its newest version
  Variables changed_;              // each time that one came or went, to go back at the end of a block
  std::vector<Variables> writes_;  // by call
  std::vector<Variables> reads_;
};

}  // namespace

VariableSends place_variable_sends(const Function& function, const FunctionDemand& demand, bool hoist) {
  VariableSends sends{std::vector<bool>(function.calls.size(), false), {}};
  if (!hoist) return sends;
  Walk(function, demand, sends).block(function.body);
  return sends;
}

}  // namespace taskspec
