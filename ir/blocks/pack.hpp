// Values as the memory of a chip and raw files hold them: u4 half a byte, low nibble first; tern two bits, 00 0, 01 +1,
// 11 -1; all others as on the host, i9 in two bytes, i28 in four. And the conversion from one precision to another.
//
//   std::vector<std::byte> packed = pack(array);      unpack(packed, {Precision::tern, {5}}) == array, element by
//   element converted(array, Precision::i8, &cuts)            // saturated; floats round half to even, NaN is 0
#pragma once
#include <optional>
#include <vector>

#include "ir/types/array.hpp"

namespace taskspec {

std::vector<std::byte> pack(const Array& array);
// None where the bytes are too few or hold what the precision has no value for (10 of a tern, 256 of an i9).
std::optional<Array> unpack(std::span<const std::byte> bytes, const ArrayType& type);
std::size_t packed_bytes(const ArrayType& type);

// Saturated; a tern is the sign of the saturated value. `cuts` counts the values that did not fit.
Array converted(const Array& array, Precision to, std::int64_t* cuts = nullptr);

}  // namespace taskspec
