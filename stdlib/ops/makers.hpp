// What makers share: ops that give a tensor out of host values alone.
#pragma once
#include <algorithm>

#include "stdlib/ops/dispatch.hpp"

namespace taskspec {

inline constexpr std::int64_t makers_grain = 32768;  // elements per part of the work

// The tensor type that stands as operand `operand`: else E1004, and E2004 for a negative extent.
inline Type written_tensor(RuleContext& c, std::string_view name, std::size_t operand) {
  const Type& written = c.type(operand);
  if (!written.is(Type::Kind::type) || !written.parts[0].is_tensor())
    refuse(c, "E1004", "'" + std::string(name) + "' takes a tensor type such as f32[4], not " + written.text(),
           static_cast<int>(operand));
  require_extents(c, written.parts[0].dims, static_cast<int>(operand));
  return written.parts[0];
}

inline Work maker_work(const OpInstance& call) {
  return {static_cast<double>(call.out[0].elements()), static_cast<double>(call.out[0].bytes())};
}

}  // namespace taskspec
