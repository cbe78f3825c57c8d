// The type of what `map(net, chip: ...)` gives: blocks that lie on the cores of a chip.
#pragma once
#include "ir/types/type.hpp"

namespace taskspec {

inline constexpr std::string_view mapping_word = "mapping";

inline Type mapping_type() {
  Type type(Type::Kind::blocks);
  type.names.emplace_back(mapping_word);
  return type;
}
inline bool is_mapping(const Type& type) {
  return type.is(Type::Kind::blocks) && type.names.size() == 1 && type.names[0] == mapping_word;
}

}  // namespace taskspec
