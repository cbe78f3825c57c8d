#include <algorithm>

#include "stdlib/ops.hpp"
#include "stdlib/ops/records.hpp"

namespace taskspec {

namespace {

constexpr const OpDef* listed[] = {
#define OP(name) &op_##name,
#define NET_OP OP
#include "stdlib/ops.def"
#undef NET_OP
#undef OP
};

constexpr std::string_view names[] = {
#define OP(name) #name,
#define NET_OP OP
#include "stdlib/ops.def"
#undef NET_OP
#undef OP
};
static_assert(std::is_sorted(std::begin(names), std::end(names)), "the lines of ops.def stand in order of name");

}  // namespace

OpTable standard_ops() { return OpTable(listed); }

}  // namespace taskspec
