#include "stdlib/kernels/saturating.hpp"

#include <algorithm>
#include <cstring>

#include "ir/base/instruction_sets.hpp"

namespace taskspec {

namespace {

using Lanes = std::int32_t __attribute__((vector_size(32)));
using Bits = std::uint32_t __attribute__((vector_size(32)));

// Where both summands have a sign that the sum has not, it left 32 bits: -1 in `cut`.
#define TASKSPEC_CUT_SUM(sum, term, count)                                   \
  do {                                                                       \
    const Lanes term_ = (term);                                              \
    const Lanes total_ = (Lanes)((Bits)(sum) + (Bits)term_);                 \
    const Lanes cut_ = (Lanes)((((sum) ^ total_) & (term_ ^ total_)) >> 31); \
    (sum) = (cut_ & (((sum) >> 31) ^ INT32_MAX)) | (~cut_ & total_);         \
    (count) -= cut_;                                                         \
  } while (false)

// Two pixels at once, since the additions of one wait for one another, times two vectors of outputs. All of them are
// named: the compiler keeps arrays in memory.
TASKSPEC_CLONES std::int64_t ordered_block(const OrderedTask& t, std::int64_t first) {
  const std::int64_t valid = std::min(saturating_lanes, t.outputs - first);
  const std::int32_t *weights = t.weights + first * t.tap_count, *start = t.start + first;
  Lanes total = {};
  for (std::int64_t p = 0; p < t.pixel_count; p += 2) {
    const bool is_pair = p + 1 < t.pixel_count;
    const std::int16_t *a = t.input + t.pixels[p], *b = t.input + t.pixels[is_pair ? p + 1 : p];
    Lanes a0, a1, b0, b1, cuts_a = {}, cuts_b = {};
    std::memcpy(&a0, start, sizeof a0);
    std::memcpy(&a1, start + 8, sizeof a1);
    b0 = a0;
    b1 = a1;
    for (std::int64_t k = 0; k < t.tap_count; ++k) {
      Lanes w0, w1;
      std::memcpy(&w0, weights + k * saturating_lanes, sizeof w0);
      std::memcpy(&w1, weights + k * saturating_lanes + 8, sizeof w1);
      const std::int32_t x = a[t.taps[k]], y = b[t.taps[k]];
      TASKSPEC_CUT_SUM(a0, w0 * x, cuts_a);
      TASKSPEC_CUT_SUM(a1, w1 * x, cuts_a);
      TASKSPEC_CUT_SUM(b0, w0 * y, cuts_b);
      TASKSPEC_CUT_SUM(b1, w1 * y, cuts_b);
    }
    std::int32_t made[2][saturating_lanes];
    std::memcpy(made[0], &a0, sizeof a0);
    std::memcpy(made[0] + 8, &a1, sizeof a1);
    std::memcpy(made[1], &b0, sizeof b0);
    std::memcpy(made[1] + 8, &b1, sizeof b1);
    const auto bytes = static_cast<std::size_t>(valid) * sizeof(std::int32_t);
    std::memcpy(t.out + p * t.outputs + first, made[0], bytes);
    total += cuts_a;
    if (!is_pair) break;
    std::memcpy(t.out + (p + 1) * t.outputs + first, made[1], bytes);
    total += cuts_b;
  }
  std::int64_t cuts = 0;
  for (int i = 0; i < 8; ++i) cuts += total[i];
  return cuts;
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
