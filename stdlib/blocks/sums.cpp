// The sums of CADD and CAVG: of arrays, or over windows, from the bias on, cut to 32 bits after every addition.
#include <fmt/format.h>

#include <algorithm>

#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"
#include "stdlib/kernels/saturating.hpp"

namespace taskspec::block_parts {

namespace {

// What both have: where sums begin, what is proven of them, and how a row of summands is added.
class Sums : public BlockRunner {
 protected:
  Sums(const TaskBlock& block, std::span<const BlockOperand> in, std::size_t bias, BlockMode mode)
      : y_(window_of(block, BlockAxis::y)),
        x_(window_of(block, BlockAxis::x)),
        channels_(std::max<std::int64_t>(1, block.shape.f)),
        mode_(mode),
        bias_(block, in, bias, mode, true) {}

  // The sums of `least`..`most`, beside the bias.
  void find_range(std::int64_t least, std::int64_t most, const std::string& formula) {
    const ValueRange bias = bias_.range();
    const std::int64_t bound = bias.magnitude() + ValueRange{least, most}.magnitude();
    range_ = {cut_32(bias.least + least), cut_32(bias.most + most)};
    if (bound >= beyond_32) reason_ = failed_proof(bound, 0, formula);
  }

  std::int64_t pixels() const { return y_.out * x_.out; }

  // One pixel or more: the bias for each.
  void begin(const std::int32_t* bias, std::int32_t* sum, std::int64_t pixels) const {
    for (std::int64_t p = 0; p < pixels; ++p) std::copy_n(bias, channels_, sum + p * channels_);
  }
  std::int64_t add(bool wraps, std::int32_t* sum, const std::int32_t* x, std::int64_t count) const {
    if (!wraps) return add_saturating(sum, x, count);
    add_wrapping(sum, x, count);
    return 0;
  }

  BlockWindow y_, x_;
  std::int64_t channels_;
  BlockMode mode_;
  BlockBias bias_;
};

// Exact; what leaves 32 bits is INT_MIN, as the reference program has it. Returns how many.
std::int64_t reference_result(const std::vector<std::int64_t>& sums, std::int32_t* out) {
  std::int64_t outside = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const bool fits = sums[i] >= INT32_MIN && sums[i] <= INT32_MAX;
    out[i] = fits ? static_cast<std::int32_t>(sums[i]) : INT32_MIN;
    outside += fits ? 0 : 1;
  }
  return outside;
}

class ArraySums final : public Sums {
 public:
  ArraySums(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode)
      : Sums(block, in, block.branches, mode), branches_(block.branches) {
    std::int64_t least = 0, most = 0, magnitude = 0;
    for (std::size_t i = 0; i < branches_; ++i) {
      precisions_.push_back(in[i].type.precision);
      ranges_.push_back(in[i].range);
      least += in[i].range.least;
      most += in[i].range.most;
      magnitude += in[i].range.magnitude();
    }
    find_range(least, most, "|bias| + sum max|input|");
    if (bias_.range().magnitude() + magnitude >= beyond_32 && reason_.empty())
      reason_ = failed_proof(bias_.range().magnitude() + magnitude, 0, "|bias| + sum max|input|");
    strip_ = std::max<std::int64_t>(1, 2048 / channels_);  // pixels that are added at once
    scratch_ = static_cast<std::size_t>(strip_ * channels_) * sizeof(std::int32_t);
    exact_.resize(mode == BlockMode::rabbit && !is_proven() ? static_cast<std::size_t>(pixels() * channels_) : 0);
  }

  BlockRun run(const BlockArgs& args) override {
    const std::int32_t* bias = bias_.at(args.in);
    const bool fits = !args.force_ordered && (is_proven() || holds(args, bias));
    if (!fits && mode_ == BlockMode::rabbit) return {true, run_exact(args, bias)};
    BlockRun result{.ordered = !fits};
    auto* out = reinterpret_cast<std::int32_t*>(args.out);
    for (std::int64_t p = 0; p < pixels(); p += strip_) {
      const std::int64_t some = std::min(strip_, pixels() - p), count = some * channels_;
      begin(bias, out + p * channels_, some);
      for (std::size_t i = 0; i < branches_; ++i)
        result.saturations += add(fits, out + p * channels_, strip(args, i, p * channels_, count), count);
    }
    return result;
  }

 private:
  const std::int32_t* strip(const BlockArgs& args, std::size_t i, std::int64_t place, std::int64_t count) const {
    return widened(precisions_[i], args.in[i] + place * info(precisions_[i]).bytes, count,
                   reinterpret_cast<std::int32_t*>(args.scratch));
  }

