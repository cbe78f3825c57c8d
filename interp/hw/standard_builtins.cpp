// The whole table of builtins: those of the language, and those that come with the chips.
#include <algorithm>
#include <vector>

#include "interp/control/builtins/builtins.hpp"

namespace taskspec {

BuiltinTable standard_builtins() {
  static const std::vector<const Builtin*> all = [] {
    const std::span<const Builtin* const> core = core_builtins().all();
    std::vector<const Builtin*> table(core.begin(), core.end());
    for (const Builtin* builtin : {
#define BUILTIN(name) &builtin_##name,
#include "interp/control/builtins/chip_builtins.def"
#undef BUILTIN
         })
      table.insert(std::ranges::upper_bound(table, builtin->name, {}, &Builtin::name), builtin);
    return table;
  }();
  return BuiltinTable(all);
}

}  // namespace taskspec
