// Every op once, at a size that programs use: what `bench ops` measures.
//
//   OpCase c = op_case(*standard_ops().find("softmax"));   c.torch == "torch.softmax(x0, 1)"
#pragma once
#include <string>
#include <vector>

#include "ir/records/op.hpp"

namespace taskspec::bench {

struct OpCase {
  std::vector<Value> operands;  // as in a call, arrays for tensors; missing ones take their defaults
  std::string torch;            // the same in PyTorch, of x0, x1, ...; empty: it has nothing like it
};

// Nothing for an op that nobody wrote a case for.
std::optional<OpCase> op_case(const OpDef& op);

}  // namespace taskspec::bench
