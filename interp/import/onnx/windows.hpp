// Windows that move over the last axes of a tensor: what convolutions and pools have in common.
#pragma once
#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

struct Windows {
  Numbers kernel, strides, dilations, before, after;  // one number for each axis that windows move over

  std::size_t axes() const { return kernel.size(); }
  std::int64_t reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  bool padded() const;
  bool even() const;  // as much padding before as behind, and less of it than a window reaches
  bool dilated() const;
};

// The attributes of the node, auto_pad worked out. `kernel` is that of the weights where there are some.
Windows windows_of(Call& call, const Term& x, std::optional<Numbers> kernel);
// With ceil_mode the last window may hang over: more padding behind.
void round_up(Call& call, const Term& x, Windows& windows);

// The extent that is left of x along an axis of the windows.
Dim windows_along(Call& call, const Dim& extent, const Windows& windows, std::size_t axis);
// x with its borders, and the windows without any.
Term with_borders(const Term& x, Windows& windows, const std::string& value);

std::string pair_text(std::int64_t a, std::int64_t b);  // "3" or "(3, 1)"

}  // namespace taskspec::onnx
