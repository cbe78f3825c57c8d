#include "ir/blocks/cost.hpp"

#include <algorithm>
#include <cstring>

namespace taskspec {

std::int64_t packed_bits(Precision precision) {
  if (precision == Precision::tern) return 2;
  if (precision == Precision::u4) return 4;
  return 8 * info(precision).bytes;
}

namespace {

std::int64_t dense_bytes(const TaskBlock& block) {
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

std::int64_t place_bits(std::int64_t elements) { return elements <= 65536 ? 16 : 32; }

}  // namespace

StoredForm stored_form(const TaskBlock& block) {
  return block.has("sparse") ? static_cast<StoredForm>(block.attribute("sparse")) : StoredForm::dense;
}

std::int64_t nonzeros_of(const Array& array) {
  std::int64_t found = 0;
  const std::size_t element = info(array.precision()).bytes;
  constexpr std::byte zero[8] = {};
  for (std::int64_t i = 0; i < array.elements(); ++i)
    found += std::memcmp(array.raw() + static_cast<std::size_t>(i) * element, zero, element) != 0 ? 1 : 0;
  return found;
}

std::int64_t stored_bytes(const TaskBlock& block, std::int64_t nonzeros) {
  const StoredForm form = stored_form(block);
  if (form == StoredForm::dense) return dense_bytes(block);
  const std::int64_t elements = value_type(block).elements(), bits = packed_bits(block.precision);
  const std::int64_t all =
      form == StoredForm::bitmap ? elements + nonzeros * bits : nonzeros * (bits + place_bits(elements));
  return (all + 31) / 32 * 4;  // words
}

std::int64_t stored_bytes(const TaskBlock& block) {
  if (stored_form(block) == StoredForm::dense) return dense_bytes(block);
  const std::int64_t elements = value_type(block).elements();
  const bool is_known = block.data && block.data->valid();
  return stored_bytes(block, is_known ? nonzeros_of(*block.data) : elements * block.attribute("occupancy") / 1000);
}

double break_even_density(const TaskBlock& block) {
  const StoredForm form = stored_form(block);
  if (form == StoredForm::dense) return 1;
  const auto elements = static_cast<double>(value_type(block).elements());
  const auto bits = static_cast<double>(packed_bits(block.precision)),
             dense = 8.0 * static_cast<double>(dense_bytes(block));
  const double density =
      form == StoredForm::bitmap
          ? (dense - elements) / (elements * bits)
          : dense / (elements * (bits + static_cast<double>(place_bits(value_type(block).elements()))));
  return std::clamp(density, 0.0, 1.0);
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
