#include "ir/blocks/numerics.hpp"

#include <algorithm>

namespace taskspec {

ValueRange range_of(Precision precision) { return {info(precision).minimum, info(precision).maximum}; }

namespace {
template <class T>
ValueRange range_in(const std::byte* data, std::int64_t count) {
  const T* values = reinterpret_cast<const T*>(data);
  T least = values[0], most = values[0];
  for (std::int64_t i = 1; i < count; ++i) {
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  return {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
}
}  // namespace

ValueRange range_of(Precision precision, const std::byte* data, std::int64_t count) {
  switch (precision) {
    case Precision::boolean:
    case Precision::u4:
    case Precision::u8:
      return range_in<std::uint8_t>(data, count);
    case Precision::tern:
    case Precision::i8:
      return range_in<std::int8_t>(data, count);
    case Precision::i9:
    case Precision::i16:
      return range_in<std::int16_t>(data, count);
    case Precision::u16:
      return range_in<std::uint16_t>(data, count);
    case Precision::i28:
    case Precision::i32:
      return range_in<std::int32_t>(data, count);
    case Precision::u32:
      return range_in<std::uint32_t>(data, count);
    case Precision::i64:
      return range_in<std::int64_t>(data, count);
    case Precision::u64:  // there is no block for it
    case Precision::f16:
    case Precision::f32:
    case Precision::f64:
      break;
  }
  bug("the range of values that are no integers");
}

}  // namespace taskspec
