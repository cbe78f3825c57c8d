// What a call is by, to traces: 64 bits of its kind, of what the caller tells calls apart by (task, futures relative to
// the call), domain, sharding, and of each use its key, fields and privilege. Scalars and the call's number are not in
// it: a loop makes the same tokens in every turn.
#pragma once
#include "interp/shards/analysis/operation.hpp"

namespace taskspec {

std::uint64_t token_of(const Operation& op);

}  // namespace taskspec
