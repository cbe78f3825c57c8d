#include "hwsim/map/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/blocks/cut_out.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_grids = 64;

const TaskBlock& block_of(const ChipNet& net, std::size_t work) { return (*net.graph)[net.works[work].block]; }

// The soma reads exactly what the axon makes, place by place, and nobody else does.
bool is_pair(const ChipNet& net, std::size_t axon, std::size_t soma) {
  if (block_of(net, axon).def->kind != BlockKind::axon || block_of(net, soma).def->kind != BlockKind::soma)
    return false;
  const NetCluster& read = net.works[soma].in[0];
  const BlockId made = net.works[axon].block;
  if (read.sources.size() != 1 || read.sources[0].block != made || read.sources[0].delay != 0) return false;
  if (read.type.extents != value_type(block_of(net, axon)).extents) return false;
  for (std::size_t i = 0; i < read.places.size() && !read.places.is_identity(); ++i)
    if (read.places[i].source != 0 || read.places[i].place != static_cast<std::int32_t>(i)) return false;
  auto reads = [&](const NetCluster& cluster) {
    return std::ranges::any_of(cluster.sources, [&](const NetSource& source) { return source.block == made; });
  };
  std::size_t readers = 0;
  for (const NetWork& work : net.works) readers += static_cast<std::size_t>(std::ranges::count_if(work.in, reads));
  for (const NetOutput& output : net.outputs) readers += reads(output.in) ? 1 : 0;
  return readers == 1;
}

void move_by(Box& box, const Box& outer) {
  for (std::size_t i = 0; i < box.position.size(); ++i) box.position[i] += outer.position[i];
}

BlockPart all_of(const TaskBlock& block) {
  BlockPart all{.block = block, .in = {}, .out = whole(value_type(block).extents)};
  for (std::size_t i = 0; i < block.in_clusters(); ++i)
    all.in.push_back(whole(cluster_extents(block, block.in_cluster(i))));
  return all;
}

// Of a part, what lies in [begin, end) of one of its axes.
Result<BlockPart> slice(const BlockPart& part, BlockAxis axis, std::int64_t begin, std::int64_t end) {
  const std::int64_t extent = std::max<std::int64_t>(1, part.block.shape[axis]);
  if (begin == 0 && end == extent) return part;
  if (begin < 0 || begin >= end || end > extent) {
    Diags diags;
    diags.error("E4002", part.block.span,
                fmt::format("{} '{}' has no part {}..{} along {}", part.block.def->name, part.block.name, begin, end,
                            text(axis)));
    return diags;
  }
  Result<BlockPart> found = cut_out(part.block, axis, begin, end);
  if (!found) return found;
  BlockPart cut = *std::move(found);
  for (std::size_t i = 0; i < cut.in.size(); ++i) move_by(cut.in[i], part.in[i]);
  move_by(cut.out, part.out);
  return cut;
}

struct PieceRange {
  std::int64_t begin = 0, end = 0;
};

