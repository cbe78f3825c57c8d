#include "ir/blocks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/base/text.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

namespace {

constexpr std::string_view limit = "an array of a block has from 1 to 2147483647 elements";

std::string described(const TaskBlock& block) { return fmt::format("{} '{}'", block.def->name, block.name); }

bool has_axis(const BlockDef& def, BlockAxis axis) { return std::ranges::find(def.axes, axis) != def.axes.end(); }

// Whether the extents make sense at all: else nothing that is derived from them does.
bool check_shape(const TaskBlock& block, Diags& diags) {
  bool good = true;
  auto refuse = [&](const std::string& what) {
    diags.error("E4001", block.span, described(block) + ": " + what);
    good = false;
  };
  for (std::size_t k = 0; k < block_axes; ++k) {
    const auto axis = static_cast<BlockAxis>(k);
    const std::int64_t extent = block.shape[axis];
    if (extent < 0 || extent > INT32_MAX) refuse(fmt::format("{} is {}, no extent", text(axis), extent));
    if (extent > 0 && !has_axis(*block.def, axis)) {
      std::vector<std::string> axes;
      for (const BlockAxis known : block.def->axes) axes.emplace_back(text(known));
      refuse(fmt::format("it has no extent {}, but {}", text(axis), joined(axes, ", ")));
    }
  }
  if (!good) return false;
  if (value_type(block).extents.empty()) refuse("it has no extents");
  if (places_of(value_type(block).extents) < 1)
    refuse(fmt::format("{} is too large: {}", extents_text(value_type(block).extents), limit));
  for (std::size_t c = 0; good && c < block.in_clusters(); ++c) {
    const Extents extents = cluster_extents(block, block.in_cluster(c));
    if (places_of(extents) < 1)
      refuse(fmt::format("its {} is {}: {}", block.in_cluster_name(c), extents_text(extents), limit));
  }
  return good;
}

void check_attributes(const TaskBlock& block, BlockMode mode, Diags& diags) {
  for (std::size_t i = 0; i < block.attributes.size(); ++i) {
    const auto& [def, value] = block.attributes[i];
    if (value < def->least || value > def->most)
      diags.error(
          "E4001", block.span,
          fmt::format("{}: {} is {}, outside {}..{}", described(block), def->name, value, def->least, def->most));
    for (std::size_t k = 0; k < i; ++k)
      if (block.attributes[k].def == def)
        diags.error("E4001", block.span, fmt::format("{}: {} is given twice", described(block), def->name));
    // Of others than compute blocks nobody reads it.
    if (def->name != "shift" || mode != BlockMode::chip || value % 2 == 0 || !block.def->computes()) continue;
    diags
        .error("E4007", block.span,
               fmt::format("{}: a chip shifts by two bits at a time, and {} is odd", described(block), value))
        .help(fmt::format("a CLUT with lut_dw: 12, shift: {} and the table floor(a / 2) shifts by {} and is exact",
                          value - 1, value));
  }
}

// Precisions that sit in a wider integer of the host can hold too much.
void check_values(const TaskBlock& block, Diags& diags) {
  const PrecisionInfo& precision = info(block.precision);
  const bool is_narrow = block.precision == Precision::tern || block.precision == Precision::u4 ||
                         block.precision == Precision::i9 || block.precision == Precision::i28;
  if (!is_narrow) return;
  for (std::int64_t i = 0; i < block.data->elements(); ++i) {
    const std::int64_t value = block.data->integer(i);
    if (value >= precision.minimum && value <= precision.maximum) continue;
    diags.error("E4006", block.span,
                fmt::format("{}: element {} of its data is {}, outside {}..{} of {}", described(block), i, value,
                            precision.minimum, precision.maximum, precision.name));
    return;
  }
}

void check_data(const TaskBlock& block, Diags& diags) {
  if (!block.data) return;
  if (!block.def->holds()) {
    diags.error("E4006", block.span, described(block) + ": only storage holds data");
  } else if (!block.data->valid()) {
    return;  // it comes with each run: a slot of an `ir` declaration, of the type of the block
  } else if (const ArrayType wanted = value_type(block); block.data->type() != wanted) {
    diags.error(
        "E4006", block.span,
        fmt::format("{}: its data is {}, it holds {}", described(block), block.data->type().text(), wanted.text()));
  } else {
    check_values(block, diags);
  }
}

}  // namespace

void check_block(const TaskBlock& block, BlockMode mode, Diags& diags) {
  check_attributes(block, mode, diags);
  check_data(block, diags);
  if (block.def->check) block.def->check(block, diags);
}

Diags check_blocks(const BlockGraph& graph, const BlockTable& blocks, BlockMode mode) {
  Diags diags;
  std::map<std::string_view, const TaskBlock*> names;
  bool shapes_are_good = true;
  for (const TaskBlock& block : graph.blocks) {
    const auto [first, is_new] = names.emplace(block.name, &block);
    if (!is_new)
      diags.error("E1005", block.span, fmt::format("'{}' is defined twice", block.name))
          .label(first->second->span, "first here");
    // Data that do not fit extents of nonsense would only be said twice.
    if (check_shape(block, diags))
      check_block(block, mode, diags);
    else
      shapes_are_good = false;
  }
  if (shapes_are_good) check_edges(graph, blocks, mode, diags);
  if (Result<std::vector<BlockId>> order = graph.order(); !order) diags.append(order.diags());
  return diags;
}

}  // namespace taskspec
