#include "ir/builtin.hpp"

#include <algorithm>

namespace taskspec {

const Builtin* BuiltinTable::find(std::string_view name) const {
  auto found = std::lower_bound(items_.begin(), items_.end(), name,
                                [](const Builtin* builtin, std::string_view wanted) { return builtin->name < wanted; });
  return found != items_.end() && (*found)->name == name ? *found : nullptr;
}

}  // namespace taskspec
