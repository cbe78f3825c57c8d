#include "interp/embed/toolbox.hpp"

#include "interp/control/builtins/builtins.hpp"
#include "interp/models.hpp"
#include "stdlib/ops.hpp"

namespace taskspec {

Toolbox standard_toolbox() {
  return {
      standard_ops(),
      standard_builtins(),
      {},
      [reader = ModelReader()](const std::string& path, const std::string& name) { return reader.module(path, name); }};
}

}  // namespace taskspec
