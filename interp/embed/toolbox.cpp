#include "interp/embed/toolbox.hpp"

#include <algorithm>

#include "interp/control/builtins/builtins.hpp"
#include "interp/embed/block_wing.hpp"
#include "interp/models.hpp"
#include "stdlib/ops.hpp"

namespace taskspec {

namespace {

// Those of the library, and those that run blocks.
OpTable all_ops() {
  static const std::vector<const OpDef*> ops = [] {
    const std::span<const OpDef* const> standard = standard_ops().all();
    std::vector<const OpDef*> all(standard.begin(), standard.end());
    for (const OpDef* op : block_wing().ops)
      all.insert(std::ranges::upper_bound(all, op->name, {}, &OpDef::name), op);
    return all;
  }();
  return OpTable(ops);
}

}  // namespace

Toolbox standard_toolbox() {
  return {all_ops(),
          standard_builtins(),
          block_wing().blocks,
          {},
          [reader = ModelReader()](const std::string& path, const std::string& name, const ModelOptions& options) {
            return reader.module(path, name, options);
          },
          write_blocks,
          write_nir,
          hdf5_layouts()};
}

}  // namespace taskspec
