#include "stdlib/ops.hpp"

#include <algorithm>

namespace taskspec {

// A line without a record does not link.
#define OP(name) extern const OpDef op_##name;
#include "stdlib/ops.def"
#undef OP

namespace {

constexpr const OpDef* listed[] = {
#define OP(name) &op_##name,
#include "stdlib/ops.def"
#undef OP
};

constexpr std::string_view names[] = {
#define OP(name) #name,
#include "stdlib/ops.def"
#undef OP
};
static_assert(std::is_sorted(std::begin(names), std::end(names)), "the lines of ops.def stand in order of name");

}  // namespace

OpTable standard_ops() { return OpTable(listed); }

}  // namespace taskspec
