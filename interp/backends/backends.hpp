// The backends that come with the interpreter. Adding one: its file beside this one, with a builtin that has a backend
// record (ir/records/backend_record.hpp), and a line in control/builtins/builtins.def. A root may hand in others the
// same way.
#pragma once
#include "interp/control/objects.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec {

extern const Builtin builtin_host, builtin_hw, builtin_mpi, builtin_null;

// How the builtin of a backend runs: the choice, with its options checked.
template <const Builtin& backend>
Value choose(HostContext&, std::span<const Value> options) {
  return Value(std::static_pointer_cast<Object>(std::make_shared<BackendChoice>(backend, options)));
}

}  // namespace taskspec
