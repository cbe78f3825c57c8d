// How the calls of a function lie inside one another, and what can end a block early. Internal to ir/cut/.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

class CallTree {
 public:
  explicit CallTree(const Function& function);

  CallId owner(CallId call) const { return owner_[call.index()]; }  // the control call around it; invalid: none
  bool listed(CallId call) const { return position_[call.index()] != 0; }
  const std::vector<CallId>& exits() const { return exits_; }  // return, break, continue in order
  bool before(CallId a, CallId b) const { return position_[a.index()] < position_[b.index()]; }
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

// Some of the exits of a function, to ask whether one of them can keep a call from running, in this turn of a loop or
// a later one: a return in front of it or in a loop around it, a break of such a loop, a continue of one in front of
// it.
class Exits {
 public:
  Exits(const Function& function, const CallTree& tree) : function_(function), tree_(tree) {}
  void add(CallId exit);  // in order
  bool skip(CallId call) const;
  // Those that do. Each is given once only, for the first call of which that is true.
  void each_new(CallId call, FunctionRef<void(CallId)> visit);

 private:
  struct Loop {
    std::vector<CallId> always, continues;
    bool given = false;  // what it always gives
    std::size_t continues_given = 0;
  };
  void give_before(CallId call, const std::vector<CallId>& exits, std::size_t& given,
                   FunctionRef<void(CallId)> visit) const;

  const Function& function_;
  const CallTree& tree_;
  std::vector<CallId> returns_;
  std::size_t returns_given_ = 0;
  std::unordered_map<std::uint32_t, Loop> loops_;
};

}  // namespace taskspec
