#include "stdlib/kernels/saturating.hpp"

#include <algorithm>
#include <cstring>

#include "stdlib/kernels/instruction_sets.hpp"

namespace taskspec {

namespace {

using Lanes = std::int32_t __attribute__((vector_size(32)));
using Bits = std::uint32_t __attribute__((vector_size(32)));
constexpr int vectors = saturating_lanes / 8;

// Where both summands have a sign that the sum has not, it left 32 bits: -1 in `cut`.
#define TASKSPEC_CUT_SUM(sum, term, count)                                    \
  do {                                                                        \
    const Lanes total_ = (Lanes)((Bits)(sum) + (Bits)(term));                 \
    const Lanes cut_ = (Lanes)((((sum) ^ total_) & ((term) ^ total_)) >> 31); \
    (sum) = (cut_ & (((sum) >> 31) ^ INT32_MAX)) | (~cut_ & total_);          \
    (count) -= cut_;                                                          \
  } while (false)

// Several pixels at once: the additions of one wait for one another.
constexpr int side_by_side = 2;

TASKSPEC_CLONES std::int64_t ordered_block(const OrderedTask& t, std::int64_t first) {
  const std::int64_t valid = std::min(saturating_lanes, t.outputs - first);
  const std::int32_t* weights = t.weights + first * t.tap_count;
  Lanes count[vectors] = {};
  for (std::int64_t p = 0; p < t.pixel_count; p += side_by_side) {
    const bool is_pair = p + 1 < t.pixel_count;
    const std::int16_t *a = t.input + t.pixels[p], *b = t.input + t.pixels[is_pair ? p + 1 : p];
    Lanes sum[side_by_side][vectors], cuts[side_by_side][vectors] = {};
    for (auto& of_pixel : sum) std::memcpy(&of_pixel, t.start + first, sizeof of_pixel);
    for (std::int64_t k = 0; k < t.tap_count; ++k) {
      Lanes w[vectors];
      std::memcpy(&w, weights + k * saturating_lanes, sizeof w);
      const std::int32_t x = a[t.taps[k]], y = b[t.taps[k]];
      for (int v = 0; v < vectors; ++v) {
        TASKSPEC_CUT_SUM(sum[0][v], w[v] * x, cuts[0][v]);
        TASKSPEC_CUT_SUM(sum[1][v], w[v] * y, cuts[1][v]);
      }
    }
    for (int i = 0; i < (is_pair ? 2 : 1); ++i) {
      std::memcpy(t.out + (p + i) * t.outputs + first, &sum[i], static_cast<std::size_t>(valid) * sizeof(std::int32_t));
      for (int v = 0; v < vectors; ++v) count[v] += cuts[i][v];
    }
  }
  std::int64_t total = 0;
  for (const Lanes& lanes : count)
    for (int i = 0; i < 8; ++i) total += lanes[i];
  return total;
}

#undef TASKSPEC_CUT_SUM

}  // namespace

std::int64_t saturating_dots(const OrderedTask& task) {
  std::int64_t cuts = 0;
  for (std::int64_t first = 0; first < task.outputs; first += saturating_lanes) cuts += ordered_block(task, first);
  return cuts;
}

std::int64_t reference_dots(const OrderedTask& t) {
  std::int64_t outside = 0;
  for (std::int64_t p = 0; p < t.pixel_count; ++p)
    for (std::int64_t f = 0; f < t.outputs; ++f) {
      const std::int32_t* w = t.weights + f / saturating_lanes * saturating_lanes * t.tap_count + f % saturating_lanes;
      double sum = t.start[f];
      for (std::int64_t k = 0; k < t.tap_count; ++k)
        sum += static_cast<double>(t.wide_input[t.pixels[p] + t.taps[k]]) * w[k * saturating_lanes];
      const bool fits = sum >= INT32_MIN && sum <= INT32_MAX;
      t.out[p * t.outputs + f] = fits ? static_cast<std::int32_t>(sum) : INT32_MIN;
      outside += fits ? 0 : 1;
    }
  return outside;
}

TASKSPEC_CLONES std::int64_t add_saturating(std::int32_t* sum, const std::int32_t* x, std::int64_t count) {
  std::int32_t cuts = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto total = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[i]) + static_cast<std::uint32_t>(x[i]));
    const std::int32_t cut = ((sum[i] ^ total) & (x[i] ^ total)) >> 31;
    sum[i] = (cut & ((sum[i] >> 31) ^ INT32_MAX)) | (~cut & total);
    cuts -= cut;
  }
  return cuts;
}

TASKSPEC_CLONES void add_wrapping(std::int32_t* sum, const std::int32_t* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    sum[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[i]) + static_cast<std::uint32_t>(x[i]));
}

}  // namespace taskspec
