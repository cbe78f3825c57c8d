#include "ir/region/atoms.hpp"

#include <algorithm>

#include "ir/region/piece_form.hpp"

namespace taskspec {

Atoms::Atoms(const Rect& root) : root_(root), nodes_(1), parts_(1) { parts_[0].size = root.size(); }

Atoms::Keys& Atoms::keys(PartitionId partition) {
  if (last_partition_ == partition) return *last_keys_;
  std::unique_ptr<Keys>& of = keys_[partition.value];
  if (!of) of = std::make_unique<Keys>();
  last_partition_ = partition;
  return *(last_keys_ = of.get());
}

void Atoms::forget(PartitionId partition) {
  const auto known = keys_.find(partition.value);
  if (known == keys_.end()) return;
  listed_ -= known->second->listed;
  keys_.erase(known);
  last_partition_ = {};
}

void Atoms::note_listed(const Space& space, std::uint32_t count) {
  listed_ += count;
  if (space.partition.valid()) keys(space.partition).listed += count;
}

Atoms::List& Atoms::list(const RegionForest& forest, const Space& space) {
  if (!space.partition.valid()) return whole_;
  Keys* of = &keys(space.partition);
  const Rect& colours = forest[space.partition].colours;
  const std::int64_t colour = colours.rank == 1 ? space.colour.at[0] : colours.linear(space.colour);
  const std::int64_t number = colour / Page::size;
  if (of->last_number != number) {
    std::unique_ptr<Page>& page = of->pages[number];
    if (!page) page = std::make_unique<Page>();
    of->last = page.get();
    of->last_number = number;
  }
  return of->last->lists[colour % Page::size];
}

std::span<const Atoms::Atom> Atoms::of(const RegionForest& forest, const Space& space,
                                       FunctionRef<void(Atom, Atom)> split) {
  List& found = list(forest, space);
  if (found.known != parts_.size()) {
    const std::uint32_t before = found.count;
    if (found.known == 0)
      look_up(forest, space, found, split);
    else
      follow(found);
    note_listed(space, found.count - before);
  }
  return {pool_.data() + found.begin, found.count};
}

// Atoms that were split off since then belong to the space as well.
void Atoms::follow(List& list) {
  const auto known = list.known;
  list.known = static_cast<std::uint32_t>(parts_.size());
  bool at_end = list.begin + list.count == pool_.size();
  for (std::uint32_t i = 0; i < list.count; ++i)
    for (Atom child = parts_[pool_[list.begin + i]].newest_child; child != none && child >= known;
         child = parts_[child].older_sibling) {
      if (!at_end) {
        const auto begin = static_cast<std::uint32_t>(pool_.size());
        for (std::uint32_t k = 0; k < list.count; ++k) pool_.push_back(pool_[list.begin + k]);
        list.begin = begin;
        at_end = true;
      }
      pool_.push_back(child);
      ++list.count;
    }
}

void Atoms::look_up(const RegionForest& forest, const Space& space, List& list, FunctionRef<void(Atom, Atom)> split) {
  guides_.clear();
  for (Space at = space; at.partition.valid(); at = forest[at.partition].parent) guides_.push_back(at.partition);
  std::reverse(guides_.begin(), guides_.end());
  found_.clear();
  const IndexSpace points = forest.points(space);
  if (points.is_rect()) {
    if (!points.empty()) find(forest, points.rect());
  } else {
    std::vector<Rect> rects;
    points.rects(root_, [&](const Rect& rect) { rects.push_back(rect); });
    find_all(forest, rects);
  }
  list.begin = static_cast<std::uint32_t>(pool_.size());
  for (const Found& found : found_) {
    Part& part = parts_[nodes_[found.node].child];
    if (part.covered == 0) pool_.push_back(nodes_[found.node].child);
    part.covered += found.size;
  }
  list.count = static_cast<std::uint32_t>(pool_.size()) - list.begin;
  bool is_split = false;
  for (std::uint32_t i = list.begin; i < list.begin + list.count; ++i) {
    const Atom atom = pool_[i];
    const std::int64_t covered = std::exchange(parts_[atom].covered, 0);
    if (covered == parts_[atom].size) continue;
    const auto made = static_cast<Atom>(parts_.size());
    parts_[atom].size -= covered;
    parts_[atom].split_to = made;
    Part part;
    part.size = covered;
    part.older_sibling = std::exchange(parts_[atom].newest_child, made);
    parts_.push_back(part);
    split(atom, made);
    is_split = true;
  }
  if (is_split) {
    for (const Found& found : found_)
      if (const Atom to = parts_[nodes_[found.node].child].split_to; to != none) nodes_[found.node].child = to;
    for (std::uint32_t i = list.begin; i < list.begin + list.count; ++i)
      if (parts_[pool_[i]].split_to != none) pool_[i] = std::exchange(parts_[pool_[i]].split_to, none);
  }
  list.known = static_cast<std::uint32_t>(parts_.size());
}

// The middle one first: so the tree does not become a list.
void Atoms::find_all(const RegionForest& forest, std::span<const Rect> rects) {
  if (rects.empty()) return;
  const std::size_t middle = rects.size() / 2;
  find(forest, rects[middle]);
  find_all(forest, rects.first(middle));
  find_all(forest, rects.subspan(middle + 1));
}

void Atoms::find(const RegionForest& forest, const Rect& rect) {
  stack_.push_back({0, root_, rect});
  while (!stack_.empty()) {
    auto [node, box, part] = stack_.back();
    stack_.pop_back();
    for (;;) {
      if (nodes_[node].axis == leaf) {
        if (part == box) {
          found_.push_back({node, box.size()});
          break;
        }
        cut(forest, node, box, part);
      }
      const Node& at = nodes_[node];
      const std::size_t axis = at.axis;
      if (part.lo[axis] >= at.cut) {
        node = at.child + 1;
        box.lo[axis] = at.cut;
        continue;
      }
      if (part.hi[axis] > at.cut) {
        Rect right_box = box, right = part;
        right_box.lo[axis] = right.lo[axis] = at.cut;
        stack_.push_back({at.child + 1, right_box, right});
        part.hi[axis] = at.cut;
      }
      node = at.child;
      box.hi[axis] = at.cut;
    }
  }
}

// Where the partitions above have borders, in the middle of those in the box: neighbours of this piece will be looked
// up too. Where they have none, along the piece itself.
void Atoms::cut(const RegionForest& forest, std::uint32_t node, const Rect& box, const Rect& rect) {
  std::uint8_t axis = 0;
  std::int64_t at = 0;
  auto guided = [&] {
    for (const PartitionId guide : guides_)
      for (axis = 0; axis < root_.rank; ++axis)
        if (const auto middle = forest[guide].form->middle(forest, box, axis)) {
          at = *middle;
          return true;
        }
    return false;
  };
  if (!guided()) {
    for (axis = 0; rect.lo[axis] == box.lo[axis] && rect.hi[axis] == box.hi[axis];) ++axis;
    at = rect.lo[axis] > box.lo[axis] ? rect.lo[axis] : rect.hi[axis];
  }
  Node half;
  half.child = nodes_[node].child;
  nodes_[node] = {at, static_cast<std::uint32_t>(nodes_.size()), axis};
  nodes_.push_back(half);
  nodes_.push_back(half);
}

std::size_t Atoms::bytes() const {
  std::size_t bytes = sizeof(*this) + nodes_.capacity() * sizeof(Node) + parts_.capacity() * sizeof(Part) +
                      pool_.capacity() * sizeof(Atom) + found_.capacity() * sizeof(Found);
  for (const auto& [partition, keys] : keys_) bytes += sizeof(Keys) + 48 + keys->pages.size() * (sizeof(Page) + 32);
  return bytes;
}

}  // namespace taskspec
