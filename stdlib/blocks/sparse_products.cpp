// The sums of products of CC, CC2D and CVM where most of the input or of the weights is 0: products with zeros are left
// out. A zero changes no sum, so all values, and what is cut in the stated order, are those of the dense loops.
#include <algorithm>
#include <cstdlib>

#include "ir/blocks/cost.hpp"
#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"

namespace taskspec::block_parts {

namespace {

class SparseProducts final : public BlockRunner {
 public:
  SparseProducts(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode)
      : y_(window_of(block, BlockAxis::y)),
        x_(window_of(block, BlockAxis::x)),
        channels_(std::max<std::int64_t>(1, block.shape.r)),
        outputs_(std::max<std::int64_t>(1, block.shape.f)),
        all_(multiply_adds(block)),
        mode_(mode),
        in_(in[0].type.precision),
        weight_(in[1].type.precision),
        bias_(block, in, 2, mode, block.def->find_attribute("constant_b") != nullptr),
        is_fixed_(in[1].fixed != nullptr) {
    scratch_ = static_cast<std::size_t>(y_.in * x_.in * channels_) * sizeof(std::int32_t);
    if (is_fixed_) take_weights(in[1].fixed);
    find_range(in[0].range, in[1].range);
  }

  BlockRun run(const BlockArgs& args) override {
    if (!is_fixed_) take_weights(args.in[1]);
    const std::int32_t* bias = bias_.at(args.in);
    const std::int32_t* input =
        widened(in_, args.in[0], y_.in * x_.in * channels_, reinterpret_cast<std::int32_t*>(args.scratch));
    auto* out = reinterpret_cast<std::int32_t*>(args.out);
    BlockRun result{.skipped = all_};
    for (std::int64_t row = 0; row < y_.out; ++row)
      for (std::int64_t column = 0; column < x_.out; ++column) {
        sums_.assign(bias, bias + outputs_);
        add_window(input, row, column, result);
        write(out + (row * x_.out + column) * outputs_, result);
      }
    return result;
  }

 private:
  struct Weight {
    std::int32_t output, value;
  };

  // By place of a window, r outermost, then ky, then kx: those that are not 0.
  void take_weights(const std::byte* data) {
    const std::int64_t depth = channels_ * y_.kernel * x_.kernel;
    taps_.assign(static_cast<std::size_t>(depth), {});
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t f = 0; f < outputs_; ++f)
        if (const std::int64_t w = element(weight_, data, f * depth + k); w != 0)
          taps_[static_cast<std::size_t>(k)].push_back({static_cast<std::int32_t>(f), static_cast<std::int32_t>(w)});
  }

  void find_range(const ValueRange& input, const ValueRange& weight) {
    std::vector<std::int64_t> reach(static_cast<std::size_t>(outputs_));
    for (const auto& tap : taps_)
      for (const Weight& w : tap) reach[static_cast<std::size_t>(w.output)] += std::abs(std::int64_t{w.value});
    std::int64_t most = *std::max_element(reach.begin(), reach.end());
    if (!is_fixed_) most = channels_ * y_.kernel * x_.kernel * weight.magnitude();
    most = std::min(most, beyond_32) * input.magnitude();
    range_ = {cut_32(bias_.range().least - most), cut_32(bias_.range().most + most)};
    if (mode_ == BlockMode::rabbit && most + bias_.range().magnitude() >= beyond_32) range_ = range_of(Precision::i32);
  }

  void add_window(const std::int32_t* input, std::int64_t row, std::int64_t column, BlockRun& result) {
    std::size_t tap = 0;
    for (std::int64_t r = 0; r < channels_; ++r)
      for (std::int64_t ky = 0; ky < y_.kernel; ++ky)
        for (std::int64_t kx = 0; kx < x_.kernel; ++kx, ++tap) {
          const std::int64_t iy = row * y_.stride + ky * y_.dilation - y_.before;
          const std::int64_t ix = column * x_.stride + kx * x_.dilation - x_.before;
          if (iy < 0 || iy >= y_.in || ix < 0 || ix >= x_.in) continue;
          const std::int64_t value = input[(iy * x_.in + ix) * channels_ + r];
          if (value != 0) add(value, taps_[tap], result);
        }
  }

  void add(std::int64_t value, const std::vector<Weight>& weights, BlockRun& result) {
    result.skipped -= static_cast<std::int64_t>(weights.size());
    for (const Weight& w : weights) {
      std::int64_t& sum = sums_[static_cast<std::size_t>(w.output)];
      const std::int64_t next = sum + value * w.value;
      sum = mode_ == BlockMode::chip ? cut_32(next) : next;
      result.saturations += sum != next ? 1 : 0;
    }
  }

  // In rabbit mode what leaves 32 bits is INT_MIN.
  void write(std::int32_t* out, BlockRun& result) const {
    for (const std::int64_t sum : sums_) {
      const bool fits = sum >= INT32_MIN && sum <= INT32_MAX;
      *out++ = fits ? static_cast<std::int32_t>(sum) : INT32_MIN;
      result.saturations += fits ? 0 : 1;
    }
  }

  BlockWindow y_, x_;
  std::int64_t channels_, outputs_, all_;
  BlockMode mode_;
  Precision in_, weight_;
  BlockBias bias_;
  bool is_fixed_;
  std::vector<std::vector<Weight>> taps_;
  std::vector<std::int64_t> sums_;
};

}  // namespace

std::unique_ptr<BlockRunner> sparse_products(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) {
  return std::make_unique<SparseProducts>(block, in, mode);
}

}  // namespace taskspec::block_parts
