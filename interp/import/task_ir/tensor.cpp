#include "interp/import/task_ir/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interp/import/task_ir/graph_names.hpp"
#include "ir/base/text.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec::task_ir {

namespace {

Extents without_ones_of(const Extents& extents) {
  Extents rest = extents;
  std::erase(rest, 1);
  return rest;
}

// The one list of numbers that is not empty; null: none is. E7003 where two are.
std::string_view filled_field(const tianjic_ir::Tensor& tensor, const std::string& who, const TensorPlace& place,
                              Diags& diags) {
  const std::pair<std::string_view, bool> fields[] = {{"int32_data", tensor.int32_data_size() > 0},
                                                      {"uint32_data", tensor.uint32_data_size() > 0},
                                                      {"float_data", tensor.float_data_size() > 0}};
  std::string_view filled;
  for (const auto& [field, is_filled] : fields) {
    if (!is_filled) continue;
    if (!filled.empty())
      diags.error("E7003", place(field, 0), fmt::format("{} stand in {} and {}", who, filled, field));
    filled = field;
  }
  return filled;
}

// The first of the numbers that the array cannot hold, or their count.
template <class T, class From>
std::size_t copy_integers(const From& numbers, T* to, const PrecisionInfo& precision) {
  const std::int64_t least = precision.minimum, most = precision.maximum;
  bool fits = true;
  for (int i = 0; i < numbers.size(); ++i) {
    const std::int64_t value = numbers.Get(i);
    fits = fits && value >= least && value <= most;
    to[i] = static_cast<T>(value);
  }
  if (fits) return static_cast<std::size_t>(numbers.size());
  const auto outside = [&](std::int64_t value) { return value < least || value > most; };
  return static_cast<std::size_t>(std::find_if(numbers.begin(), numbers.end(), outside) - numbers.begin());
}

template <class From>
std::size_t fill_integers(const From& numbers, Array& array) {
  const PrecisionInfo& precision = info(array.precision());
  switch (precision.bytes) {
    case 1:
      return copy_integers(numbers, array.data<std::uint8_t>().data(), precision);
    case 2:
      return copy_integers(numbers, array.data<std::uint16_t>().data(), precision);
    case 4:
      return copy_integers(numbers, array.data<std::uint32_t>().data(), precision);
    default:
      return copy_integers(numbers, array.data<std::uint64_t>().data(), precision);
  }
}

template <class From>
std::size_t fill_floats(const From& numbers, Array& array) {
  for (int i = 0; i < numbers.size(); ++i) {
    const auto value = static_cast<double>(numbers.Get(i));
    array.set_number(i, value);
    // Of halves the largest is 65504; integers of 32 bits may be rounded.
    if (std::isfinite(value) && !std::isfinite(array.number(i))) return static_cast<std::size_t>(i);
  }
  return static_cast<std::size_t>(numbers.size());
}

template <class From>
std::size_t fill(const From& numbers, Array& array) {
  if (is_float(array.precision())) return fill_floats(numbers, array);
  if constexpr (std::is_same_v<typename From::value_type, float>)
    return 0;
  else
    return fill_integers(numbers, array);
}

bool check_size(const tianjic_ir::Tensor& tensor, std::size_t count, const ArrayType& type, const std::string& who,
                const TensorPlace& place, Diags& diags) {
  const Extents dims(tensor.dims().begin(), tensor.dims().end());
  if (!dims.empty() && without_ones_of(dims) != without_ones_of(type.extents)) {
    diags.error(
        "E4006", place("dims", 0),
        fmt::format("{} have the dims {}, its block holds {}", who, extents_text(dims), extents_text(type.extents)));
    return false;
  }
  if (places_of(type.extents) == static_cast<std::int64_t>(count)) return true;
  diags.error("E4006", place("", 0),
              fmt::format("{} are {}, its block holds {}", who, plural(count, "number"), extents_text(type.extents)));
  return false;
}

}  // namespace

std::optional<Array> array_of(const tianjic_ir::Tensor& tensor, const ArrayType& type, const std::string& who,
                              const TensorPlace& place, Diags& diags) {
  const std::string_view field = filled_field(tensor, who, place, diags);
  const std::size_t count = static_cast<std::size_t>(tensor.int32_data_size()) +
                            static_cast<std::size_t>(tensor.uint32_data_size()) +
                            static_cast<std::size_t>(tensor.float_data_size());
  if (diags.has_errors() || !check_size(tensor, count, type, who, place, diags)) return std::nullopt;
  Array array = Array::make(type);
  const std::size_t good = field == "int32_data"    ? fill(tensor.int32_data(), array)
                           : field == "uint32_data" ? fill(tensor.uint32_data(), array)
                                                    : fill(tensor.float_data(), array);
  if (good == count) return array;
  const PrecisionInfo& precision = info(type.precision);
  const auto at = static_cast<int>(good);
  const std::string value = field == "int32_data"    ? std::to_string(tensor.int32_data(at))
                            : field == "uint32_data" ? std::to_string(tensor.uint32_data(at))
                                                     : fmt::format("{}", tensor.float_data(at));
  const std::string range = precision.is_float ? fmt::format("what {} holds", precision.name)
                            : field == "float_data"
                                ? fmt::format("the integers of {}", precision.name)
                                : fmt::format("{}..{} of {}", precision.minimum, precision.maximum, precision.name);
  diags.error("E4006", place(field, good), fmt::format("{}: {}[{}] is {}, outside {}", who, field, good, value, range));
  return std::nullopt;
}

void set_tensor(tianjic_ir::Tensor& tensor, const Array& array) {
  for (const std::int64_t extent : array.extents()) tensor.add_dims(static_cast<std::int32_t>(extent));
  const auto number = number_of(array.precision());
  if (!number) bug("a tensor of a precision that files lack");
  tensor.set_precision(*number);
  const auto count = array.elements();
  if (is_float(array.precision())) {
    tensor.mutable_float_data()->Reserve(static_cast<int>(count));
    for (std::int64_t i = 0; i < count; ++i) tensor.add_float_data(static_cast<float>(array.number(i)));
  } else if (info(array.precision()).minimum == 0) {
    tensor.mutable_uint32_data()->Reserve(static_cast<int>(count));
    for (std::int64_t i = 0; i < count; ++i) tensor.add_uint32_data(static_cast<std::uint32_t>(array.integer(i)));
  } else {
    tensor.mutable_int32_data()->Reserve(static_cast<int>(count));
    for (std::int64_t i = 0; i < count; ++i) tensor.add_int32_data(static_cast<std::int32_t>(array.integer(i)));
  }
}

}  // namespace taskspec::task_ir
