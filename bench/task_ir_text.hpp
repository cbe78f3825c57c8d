// Task IR text read, beside libprotobuf's own parser of text: a part of `taskspec bench exact`.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

void task_ir_text(int repeats);

}  // namespace taskspec::bench
