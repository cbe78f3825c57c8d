// Precisions: the element types of tensors, their ranges and how the host stores them.
//
//   info(Precision::i8).minimum == -128;   precision_of("i8")
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace taskspec {

enum class Precision : std::uint8_t { boolean, tern, u4, i8, u8, i9, i16, u16, i28, i32, u32, i64, u64, f16, f32, f64 };

struct PrecisionInfo {
  std::string_view name;
  std::uint8_t bytes;  // of one element in host memory; narrow ones sit in the next larger integer
  bool is_float;
  bool storage_only;     // enters only `as`, `@`, convolution, comparison and movement
  std::int64_t minimum;  // of integers; 0 for floats
  std::int64_t maximum;  // of integers; 0 for floats; of u64 the last that is a host value
};

const PrecisionInfo& info(Precision precision);
std::span<const PrecisionInfo> all_precisions();  // in the order of the enum
std::optional<Precision> precision_of(std::string_view name);

inline bool is_float(Precision p) { return info(p).is_float; }
inline bool is_integer(Precision p) { return !info(p).is_float && p != Precision::boolean; }

}  // namespace taskspec
