// Whether boxes tile a cluster exactly.
#include <algorithm>
#include <numeric>
#include <set>

#include "ir/blocks/check.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_for_gap = 512;  // boxes: the search for the place takes more than linear time

std::optional<Box> common_part(const Box& a, const Box& b) {
  Box part;
  for (std::size_t k = 0; k < a.size.size(); ++k) {
    const std::int64_t begin = std::max(a.position[k], b.position[k]);
    const std::int64_t end = std::min(a.position[k] + a.size[k], b.position[k] + b.size[k]);
    if (begin >= end) return std::nullopt;
    part.position.push_back(begin);
    part.size.push_back(end - begin);
  }
  return part;
}

// Along the axis with the most beginnings, only boxes that meet there can meet at all.
std::size_t sweep_axis(const Extents& extents, std::span<const Box> boxes) {
  std::size_t best = 0, most = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    std::set<std::int64_t> begins;
    for (const Box& box : boxes) begins.insert(box.position[k]);
    if (begins.size() > most) best = k, most = begins.size();
  }
  return best;
}

void find_overlap(const Extents& extents, std::span<const Box> boxes, Cover& found) {
  if (extents.empty()) {
    if (boxes.size() > 1) found.overlap = {0, 1};
    return;
  }
  const std::size_t axis = sweep_axis(extents, boxes);
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return boxes[i].position[axis]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Box& box = boxes[order[i]];
    const std::int64_t end = box.position[axis] + box.size[axis];
    for (std::size_t j = i + 1; j < order.size() && boxes[order[j]].position[axis] < end; ++j)
      if (const auto part = common_part(box, boxes[order[j]])) {
        found.overlap = std::minmax(order[i], order[j]);
        found.shared = *part;
        return;
      }
  }
}

// The first place from `place` on, its first axes being fixed, that none of these boxes holds.
std::optional<Extents> first_gap(const Extents& extents, const std::vector<const Box*>& boxes, Extents place) {
  const std::size_t axis = place.size();
  if (boxes.empty() || axis == extents.size()) {
    place.resize(extents.size(), 0);
    return boxes.empty() ? std::optional(place) : std::nullopt;
  }
  std::set<std::int64_t> breaks{0};
  for (const Box* box : boxes) breaks.insert({box->position[axis], box->position[axis] + box->size[axis]});
  place.push_back(0);
  for (const std::int64_t at : breaks) {
    if (at >= extents[axis]) break;
    std::vector<const Box*> here;
    for (const Box* box : boxes)
      if (box->position[axis] <= at && at < box->position[axis] + box->size[axis]) here.push_back(box);
    place.back() = at;
    if (const auto found = first_gap(extents, here, place)) return found;
  }
  return std::nullopt;
}

}  // namespace

Cover cover(const Extents& extents, std::span<const Box> boxes) {
  Cover found;
  for (const Box& box : boxes) found.covered += places_of(box.size);
  find_overlap(extents, boxes, found);
  found.has_gap = boxes.empty() || (!found.overlap && found.covered < places_of(extents));
  if (!found.overlap && !found.has_gap) return found;
  if (boxes.size() > most_for_gap) return found;
  std::vector<const Box*> all;
  for (const Box& box : boxes) all.push_back(&box);
  found.gap = first_gap(extents, all, {});
  found.has_gap = found.gap.has_value();
  return found;
}

}  // namespace taskspec
