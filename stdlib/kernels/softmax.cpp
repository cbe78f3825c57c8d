#include "stdlib/kernels/softmax.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

// What a precision is computed in: f16 goes through float.
template <class T>
using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;

// e^x for x <= 0 or nan, within 2 units of the last place; what would be subnormal is 0. 2^k e^r with |r| <= ln(2) / 2,
// by a Taylor polynomial that is exact enough for a float.
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float rounder = 0x1.8p23f;  // adding it rounds to an integer, which then stands in the low bits
  float shifted = x * 0x1.715476p0f + rounder;
  float k = shifted - rounder;
  float r = (x - k * 0x1.62ep-1f) - k * 0x1.0bfbe8p-15f;  // ln(2) in two parts, the first so short that k * it is exact
  float tail = 0.5f + r * (1 / 6.f + r * (1 / 24.f + r * (1 / 120.f + r * (1 / 720.f + r * (1 / 5040.f)))));
  float fraction = 1 + (r + r * r * tail);
  float value =
      std::bit_cast<float>(std::bit_cast<std::uint32_t>(fraction) + (std::bit_cast<std::uint32_t>(shifted) << 23));
  return x < -87.0f ? 0.0f : value;
}
inline double exponential(double x) { return std::exp(x); }

// Partial results that do not depend on one another: they vectorise, and their order is fixed. A short block of
// floats is summed as floats, blocks are summed in double.
constexpr int lanes = 16;
constexpr std::int64_t softmax_block = 256;

template <class N>
using Lanes = std::array<N, lanes>;

template <class T>
[[gnu::always_inline]] inline Number<T> largest(const T* x, std::int64_t count) {
  using N = Number<T>;
  Lanes<N> top;
  top.fill(-std::numeric_limits<N>::infinity());
  std::int64_t whole = count / lanes * lanes;
  for (std::int64_t i = 0; i < whole; i += lanes)
    for (int k = 0; k < lanes; ++k) {
      N value = convert<N>(x[i + k]);
      top[k] = value > top[k] ? value : top[k];
    }
  for (std::int64_t i = whole; i < count; ++i) top[0] = std::max(top[0], convert<N>(x[i]));
  return *std::max_element(top.begin(), top.end());
}

// Adds up e^(x - top); where `y` is given it keeps the terms.
template <class T, bool keep>
[[gnu::always_inline]] inline double exponentials(const T* x, T* y, std::int64_t count, Number<T> top) {
  using N = Number<T>;
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += softmax_block) {
    Lanes<N> sum{};
    std::int64_t end = std::min(begin + softmax_block, count), whole = begin + (end - begin) / lanes * lanes;
    for (std::int64_t i = begin; i < whole; i += lanes)
      for (int k = 0; k < lanes; ++k) {
        N term = exponential(convert<N>(x[i + k]) - top);
        sum[k] += term;
        if constexpr (keep) y[i + k] = convert<T>(term);
      }
    for (std::int64_t i = whole; i < end; ++i) {
      N term = exponential(convert<N>(x[i]) - top);
      sum[0] += term;
      if constexpr (keep) y[i] = convert<T>(term);
    }
    for (N part : sum) total += static_cast<double>(part);
  }
  return total;
}

template <class T>
TASKSPEC_CLONES void softmax_row(const T* x, T* y, std::int64_t count) {
  using N = Number<T>;
  auto scale = static_cast<N>(1 / exponentials<T, true>(x, y, count, largest(x, count)));
  for (std::int64_t i = 0; i < count; ++i) y[i] = convert<T>(convert<N>(y[i]) * scale);
}

template <class T>
TASKSPEC_CLONES void log_softmax_row(const T* x, T* y, std::int64_t count) {
  using N = Number<T>;
  N top = largest(x, count);
  auto shift = static_cast<N>(std::log(exponentials<T, false>(x, y, count, top)));
  for (std::int64_t i = 0; i < count; ++i) y[i] = convert<T>(convert<N>(x[i]) - top - shift);
}

constexpr std::int64_t columns = 64;  // neighbours along the inner axis that are normalised together

template <class T, bool logarithm>
TASKSPEC_CLONES void normalise_columns(const T* x, T* y, std::int64_t extent, std::int64_t step, std::int64_t count) {
  using N = Number<T>;
  std::array<N, columns> top;
  std::array<double, columns> sum{};
  top.fill(-std::numeric_limits<N>::infinity());
  for (std::int64_t e = 0; e < extent; ++e)
    for (std::int64_t k = 0; k < count; ++k) top[k] = std::max(top[k], convert<N>(x[e * step + k]));
  auto power = [&](std::int64_t e, std::int64_t k) { return exponential(convert<N>(x[e * step + k]) - top[k]); };
  for (std::int64_t e = 0; e < extent; ++e)
    for (std::int64_t k = 0; k < count; ++k) sum[k] += static_cast<double>(power(e, k));
  if constexpr (logarithm)
    for (std::int64_t k = 0; k < count; ++k) sum[k] = std::log(sum[k]);
  for (std::int64_t e = 0; e < extent; ++e)
    for (std::int64_t k = 0; k < count; ++k)
      y[e * step + k] = convert<T>(logarithm ? convert<N>(x[e * step + k]) - top[k] - static_cast<N>(sum[k])
                                             : power(e, k) / static_cast<N>(sum[k]));
}

template <class T, bool logarithm>
class Softmax final : public Kernel {
 public:
  explicit Softmax(const SoftmaxPlan& plan) : plan_(plan) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T* x = reinterpret_cast<const T*>(args.in[0]);
    T* y = reinterpret_cast<T*>(args.out[0]);
    std::int64_t blocks = (plan_.inner + columns - 1) / columns;
    std::int64_t unit = plan_.extent * std::min(plan_.inner, columns);
    std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, unit));
    args.parallel.for_each(plan_.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t column = i % blocks * columns, first = i / blocks * plan_.extent * plan_.inner + column;
        normalise(x + first, y + first, std::min(columns, plan_.inner - column));
      }
    });
    return std::nullopt;
  }

 private:
  void normalise(const T* x, T* y, std::int64_t count) const {
    if (plan_.inner > 1) return normalise_columns<T, logarithm>(x, y, plan_.extent, plan_.inner, count);
    if constexpr (logarithm)
      log_softmax_row(x, y, plan_.extent);
    else
      softmax_row(x, y, plan_.extent);
  }

  SoftmaxPlan plan_;
};

template <class T>
std::unique_ptr<Kernel> make(const SoftmaxPlan& plan) {
  if (plan.logarithm) return std::make_unique<Softmax<T, true>>(plan);
  return std::make_unique<Softmax<T, false>>(plan);
}

}  // namespace

std::unique_ptr<Kernel> softmax_kernel(const SoftmaxPlan& plan) {
  switch (plan.precision) {
    case Precision::f16:
      return make<Half>(plan);
    case Precision::f32:
      return make<float>(plan);
    case Precision::f64:
      return make<double>(plan);
    default:
      bug("a softmax of integers");
  }
}

}  // namespace taskspec
