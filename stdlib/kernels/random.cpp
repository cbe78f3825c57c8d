#include "stdlib/kernels/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "ir/base/instruction_sets.hpp"
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t random_grain = 32768;  // elements per part of the work, whole blocks of four
constexpr int batch = 64;                     // blocks that are made side by side

// word[w][i] is word w of block first + i.
struct Words {
  std::array<std::array<std::uint32_t, batch>, 4> word;
};

// One round of all blocks after the other: loops over neighbours, which vectorise.
TASKSPEC_CLONES void make_words(const RandomSource& source, std::uint64_t first, Words& out) {
  auto& [c0, c1, c2, c3] = out.word;
  for (int i = 0; i < batch; ++i) {
    const std::uint64_t block = first + static_cast<std::uint64_t>(i);
    c0[i] = static_cast<std::uint32_t>(block);
    c1[i] = static_cast<std::uint32_t>(block >> 32);
    c2[i] = source.stream;
    c3[i] = source.call;
  }
  PhiloxKey key = source.key;
  for (int round = 0; round < philox_rounds; ++round, key = next_philox_key(key))
    for (int i = 0; i < batch; ++i) philox_round(c0[i], c1[i], c2[i], c3[i], key);
}

// Elements [begin, end) by `put(words, block in the batch, element in the block)`, `per_block` of them per block; the
// one numbered `skipped` is the first of out.
template <class T, int per_block, class Put>
void each_element(const RandomSource& source, std::int64_t begin, std::int64_t end, T* out, const Put& put,
                  std::int64_t skipped = 0) {
  Words words;
  for (std::int64_t block = begin / per_block; block * per_block < end; block += batch) {
    make_words(source, static_cast<std::uint64_t>(block), words);
    const std::int64_t first = block * per_block;
    if (first >= begin && first + per_block * batch <= end) {
      for (int i = 0; i < batch; ++i)
        for (int k = 0; k < per_block; ++k) out[first - skipped + i * per_block + k] = put(words, i, k);
      continue;
    }
    for (std::int64_t e = std::max(first, begin); e < std::min(first + per_block * batch, end); ++e)
      out[e - skipped] =
          put(words, static_cast<int>((e - first) / per_block), static_cast<int>((e - first) % per_block));
  }
}

template <class T, int per_block, class Put>
class Numbers final : public Kernel {
 public:
  Numbers(std::int64_t count, Put put) : count_(count), put_(put) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const GivenSource given = random_source(args.in);
    if (given.fault) return given.fault;
    T* out = reinterpret_cast<T*>(args.out[0]);
    args.parallel.for_each(count_, random_grain, [&](std::int64_t begin, std::int64_t end) {
      each_element<T, per_block>(given.source, begin, end, out, put_);
    });
    return std::nullopt;
  }

 private:
  std::int64_t count_;
  Put put_;
};

template <class T, int per_block, class Put>
std::unique_ptr<Kernel> numbers(const ArrayType& out, Put put) {
  return std::make_unique<Numbers<T, per_block, Put>>(out.elements(), put);
}

template <class T>
class Dropout final : public Kernel {
 public:
  Dropout(std::int64_t count, double kept) : count_(count), kept_(kept) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const GivenSource given = random_source(args.in.first(4));
    if (given.fault) return given.fault;
    std::int64_t first = 0;
    std::memcpy(&first, args.in[4], sizeof first);
    constexpr std::int64_t last = std::int64_t{1} << 62;
    if (first < 0 || first > last) return Fault{"E1003", "no element has the number " + std::to_string(first)};
    const T* x = reinterpret_cast<const T*>(args.in[0]);
    T* out = reinterpret_cast<T*>(args.out[0]);
    const T yes = convert<T>(1.0), no = convert<T>(0.0);
    args.parallel.for_each(count_, random_grain, [&](std::int64_t begin, std::int64_t end) {
      const auto put = [this, yes, no](const Words& w, int i, int k) {
        return static_cast<double>(uniform_f32(w.word[k][i])) < kept_ ? yes : no;
      };
      each_element<T, 4>(given.source, first + begin, first + end, out, put, first);
      for (std::int64_t e = begin; e < end; ++e)
        if (convert<double>(out[e]) != 0) out[e] = convert<T>(convert<double>(x[e]) / kept_);
    });
    return std::nullopt;
  }

 private:
  std::int64_t count_;
  double kept_;
};

