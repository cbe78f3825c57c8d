// CCMPB and CCMPS: conversion, the largest or least of a window, where zeros stand around the input, and of a constant.
#include <algorithm>
#include <array>

#include "ir/base/instruction_sets.hpp"
#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"

namespace taskspec::block_parts {

namespace {

// How a chip numbers precisions; conversion goes to higher numbers.
int chip_code(Precision precision) {
  switch (precision) {
    case Precision::i8:
      return 1;
    case Precision::u8:
      return 2;
    case Precision::tern:
      return 3;
    default:
      return 0;
  }
}

template <bool most>
std::int32_t chosen(std::int32_t a, std::int32_t b) {
  return most ? std::max(a, b) : std::min(a, b);
}

template <bool most>
TASKSPEC_CLONES void choose(std::int32_t* kept, const std::int32_t* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) kept[i] = most ? std::max(kept[i], x[i]) : std::min(kept[i], x[i]);
}

TASKSPEC_CLONES std::int64_t convert(std::int32_t* x, std::int64_t count, int shift, std::int32_t least,
                                     std::int32_t most) {
  std::int32_t cuts = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t shifted = x[i] >> shift;
    const std::int32_t above = shifted < least ? least : shifted;  // std::clamp becomes a branch
    const std::int32_t cut = above > most ? most : above;
    cuts += cut != shifted ? 1 : 0;
    x[i] = cut;
  }
  return cuts;
}

template <bool most>
class Compare final : public BlockRunner {
 public:
  Compare(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode)
      : y_(window_of(block, BlockAxis::y)),
        x_(window_of(block, BlockAxis::x)),
        channels_(std::max<std::int64_t>(1, block.shape.f)),
        in_(in[0].type.precision),
        out_(block.precision) {
    choose_rule(block, mode);
    scratch_ =
        static_cast<std::size_t>(read() + (x_.in + x_.before + x_.after + x_.out) * channels_) * sizeof(std::int32_t);
    ValueRange range = in[0].range;
    if (y_.before + y_.after + x_.before + x_.after > 0)
      range = {std::min<std::int64_t>(0, range.least), std::max<std::int64_t>(0, range.most)};
    for (std::int64_t* end : {&range.least, &range.most})
      *end = std::clamp<std::int64_t>(*end >> shift_, least_, most_);
    range_ = range;
    if (!constants_.empty()) {
      const auto [low, high] = std::minmax_element(constants_.begin(), constants_.end());
      range_ = {chosen<most>(static_cast<std::int32_t>(range.least), *low),
                chosen<most>(static_cast<std::int32_t>(range.most), *high)};
    }
    if (out_ == Precision::u8 && range_.least < 0) range_ = {0, 255};  // its bytes are read without sign
  }

  BlockRun run(const BlockArgs& args) override {
    auto* room = reinterpret_cast<std::int32_t*>(args.scratch);
    const std::int32_t* input = widened(in_, args.in[0], read(), room);
    std::int32_t *line = room + read(), *made = line + (x_.in + x_.before + x_.after) * channels_;
    BlockRun result;
    const std::int64_t width = x_.out * channels_;
    for (std::int64_t row = 0; row < y_.out; ++row) {
      over_rows(input, row, line);
      over_columns(line, made);
      if (converts_) result.saturations += convert(made, width, shift_, least_, most_);
      if (!constants_.empty())
        for (std::int64_t x = 0; x < x_.out; ++x) choose<most>(made + x * channels_, constants_.data(), channels_);
      narrowed(out_, made, width, args.out + row * width * info(out_).bytes);
    }
    return result;
  }

 private:
  std::int64_t read() const { return y_.in * x_.in * channels_; }

