#include "interp/import/onnx/arrays.hpp"

#include <cstring>

namespace taskspec::onnx {

Array transposed(const Array& array, const Numbers& axes) {
  const Extents& from = array.extents();
  ArrayType type{array.precision(), {}};
  Numbers steps(from.size(), 1), taken;
  for (std::size_t i = from.size(); i-- > 1;) steps[i - 1] = steps[i] * from[i];
  for (const std::int64_t axis : axes) {
    type.extents.push_back(from[static_cast<std::size_t>(axis)]);
    taken.push_back(steps[static_cast<std::size_t>(axis)]);
  }
  Array made = Array::make(type);
  const std::size_t bytes = info(type.precision).bytes;
  Numbers at(axes.size(), 0);
  std::int64_t place = 0;
  for (std::int64_t i = 0, count = made.elements(); i < count; ++i) {
    std::memcpy(made.raw() + static_cast<std::size_t>(i) * bytes, array.raw() + static_cast<std::size_t>(place) * bytes,
                bytes);
    for (std::size_t d = axes.size(); d-- > 0;) {
      place += taken[d];
      if (++at[d] < type.extents[d]) break;
      place -= taken[d] * type.extents[d];
      at[d] = 0;
    }
  }
  return made;
}

Array in_shape(const Array& array, const Numbers& shape) {
  return Array::wrap({array.precision(), shape}, array.storage());
}

Array filled_array(Precision precision, const Numbers& shape, const std::vector<double>& values) {
  Array made = Array::make({precision, shape});
  for (std::size_t i = 0; i < values.size(); ++i) made.set_number(static_cast<std::int64_t>(i), values[i]);
  return made;
}

std::vector<double> reals(const Array& array) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < array.elements(); ++i) all.push_back(array.number(i));
  return all;
}

}  // namespace taskspec::onnx
