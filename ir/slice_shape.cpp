#include "ir/slice_shape.hpp"

namespace taskspec {

bool is_loop(Form form) { return form == Form::for_ || form == Form::while_; }

CallTree::CallTree(const Function& function)
    : function_(function),
      owner_(function.calls.size()),
      position_(function.calls.size(), 0),
      end_(function.calls.size(), 0) {
  for (const Parameter& parameter : function.parameters) place(parameter.default_block, CallId());
  place(function.body, CallId());
}

void CallTree::place(const Block& block, CallId owner) {
  for (CallId id : block.calls) {
    const Call& call = function_[id];
    owner_[id.index()] = owner;
    position_[id.index()] = next_++;
    if (call.form == Form::return_ || call.form == Form::break_ || call.form == Form::continue_) exits_.push_back(id);
    for (const Block& inner : call.blocks) place(inner, id);
    end_[id.index()] = next_;
  }
}

bool CallTree::inside(CallId call, CallId control) const {
  const std::uint32_t at = position_[call.index()];
  return at > position_[control.index()] && at < end_[control.index()];
}

CallId CallTree::loop_of(CallId call) const {
  CallId at = owner(call);
  while (at.valid() && !is_loop(function_[at].form)) at = owner(at);
  return at;
}

std::uint32_t CallTree::loops_around(CallId call) const {
  std::uint32_t loops = 0;
  for (CallId at = loop_of(call); at.valid(); at = loop_of(at)) ++loops;
  return loops;
}

bool CallTree::skips(CallId exit, CallId call) const {
  const bool later = position_[call.index()] > position_[exit.index()];
  const CallId loop = loop_of(exit);
  switch (function_[exit].form) {
    case Form::return_: {
      if (later) return true;
      for (CallId at = loop; at.valid(); at = loop_of(at))
        if (inside(call, at)) return true;
      return false;
    }
    case Form::break_:
      return inside(call, loop);
    default:
      return later && inside(call, loop);
  }
}

}  // namespace taskspec