template <class Make>
std::unique_ptr<Kernel> with_float(Precision precision, Make make) {
  return with_storage(precision, [&](auto element) -> std::unique_ptr<Kernel> {
    if constexpr (is_float_storage<decltype(element)>) return make(element);
    bug("random floats of a precision without fractions");
  });
}

// ---- uniform --------------------------------------------------------------------------------------

float just_below(float x) { return std::nextafter(x, -HUGE_VALF); }
double just_below(double x) { return std::nextafter(x, -HUGE_VAL); }
// Bits of f16 count its numbers, from zero in both directions.
Half just_below(Half x) {
  if ((x.bits & 0x7FFF) == 0) return {0x8001};
  return {static_cast<std::uint16_t>(x.bits & 0x8000 ? x.bits + 1 : x.bits - 1)};
}

// lo + (hi - lo) u in [lo, hi), also where that rounds to hi.
template <class T>
class Between {
 public:
  Between(double lo, double hi) : lo_(lo), width_(hi - lo), last_(convert<T>(hi)) {
    if (lo < hi && convert<double>(convert<T>(lo)) < convert<double>(last_)) last_ = just_below(last_);
    bounded_ = lo < hi ? convert<Computed<T>>(last_) : highest<Computed<T>>();
  }
  T operator()(double u) const {
    const T x = convert<T>(lo_ + width_ * u);
    return bounded_ < convert<Computed<T>>(x) ? last_ : x;
  }

 private:
  double lo_, width_;
  T last_;
  Computed<T> bounded_;
};

// ---- normal ---------------------------------------------------------------------------------------

// Below 2^32, by its bits: as quick as an addition.
[[gnu::always_inline]] inline double exact(std::uint32_t x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(0x1p52) | x) - 0x1p52;
}
[[gnu::always_inline]] inline double uniform(std::uint32_t w0, std::uint32_t w1) {
  return (exact(w0) * 0x1p21 + exact(w1 >> 11)) * 0x1p-53;  // as uniform_f64
}

// The polar form of two uniform numbers. What is rounded to f32 or f16 takes the functions that vectorise.
template <class T>
[[gnu::always_inline]] inline void normal_pair(double u1, double u2, double& even, double& odd) {
  const double angle = 2 * std::numbers::pi * u2;
  if constexpr (std::is_same_v<T, double>) {
    const double radius = std::sqrt(-2 * std::log(1 - u1));
    even = radius * std::cos(angle);
    odd = radius * std::sin(angle);
  } else {
    const double radius = std::sqrt(-2 * float_math::log(1 - u1));
    even = radius * float_math::sine(angle, 1);
    odd = radius * float_math::sine(angle, 0);
  }
}

using Pairs = std::array<std::array<double, batch>, 2>;

template <class T>
TASKSPEC_CLONES void normal_pairs(const Words& w, Pairs& z) {
#pragma GCC ivdep
  for (int i = 0; i < batch; ++i)
    normal_pair<T>(uniform(w.word[0][i], w.word[1][i]), uniform(w.word[2][i], w.word[3][i]), z[0][i], z[1][i]);
}

template <class T>
double normal_number(const PhiloxBlock& w, std::int64_t element) {
  double z[2];
  normal_pair<T>(uniform_f64(w[0], w[1]), uniform_f64(w[2], w[3]), z[0], z[1]);
  return z[element % 2];
}

