// How the calls of a function lie inside one another, and what can end a block early. Internal to ir/slice*.cpp.
#pragma once
#include <vector>

#include "ir/program.hpp"

namespace taskspec {

class CallTree {
 public:
  explicit CallTree(const Function& function);

  CallId owner(CallId call) const { return owner_[call.index()]; }  // the control call around it; invalid: none
  bool listed(CallId call) const { return position_[call.index()] != 0; }
  const std::vector<CallId>& exits() const { return exits_; }  // return, break, continue in order
  // Whether running `exit` can keep `call` from running, in this turn of a loop or a later one.
  bool skips(CallId exit, CallId call) const;
  CallId loop_of(CallId call) const;  // the innermost loop around it
  std::uint32_t loops_around(CallId call) const;
  bool inside(CallId call, CallId control) const;

 private:
  void place(const Block& block, CallId owner);

  const Function& function_;
  std::vector<CallId> owner_;
  std::vector<std::uint32_t> position_;  // in program order from 1; 0: in no block
  std::vector<std::uint32_t> end_;       // of what lies inside
  std::vector<CallId> exits_;
  std::uint32_t next_ = 1;
};

bool is_loop(Form form);

}  // namespace taskspec
