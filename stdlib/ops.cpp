#include "stdlib/ops.hpp"

#include "stdlib/ops/records.hpp"

namespace taskspec {

namespace {

constexpr const OpDef* listed[] = {
#define OP(name) &op_##name,
#define NET_OP(name)
#include "stdlib/ops.def"
#undef NET_OP
#undef OP
};

}  // namespace

OpTable core_ops() { return OpTable(listed); }

}  // namespace taskspec
