#include "stdlib/kernels/standardise.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stdlib/kernels/instruction_sets.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

// Partial sums that do not depend on one another: they vectorise, in a fixed order. A short block is summed in the
// precision that elements are computed in, blocks are summed in f64.
constexpr int lanes = 16;
constexpr std::int64_t block = 256;

// The sum of (x - centre)^power over a piece; power is 1 or 2.
template <class T, int power>
TASKSPEC_CLONES double sum_of(const T* x, std::int64_t count, Computed<T> centre) {
  using N = Computed<T>;
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    std::array<N, lanes> sum{};
    const std::int64_t end = std::min(begin + block, count), whole = begin + (end - begin) / lanes * lanes;
    for (std::int64_t i = begin; i < whole; i += lanes)
      for (int k = 0; k < lanes; ++k) {
        N d = convert<N>(x[i + k]) - centre;
        sum[k] += power == 2 ? d * d : d;
      }
    for (std::int64_t i = whole; i < end; ++i) {
      N d = convert<N>(x[i]) - centre;
      sum[0] += power == 2 ? d * d : d;
    }
    for (N part : sum) total += static_cast<double>(part);
  }
  return total;
}

// `Step` is 1 where every element has factors of its own, else 0.
template <class T, int Step>
TASKSPEC_CLONES void write_piece(const T* x, T* y, std::int64_t count, Computed<T> mean, Computed<T> per_deviation,
                                 const T* scale, const T* shift) {
  using N = Computed<T>;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = convert<T>((convert<N>(x[i]) - mean) * per_deviation * convert<N>(scale[i * Step]) +
                      convert<N>(shift[i * Step]));
}

template <class T>
class Standardise final : public Kernel {
 public:
  explicit Standardise(const StandardisePlan& plan) : p_(plan) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T *x = reinterpret_cast<const T*>(args.in[0]), *scale = reinterpret_cast<const T*>(args.in[1]),
            *shift = reinterpret_cast<const T*>(args.in[2]);
    T* y = reinterpret_cast<T*>(args.out[0]);
    std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, p_.pieces * p_.length));
    args.parallel.for_each(p_.groups, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t g = begin; g < end; ++g) {
        std::int64_t own = p_.factor_per_element ? 0 : g;
        group(x + g * p_.group_step, y + g * p_.group_step, scale + own, shift + own);
      }
    });
    return std::nullopt;
  }

 private:
  template <int power>
  double mean_of(const T* x, Computed<T> centre) const {
    double total = 0;
    for (std::int64_t i = 0; i < p_.pieces; ++i) total += sum_of<T, power>(x + i * p_.piece_step, p_.length, centre);
    return total / static_cast<double>(p_.pieces * p_.length);
  }

  void group(const T* x, T* y, const T* scale, const T* shift) const {
    using N = Computed<T>;
    const auto mean = static_cast<N>(mean_of<1>(x, 0));
    const auto per_deviation = static_cast<N>(1 / std::sqrt(mean_of<2>(x, mean) + p_.epsilon));
    for (std::int64_t i = 0; i < p_.pieces; ++i) {
      const std::int64_t at = i * p_.piece_step;
      if (p_.factor_per_element)
        write_piece<T, 1>(x + at, y + at, p_.length, mean, per_deviation, scale, shift);
      else
        write_piece<T, 0>(x + at, y + at, p_.length, mean, per_deviation, scale, shift);
    }
  }

  StandardisePlan p_;
};

}  // namespace

std::unique_ptr<Kernel> standardise_kernel(const StandardisePlan& plan) {
  return with_storage(plan.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    if constexpr (is_float_storage<decltype(element)>) return std::make_unique<Standardise<decltype(element)>>(plan);
    bug("a mean of integers");
  });
}

}  // namespace taskspec
