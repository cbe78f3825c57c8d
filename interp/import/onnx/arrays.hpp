// Weights worked on at import, so that a program need not do it in each run.
#pragma once
#include "interp/import/onnx/term.hpp"

namespace taskspec::onnx {

Array transposed(const Array& array, const Numbers& axes);
Array in_shape(const Array& array, const Numbers& shape);  // the same elements
// One number for each place of a floating-point array of this shape.
Array filled_array(Precision precision, const Numbers& shape, const std::vector<double>& values);
std::vector<double> reals(const Array& array);

}  // namespace taskspec::onnx
