// Task IR files as programs: the block graph as an `ir` declaration, its data beside it.
#pragma once
#include "interp/import/importer.hpp"

namespace taskspec::task_ir {

extern const ImporterRecord importer;

}  // namespace taskspec::task_ir
