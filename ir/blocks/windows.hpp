// Along one axis, what a block reads for each of its outputs.
//
//   BlockWindow w = window_of(conv, BlockAxis::x);     // in: 32, out: 28, kernel: 5
//   output o reads places o * stride - before + tap * dilation, tap < kernel; those outside of 0..in are zeros
#pragma once
#include "ir/blocks/block_graph.hpp"

namespace taskspec {

struct BlockWindow {
  std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
  // Outputs that an input of `in` elements has; 0 where not one window fits.
  std::int64_t outputs() const {
    return in + before + after < reach() ? 0 : (in + before + after - reach()) / stride + 1;
  }
};

// `axis`: y or x. Of blocks without that axis: one place. `in` as the shape says, else the least that the outputs need.
// A stride or dilation of 0 counts as 1: files of old converters have them so.
BlockWindow window_of(const TaskBlock& block, BlockAxis axis);

}  // namespace taskspec
