// What a receive makes of a tensor for host code.
#pragma once
#include "interp/control/target.hpp"

namespace taskspec {

// `.scalar`: one element as int, float or bool (E5004 for another number of them); `.array`, `.iter`: nested lists;
// `.handle`: the tensor itself. A host value stays what it is.
Value received(Target& target, const Value& value, Receive kind, Span span);

}  // namespace taskspec