  void choose_rule(const TaskBlock& block, BlockMode mode) {
    const int to = chip_code(out_), from = chip_code(in_);
    const auto cmp = static_cast<std::int32_t>(block.attribute("cmp"));
    const auto shift = static_cast<int>(block.attribute("shift"));
    constants_.assign(static_cast<std::size_t>(channels_), cmp);
    if (mode == BlockMode::rabbit && most) {
      // The reference: always shifted, cut from above by the type, or by 127 where there is no y and x.
      converts_ = true;
      shift_ = shift;
      const bool is_vector = block.shape.y == 0 && block.shape.x == 0;
      most_ = to == 3 && !is_vector ? 1 : to != 0 || is_vector ? 127 : INT32_MAX;
      constants_.assign(constants_.size(), std::min(cmp, most_));
      return;
    }
    converts_ = to > from;
    if (converts_) {
      shift_ = mode == BlockMode::chip ? shift / 2 * 2 : shift;
      most_ = to == 3 ? 1 : 127;
      least_ = to == 3 ? -1 : -128;
    }
    find_constants(to, from, cmp);
  }

  // One number, or what a word of the chip has for each channel: a byte of four, a pair of bits of sixteen.
  void find_constants(int to, int from, std::int32_t cmp) {
    const bool known = (to == 0 && from == 0) || (to == 1 && from <= 1) || (to == 3 && from != 2);
    if (!known) {
      constants_.clear();
      return;
    }
    if (to == 0) return;
    const bool is_word = cmp < -128 || cmp > 127;
    const auto word = static_cast<std::uint32_t>(cmp);
    for (std::size_t f = 0; f < constants_.size(); ++f) {
      if (to == 1 && is_word)
        constants_[f] = static_cast<std::int8_t>(word >> 8 * (f % 4) & 255);
      else if (to == 3)
        constants_[f] = is_word ? pair_of_bits(word >> 2 * (f % 16) & 3) : std::clamp(cmp, -1, 1);
    }
  }
  static std::int32_t pair_of_bits(std::uint32_t bits) { return bits > 1 ? -1 : static_cast<std::int32_t>(bits); }

  // The best of the rows of a window, for each place of a row of the input with its zeros.
  void over_rows(const std::int32_t* input, std::int64_t row, std::int32_t* line) const {
    const std::int64_t inside = x_.in * channels_, before = x_.before * channels_;
    bool is_first = true, has_zeros = false;
    std::fill(line, line + (x_.in + x_.before + x_.after) * channels_, 0);
    for (std::int64_t ky = 0; ky < y_.kernel; ++ky) {
      const std::int64_t y = row * y_.stride + ky * y_.dilation - y_.before;
      if (y < 0 || y >= y_.in) {
        has_zeros = true;
        continue;
      }
      if (is_first)
        std::copy_n(input + y * inside, inside, line + before);
      else
        choose<most>(line + before, input + y * inside, inside);
      is_first = false;
    }
    if (!has_zeros || is_first) return;
    for (std::int64_t i = before; i < before + inside; ++i) line[i] = chosen<most>(line[i], 0);
  }

  void over_columns(const std::int32_t* line, std::int32_t* made) const {
    for (std::int64_t x = 0; x < x_.out; ++x) {
      const std::int32_t* from = line + x * x_.stride * channels_;
      std::int32_t* to = made + x * channels_;
      for (std::int64_t f = 0; f < channels_; ++f) to[f] = from[f];
      for (std::int64_t kx = 1; kx < x_.kernel; ++kx) {
        const std::int32_t* tap = from + kx * x_.dilation * channels_;
        for (std::int64_t f = 0; f < channels_; ++f) to[f] = chosen<most>(to[f], tap[f]);
      }
    }
  }

  BlockWindow y_, x_;
  std::int64_t channels_;
  Precision in_, out_;
  bool converts_ = false;
  int shift_ = 0;
  std::int32_t least_ = INT32_MIN, most_ = INT32_MAX;
  std::vector<std::int32_t> constants_;  // by channel; none: no constant
};

}  // namespace

constinit const BlockNumerics compare_most{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) -> std::unique_ptr<BlockRunner> {
      return std::make_unique<Compare<true>>(block, in, mode);
    }};
constinit const BlockNumerics compare_least{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) -> std::unique_ptr<BlockRunner> {
      return std::make_unique<Compare<false>>(block, in, mode);
    }};

}  // namespace taskspec::block_parts
