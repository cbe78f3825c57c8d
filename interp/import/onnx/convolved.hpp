// Convolutions of one, two and three axes as expressions.
#pragma once
#include "interp/import/onnx/windows.hpp"

namespace taskspec::onnx {

// x [B, C, ...] by w [O, C / groups, ...], plus `bias` [O] if there is one. Padding counts as 0.
Term convolved(Call& call, const Term& x, const Term& w, const std::optional<Term>& bias, Windows windows,
               std::int64_t groups);

// The extents of windows that weights [O, C / groups, ...] are for.
Numbers kernel_of(Call& call, const Term& w);

}  // namespace taskspec::onnx