  bool holds(const BlockArgs& args, const std::int32_t* bias) const {
    std::int64_t bound = range_of(Precision::i32, reinterpret_cast<const std::byte*>(bias), channels_).magnitude();
    for (std::size_t i = 0; i < branches_; ++i)
      bound += range_of(precisions_[i], args.in[i], pixels() * channels_).magnitude();
    return bound < beyond_32;
  }

  std::int64_t run_exact(const BlockArgs& args, const std::int32_t* bias) {
    exact_.resize(static_cast<std::size_t>(pixels() * channels_));
    for (std::size_t place = 0; place < exact_.size(); ++place) {
      exact_[place] = bias[place % static_cast<std::size_t>(channels_)];
      for (std::size_t i = 0; i < branches_; ++i)
        exact_[place] += element(precisions_[i], args.in[i], static_cast<std::int64_t>(place));
    }
    return reference_result(exact_, reinterpret_cast<std::int32_t*>(args.out));
  }

  std::size_t branches_;
  std::int64_t strip_ = 1;
  std::vector<Precision> precisions_;
  std::vector<ValueRange> ranges_;
  std::vector<std::int64_t> exact_;
};

class WindowSums final : public Sums {
 public:
  WindowSums(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode)
      : Sums(block, in, 1, mode), in_(in[0].type.precision) {
    const std::int64_t taps = y_.kernel * x_.kernel;
    const ValueRange range{std::min<std::int64_t>(0, in[0].range.least), std::max<std::int64_t>(0, in[0].range.most)};
    find_range(taps * range.least, taps * range.most, fmt::format("|bias| + {} * {}", taps, range.magnitude()));
    scratch_ = static_cast<std::size_t>(read()) * sizeof(std::int32_t);
    exact_.resize(mode == BlockMode::rabbit && !is_proven() ? static_cast<std::size_t>(pixels() * channels_) : 0);
  }

  BlockRun run(const BlockArgs& args) override {
    const std::int32_t* bias = bias_.at(args.in);
    const std::int32_t* input = widened(in_, args.in[0], read(), reinterpret_cast<std::int32_t*>(args.scratch));
    const bool fits = !args.force_ordered && (is_proven() || holds(args, bias));
    auto* out = reinterpret_cast<std::int32_t*>(args.out);
    if (!fits && mode_ == BlockMode::rabbit) {
      exact_.resize(static_cast<std::size_t>(pixels() * channels_));
      for (std::size_t i = 0; i < exact_.size(); ++i) exact_[i] = bias[i % static_cast<std::size_t>(channels_)];
      each_tap([&](std::int64_t pixel, std::int64_t from) {
        for (std::int64_t f = 0; f < channels_; ++f)
          exact_[static_cast<std::size_t>(pixel * channels_ + f)] += input[from + f];
      });
      return {true, reference_result(exact_, out)};
    }
    BlockRun result{.ordered = !fits};
    begin(bias, out, pixels());
    each_tap([&](std::int64_t pixel, std::int64_t from) {
      result.saturations += add(fits, out + pixel * channels_, input + from, channels_);
    });
    return result;
  }

 private:
  std::int64_t read() const { return y_.in * x_.in * channels_; }

  bool holds(const BlockArgs& args, const std::int32_t* bias) const {
    const std::int64_t most = range_of(in_, args.in[0], read()).magnitude();
    return range_of(Precision::i32, reinterpret_cast<const std::byte*>(bias), channels_).magnitude() +
               y_.kernel * x_.kernel * most <
           beyond_32;
  }

  // f(pixel, place in the input) for the taps that lie in it: ky outermost.
  template <class F>
  void each_tap(F&& f) const {
    for (std::int64_t row = 0; row < y_.out; ++row)
      for (std::int64_t column = 0; column < x_.out; ++column)
        for (std::int64_t ky = 0; ky < y_.kernel; ++ky)
          for (std::int64_t kx = 0; kx < x_.kernel; ++kx) {
            const std::int64_t y = row * y_.stride + ky * y_.dilation - y_.before;
            const std::int64_t x = column * x_.stride + kx * x_.dilation - x_.before;
            if (y >= 0 && y < y_.in && x >= 0 && x < x_.in) f(row * x_.out + column, (y * x_.in + x) * channels_);
          }
  }

  Precision in_;
  std::vector<std::int64_t> exact_;
};

}  // namespace

constinit const BlockNumerics sums{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) -> std::unique_ptr<BlockRunner> {
      return std::make_unique<ArraySums>(block, in, mode);
    }};

constinit const BlockNumerics window_sums{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) -> std::unique_ptr<BlockRunner> {
      return std::make_unique<WindowSums>(block, in, mode);
    }};

}  // namespace taskspec::block_parts
