#include "ir/cut/shape.hpp"

#include <utility>

namespace taskspec {

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
    if (call.form->leaves != FormRecord::Leaves::nothing) exits_.push_back(id);
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
  while (at.valid() && !function_[at].form->repeats()) at = owner(at);
  return at;
}

std::uint32_t CallTree::loops_around(CallId call) const {
  std::uint32_t loops = 0;
  for (CallId at = loop_of(call); at.valid(); at = loop_of(at)) ++loops;
  return loops;
}

void Exits::add(CallId exit) {
  const CallId loop = tree_.loop_of(exit);
  switch (function_[exit].form->leaves) {
    case FormRecord::Leaves::function:
      returns_.push_back(exit);
      for (CallId at = loop; at.valid(); at = tree_.loop_of(at)) loops_[at.value].always.push_back(exit);
      break;
    case FormRecord::Leaves::loop:
      loops_[loop.value].always.push_back(exit);
      break;
    default:
      loops_[loop.value].continues.push_back(exit);
  }
}

bool Exits::skip(CallId call) const {
  if (!returns_.empty() && tree_.before(returns_.front(), call)) return true;
  for (CallId at = tree_.loop_of(call); at.valid(); at = tree_.loop_of(at)) {
    auto loop = loops_.find(at.value);
    if (loop == loops_.end()) continue;
    const std::vector<CallId>& continues = loop->second.continues;
    if (!loop->second.always.empty() || (!continues.empty() && tree_.before(continues.front(), call))) return true;
  }
  return false;
}

void Exits::give_before(CallId call, const std::vector<CallId>& exits, std::size_t& given,
                        FunctionRef<void(CallId)> visit) const {
  for (; given < exits.size() && tree_.before(exits[given], call); ++given) visit(exits[given]);
}

void Exits::each_new(CallId call, FunctionRef<void(CallId)> visit) {
  give_before(call, returns_, returns_given_, visit);
  for (CallId at = tree_.loop_of(call); at.valid(); at = tree_.loop_of(at)) {
    auto loop = loops_.find(at.value);
    if (loop == loops_.end()) continue;
    Loop& l = loop->second;
    if (!std::exchange(l.given, true))
      for (CallId exit : l.always) visit(exit);
    give_before(call, l.continues, l.continues_given, visit);
  }
}

}  // namespace taskspec
