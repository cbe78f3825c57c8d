// A `run e on ...` that is executed several times at once, for a backend of shards, where the program around it cannot
// be: at a prompt, in a C++ program. What the call uses of its surroundings is captured as values, before any of the
// others begins: contents of tensors, copies of agents. Each of them runs the same call in a frame of its own; the
// world sees what the first one does, and what the call changes around it comes from there, too.
//
//   std::shared_ptr<Replica> first = captured_replica(*RunSite::current(), settings);
//   first->start(other);           // on a thread of its own: runs the call for `other`, to its end
#pragma once
#include "interp/control/replica.hpp"
#include "interp/control/run_site.hpp"
#include "interp/run_settings.hpp"

namespace taskspec {

// `settings` are those of the session that the call opens, and outlive the replicas. Throws Error where a tensor that
// the call uses has failed, and E1009 for what belongs to one thread: a training.
std::shared_ptr<Replica> captured_replica(const RunSite& site, const RunSettings& settings);

}  // namespace taskspec
