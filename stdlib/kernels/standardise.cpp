#include "stdlib/kernels/standardise.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

// Sixteen partial sums that do not depend on one another, in a fixed order. A short block of them is summed in the
// precision that elements are computed in, blocks are summed in f64.
constexpr int channel_lanes = 16;
constexpr std::int64_t rows_at_once = 256;

template <class N>
struct WideOf;
template <>
struct WideOf<float> {
  using Type = float __attribute__((vector_size(channel_lanes * sizeof(float))));
};
template <>
struct WideOf<double> {
  using Type = double __attribute__((vector_size(channel_lanes * sizeof(double))));
};
template <class N>
using Wide = typename WideOf<N>::Type;

template <class T>
[[gnu::always_inline]] inline void read_wide(const T* from, Wide<Computed<T>>& to) {
  if constexpr (std::is_same_v<T, Computed<T>>)
    std::memcpy(&to, from, sizeof to);
  else
    for (int k = 0; k < channel_lanes; ++k) to[k] = convert<Computed<T>>(from[k]);
}

// Sums of a group, lane by lane over all its pieces.
struct LaneTotals {
  Wide<double> of{};
  double all() const {
    double total = 0;
    for (int k = 0; k < channel_lanes; ++k) total += of[k];
    return total;
  }
};

// Adds (x - centre)^power over a piece; power is 1 or 2.
template <class T, int power>
TASKSPEC_CLONES void add_powers(const T* x, std::int64_t count, Computed<T> centre, LaneTotals& total) {
  using N = Computed<T>;
  for (std::int64_t begin = 0; begin < count; begin += rows_at_once) {
    Wide<N> sum{}, d;
    const std::int64_t end = std::min(begin + rows_at_once, count),
                       whole = begin + (end - begin) / channel_lanes * channel_lanes;
    for (std::int64_t i = begin; i < whole; i += channel_lanes) {
      read_wide(x + i, d);
      d -= centre;
      sum += power == 2 ? d * d : d;
    }
    for (std::int64_t i = whole; i < end; ++i) {
      const N rest = convert<N>(x[i]) - centre;
      sum[0] += power == 2 ? rest * rest : rest;
    }
    total.of += __builtin_convertvector(sum, Wide<double>);
  }
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

// Of every element d, and d times what the element of x is in deviations from the mean: d = dy, times a scale of its
// own for a Step of 1.
struct SumPair {
  LaneTotals plain, weighted;
};

template <class T, int Step>
[[gnu::always_inline]] inline Computed<T> factored(const T* dy, const T* scale, std::int64_t i) {
  using N = Computed<T>;
  if constexpr (Step == 1) return convert<N>(dy[i]) * convert<N>(scale[i]);
  return convert<N>(dy[i]);
}

template <class T, int Step>
TASKSPEC_CLONES void add_sums(const T* x, const T* dy, const T* scale, std::int64_t count, Computed<T> mean,
                              SumPair& sums) {
  using N = Computed<T>;
  for (std::int64_t begin = 0; begin < count; begin += rows_at_once) {
    Wide<N> plain{}, weighted{}, d, n;
    const std::int64_t end = std::min(begin + rows_at_once, count),
                       whole = begin + (end - begin) / channel_lanes * channel_lanes;
    for (std::int64_t i = begin; i < whole; i += channel_lanes) {
      read_wide(dy + i, d);
      if constexpr (Step == 1) {
        read_wide(scale + i, n);
        d *= n;
      }
      read_wide(x + i, n);
      plain += d;
      weighted += d * (n - mean);
    }
    for (std::int64_t i = whole; i < end; ++i) {
      const N rest = factored<T, Step>(dy, scale, i);
      plain[0] += rest;
      weighted[0] += rest * (convert<N>(x[i]) - mean);
    }
    sums.plain.of += __builtin_convertvector(plain, Wide<double>);
    sums.weighted.of += __builtin_convertvector(weighted, Wide<double>);
  }
}

// dx = factor (d - offset - tilt (x - mean)), d as above.
template <class T>
struct Reverse {
  Computed<T> mean, factor, offset, tilt;
};

template <class T, int Step>
TASKSPEC_CLONES void write_reverse(const T* x, const T* dy, const T* scale, T* dx, std::int64_t count, Reverse<T> r) {
  using N = Computed<T>;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i)
    dx[i] = convert<T>(r.factor * (factored<T, Step>(dy, scale, i) - r.offset - r.tilt * (convert<N>(x[i]) - r.mean)));
}

template <class T>
const T* input(const KernelArgs& args, std::size_t i) {
  return reinterpret_cast<const T*>(args.in[i]);
}

// What all these kernels know of a group: its mean, and one over its deviation.
template <class T>
class Groups : public Kernel {
 protected:
  using N = Computed<T>;
  explicit Groups(const StandardisePlan& plan) : p_(plan) {}

