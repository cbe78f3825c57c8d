// What the processor could do with bytes at most.
#pragma once

namespace taskspec::bench {

// Multiply-adds per second of VNNI instructions whose operands are in registers; 0 where there are none.
double vnni_rate();

}  // namespace taskspec::bench
