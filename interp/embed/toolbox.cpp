#include "interp/embed/toolbox.hpp"

#include "interp/control/builtins/builtins.hpp"
#include "stdlib/ops.hpp"

namespace taskspec {

Toolbox standard_toolbox() { return {standard_ops(), standard_builtins()}; }

}  // namespace taskspec
