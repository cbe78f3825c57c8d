// The geometry of convolution and pooling: which elements of an image each window covers.
//
//   out[axis] = (image[axis] + 2 * pad[axis] - reach(axis)) / stride[axis] + 1
#pragma once
#include <array>
#include <cstdint>

namespace taskspec {

using Pair = std::array<std::int64_t, 2>;  // (y, x)

struct Windows {
  Pair image{}, kernel{}, stride{1, 1}, pad{}, dilation{1, 1}, out{};

  std::int64_t pixels() const { return image[0] * image[1]; }
  std::int64_t positions() const { return out[0] * out[1]; }
  std::int64_t taps() const { return kernel[0] * kernel[1]; }
  // Elements from the first to the last tap of a window.
  std::int64_t reach(int axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
};

}  // namespace taskspec
