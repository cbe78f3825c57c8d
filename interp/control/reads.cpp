#include "interp/control/reads.hpp"

namespace taskspec {

Reads::Reads(const Function& function, std::size_t first, std::span<const CallId> listed)
    : function_(function),
      first_(first),
      spots_(function.calls.size() - first),
      last_(spots_.size()),
      uses_(spots_.size(), 0) {
  for (const Parameter& parameter : function.parameters) place(parameter.default_block.calls, CallId());
  place(listed, CallId());
  for (std::size_t i = first; i < function.calls.size(); ++i) {
    for (CallId in : function.calls[i].in) read(in, CallId(i));
    for (const Block& block : function.calls[i].blocks) keep(block.result);
  }
  keep(function.body.result);
  for (const Parameter& parameter : function.parameters) keep(parameter.default_value);
}

void Reads::place(std::span<const CallId> calls, CallId owner) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Spot& home = spots_[at(calls[i])];
    home = {calls.data(), calls.size(), owner, i, placed_++, 0};
    for (const Block& block : function_[calls[i]].blocks) place(block.calls, calls[i]);
    home.end = placed_;
  }
}

CallId Reads::next(CallId id) const {
  const Spot& home = spots_[at(id)];
  return home.position + 1 < home.count ? home.calls[home.position + 1] : CallId();
}

void Reads::keep(CallId value) {
  if (!is_new(value)) return;
  kept_.insert(value);
  last_[at(value)] = CallId();
}

void Reads::read(CallId value, CallId reader) {
  if (!is_new(value)) return;
  ++uses_[at(value)];
  const Spot& home = spots_[at(value)];
  while (reader.valid() && spots_[at(reader)].calls != home.calls) reader = spots_[at(reader)].owner;
  CallId& last = last_[at(value)];
  if (!home.calls || !reader.valid())
    keep(value);
  else if (!kept_.contains(value) && (!last.valid() || spots_[at(last)].position < spots_[at(reader)].position))
    last = reader;
}

}  // namespace taskspec
