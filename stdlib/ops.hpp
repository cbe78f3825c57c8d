// The ops of the language as one table, made from ops.def. Only the root and the tests ask for it; everybody
// else is handed a table.
//
//   OpTable ops = standard_ops();     ops.find("conv2d")->doc
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

OpTable standard_ops();

}  // namespace taskspec
