// Who calls whom, and what follows from that for functions which nothing else is asked about.
//
//   CallGraph calls(program);
//   std::vector<bool> prints = calls.with_callers(own_prints);
//
// Time is linear in functions and calls.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

// What a call runs: its callee, and the first values of slots, which whoever makes an agent computes.
template <class Visit>
void each_callee(const Program& program, const Call& call, const Visit& visit) {
  if (call.callee.valid()) visit(call.callee);
  if (call.form != Form::agent) return;
  for (const Slot& slot : program[call.agent].slots)
    if (slot.initial.valid()) visit(slot.initial);
}

class CallGraph {
 public:
  explicit CallGraph(std::size_t functions) : functions_(functions) {}
  // All calls of a program as it is written.
  explicit CallGraph(const Program& program);
  void add(FunctionId caller, FunctionId callee) { calls_.emplace_back(caller.value, callee.value); }

  // By function: one of `found`, or it calls one; it is called by one; it may come to call itself.
  std::vector<bool> with_callers(std::vector<bool> found) const;
  std::vector<bool> with_callees(std::vector<bool> found) const;
  std::vector<bool> recurring() const;
  // All functions, callees first; those that may come to call one another stand together.
  std::vector<std::vector<FunctionId>> groups() const;

 private:
  std::size_t functions_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_;  // caller, callee
};

}  // namespace taskspec
