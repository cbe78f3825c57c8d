// The ops by their records, for ops whose reverse or parts are made of others. Each stands in a namespace of its own,
// so that several are compiled at a time though all call their parts `type`, `kernel`, `gradient`.
//
//   g.make(op_mul, {...})
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

// A line of ops.def without a record does not link.
#define OP(name)               \
  namespace name##_op {        \
    extern const OpDef record; \
  }                            \
  inline constexpr const OpDef& op_##name = name##_op::record;
#define NET_OP OP
#include "stdlib/ops.def"
#undef NET_OP
#undef OP

}  // namespace taskspec
