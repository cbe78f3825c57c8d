// What runners of blocks share: operands as 32-bit integers, biases, and the words of a proof that failed.
#pragma once
#include <string>
#include <vector>

#include "ir/blocks/numerics.hpp"

namespace taskspec::block_parts {

inline constexpr std::int64_t beyond_32 = std::int64_t{1} << 31;

constexpr std::int64_t cut_32(std::int64_t x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x; }
constexpr std::int64_t rounded_up(std::int64_t x, std::int64_t step) { return (x + step - 1) / step * step; }

// Elements of an integer precision of at most 32 bits, widened. Returns `data` itself where they are that wide already.
const std::int32_t* widened(Precision precision, const std::byte* data, std::int64_t count, std::int32_t* to);
// One of them.
std::int64_t element(Precision precision, const std::byte* data, std::int64_t place);
// Values that fit `precision`, or -1 for what is cut off in two's complement.
void narrowed(Precision precision, const std::int32_t* from, std::int64_t count, std::byte* to);
bool is_wide(Precision precision);  // more than 16 bits

// The bias of each output, cluster `position`: a vector, one number where the world of numbers knows it, else zeros.
class BlockBias {
 public:
  // `constant`: whether the block has constant_b at all.
  BlockBias(const TaskBlock& block, std::span<const BlockOperand> in, std::size_t position, BlockMode mode,
            bool constant);
  // As of this run.
  const std::int32_t* at(std::span<const std::byte* const> in);
  ValueRange range() const { return range_; }
  bool is_fixed() const { return is_fixed_; }

 private:
  std::size_t position_;
  Precision precision_ = Precision::i32;
  bool is_vector_, is_fixed_ = true;
  std::vector<std::int32_t> values_;
  ValueRange range_;
};

// "a sum may reach 3000000000 (output 4): |bias| + sum |w| * 255 is not below 2^31"
std::string failed_proof(std::int64_t bound, std::int64_t output, const std::string& formula);

}  // namespace taskspec::block_parts