  struct Moments {
    N mean;
    double variance;
  };
  Moments moments(const T* x) const {
    const auto mean = static_cast<N>(mean_of<1>(x, 0));
    return {mean, mean_of<2>(x, mean)};
  }
  // At least one, so that an empty batch has a mean, of 0.
  double some_elements() const { return static_cast<double>(std::max<std::int64_t>(1, p_.elements())); }
  N per_deviation(double variance) const { return static_cast<N>(1 / std::sqrt(variance + p_.epsilon)); }

  // f(group, place of its first element)
  template <class F>
  void each_group(const KernelArgs& args, F&& f) const {
    args.parallel.for_each(p_.groups, p_.grain(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t g = begin; g < end; ++g) f(g, g * p_.group_step);
    });
  }
  // f(place of the first element of a piece), from that of the group
  template <class F>
  void each_piece(std::int64_t at, F&& f) const {
    for (std::int64_t i = 0; i < p_.pieces; ++i) f(at + i * p_.piece_step);
  }

  const StandardisePlan p_;

 private:
  template <int power>
  double mean_of(const T* x, N centre) const {
    LaneTotals total;
    each_piece(0, [&](std::int64_t at) { add_powers<T, power>(x + at, p_.length, centre, total); });
    return total.all() / some_elements();
  }
};

template <class T>
class Standardise final : public Groups<T> {
  using typename Groups<T>::N;
  using Groups<T>::p_;

 public:
  explicit Standardise(const StandardisePlan& plan) : Groups<T>(plan) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T *x = input<T>(args, 0), *scale = input<T>(args, 1), *shift = input<T>(args, 2);
    T* y = reinterpret_cast<T*>(args.out[0]);
    this->each_group(args, [&](std::int64_t g, std::int64_t first) {
      const auto [mean, variance] = this->moments(x + first);
      const N per_deviation = this->per_deviation(variance);
      this->each_piece(first, [&, mean = mean](std::int64_t at) {
        if (p_.factor_per_element)
          write_piece<T, 1>(x + at, y + at, p_.length, mean, per_deviation, scale, shift);
        else
          write_piece<T, 0>(x + at, y + at, p_.length, mean, per_deviation, scale + g, shift + g);
      });
    });
    return std::nullopt;
  }
};

template <class T>
class RunningStandardise final : public Groups<T> {
  using typename Groups<T>::N;
  using Groups<T>::p_;

 public:
  RunningStandardise(const StandardisePlan& plan, double momentum) : Groups<T>(plan), momentum_(momentum) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T *x = input<T>(args, 0), *old_mean = input<T>(args, 1), *old_variance = input<T>(args, 2),
            *scale = input<T>(args, 3), *shift = input<T>(args, 4);
    const bool training = *input<std::int64_t>(args, 5) != 0 && p_.elements() > 0;
    T *y = reinterpret_cast<T*>(args.out[0]), *mean = reinterpret_cast<T*>(args.out[1]),
      *variance = reinterpret_cast<T*>(args.out[2]);
    this->each_group(args, [&](std::int64_t g, std::int64_t first) {
      const T kept_mean = old_mean[g], kept_variance = old_variance[g];
      typename Groups<T>::Moments used{convert<N>(kept_mean), static_cast<double>(convert<N>(kept_variance))};
      if (training) used = this->moments(x + first);
      const N per_deviation = this->per_deviation(used.variance);
      const T own_scale = scale[g], own_shift = shift[g];  // a result may lie over them
      this->each_piece(first, [&](std::int64_t at) {
        write_piece<T, 0>(x + at, y + at, p_.length, used.mean, per_deviation, &own_scale, &own_shift);
      });
      mean[g] = training ? towards(kept_mean, static_cast<double>(used.mean)) : kept_mean;
      variance[g] = training ? towards(kept_variance, used.variance * without_bias()) : kept_variance;
    });
    return std::nullopt;
  }

 private:
  T towards(T kept, double now) const {
    const double old = static_cast<double>(convert<N>(kept));
    return convert<T>(static_cast<N>((1 - momentum_) * old + momentum_ * now));
  }
  double without_bias() const {
    const auto elements = static_cast<double>(p_.elements());
    return elements / std::max(1.0, elements - 1);
  }

  double momentum_;
};

// Sums are kept as what is computed with: f32 for f16.
template <class T>
class Sums final : public Groups<T> {
  using typename Groups<T>::N;
  using Groups<T>::p_;

