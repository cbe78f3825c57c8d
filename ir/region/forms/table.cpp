#include "ir/region/forms/table.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"
#include "ir/base/key.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {

TableForm::TableForm(const Rect& root, const Rect& colours, std::vector<IndexSpace> pieces, std::int64_t parent_size)
    : root_(root), colours_(colours), pieces_(std::move(pieces)) {
  std::vector<ColourRun> runs;
  for (std::size_t colour = 0; colour < pieces_.size(); ++colour)
    pieces_[colour].runs(root, [&](Run run) { runs.push_back({run, static_cast<std::int64_t>(colour)}); });
  index_ = RunIndex(std::move(runs));
  disjoint_ = index_.elements() == index_.covered();
  complete_ = index_.covered() == parent_size;
}

bool TableForm::touching(const RegionForest&, const IndexSpace& points, FunctionRef<bool(const Rect&)> visit) const {
  return index_.each_between(points.bounds(root_),
                             [&](const ColourRun& one) { return visit(Rect::at(colours_.point(one.colour))); });
}

void TableForm::meeting(const RegionForest&, const Partition&, const IndexSpace& points, Meets visit) const {
  std::vector<ColourRun> found;
  index_.each_in(points.as_intervals(root_), [&](const ColourRun& one) { found.push_back(one); });
  visit_by_colour(root_, colours_, std::move(found), visit);
}

std::optional<std::int64_t> TableForm::middle(const RegionForest&, const Rect& box, std::size_t axis) const {
  if (axis != 0) return std::nullopt;
  Rect stride = root_;  // points of one coordinate of the first axis
  stride.hi[0] = stride.lo[0] + 1;
  const std::int64_t size = stride.size();
  auto begin_at = [&](std::int64_t coordinate) {
    return std::ranges::partition_point(index_.runs(),
                                        [&](const ColourRun& one) { return one.run.lo / size < coordinate; });
  };
  if (size == 0) return std::nullopt;
  const auto first = begin_at(box.lo[0] + 1), behind = begin_at(box.hi[0]);
  if (first == behind) return std::nullopt;
  return (first + (behind - first) / 2)->run.lo / size;
}

void TableForm::put_key(std::string& key, const RegionForest&) const {
  key += 't';
  std::string pieces;
  for (const IndexSpace& piece : pieces_) put_space(pieces, piece);
  put_hash(key, hash128(pieces));
}

std::size_t TableForm::bytes() const {
  std::size_t bytes = sizeof(*this) + pieces_.capacity() * sizeof(IndexSpace) + index_.bytes();
  for (const IndexSpace& piece : pieces_) bytes += piece.intervals().runs().size() * (sizeof(Run) + 8);
  return bytes;
}

void check_table_size(std::int64_t pieces, Span span) {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  if (pieces > most)
    throw failure("E5008", span,
                  std::to_string(pieces) + " pieces cannot be kept one by one, at most " + std::to_string(most) +
                      "; pieces of blocks, halo, shrink and of & between them are formulas and take no memory");
}

}  // namespace taskspec
