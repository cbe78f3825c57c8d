// The ops of the language as one table, made from ops.def. Only the root and the tests ask for it; everybody
// else is handed a table.
//
//   OpTable ops = standard_ops();     ops.find("conv2d")->doc
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

// All of them; a first tool says that it has core_ops() alone.
OpTable standard_ops();
// Without NET_OPs.
OpTable core_ops();

}  // namespace taskspec