template <class T>
class Normal final : public Kernel {
 public:
  Normal(std::int64_t count, double mean, double std, std::optional<double> limit)
      : count_(count), mean_(mean), std_(std), limit_(limit) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const GivenSource given = random_source(args.in);
    if (given.fault) return given.fault;
    T* out = reinterpret_cast<T*>(args.out[0]);
    args.parallel.for_each(count_, random_grain / 4,
                           [&](std::int64_t begin, std::int64_t end) { fill(given.source, begin, end, out); });
    return std::nullopt;
  }

 private:
  void fill(const RandomSource& source, std::int64_t begin, std::int64_t end, T* out) const {
    Words words;
    Pairs z;
    for (std::int64_t block = begin / 2; 2 * block < end; block += batch) {
      make_words(source, static_cast<std::uint64_t>(block), words);
      normal_pairs<T>(words, z);
      if (limit_)
        for (std::int64_t e = 0; e < 2 * batch; ++e) draw_again(source, 2 * block + e, z[e % 2][e / 2]);
      for (std::int64_t e = std::max(2 * block, begin); e < std::min(2 * (block + batch), end); ++e)
        out[e] = convert<T>(mean_ + std_ * z[e % 2][e / 2 - block]);
    }
  }

  void draw_again(const RandomSource& source, std::int64_t element, double& z) const {
    for (std::uint32_t further = 1; std::fabs(z) > *limit_; ++further)
      z = normal_number<T>(source.block(static_cast<std::uint64_t>(element / 2), further), element);
  }

  std::int64_t count_;
  double mean_, std_;
  std::optional<double> limit_;
};

}  // namespace

bool is_random_word(std::int64_t number) { return number >= 0 && number <= UINT32_MAX; }

std::string random_word_misfit(std::string_view name, std::int64_t number) {
  return std::string(name) + " is a number of 32 bits, not " + std::to_string(number);
}

GivenSource random_source(std::span<const std::byte* const> inputs) {
  const std::size_t first = inputs.size() - 3;
  auto given = [&](std::size_t i) { return *reinterpret_cast<const std::int64_t*>(inputs[first + i]); };
  GivenSource made{{philox_key(static_cast<std::uint64_t>(given(0))), static_cast<std::uint32_t>(given(1)),
                    static_cast<std::uint32_t>(given(2))},
                   std::nullopt};
  for (std::size_t i : {2, 1})
    if (!is_random_word(given(i)))
      made.fault = Fault{"E1003", random_word_misfit(i == 1 ? "stream" : "call", given(i))};
  return made;
}

std::unique_ptr<Kernel> uniform_kernel(const ArrayType& out, double lo, double hi) {
  return with_float(out.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    using T = decltype(element);
    const Between<T> between(lo, hi);
    if constexpr (std::is_same_v<T, double>)
      return numbers<T, 2>(out, [between](const Words& w, int i, int k) {
        return between(uniform_f64(w.word[2 * k][i], w.word[2 * k + 1][i]));
      });
    else
      return numbers<T, 4>(out, [between](const Words& w, int i, int k) {
        return between(static_cast<double>(uniform_f32(w.word[k][i])));
      });
  });
}

std::unique_ptr<Kernel> bernoulli_kernel(const ArrayType& out, double p) {
  Array one = scalar_array(out.precision == Precision::boolean ? Value(true) : Value(std::int64_t{1}), out.precision);
  return with_storage(out.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    using T = decltype(element);
    const T yes = *reinterpret_cast<const T*>(one.raw()), no{};
    return numbers<T, 4>(out, [p, yes, no](const Words& w, int i, int k) {
      return static_cast<double>(uniform_f32(w.word[k][i])) < p ? yes : no;
    });
  });
}

std::unique_ptr<Kernel> dropout_kernel(const ArrayType& x, double rate) {
  return with_float(x.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    return std::make_unique<Dropout<decltype(element)>>(x.elements(), 1 - rate);
  });
}

std::unique_ptr<Kernel> normal_kernel(const ArrayType& out, double mean, double std, std::optional<double> limit) {
  return with_float(out.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    return std::make_unique<Normal<decltype(element)>>(out.elements(), mean, std, limit);
  });
}

}  // namespace taskspec
