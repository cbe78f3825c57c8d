#include "ir/region/forms/table.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"
#include "ir/base/key.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {

TableForm::TableForm(const Rect& root, const Rect& colours, std::vector<IndexSpace> pieces, std::int64_t parent_size)
    : root_(root), colours_(colours), pieces_(std::move(pieces)) {
  for (std::size_t colour = 0; colour < pieces_.size(); ++colour)
    pieces_[colour].runs(root, [&](Run run) { index_.push_back({run, 0, static_cast<std::int64_t>(colour)}); });
  std::stable_sort(index_.begin(), index_.end(), [](const Entry& a, const Entry& b) { return a.run.lo < b.run.lo; });
  std::int64_t reach = 0, covered = 0;
  for (Entry& entry : index_) {
    disjoint_ = disjoint_ && entry.run.lo >= reach;
    covered += std::max<std::int64_t>(0, entry.run.hi - std::max(reach, entry.run.lo));
    entry.reach = reach = std::max(reach, entry.run.hi);
  }
  complete_ = covered == parent_size;
}

bool TableForm::touching(const RegionForest&, const IndexSpace& points, FunctionRef<bool(const Rect&)> visit) const {
  const Run near = points.bounds(root_);
  auto entry = std::partition_point(index_.begin(), index_.end(), [&](const Entry& e) { return e.reach <= near.lo; });
  for (; entry != index_.end() && entry->run.lo < near.hi; ++entry)
    if (entry->run.hi > near.lo && !visit(Rect::at(colours_.point(entry->colour)))) return false;
  return true;
}

std::optional<std::int64_t> TableForm::middle(const RegionForest&, const Rect& box, std::size_t axis) const {
  if (axis != 0) return std::nullopt;
  Rect stride = root_;  // points of one coordinate of the first axis
  stride.hi[0] = stride.lo[0] + 1;
  const std::int64_t size = stride.size();
  auto begin_at = [&](std::int64_t coordinate) {
    return std::partition_point(index_.begin(), index_.end(),
                                [&](const Entry& e) { return e.run.lo / size < coordinate; });
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
  std::size_t bytes = sizeof(*this) + pieces_.capacity() * sizeof(IndexSpace) + index_.capacity() * sizeof(Entry);
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
