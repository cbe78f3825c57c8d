// SWITCH and PREDICATE: what tokens let through, and what makes them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"

namespace taskspec::block_parts {

namespace {

// A token: by row and column, whether it is 1. All precisions of tokens take a byte.
bool lets_through(const std::byte* token, std::size_t outputs, std::size_t row, std::size_t column) {
  return token[row * outputs + column] != std::byte{0};
}

class TokenMoves final : public BlockRunner {
 public:
  TokenMoves(const TaskBlock& block, std::span<const BlockOperand> in)
      : inputs_(block.branches), outputs_(block.out_clusters()), bytes_(value_type(block).bytes()) {
    range_ = in[0].range;
    for (std::size_t i = 1; i < inputs_; ++i)
      range_ = {std::min(range_.least, in[i].range.least), std::max(range_.most, in[i].range.most)};
    range_ = {std::min<std::int64_t>(0, range_.least), std::max<std::int64_t>(0, range_.most)};  // before anything came
  }

  BlockRun run(const BlockArgs& args) override {
    const std::byte* token = args.in[inputs_];
    for (std::size_t column = 0; column < outputs_; ++column) {
      std::size_t row = 0;
      while (row < inputs_ && !lets_through(token, outputs_, row, column)) ++row;
      if (row < inputs_) std::memcpy(args.out + column * bytes_, args.in[row], bytes_);
      if (!args.gives.empty()) args.gives[column] = row < inputs_;
    }
    return {};
  }

 private:
  std::size_t inputs_, outputs_, bytes_;
};

std::string wants(const TaskBlock& block, std::span<const std::byte* const> in, std::span<std::uint8_t> wanted) {
  const std::size_t inputs = block.branches, outputs = block.out_clusters();
  const std::byte* token = in[inputs];
  for (std::size_t place = 0; place < inputs * outputs; ++place)
    if (token[place] > std::byte{1})
      return fmt::format("its token has a {} at [{}, {}], where 0 or 1 stands", std::to_integer<int>(token[place]),
                         place / outputs, place % outputs);
  std::fill(wanted.begin(), wanted.end(), block.attribute("ports") == 0);
  wanted[inputs] = 1;
  for (std::size_t column = 0; column < outputs; ++column) {
    std::size_t taken = inputs;
    for (std::size_t row = 0; row < inputs; ++row) {
      if (!lets_through(token, outputs, row, column)) continue;
      if (taken < inputs)
        return fmt::format("its token sends inputs {} and {} to output {}", taken + 1, row + 1, column + 1);
      taken = row;
      wanted[row] = 1;
    }
  }
  return {};
}

bool holds(std::int64_t compare, std::int64_t a, std::int64_t b) {
  const bool found[] = {a > b, a >= b, a < b, a <= b, a == b, a != b};
  return found[compare];
}

class SumTests final : public BlockRunner {
 public:
  SumTests(const TaskBlock& block, std::span<const BlockOperand> in)
      : values_(std::max<std::int64_t>(1, block.shape.f)),
        rows_(std::max<std::int64_t>(1, block.shape.y)),
        columns_(std::max<std::int64_t>(1, block.shape.x)),
        compare_(block.attribute("compare")),
        cmp_(block.attribute("cmp")),
        in_(in[0].type.precision) {
    range_ = {0, 1};
  }

  BlockRun run(const BlockArgs& args) override {
    std::int64_t sum = 0;
    BlockRun result;
    for (std::int64_t i = 0; i < values_; ++i) {
      const std::int64_t next = sum + element(in_, args.in[0], i);
      sum = cut_32(next);
      result.saturations += sum != next ? 1 : 0;
    }
    const bool yes = holds(compare_, sum, cmp_);
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t column = 0; column < columns_; ++column)
        args.out[row * columns_ + column] = std::byte{yes ? row == column : row + column == 1};
    return result;
  }

 private:
  std::int64_t values_, rows_, columns_, compare_, cmp_;
  Precision in_;
};

}  // namespace

constinit const BlockNumerics token_moves{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode) -> std::unique_ptr<BlockRunner> {
      return std::make_unique<TokenMoves>(block, in);
    }};
constinit const BlockControl token_choice{wants};
constinit const BlockNumerics sum_tests{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode) -> std::unique_ptr<BlockRunner> {
      return std::make_unique<SumTests>(block, in);
    }};

}  // namespace taskspec::block_parts
