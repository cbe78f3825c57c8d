#include "hwsim/map/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace taskspec {

namespace {

constexpr std::int64_t feature_group = 32, column_group = 4;  // what the units compute side by side
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

Extents even_sizes(std::int64_t extent, std::int64_t parts, std::int64_t step) {
  const std::int64_t steps = (extent + step - 1) / step;
  Extents sizes;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t end = std::min(extent, (i + 1) * steps / parts * step);
    sizes.push_back(end - begin);
    begin = end;
  }
  return sizes;
}

void move_by(Box& box, const Box& outer) {
  for (std::size_t i = 0; i < box.position.size(); ++i) box.position[i] += outer.position[i];
}

// Each part in turn is cut along one more axis.
Result<std::vector<BlockPart>> cut_along(std::vector<BlockPart> parts, BlockAxis axis, const Extents& sizes) {
  if (sizes.size() == 1) return parts;
  std::vector<BlockPart> made;
  for (const BlockPart& part : parts) {
    Result<std::vector<BlockPart>> cuts = split(part.block, axis, sizes);
    if (!cuts) return cuts.diags();
    for (BlockPart& cut : *cuts) {
      for (std::size_t i = 0; i < cut.in.size(); ++i) move_by(cut.in[i], part.in[i]);
      move_by(cut.out, part.out);
      made.push_back(std::move(cut));
    }
  }
  return made;
}

BlockPart all_of(const TaskBlock& block) {
  BlockPart all{.block = block, .in = {}, .out = whole(value_type(block).extents)};
  for (std::size_t i = 0; i < block.in_clusters(); ++i)
    all.in.push_back(whole(cluster_extents(block, block.in_cluster(i))));
  return all;
}

struct CutSizes {
  Extents y, x, f;
};

Result<std::vector<BlockPart>> cut_block(const TaskBlock& block, const CutSizes& sizes) {
  std::vector<BlockPart> parts{all_of(block)};
  for (auto [axis, list] : {std::pair{BlockAxis::y, &sizes.y}, {BlockAxis::x, &sizes.x}, {BlockAxis::f, &sizes.f}}) {
    Result<std::vector<BlockPart>> made = cut_along(std::move(parts), axis, *list);
    if (!made) return made.diags();
    parts = *std::move(made);
  }
  return parts;
}

// Of a part, what lies in [begin, end) of one of its axes.
Result<BlockPart> slice(const BlockPart& part, BlockAxis axis, std::int64_t begin, std::int64_t end) {
  const std::int64_t extent = std::max<std::int64_t>(1, part.block.shape[axis]);
  if (begin == 0 && end == extent) return part;
  Extents sizes;
  for (std::int64_t size : {begin, end - begin, extent - end})
    if (size > 0) sizes.push_back(size);
  Result<std::vector<BlockPart>> cuts = split(part.block, axis, sizes);
  if (!cuts) return cuts.diags();
  BlockPart cut = std::move((*cuts)[begin > 0 ? 1 : 0]);
  for (std::size_t i = 0; i < cut.in.size(); ++i) move_by(cut.in[i], part.in[i]);
  move_by(cut.out, part.out);
  return cut;
}

// The sums that an axon makes for a part of its soma, along one axis: those that its windows read, and those before
// them that no window reads. Where windows of neighbours overlap, both make the sums that they share.
std::vector<SumRange> sums_for(const std::vector<BlockPart>& parts, std::size_t i, std::int64_t extent) {
  std::map<std::int64_t, std::int64_t> ends;  // of windows, by where parts begin
  for (const BlockPart& part : parts)
    ends[part.out.position[i]] = part.in[0].position[i] + part.in[0].size[i];
  std::vector<SumRange> ranges;
  for (const BlockPart& part : parts) {
    const auto own = ends.find(part.out.position[i]);
    const std::int64_t before = own == ends.begin() ? 0 : std::prev(own)->second;
    ranges.push_back({std::min(part.in[0].position[i], before), std::next(own) == ends.end() ? extent : own->second});
  }
  return ranges;
}

}  // namespace

SumRange sums_of_rows(const BlockWindow& window, std::int64_t begin, std::int64_t end, std::int64_t extent) {
  auto first = [&](std::int64_t row) { return std::clamp<std::int64_t>(row * window.stride - window.before, 0, extent); };
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

Result<std::vector<UnitPiece>> cut_unit(const ChipNet& net, const ChipUnit& unit, const PieceGrid& grid) {
  const TaskBlock& last = block_of(net, unit.last());
  const CutSizes sizes{even_sizes(std::max<std::int64_t>(1, last.shape.y), grid.y, 1),
                       even_sizes(std::max<std::int64_t>(1, last.shape.x), grid.x, column_group),
                       even_sizes(std::max<std::int64_t>(1, last.shape.f), grid.f, feature_group)};
  Result<std::vector<BlockPart>> parts = cut_block(last, sizes);
  if (!parts) return parts.diags();
  std::vector<UnitPiece> pieces(parts->size());
  for (std::size_t i = 0; i < pieces.size(); ++i)
    (unit.soma != no_work ? pieces[i].soma : pieces[i].axon) = (*parts)[i];
  if (unit.soma == no_work || unit.axon == no_work) return pieces;

  const BlockPart axon = all_of(block_of(net, unit.axon));
  const Extents made = axon.out.size;
  std::vector<std::vector<SumRange>> ranges;
  for (std::size_t i = 0; i < made.size(); ++i) ranges.push_back(sums_for(*parts, i, made[i]));
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    BlockPart part = axon;
    for (std::size_t i = 0; i < made.size(); ++i) {
      constexpr BlockAxis from_end[] = {BlockAxis::f, BlockAxis::x, BlockAxis::y};
      Result<BlockPart> cut = slice(part, from_end[made.size() - 1 - i], ranges[i][k].begin, ranges[i][k].end);
      if (!cut) return cut.diags();
      part = *std::move(cut);
    }
    pieces[k].axon = std::move(part);
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
