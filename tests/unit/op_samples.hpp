// Operands with which an op of the table can be called, so that tests can go over all ops. An op that takes tensors
// only has them for free; others have an entry in op_samples.cpp. Floats are f64 and lie far from kinks and poles.
//
//   for (const Operands& operands : sample_operands(op)) call_op(op.name, operands);
#pragma once
#include "tests/unit/op_call.hpp"

namespace taskspec {

using Operands = std::vector<Value>;

// Never empty: an op without samples throws Error, which names the place to add some.
std::vector<Operands> sample_operands(const OpDef& op);

}  // namespace taskspec
