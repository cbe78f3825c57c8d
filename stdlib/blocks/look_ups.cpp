// CLUT: a table read by values, negative ones counted from its end.
#include <algorithm>
#include <cstring>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"

namespace taskspec::block_parts {

namespace {

constexpr std::int64_t at_once = 2048;  // addresses between the two loops: they stay in the first cache

// Addresses, cut to what the table holds: a loop without memory accesses that depend on data, which vectorises.
template <class X>
TASKSPEC_CLONES std::int64_t find_addresses(const X* x, std::int64_t count, int shift, std::int32_t half,
                                            std::uint16_t* to) {
  std::int32_t cuts = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t shifted = static_cast<std::int32_t>(x[i]) >> shift;
    const std::int32_t above = shifted < -half ? -half : shifted;
    const std::int32_t cut = above > half - 1 ? half - 1 : above;
    cuts += cut != shifted ? 1 : 0;
    to[i] = static_cast<std::uint16_t>(cut & (2 * half - 1));
  }
  return cuts;
}

// Eight at a time: bytes go to memory as one word, since a processor stores one word per clock or two, however short.
template <class T, class Address>
void read_table(const T* table, const Address* at, std::int64_t count, T* out) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    if constexpr (sizeof(T) == 1) {
      std::uint64_t word = 0;
      for (int k = 0; k < 8; ++k) word |= std::uint64_t{static_cast<std::uint8_t>(table[at[i + k]])} << 8 * k;
      std::memcpy(out + i, &word, sizeof word);
    } else {
      for (int k = 0; k < 8; ++k) out[i + k] = table[at[i + k]];
    }
  }
  for (; i < count; ++i) out[i] = table[at[i]];
}

template <class T, class X>
class LookUps final : public BlockRunner {
 public:
  LookUps(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode)
      : count_(in[0].type.elements()),
        half_(static_cast<std::int32_t>(std::int64_t{1} << (block.attribute("lut_dw") - 1))),
        // Bytes of a table of 256 are addresses as they are; the reference program never shifts.
        shift_(mode == BlockMode::rabbit || (sizeof(X) == 1 && half_ == 128)
                   ? 0
                   : static_cast<int>(block.attribute("shift")) / 2 * 2) {
    scratch_ = at_once * sizeof(std::uint16_t);
    range_ = in[1].fixed ? range_of(block.precision, in[1].fixed, 2 * std::int64_t{half_}) : in[1].range;
  }

  BlockRun run(const BlockArgs& args) override {
    const X* x = reinterpret_cast<const X*>(args.in[0]);
    const T* table = reinterpret_cast<const T*>(args.in[1]);
    T* out = reinterpret_cast<T*>(args.out);
    auto* addresses = reinterpret_cast<std::uint16_t*>(args.scratch);
    BlockRun result;
    if (sizeof(X) == 1 && half_ == 128) {  // every byte is an address
      read_table(table, reinterpret_cast<const std::uint8_t*>(x), count_, out);
      return result;
    }
    for (std::int64_t i = 0; i < count_; i += at_once) {
      const std::int64_t some = std::min(at_once, count_ - i);
      result.saturations += find_addresses(x + i, some, shift_, half_, addresses);
      read_table(table, addresses, some, out + i);
    }
    return result;
  }

 private:
  std::int64_t count_;
  std::int32_t half_;
  int shift_;
};

template <class T>
std::unique_ptr<BlockRunner> look_ups(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) {
  if (info(in[0].type.precision).bytes == 1) return std::make_unique<LookUps<T, std::int8_t>>(block, in, mode);
  return std::make_unique<LookUps<T, std::int32_t>>(block, in, mode);
}

}  // namespace

constinit const BlockNumerics table_look_up{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) -> std::unique_ptr<BlockRunner> {
      return block.precision == Precision::i8 ? look_ups<std::int8_t>(block, in, mode)
                                              : look_ups<std::int32_t>(block, in, mode);
    }};

}  // namespace taskspec::block_parts
