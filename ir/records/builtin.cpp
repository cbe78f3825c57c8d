#include "ir/records/builtin.hpp"

#include <algorithm>

namespace taskspec {

const Builtin* BuiltinTable::find(std::string_view name) const {
  auto found = std::lower_bound(items_.begin(), items_.end(), name,
                                [](const Builtin* builtin, std::string_view wanted) { return builtin->name < wanted; });
  return found != items_.end() && (*found)->name == name ? *found : nullptr;
}

const Builtin* BuiltinTable::serving(Serves serves) const {
  auto found = std::ranges::find(items_, serves, [](const Builtin* builtin) { return builtin->serves; });
  return found == items_.end() ? nullptr : *found;
}

}  // namespace taskspec