 public:
  Sums(const StandardisePlan& plan, bool kept) : Groups<T>(plan), kept_(kept) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T *x = input<T>(args, 0), *dy = input<T>(args, 1);
    const bool training = !kept_ || *input<std::int64_t>(args, 4) != 0;
    N* sums = reinterpret_cast<N*>(args.out[0]);
    this->each_group(args, [&](std::int64_t g, std::int64_t first) {
      const auto [mean, variance] =
          training ? this->moments(x + first)
                   : typename Groups<T>::Moments{convert<N>(input<T>(args, 2)[g]),
                                                 static_cast<double>(convert<N>(input<T>(args, 3)[g]))};
      const N per_deviation = this->per_deviation(variance);
      SumPair total;
      this->each_piece(first, [&, mean = mean](std::int64_t at) {
        add_sums<T, 0>(x + at, dy + at, nullptr, p_.length, mean, total);
      });
      auto row = [&](SumRow r) -> N& { return sums[static_cast<std::int64_t>(r) * p_.groups + g]; };
      row(row_mean) = mean;
      row(row_per_deviation) = per_deviation;
      row(row_scale) = static_cast<N>(total.weighted.all() * static_cast<double>(per_deviation));
      row(row_shift) = static_cast<N>(total.plain.all());
      row(row_share) = training ? static_cast<N>(1 / this->some_elements()) : N{};
    });
    return std::nullopt;
  }

 private:
  bool kept_;
};

template <class T>
class InputGradient final : public Groups<T> {
  using typename Groups<T>::N;
  using Groups<T>::p_;

 public:
  explicit InputGradient(const StandardisePlan& plan) : Groups<T>(plan) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T *x = input<T>(args, 0), *dy = input<T>(args, 1), *scale = input<T>(args, 2);
    const N* sums = input<N>(args, 3);
    T* dx = reinterpret_cast<T*>(args.out[0]);
    this->each_group(args, [&](std::int64_t g, std::int64_t first) {
      auto row = [&](SumRow r) { return sums[static_cast<std::int64_t>(r) * p_.groups + g]; };
      const N per_deviation = row(row_per_deviation), share = row(row_share);
      const Reverse<T> r{row(row_mean), convert<N>(scale[g]) * per_deviation, share * row(row_shift),
                         share * row(row_scale) * per_deviation};
      this->each_piece(first,
                       [&](std::int64_t at) { write_reverse<T, 0>(x + at, dy + at, nullptr, dx + at, p_.length, r); });
    });
    return std::nullopt;
  }
};

template <class T>
class RowsInputGradient final : public Groups<T> {
  using typename Groups<T>::N;
  using Groups<T>::p_;

 public:
  explicit RowsInputGradient(const StandardisePlan& plan) : Groups<T>(plan) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T *x = input<T>(args, 0), *dy = input<T>(args, 1), *scale = input<T>(args, 2);
    T* dx = reinterpret_cast<T*>(args.out[0]);
    this->each_group(args, [&](std::int64_t, std::int64_t at) {
      const auto [mean, variance] = this->moments(x + at);
      const N per_deviation = this->per_deviation(variance);
      SumPair sums;
      add_sums<T, 1>(x + at, dy + at, scale, p_.length, mean, sums);
      const auto length = static_cast<double>(p_.length), deviation = static_cast<double>(per_deviation);
      const Reverse<T> r{mean, per_deviation, static_cast<N>(sums.plain.all() / length),
                         static_cast<N>(sums.weighted.all() * deviation / length) * per_deviation};
      write_reverse<T, 1>(x + at, dy + at, scale, dx + at, p_.length, r);
    });
    return std::nullopt;
  }
};

// make(element) for the float type of a precision.
template <class Make>
std::unique_ptr<Kernel> with_floats(Precision precision, Make&& make) {
  return with_storage(precision, [&](auto element) -> std::unique_ptr<Kernel> {
    if constexpr (is_float_storage<decltype(element)>) return make(element);
    bug("a mean of integers");
  });
}

}  // namespace

std::unique_ptr<Kernel> standardise_kernel(const StandardisePlan& plan) {
  return with_floats(plan.precision, [&](auto x) { return std::make_unique<Standardise<decltype(x)>>(plan); });
}

std::unique_ptr<Kernel> running_standardise_kernel(const StandardisePlan& plan, double momentum) {
  return with_floats(plan.precision,
                     [&](auto x) { return std::make_unique<RunningStandardise<decltype(x)>>(plan, momentum); });
}

std::unique_ptr<Kernel> standardise_sums_kernel(const StandardisePlan& plan, bool kept) {
  return with_floats(plan.precision, [&](auto x) { return std::make_unique<Sums<decltype(x)>>(plan, kept); });
}

std::unique_ptr<Kernel> standardise_input_kernel(const StandardisePlan& plan) {
  return with_floats(plan.precision, [&](auto x) { return std::make_unique<InputGradient<decltype(x)>>(plan); });
}

std::unique_ptr<Kernel> standardise_rows_input_kernel(const StandardisePlan& plan) {
  return with_floats(plan.precision, [&](auto x) { return std::make_unique<RowsInputGradient<decltype(x)>>(plan); });
}

}  // namespace taskspec
