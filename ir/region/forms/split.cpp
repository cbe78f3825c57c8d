#include "ir/region/forms/split.hpp"

#include "ir/base/key.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {

namespace {
__extension__ using Wide = __int128;
}

std::int64_t Shares::begin(std::int64_t share) const {
  return static_cast<std::int64_t>(Wide{share} * things / shares);
}

// The last share that begins at or before the thing: of shares without things the one behind them.
std::int64_t Shares::of(std::int64_t thing) const {
  return static_cast<std::int64_t>(((Wide{thing} + 1) * shares - 1) / things);
}

std::optional<std::int64_t> Shares::middle(std::int64_t lo, std::int64_t hi) const {
  if (lo < 0) lo = 0;
  if (hi > things) hi = things;
  if (hi - lo < 2) return std::nullopt;
  const std::int64_t first = of(lo), last = of(hi - 1);
  if (first == last) return std::nullopt;
  return begin(first + (last - first + 1) / 2);
}

BlocksForm::BlocksForm(const Rect& rect, const Point& counts, std::uint8_t colour_rank)
    : rect_(rect), counts_(counts), colour_rank_(colour_rank) {
  for (std::size_t axis = counts_.rank; axis < rect_.rank; ++axis) counts_.at[axis] = 1;
}

IndexSpace BlocksForm::piece(const RegionForest&, const Point& colour) const {
  Rect made = rect_;
  for (std::size_t axis = 0; axis < colour_rank_; ++axis) {
    const Shares shares = along(axis);
    made.lo[axis] = rect_.lo[axis] + shares.begin(colour.at[axis]);
    made.hi[axis] = rect_.lo[axis] + shares.begin(colour.at[axis] + 1);
  }
  return made;
}

bool BlocksForm::touching(const RegionForest&, const IndexSpace& points, FunctionRef<bool(const Rect&)> visit) const {
  const Rect box = intersect(points.rect(), rect_);
  if (points.empty() || box.empty()) return true;
  Rect colours{{}, {}, colour_rank_};
  for (std::size_t axis = 0; axis < colour_rank_; ++axis) {
    const Shares shares = along(axis);
    colours.lo[axis] = shares.of(box.lo[axis] - rect_.lo[axis]);
    colours.hi[axis] = shares.of(box.hi[axis] - 1 - rect_.lo[axis]) + 1;
  }
  return visit(colours);
}

std::optional<std::int64_t> BlocksForm::middle(const RegionForest&, const Rect& box, std::size_t axis) const {
  if (rect_.empty()) return std::nullopt;
  const std::int64_t base = rect_.lo[axis];
  const auto found = along(axis).middle(box.lo[axis] - base, box.hi[axis] - base);
  if (!found) return std::nullopt;
  return base + *found;
}

IndexSpace SparseBlocksForm::piece(const RegionForest&, const Point& colour) const {
  return {root_, points_.ranked(shares_.begin(colour.at[0]), shares_.begin(colour.at[0] + 1))};
}

bool SparseBlocksForm::touching(const RegionForest&, const IndexSpace& points,
                                FunctionRef<bool(const Rect&)> visit) const {
  const Run run = points.bounds(root_);
  const std::int64_t first = points_.rank_of(run.lo), behind = points_.rank_of(run.hi);
  if (first >= behind) return true;
  return visit({{shares_.of(first)}, {shares_.of(behind - 1) + 1}, 1});
}

std::optional<std::int64_t> SparseBlocksForm::middle(const RegionForest&, const Rect& box, std::size_t axis) const {
  if (axis != 0 || root_.rank != 1) return std::nullopt;
  const auto found = shares_.middle(points_.rank_of(box.lo[0]), points_.rank_of(box.hi[0]));
  if (!found) return std::nullopt;
  const std::int64_t point = points_.nth(*found);
  return point > box.lo[0] ? std::optional(point) : std::nullopt;
}

void BlocksForm::put_key(std::string& key, const RegionForest&) const {
  key += 'b';
  put_rect(key, rect_);
  put_point(key, counts_);
  put_number(key, colour_rank_);
}

void SparseBlocksForm::put_key(std::string& key, const RegionForest&) const {
  key += 'r';
  put_space(key, IndexSpace(root_, points_));
  put_signed(key, shares_.shares);
}

}  // namespace taskspec
