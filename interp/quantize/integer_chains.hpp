// Models whose layers compute in integers (QLinearConv, QLinearMatMul, ConvInteger of ONNX) as nets of real numbers:
// what a layer of bytes stands for, with the pairs to 8 bits and back that own_scales.hpp knows.
//
//   %3 = %2 as i32, %4 = conv2d(%3, w as i32, b), %5 = %4 as f32 * k, %6 = round(%5) as i8
//       %7 = conv2d(%x, w, u b), %8 = round(%7 / u * k) as i8 as f32 * (u / k)         %x: what %2 stands for, by u
#pragma once
#include "ir/graph/op_list.hpp"

namespace taskspec {

// The list itself, where nothing is such a layer. `known`: contents of inputs that are the same in each run.
OpList as_real_numbers(const OpList& list, const std::vector<std::optional<Array>>& known);

}  // namespace taskspec
