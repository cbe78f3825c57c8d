#include "stdlib/ops/indexing.hpp"

#include <fmt/format.h>

#include "ir/records/rules.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

AroundAxis around_axis(const ArrayType& x, std::size_t axis, const ArrayType& index) {
  AroundAxis shape{.extent = x.extents[axis], .indices = index.elements()};
  for (std::size_t i = 0; i < axis; ++i) shape.outer *= x.extents[i];
  for (std::size_t i = axis + 1; i < x.extents.size(); ++i) shape.inner *= x.extents[i];
  return shape;
}

IndexReader index_reader(Precision precision) {
  return with_storage(precision, [](auto element) -> IndexReader {
    using T = decltype(element);
    return [](const std::byte* indices, std::int64_t position) {
      return convert<std::int64_t>(reinterpret_cast<const T*>(indices)[position]);
    };
  });
}

std::optional<Fault> index_fault(IndexReader read, const std::byte* indices, const AroundAxis& shape) {
  for (std::int64_t i = 0; i < shape.indices; ++i) {
    std::int64_t index = read(indices, i);
    if (index >= 0 && index < shape.extent) continue;
    const std::string where = shape.indices > 1 ? fmt::format(" at position {}", i) : "";
    return Fault{"E5003", fmt::format("index {}{} is outside 0..{}", index, where, shape.extent)};
  }
  return std::nullopt;
}

const Type& index_operand(RuleContext& ctx, std::string_view symbol, std::size_t operand) {
  const Type& index = tensor_operand(ctx, symbol, operand);
  if (!is_integer(index.precision))
    refuse(ctx, "E2002", fmt::format("an index is an integer tensor, not {}", index.text()), static_cast<int>(operand),
           "convert it with 'as', as in 'i as i64'");
  return index;
}

}  // namespace taskspec
