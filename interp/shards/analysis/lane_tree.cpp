#include "interp/shards/analysis/lane_tree.hpp"

#include <algorithm>
#include <utility>

namespace taskspec {

LaneTree::LaneTree(const RegionForest& forest, RegionId root) : forest_(forest) { (void)add_node({{root}, {}}); }

LaneTree::Place LaneTree::add_node(Node node) {
  if (!free_.empty()) {
    const Place made = free_.back();
    free_.pop_back();
    places_[made] = std::move(node);
    return made;
  }
  places_.push_back(std::move(node));
  return static_cast<Place>(places_.size() - 1);
}

LaneTree::Place LaneTree::place(const Space& space) {
  if (!space.partition.valid()) return 0;
  const Place over = place(space.partition);
  const std::int64_t colour = forest_[space.partition].colours.linear(space.colour);
  if (const auto known = places_[over].pieces.find(colour); known != places_[over].pieces.end()) return known->second;
  const Place made = add_node({space, {}, over});
  places_[over].pieces.emplace(colour, made);
  places_[over].children.push_back(made);
  return made;
}

LaneTree::Place LaneTree::place(PartitionId partition) {
  if (partition.index() < partitions_.size() && partitions_[partition.index()] != none)
    return partitions_[partition.index()];
  const Space& parent = forest_[partition].parent;
  const Place over = place(parent), made = add_node({parent, partition, over});
  places_[over].children.push_back(made);
  if (partitions_.size() <= partition.index()) partitions_.resize(partition.index() + 1, none);
  partitions_[partition.index()] = made;
  return made;
}

void LaneTree::count(Place place, std::ptrdiff_t change) {
  for (Place at = places_[place].parent; at != none; at = places_[at].parent)
    places_[at].below = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(places_[at].below) + change);
}

void LaneTree::add(Place place, const Entry& entry) {
  places_[place].entries.push_back(entry);
  count(place, 1);
}

void LaneTree::each_that_may_meet(Place place, FunctionRef<void(Place, Entry&)> visit_entry) {
  visit(0, place, visit_entry);
}

void LaneTree::each(FunctionRef<void(Place, const Entry&)> visit) const {
  for (Place at = 0; at < places_.size(); ++at)
    for (const Entry& entry : places_[at].entries) visit(at, entry);
}

void LaneTree::clear() {
  for (Node& node : places_) {
    node.entries.clear();
    node.below = 0;
  }
}

void LaneTree::visit(Place at, Place of, FunctionRef<void(Place, Entry&)> visit_entry) {
  for (Entry& entry : places_[at].entries) {
    ++touched_;
    visit_entry(at, entry);
  }
  if (places_[at].below == 0) return;
  if (places_[at].partition.valid() && forest_.disjoint(places_[at].partition)) {
    // Below another colour of it nothing can meet what lies below one.
    Place child = of;
    while (child != none && places_[child].parent != at) child = places_[child].parent;
    if (child != none) return visit(child, of, visit_entry);
  }
  for (const Place child : places_[at].children) {
    const Node& node = places_[child];
    if (node.entries.empty() && node.below == 0) continue;
    if (!forest_.statically_disjoint(node.bound, places_[of].bound)) visit(child, of, visit_entry);
  }
}

void LaneTree::remove_under(Place place, FunctionRef<bool(const Entry&)> take) {
  Node& node = places_[place];
  const std::size_t before = node.entries.size();
  std::erase_if(node.entries, [&](const Entry& entry) { return take(entry); });
  if (before != node.entries.size()) count(place, -static_cast<std::ptrdiff_t>(before - node.entries.size()));
  if (places_[place].below == 0) return;
  for (std::size_t i = 0; i < places_[place].children.size(); ++i) {
    const Place child = places_[place].children[i];
    if (!places_[child].entries.empty() || places_[child].below > 0) remove_under(child, take);
  }
}

bool LaneTree::has_entries(PartitionId partition) const {
  if (partition.index() >= partitions_.size() || partitions_[partition.index()] == none) return false;
  const Node& node = places_[partitions_[partition.index()]];
  return node.below > 0 || !node.entries.empty();
}

bool LaneTree::is_under(Place place, PartitionId partition) const {
  for (; place != none; place = places_[place].parent)
    if (places_[place].partition == partition) return true;
  return false;
}

void LaneTree::forget(PartitionId partition) {
  if (partition.index() >= partitions_.size() || partitions_[partition.index()] == none) return;
  const Place at = std::exchange(partitions_[partition.index()], none);
  std::erase(places_[places_[at].parent].children, at);
  for (const auto& [colour, piece] : std::exchange(places_[at].pieces, {})) {
    for (const Place below : std::exchange(places_[piece].children, {})) forget(places_[below].partition);
    places_[piece] = {};
    free_.push_back(piece);
  }
  places_[at] = {};
  free_.push_back(at);
}

std::size_t LaneTree::bytes() const {
  std::size_t bytes = places_.capacity() * sizeof(Node) + partitions_.capacity() * sizeof(Place);
  for (const Node& node : places_)
    bytes +=
        node.entries.capacity() * sizeof(Entry) + node.children.capacity() * sizeof(Place) + node.pieces.size() * 48;
  return bytes;
}

}  // namespace taskspec
