#include "stdlib/kernels/softmax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stdlib/kernels/float_math.hpp"
#include "stdlib/kernels/instruction_sets.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// e^x for x <= 0 or nan. Below -200 nothing shows in a float any more.
template <class T>
[[gnu::always_inline]] inline double exponential(double x) {
  if constexpr (std::is_same_v<T, double>)
    return std::exp(x);
  else
    return float_math::exp(x < -200 ? -200 : x);
}

constexpr int lanes = 16;  // independent partial results: they vectorise, and their order is fixed

template <class T, bool logarithm>
TASKSPEC_CLONES void normalise_row(const T* x, T* y, std::int64_t count) {
  std::array<double, lanes> top, sum{};
  top.fill(-infinity);
  std::int64_t whole = count / lanes * lanes;
  for (std::int64_t i = 0; i < whole; i += lanes)
    for (int k = 0; k < lanes; ++k) top[k] = std::max(top[k], convert<double>(x[i + k]));
  for (std::int64_t i = whole; i < count; ++i) top[0] = std::max(top[0], convert<double>(x[i]));
  double largest = *std::max_element(top.begin(), top.end());
  auto power = [&](std::int64_t i) { return exponential<T>(convert<double>(x[i]) - largest); };
  for (std::int64_t i = 0; i < whole; i += lanes)
    for (int k = 0; k < lanes; ++k) sum[k] += power(i + k);
  for (std::int64_t i = whole; i < count; ++i) sum[0] += power(i);
  double total = 0;
  for (double part : sum) total += part;
  if constexpr (logarithm) {
    double shift = std::log(total);
    for (std::int64_t i = 0; i < count; ++i) y[i] = convert<T>(convert<double>(x[i]) - largest - shift);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] = convert<T>(power(i) / total);
  }
}

constexpr std::int64_t columns = 64;  // neighbours along the inner axis that are normalised together

template <class T, bool logarithm>
TASKSPEC_CLONES void normalise_columns(const T* x, T* y, std::int64_t extent, std::int64_t step, std::int64_t count) {
  std::array<double, columns> top, sum{};
  top.fill(-infinity);
  for (std::int64_t e = 0; e < extent; ++e)
    for (std::int64_t k = 0; k < count; ++k) top[k] = std::max(top[k], convert<double>(x[e * step + k]));
  auto power = [&](std::int64_t e, std::int64_t k) {
    return exponential<T>(convert<double>(x[e * step + k]) - top[k]);
  };
  for (std::int64_t e = 0; e < extent; ++e)
    for (std::int64_t k = 0; k < count; ++k) sum[k] += power(e, k);
  if constexpr (logarithm)
    for (std::int64_t k = 0; k < count; ++k) sum[k] = std::log(sum[k]);
  for (std::int64_t e = 0; e < extent; ++e)
    for (std::int64_t k = 0; k < count; ++k)
      y[e * step + k] =
          convert<T>(logarithm ? convert<double>(x[e * step + k]) - top[k] - sum[k] : power(e, k) / sum[k]);
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
    std::int64_t grain = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, unit));
    args.parallel.for_each(plan_.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t column = i % blocks * columns, first = i / blocks * plan_.extent * plan_.inner + column;
        if (plan_.inner == 1)
          normalise_row<T, logarithm>(x + first, y + first, plan_.extent);
        else
          normalise_columns<T, logarithm>(x + first, y + first, plan_.extent, plan_.inner,
                                          std::min(columns, plan_.inner - column));
      }
    });
    return std::nullopt;
  }

 private:
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
