// Maxima of 2 x 2 pixels side by side, and their gradients, in f32: sixteen windows at a time, with masks where a row
// has fewer. The same bits as the loops of pool.cpp.
#pragma once
#include "stdlib/kernels/windows.hpp"

namespace taskspec {

bool has_halving_loops();  // whether this processor has vectors of sixteen floats

// Of one plane. A nan stays, a nan comes in.
void halve_by_maximum(const Windows& w, const float* x, float* y);
// Each window's gradient goes to the first of its largest pixels, others get 0; pixels outside of all windows are left.
void halve_by_maximum_gradient(const Windows& w, const float* x, const float* upstream, float* out);

}  // namespace taskspec
