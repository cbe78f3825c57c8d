#include "stdlib/kernels/random.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "ir/scalar.hpp"
#include "stdlib/kernels/instruction_sets.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t grain = 32768;  // elements per part of the work, whole blocks of four
constexpr int batch = 64;              // blocks that are made side by side

// word[w][i] is word w of block first + i.
struct Words {
  std::array<std::array<std::uint32_t, batch>, 4> word;
};

TASKSPEC_CLONES void make_words(const RandomSource& source, std::uint64_t first, Words& out) {
#pragma GCC ivdep
  for (int i = 0; i < batch; ++i) {
    const PhiloxBlock block = source.block(first + static_cast<std::uint64_t>(i));
    out.word[0][i] = block[0];
    out.word[1][i] = block[1];
    out.word[2][i] = block[2];
    out.word[3][i] = block[3];
  }
}

// Elements [begin, end) by `put(words, block in the batch, element in the block)`, `per_block` of them per block.
template <class T, int per_block, class Put>
void each_element(const RandomSource& source, std::int64_t begin, std::int64_t end, T* out, const Put& put) {
  Words words;
  for (std::int64_t block = begin / per_block; block * per_block < end; block += batch) {
    make_words(source, static_cast<std::uint64_t>(block), words);
    const std::int64_t first = block * per_block;
    if (first >= begin && first + per_block * batch <= end) {
      for (int i = 0; i < batch; ++i)
        for (int k = 0; k < per_block; ++k) out[first + i * per_block + k] = put(words, i, k);
      continue;
    }
    for (std::int64_t e = std::max(first, begin); e < std::min(first + per_block * batch, end); ++e)
      out[e] = put(words, static_cast<int>((e - first) / per_block), static_cast<int>((e - first) % per_block));
  }
}

template <class T, int per_block, class Put>
class Numbers final : public Kernel {
 public:
  Numbers(const RandomSource& source, std::int64_t count, Put put) : source_(source), count_(count), put_(put) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    T* out = reinterpret_cast<T*>(args.out[0]);
    args.parallel.for_each(count_, grain, [&](std::int64_t begin, std::int64_t end) {
      each_element<T, per_block>(source_, begin, end, out, put_);
    });
    return std::nullopt;
  }

 private:
  RandomSource source_;
  std::int64_t count_;
  Put put_;
};

template <class T, int per_block, class Put>
std::unique_ptr<Kernel> numbers(const RandomSource& source, const ArrayType& out, Put put) {
  return std::make_unique<Numbers<T, per_block, Put>>(source, out.elements(), put);
}

template <class Make>
std::unique_ptr<Kernel> with_float(Precision precision, Make make) {
  return with_storage(precision, [&](auto element) -> std::unique_ptr<Kernel> {
    if constexpr (is_float_storage<decltype(element)>) return make(element);
    bug("random floats of a precision without fractions");
  });
}

// ---- normal ---------------------------------------------------------------------------------------

// Elements 2j and 2j + 1: the polar form of two uniform numbers.
double normal_number(const PhiloxBlock& words, int element) {
  const double u1 = uniform_f64(words[0], words[1]), u2 = uniform_f64(words[2], words[3]);
  const double radius = std::sqrt(-2 * std::log(1 - u1)), angle = 2 * std::numbers::pi * u2;
  return radius * (element == 0 ? std::cos(angle) : std::sin(angle));
}

template <class T>
class Normal final : public Kernel {
 public:
  Normal(const RandomSource& source, std::int64_t count, double mean, double std, std::optional<double> limit)
      : source_(source), count_(count), mean_(mean), std_(std), limit_(limit) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    T* out = reinterpret_cast<T*>(args.out[0]);
    args.parallel.for_each(count_, grain / 8, [&](std::int64_t begin, std::int64_t end) {
      PhiloxBlock words{};
      for (std::int64_t e = begin; e < end; ++e) {
        if (e == begin || e % 2 == 0) words = source_.block(static_cast<std::uint64_t>(e / 2));
        double z = normal_number(words, static_cast<int>(e % 2));
        for (std::uint32_t again = 1; limit_ && std::fabs(z) > *limit_; ++again)
          z = normal_number(source_.block(static_cast<std::uint64_t>(e / 2), again), static_cast<int>(e % 2));
        out[e] = convert<T>(mean_ + std_ * z);
      }
    });
    return std::nullopt;
  }

 private:
  RandomSource source_;
  std::int64_t count_;
  double mean_, std_;
  std::optional<double> limit_;
};

}  // namespace

std::unique_ptr<Kernel> uniform_kernel(const RandomSource& source, const ArrayType& out, double lo, double hi) {
  const double width = hi - lo;
  return with_float(out.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, double>)
      return numbers<T, 2>(source, out, [lo, width](const Words& w, int i, int k) {
        return lo + width * uniform_f64(w.word[2 * k][i], w.word[2 * k + 1][i]);
      });
    else
      return numbers<T, 4>(source, out, [lo, width](const Words& w, int i, int k) {
        return convert<T>(lo + width * static_cast<double>(uniform_f32(w.word[k][i])));
      });
  });
}

std::unique_ptr<Kernel> bernoulli_kernel(const RandomSource& source, const ArrayType& out, double p) {
  Array one = scalar_array(out.precision == Precision::boolean ? Value(true) : Value(std::int64_t{1}), out.precision);
  return with_storage(out.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    using T = decltype(element);
    const T yes = *reinterpret_cast<const T*>(one.raw()), no{};
    return numbers<T, 4>(source, out, [p, yes, no](const Words& w, int i, int k) {
      return static_cast<double>(uniform_f32(w.word[k][i])) < p ? yes : no;
    });
  });
}

std::unique_ptr<Kernel> normal_kernel(const RandomSource& source, const ArrayType& out, double mean, double std,
                                      std::optional<double> limit) {
  return with_float(out.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    return std::make_unique<Normal<decltype(element)>>(source, out.elements(), mean, std, limit);
  });
}

}  // namespace taskspec
