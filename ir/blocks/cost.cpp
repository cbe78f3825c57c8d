#include "ir/blocks/cost.hpp"

namespace taskspec {

std::int64_t packed_bits(Precision precision) {
  if (precision == Precision::tern) return 2;
  if (precision == Precision::u4) return 4;
  return 8 * info(precision).bytes;
}

std::int64_t stored_bytes(const TaskBlock& block) {
  const BlockCost& cost = *block.def->cost;
  if (cost.alignment == 0) return 0;
  const ArrayType type = value_type(block);
  const std::int64_t bits = packed_bits(type.precision), line = block.shape[cost.aligned];
  if (line == 0) return 0;
  const bool is_wide = bits == 32 && cost.wide_alignment != 0;
  const std::int64_t step = (is_wide ? cost.wide_alignment : cost.alignment) * 8;  // in bits
  const std::int64_t bytes = type.elements() / line * ((line * bits + step - 1) / step * step / 8);
  const std::int64_t rows = block.shape.y;
  return block.pipeline && *block.pipeline > 0 && rows > 0 ? bytes / rows * *block.pipeline : bytes;
}

std::int64_t multiply_adds(const TaskBlock& block) {
  const BlockCost& cost = *block.def->cost;
  return cost.multiply_adds ? cost.multiply_adds(block) : 0;
}

std::int64_t operations(const TaskBlock& block) {
  const BlockCost& cost = *block.def->cost;
  return cost.operations ? cost.operations(block) : 0;
}

std::int64_t cycles(const TaskBlock& block, const BlockUse& use, const CycleFigures& figures) {
  const BlockCost& cost = *block.def->cost;
  return cost.cycles ? figures.start + cost.cycles(block, use, figures) : 0;
}

PortBytes port_bytes(const TaskBlock& block, const BlockUse& use, const CycleFigures& figures) {
  const BlockCost& cost = *block.def->cost;
  return cost.port_bytes ? cost.port_bytes(block, use, figures) : PortBytes{};
}

}  // namespace taskspec
