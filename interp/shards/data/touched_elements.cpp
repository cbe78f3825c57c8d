#include "interp/shards/data/touched_elements.hpp"

#include <algorithm>

#include "ir/types/precision.hpp"

namespace taskspec {

TouchedElements::Tree& TouchedElements::tree(RegionId root) {
  if (trees_.size() <= root.index()) trees_.resize(root.index() + 1);
  Tree& tree = trees_[root.index()];
  if (tree.width > 0 && tree.serial == forest_.serial(root)) return tree;
  tree = {};
  tree.serial = forest_.serial(root);
  tree.width = 1;
  for (const RegionField& field : forest_[root].fields)
    tree.width = std::max<std::size_t>(tree.width, info(field.precision).bytes);
  return tree;
}

bool TouchedElements::asks(RegionId root) {
  if (memory_ == Memory::flat) return false;
  const Tree& tree = this->tree(root);
  const std::int64_t elements = forest_[root].extents.size();
  // What touches one element of each page would pay best.
  return tree.touched.size() < elements &&
         (memory_ == Memory::packed || static_cast<std::size_t>(elements) * tree.width > PackedPlaces::least_saved);
}

bool TouchedElements::is_new(RegionId root, Why why, std::uint64_t number) {
  return asks(root) && tree(root).known.emplace(why, number).second;
}

void TouchedElements::add(RegionId root, const Intervals& elements) {
  if (!asks(root)) return;
  Tree& tree = this->tree(root);
  const std::int64_t before = tree.touched.size();
  tree.touched = tree.touched | elements;
  if ((tree.touched.size() == before && tree.is_told) || std::exchange(tree.has_grown, true)) return;
  grown_.push_back(root);
}

void TouchedElements::each_change(FunctionRef<void(RegionId, std::shared_ptr<const PackedPlaces>)> visit) {
  for (const RegionId root : std::exchange(grown_, {})) {
    Tree& tree = this->tree(root);
    if (!std::exchange(tree.has_grown, false)) continue;  // another region by now
    const bool pays = asks(root) && (memory_ == Memory::packed
                                         ? !tree.touched.empty()
                                         : PackedPlaces::pays(tree.touched, forest_[root].extents.size(), tree.width));
    if (std::exchange(tree.is_told, true) && !pays && !tree.is_packed) continue;
    tree.is_packed = pays;
    visit(root, pays ? std::make_shared<const PackedPlaces>(tree.touched) : nullptr);
  }
}

void TouchedElements::forget(RegionId root) {
  if (root.index() < trees_.size()) trees_[root.index()] = {};
  std::erase(grown_, root);
}

void TouchedElements::forget_numbers() {
  for (Tree& tree : trees_) tree.known.clear();
}

std::int64_t TouchedElements::packed_elements() const {
  std::int64_t elements = 0;
  for (const Tree& tree : trees_)
    if (tree.is_packed) elements += tree.touched.size();
  return elements;
}

// With the places of those that are packed.
std::size_t TouchedElements::bytes() const {
  std::size_t bytes = trees_.capacity() * sizeof(Tree);
  for (const Tree& tree : trees_)
    bytes += tree.touched.runs().size() * (tree.is_packed ? 80 : 24) + tree.known.size() * 48;
  return bytes;
}

Intervals TouchedElements::of(RegionId root) { return tree(root).touched; }

}  // namespace taskspec
