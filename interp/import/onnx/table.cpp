// All operators that are known, out of their families.
#include <algorithm>
#include <array>

#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

const Operator* find_operator(const std::string& name, std::int64_t opset) {
  for (const auto family : {control_operators, convolution_operators, elementwise_operators, movement_operators,
                            normalising_operators, pooling_operators, product_operators, quantised_operators,
                            recurrent_operators, reduction_operators, resizing_operators, shape_operators})
    for (const Operator& known : family())
      if (known.name == name && known.since <= opset && opset <= known.until) return &known;
  return nullptr;
}

}  // namespace taskspec::onnx
