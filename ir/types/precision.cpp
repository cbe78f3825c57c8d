#include "ir/types/precision.hpp"

#include <array>

namespace taskspec {

namespace {
constexpr std::array<PrecisionInfo, 16> precisions{{
    {"bool", 1, false, false, 0, 1},
    {"tern", 1, false, true, -1, 1},
    {"u4", 1, false, true, 0, 15},
    {"i8", 1, false, false, -128, 127},
    {"u8", 1, false, false, 0, 255},
    {"i9", 2, false, true, -256, 255},
    {"i16", 2, false, false, -32768, 32767},
    {"u16", 2, false, false, 0, 65535},
    {"i28", 4, false, true, -(std::int64_t{1} << 27), (std::int64_t{1} << 27) - 1},
    {"i32", 4, false, false, INT32_MIN, INT32_MAX},
    {"u32", 4, false, false, 0, UINT32_MAX},
    {"i64", 8, false, false, INT64_MIN, INT64_MAX},
    {"u64", 8, false, false, 0, INT64_MAX},
    {"f16", 2, true, false, 0, 0},
    {"f32", 4, true, false, 0, 0},
    {"f64", 8, true, false, 0, 0},
}};
}  // namespace

const PrecisionInfo& info(Precision precision) { return precisions[static_cast<std::size_t>(precision)]; }
std::span<const PrecisionInfo> all_precisions() { return precisions; }

std::optional<Precision> precision_of(std::string_view name) {
  for (std::size_t i = 0; i < precisions.size(); ++i)
    if (precisions[i].name == name) return static_cast<Precision>(i);
  return std::nullopt;
}

}  // namespace taskspec
