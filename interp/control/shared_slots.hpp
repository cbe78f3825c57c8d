// The slots of an agent while a member of it has something else called: that may reach other members, also through
// function values. Both see the newest versions.
//
//   { SharedSlots shared(frame);  result = call(...); }
#pragma once
#include "interp/control/frame.hpp"
#include "interp/control/objects.hpp"

namespace taskspec {

// A task body has its slots in its frame alone; what it may call, a fn, sees none.
class SharedSlots {
 public:
  explicit SharedSlots(Frame& frame) : frame_(frame), agent_(frame.self.as<Agent>()) {
    each([](Value& here, Value& there) {
      if (!here.is_none()) there = here;
    });
  }
  ~SharedSlots() {
    each([](Value& here, Value& there) { here = there; });
  }
  SharedSlots(const SharedSlots&) = delete;

 private:
  template <class Visit>
  void each(Visit&& visit) {
    if (!agent_ || agent_->slots.empty()) return;
    for (const Parameter& parameter : frame_.function.parameters) {
      if (parameter.role != Role::slot || !parameter.variable.valid()) continue;
      if (Value* there = agent_->slot(parameter.name)) visit(frame_[parameter.variable], *there);
    }
  }

  Frame& frame_;
  Agent* const agent_;
};

}  // namespace taskspec
