// Slots that a member uses are hidden parameters of it. A call that names such a slot as well has one place twice:
// known only when all bodies are.
//
//   task t(inout x: f32[1]) { s = s + x }      graph g() { t(s) }      // E1403: t writes s, and s is its x
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "frontend/check/effects.hpp"

namespace taskspec::checking {

namespace {

class HiddenPlaces {
 public:
  HiddenPlaces(World& world, const NewPart& added) : world_(world) {
    for (FunctionId id : functions_of(world, added))
      if (world.program[id].agent.valid()) members_.push_back(id);
  }

  void run() {
    for (FunctionId id : members_)
      for (const Parameter& parameter : world_.program[id].parameters)
        if (parameter.role == Role::slot) uses(id)[parameter.name] = parameter.privilege == Privilege::inout;
    for (bool more = true; more;) {
      more = false;
      each_own_call([&](FunctionId in, const Call& call) { more = inherit(in, call.callee) || more; });
    }
    each_own_call([&](FunctionId in, const Call& call) { require_apart(in, call); });
  }

  // Points of a launch run side by side, each on the slots as they are.
  void refuse_written_in_launches(FunctionId id, std::size_t first) {
    for (const Call& call : std::span(world_.program[id].calls).subspan(first)) {
      if (!call.form->changes_data || !call.callee.valid() || !world_.program[call.callee].agent.valid()) continue;
      for (const Parameter& parameter : world_.program[call.callee].parameters) {
        if (parameter.role != Role::slot || parameter.privilege != Privilege::inout) continue;
        world_.diags
            .error("E1401", call.span,
                   fmt::format("{} writes the slot '{}', which a task over regions can only read",
                               world_.described(call.callee), parameter.name))
            .label(world_.program[call.callee].span, "declared here")
            .help("make it a field of a region, or an output");
      }
    }
  }

 private:
  // Calls of members by members of the same agent.
  template <class F>
  void each_own_call(F&& visit) {
    for (FunctionId id : members_) {
      const Function& function = world_.program[id];
      for (const Call& call : function.calls) {
        bool calls = call.form == Form::call || call.form == Form::invoke;
        bool own = calls && world_.program[call.callee].agent == function.agent;
        if (own && function[call.in[0]].form == Form::self) visit(id, call);
      }
    }
  }

  bool inherit(FunctionId caller, FunctionId callee) {
    bool more = false;
    for (const auto& [slot, writes] : uses(callee)) {
      auto [known, added] = uses(caller).emplace(slot, writes);
      more = more || added || (writes && !known->second);
      known->second = known->second || writes;
    }
    return more;
  }

  void require_apart(FunctionId in, const Call& call) {
    const Function& function = world_.program[in];
    for (std::size_t k = 1; k < call.in.size(); ++k) {
      const std::string* slot = k < call.in_spans.size() ? slot_named(function, call, k) : nullptr;
      if (!slot) continue;
      auto used = uses(call.callee).find(*slot);
      if (used == uses(call.callee).end()) continue;
      bool written =
          std::any_of(call.places.begin(), call.places.end(), [&](const Place& p) { return p.operand == k; });
      if (!written && !used->second) continue;
      world_.diags
          .error("E1403", call.in_spans[k],
                 fmt::format("'{}' is named in a call that writes it; {} uses the slot as well", *slot,
                             world_.described(call.callee)))
          .label(world_.program[call.callee].span, "declared here")
          .help(fmt::format("pass a copy: {}.copy()", *slot));
    }
  }

  // The slot whose name stands as this argument, in brackets or not. A let that holds what the slot was is read
  // elsewhere.
  static const std::string* slot_named(const Function& function, const Call& call, std::size_t operand) {
    if (!call.in[operand].valid()) return nullptr;
    const Call& value = function[call.in[operand]];
    const Span written = call.in_spans[operand];
    const bool here =
        value.span.source == written.source && value.span.begin >= written.begin && value.span.end <= written.end;
    if (value.form != Form::variable || !here) return nullptr;
    for (const Parameter& parameter : function.parameters)
      if (parameter.role == Role::slot && parameter.variable == value.variable) return &parameter.name;
    return nullptr;
  }

  std::map<std::string, bool>& uses(FunctionId member) { return world_.info(member).slots; }

  World& world_;
  std::vector<FunctionId> members_;  // new ones
};

}  // namespace

void refuse_hidden_places(World& world, const NewPart& added) {
  HiddenPlaces places(world, added);
  places.run();
  for (FunctionId id : functions_of(world, added)) places.refuse_written_in_launches(id, first_call(id, added));
}

}  // namespace taskspec::checking
