// The products of CVVH, CAX and CVS: bias + a * b in 64 bits, cut to 32.
#include <algorithm>

#include "ir/base/instruction_sets.hpp"
#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"

namespace taskspec::block_parts {

namespace {

// One pixel: returns how many were cut.
TASKSPEC_CLONES std::int64_t multiply_pixel(const std::int32_t* bias, const std::int32_t* a, const std::int32_t* b,
                                            std::int64_t count, std::int64_t below, std::int64_t above,
                                            std::int32_t* out) {
  std::int64_t cuts = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t sum = bias[i] + std::int64_t{a[i]} * b[i];
    const bool is_below = sum<INT32_MIN, is_above = sum> INT32_MAX;
    cuts += is_below || is_above ? 1 : 0;
    out[i] = static_cast<std::int32_t>(is_below ? below : is_above ? above : sum);
  }
  return cuts;
}

enum class Factor : std::uint8_t { array, channel, constant };

class PointwiseProducts final : public BlockRunner {
 public:
  PointwiseProducts(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode, Factor factor)
      : y_(window_of(block, BlockAxis::y)),
        x_(window_of(block, BlockAxis::x)),
        channels_(std::max<std::int64_t>(1, block.shape.f)),
        factor_(factor),
        above_(mode == BlockMode::chip ? INT32_MAX : INT32_MIN),
        in_(in[0].type.precision),
        bias_(block, in, factor == Factor::constant ? 1 : 2, mode, true) {
    const std::int64_t read = y_.in * x_.in * channels_;
    ValueRange other;
    if (factor == Factor::constant) {
      other.least = other.most = block.attribute("constant_a");
      constant_.assign(static_cast<std::size_t>(channels_), static_cast<std::int32_t>(other.least));
    } else {
      other = in[1].range;
      other_ = in[1].type.precision;
    }
    second_ = factor == Factor::array ? read : channels_;
    scratch_ = static_cast<std::size_t>(read + second_) * sizeof(std::int32_t);
    const ValueRange a = in[0].range;
    const auto [least, most] =
        std::minmax({a.least * other.least, a.least * other.most, a.most * other.least, a.most * other.most});
    range_ = {cut_32(bias_.range().least + least), cut_32(bias_.range().most + most)};
    if (mode == BlockMode::rabbit && (bias_.range().least + least < INT32_MIN || bias_.range().most + most > INT32_MAX))
      range_.least = INT32_MIN;
  }

  // There is one addition, so that there is one order and no proof to ask for.
  BlockRun run(const BlockArgs& args) override {
    const std::int64_t read = y_.in * x_.in * channels_;
    auto* room = reinterpret_cast<std::int32_t*>(args.scratch);
    const std::int32_t* a = widened(in_, args.in[0], read, room);
    const std::int32_t* b =
        factor_ == Factor::constant ? constant_.data() : widened(other_, args.in[1], second_, room + read);
    const std::int32_t* bias = bias_.at(args.in);
    auto* out = reinterpret_cast<std::int32_t*>(args.out);
    BlockRun result;
    for (std::int64_t row = 0; row < y_.out; ++row)
      for (std::int64_t column = 0; column < x_.out; ++column) {
        const std::int64_t from = (row * y_.stride * x_.in + column * x_.stride) * channels_;
        result.saturations +=
            multiply_pixel(bias, a + from, factor_ == Factor::array ? b + from : b, channels_, INT32_MIN, above_, out);
        out += channels_;
      }
    return result;
  }

 private:
  BlockWindow y_, x_;
  std::int64_t channels_, second_ = 0;
  Factor factor_;
  std::int64_t above_;
  Precision in_, other_ = Precision::i32;
  BlockBias bias_;
  std::vector<std::int32_t> constant_;
};

template <Factor factor>
std::unique_ptr<BlockRunner> pointwise(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) {
  return std::make_unique<PointwiseProducts>(block, in, mode, factor);
}

}  // namespace

constinit const BlockNumerics array_products{pointwise<Factor::array>};
constinit const BlockNumerics channel_products{pointwise<Factor::channel>};
constinit const BlockNumerics constant_products{pointwise<Factor::constant>};

}  // namespace taskspec::block_parts
