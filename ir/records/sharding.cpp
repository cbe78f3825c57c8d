#include "ir/records/sharding.hpp"

#include "ir/records/op.hpp"

namespace taskspec {

namespace {

struct Rows {
  std::int64_t begin, end, of;
  std::int64_t share(std::int64_t extent) const { return extent / of * (end - begin); }
};

void cut(std::vector<ArrayType>& tensors, const std::vector<int>& axes, Rows rows) {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] == Split::whole) continue;
    std::int64_t& extent = tensors[k].extents[static_cast<std::size_t>(axes[k])];
    extent = rows.share(extent);
  }
}

}  // namespace

OpInstance block_of(const OpInstance& call, const Split& split, std::int64_t begin, std::int64_t end,
                    std::int64_t rows) {
  OpInstance block = call;
  const Rows taken{begin, end, rows};
  cut(block.in, split.in, taken);
  cut(block.out, split.out, taken);
  if (split.extent == Split::none) return block;
  Value& said = block.attributes[static_cast<std::size_t>(split.extent)];
  if (said.is_type()) {
    const Type& written = said.type().is(Type::Kind::type) ? said.type().parts[0] : said.type();
    if (written.rank() > 0)  // x as f32 says none
      said = Value(Type::of(block.out[0].type()));
  } else if (said.integer() >= 0) {  // -1: what is left
    said = Value(block.out[0].extents[static_cast<std::size_t>(split.out[0])]);
  }
  return block;
}

}  // namespace taskspec
