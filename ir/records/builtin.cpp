#include "ir/records/builtin.hpp"

#include <algorithm>

namespace taskspec {

std::span<const Builtin* const> BuiltinTable::named(std::string_view name) const {
  auto found = std::ranges::equal_range(items_, name, {}, [](const Builtin* builtin) { return builtin->name; });
  return {found.begin(), found.end()};
}

const Builtin* BuiltinTable::find(std::string_view name) const {
  const std::span<const Builtin* const> all = named(name);
  return all.empty() ? nullptr : all.front();
}

const Builtin* BuiltinTable::find(std::string_view name, const Type& first) const {
  for (const Builtin* builtin : named(name))
    if (!builtin->takes || builtin->takes(first)) return builtin;
  return find(name);
}

const Builtin* BuiltinTable::serving(Serves serves) const {
  auto found = std::ranges::find(items_, serves, [](const Builtin* builtin) { return builtin->serves; });
  return found == items_.end() ? nullptr : *found;
}

}  // namespace taskspec
