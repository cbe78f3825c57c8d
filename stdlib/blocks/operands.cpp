#include "stdlib/blocks/operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec::block_parts {

namespace {

template <class F>
decltype(auto) with_integers(Precision precision, F&& f) {
  switch (precision) {
    case Precision::tern:
    case Precision::i8:
      return f(std::int8_t{});
    case Precision::boolean:
    case Precision::u4:
    case Precision::u8:
      return f(std::uint8_t{});
    case Precision::i9:
    case Precision::i16:
      return f(std::int16_t{});
    case Precision::u16:
      return f(std::uint16_t{});
    case Precision::i28:
    case Precision::i32:
      return f(std::int32_t{});
    default:
      bug(fmt::format("a block that computes with {}", info(precision).name));
  }
}

}  // namespace

const std::int32_t* widened(Precision precision, const std::byte* data, std::int64_t count, std::int32_t* to) {
  return with_integers(precision, [&](auto zero) -> const std::int32_t* {
    using T = decltype(zero);
    const T* from = reinterpret_cast<const T*>(data);
    if constexpr (std::is_same_v<T, std::int32_t>) return from;
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
    return to;
  });
}

std::int64_t element(Precision precision, const std::byte* data, std::int64_t place) {
  return with_integers(precision, [&](auto zero) {
    return static_cast<std::int64_t>(reinterpret_cast<const decltype(zero)*>(data)[place]);
  });
}

void narrowed(Precision precision, const std::int32_t* from, std::int64_t count, std::byte* to) {
  with_integers(precision, [&](auto zero) {
    using T = decltype(zero);
    T* out = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(from[i]);
  });
}

bool is_wide(Precision precision) { return info(precision).bytes > 2 || precision == Precision::u16; }

BlockBias::BlockBias(const TaskBlock& block, std::span<const BlockOperand> in, std::size_t position, BlockMode mode,
                     bool constant)
    : position_(position), is_vector_(block.bias == BiasKind::vector && position < in.size() && in[position].there) {
  // The reference program ignores a constant bias.
  const bool is_one = block.bias == BiasKind::constant && constant && mode == BlockMode::chip;
  const std::int64_t outputs = std::max<std::int64_t>(1, block.shape.f);
  values_.assign(static_cast<std::size_t>(outputs),
                 is_one ? static_cast<std::int32_t>(block.attribute("constant_b")) : 0);
  if (!is_vector_) {
    range_ = {values_[0], values_[0]};
    return;
  }
  is_fixed_ = in[position].fixed != nullptr;
  range_ = in[position].range;
  precision_ = in[position].type.precision;
  if (!is_fixed_) return;
  const std::int32_t* fixed = widened(in[position].type.precision, in[position].fixed, outputs, values_.data());
  if (fixed != values_.data()) std::copy_n(fixed, outputs, values_.data());
}

const std::int32_t* BlockBias::at(std::span<const std::byte* const> in) {
  if (is_fixed_) return values_.data();
  return widened(precision_, in[position_], static_cast<std::int64_t>(values_.size()), values_.data());
}

std::string failed_proof(std::int64_t bound, std::int64_t output, const std::string& formula) {
  return fmt::format("a sum may reach {} (output {}): {} is not below 2^31", bound, output, formula);
}

}  // namespace taskspec::block_parts