// As even as steps allow.
std::vector<PieceRange> even_ranges(std::int64_t extent, std::int64_t parts, std::int64_t step) {
  extent = std::max<std::int64_t>(1, extent);
  const std::int64_t steps = (extent + step - 1) / step;
  std::vector<PieceRange> ranges;
  for (std::int64_t i = 0, begin = 0; i < parts; ++i) {
    const std::int64_t end = std::min(extent, (i + 1) * steps / parts * step);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

// The first one, the last one, the largest of those between: no other reads or makes more.
std::vector<PieceRange> worst_of(const std::vector<PieceRange>& all) {
  if (all.size() < 4) return all;
  PieceRange most = all[all.size() / 2];
  for (std::size_t i = 1; i + 1 < all.size(); ++i)
    if (all[i].end - all[i].begin > most.end - most.begin) most = all[i];
  return {all.front(), most, all.back()};
}

// Ranges by axis of an array: y, x, f, as far as it has them.
Result<BlockPart> slice_all(BlockPart part, const std::array<PieceRange, 3>& ranges) {
  constexpr BlockAxis axes[] = {BlockAxis::y, BlockAxis::x, BlockAxis::f};
  for (std::size_t i = 0; i < 3; ++i) {
    Result<BlockPart> cut = slice(part, axes[i], ranges[i].begin, ranges[i].end);
    if (!cut) return cut.diags();
    part = *std::move(cut);
  }
  return part;
}

// Both blocks of a unit cut along one axis; the axon makes the sums that the soma reads there.
class UnitSlicer {
 public:
  UnitSlicer(const ChipNet& net, const ChipUnit& unit) : net_(net), unit_(unit) {}

  UnitPiece whole() const {
    UnitPiece all;
    if (unit_.axon != no_work) all.axon = all_of(block_of(net_, unit_.axon));
    if (unit_.soma != no_work) all.soma = all_of(block_of(net_, unit_.soma));
    return all;
  }

  Result<UnitPiece> cut(const UnitPiece& piece, BlockAxis axis, const PieceRange& range) const {
    UnitPiece made;
    const bool is_pair = piece.axon && piece.soma;
    PieceRange sums = range;
    if (is_pair && axis != BlockAxis::f) {
      const std::int64_t extent = std::max<std::int64_t>(1, block_of(net_, unit_.axon).shape[axis]);
      const SumRange read = sums_of_rows(window_of(block_of(net_, unit_.soma), axis), range.begin, range.end, extent);
      sums = {read.begin, read.end};
    }
    if (piece.axon) {
      Result<BlockPart> axon = slice(*piece.axon, axis, sums.begin, sums.end);
      if (!axon) return axon.diags();
      made.axon = *std::move(axon);
    }
    if (piece.soma) {
      Result<BlockPart> soma = slice(*piece.soma, axis, range.begin, range.end);
      if (!soma) return soma.diags();
      made.soma = *std::move(soma);
    }
    return made;
  }

 private:
  const ChipNet& net_;
  const ChipUnit& unit_;
};

}  // namespace

SumRange sums_of_rows(const BlockWindow& window, std::int64_t begin, std::int64_t end, std::int64_t extent) {
  auto first = [&](std::int64_t row) {
    return std::clamp<std::int64_t>(row * window.stride - window.before, 0, extent);
  };
  auto behind = [&](std::int64_t row) {
    return std::clamp<std::int64_t>((row - 1) * window.stride - window.before + window.reach(), 0, extent);
  };
  return {begin == 0 ? 0 : std::min(first(begin), behind(begin)), end == window.out ? extent : behind(end)};
}

std::vector<ChipUnit> units_of(const ChipNet& net) {
  std::vector<ChipUnit> units;
  std::vector<bool> is_taken(net.works.size());
  for (std::size_t i = 0; i < net.works.size(); ++i) {
    if (is_taken[i]) continue;
    const TaskBlock& block = block_of(net, i);
    ChipUnit unit{.name = block.name};
    if (block.def->kind == BlockKind::soma) {
      unit.soma = i;
    } else {
      unit.axon = i;
      for (std::size_t k = i + 1; k < net.works.size() && unit.soma == no_work; ++k)
        if (!is_taken[k] && is_pair(net, i, k)) unit.soma = k;
      if (unit.soma != no_work) is_taken[unit.soma] = true;
    }
    units.push_back(std::move(unit));
  }
  // A pair stands where its soma stood: behind all that this reads.
  std::ranges::stable_sort(units, {}, &ChipUnit::last);
  return units;
}

std::string PieceGrid::text() const { return fmt::format("{} x {} x {}", y, x, f); }

Result<std::vector<UnitPiece>> cut_unit(const ChipNet& net, const ChipUnit& unit, const PieceGrid& grid,
                                        bool only_worst) {
  const TaskBlock& last = block_of(net, unit.last());
  std::array<std::vector<PieceRange>, 3> ranges{even_ranges(last.shape.y, grid.y, 1),
                                                even_ranges(last.shape.x, grid.x, column_group),
                                                even_ranges(last.shape.f, grid.f, feature_group)};
  if (only_worst)
    for (std::vector<PieceRange>& axis : ranges) axis = worst_of(axis);
  const UnitSlicer slicer(net, unit);
  std::vector<UnitPiece> pieces{slicer.whole()};
  for (std::size_t i = 0; i < 3; ++i) {
    constexpr BlockAxis axes[] = {BlockAxis::y, BlockAxis::x, BlockAxis::f};
    std::vector<UnitPiece> cut;
    for (const UnitPiece& piece : pieces)
      for (const PieceRange& range : ranges[i]) {
        Result<UnitPiece> part = slicer.cut(piece, axes[i], range);
        if (!part) return part.diags();
        cut.push_back(*std::move(part));
      }
    pieces = std::move(cut);
  }
  return pieces;
}

Result<UnitPiece> rows_of(const UnitPiece& piece, std::int64_t begin, std::int64_t end) {
  UnitPiece rows;
  const BlockPart& last = piece.last();
  Result<BlockPart> part = slice(last, BlockAxis::y, begin, end);
  if (!part) return part.diags();
  (piece.soma ? rows.soma : rows.axon) = *std::move(part);
  if (!piece.soma || !piece.axon) return rows;
  const BlockWindow window = window_of(last.block, BlockAxis::y);
  const std::int64_t sums = piece.axon->out.size[0];
  const SumRange range = sums_of_rows(window, begin, end, sums);
  Result<BlockPart> axon = slice(*piece.axon, BlockAxis::y, range.begin, range.end);
  if (!axon) return axon.diags();
  rows.axon = *std::move(axon);
  return rows;
}

Result<BlockPart> part_making(const TaskBlock& block, const Box& out) {
  const std::size_t rank = out.size.size();
  std::array<PieceRange, 3> ranges;
  for (std::size_t i = 0; i < 3; ++i) {
    constexpr BlockAxis axes[] = {BlockAxis::y, BlockAxis::x, BlockAxis::f};
    ranges[i] = {0, std::max<std::int64_t>(1, block.shape[axes[i]])};
    if (i + rank >= 3) ranges[i] = {out.position[i + rank - 3], out.position[i + rank - 3] + out.size[i + rank - 3]};
  }
  return slice_all(all_of(block), ranges);
}

std::vector<PieceGrid> grids_of(const ChipNet& net, const ChipUnit& unit, bool cuts_rows) {
  const TaskBlock& last = block_of(net, unit.last());
  auto counts = [](std::int64_t extent, std::int64_t step) {
    std::vector<std::int64_t> list;
    const std::int64_t most = std::max<std::int64_t>(1, (extent + step - 1) / step);
    for (std::int64_t n = 1; n <= most; n = n < 4 ? n + 1 : n + n / 2) list.push_back(n);
    if (list.back() != most) list.push_back(most);
    return list;
  };
  std::vector<PieceGrid> grids;
  for (std::int64_t f : counts(last.shape.f, feature_group))
    for (std::int64_t y : counts(cuts_rows ? last.shape.y : 1, 1))
      for (std::int64_t x : counts(last.shape.x, column_group)) grids.push_back({y, x, f});
  std::ranges::stable_sort(grids, {}, [](const PieceGrid& g) { return std::tuple(g.pieces(), g.x, g.y); });
  // Of equal counts the least cut in columns, which cost windows on two sides, is enough when there are too many.
  if (grids.size() > most_grids && cuts_rows) {
    std::vector<PieceGrid> few;
    for (const PieceGrid& grid : grids)
      if (few.empty() || few.back().pieces() != grid.pieces()) few.push_back(grid);
    grids = std::move(few);
  }
  if (grids.size() > most_grids) grids.resize(most_grids);
  return grids;
}

}  // namespace taskspec
