// Steps of training, forward, backward and update, beside PyTorch in the same run and beside the multiply-adds that
// they stand for.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int train(const Settings& settings);

}  // namespace taskspec::bench
