#include "hwsim/map/known_choices.hpp"

#include <algorithm>

namespace taskspec {

namespace {

void add_extents(Hasher& hasher, const Extents& extents) {
  hasher.add(extents.size());
  for (const std::int64_t extent : extents) hasher.add(static_cast<std::uint64_t>(extent));
}

void add_block(Hasher& hasher, const TaskBlock& block) {
  hasher.add(block.def->name).add(static_cast<std::uint64_t>(block.precision)).add(block.shape.text());
  hasher.add(static_cast<std::uint64_t>(block.bias)).add(block.branches).add(block.attributes.size());
  for (const BlockAttribute& attribute : block.attributes)
    hasher.add(attribute.def->name).add(static_cast<std::uint64_t>(attribute.value));
}

// Places go by how they lie to one another: slices of the same size are alike, wherever they begin.
void add_places(Hasher& hasher, const NetCluster& cluster) {
  hasher.add(cluster.places.is_identity());
  if (cluster.places.is_identity()) return;
  std::vector<std::int64_t> first(cluster.sources.size(), -1);
  for (std::size_t i = 0; i < cluster.places.size(); ++i) {
    const NetPlace place = cluster.places[i];
    std::int64_t from = 0;
    if (place.source >= 0) {
      std::int64_t& begin = first[static_cast<std::size_t>(place.source)];
      if (begin < 0) begin = place.place;
      from = place.place - begin;
    }
    hasher.add(static_cast<std::uint64_t>(place.source + 1)).add(static_cast<std::uint64_t>(from));
  }
}

void add_cluster(Hasher& hasher, const BlockGraph& graph, const NetCluster& cluster) {
  hasher.add(cluster.is_there());
  if (!cluster.is_there()) return;
  const TaskBlock& holder = graph[cluster.holder];
  hasher.add(static_cast<std::uint64_t>(cluster.type.precision)).add(holder.def->name);
  add_extents(hasher, cluster.type.extents);
  const bool is_data = cluster.is_data;
  hasher.add(cluster.is_state).add(cluster.has_holes).add(is_data).add(cluster.sources.size());
  for (const NetSource& source : cluster.sources) {
    const TaskBlock& from = graph[source.block];
    hasher.add(static_cast<std::uint64_t>(source.delay)).add(source.initial.has_value()).add(from.data.has_value());
    hasher.add(from.def->computes()).add(static_cast<std::uint64_t>(value_type(from).precision));
    add_extents(hasher, value_type(from).extents);
  }
  if (!is_data) add_places(hasher, cluster);
}

// All that memory and cycles of its pieces depend on.
Hash128 likeness(const ChipNet& net, const ChipUnit& unit) {
  Hasher hasher;
  for (const std::size_t work : {unit.axon, unit.soma}) {
    hasher.add(work != no_work);
    if (work == no_work) continue;
    add_block(hasher, (*net.graph)[net.works[work].block]);
    for (const NetCluster& cluster : net.works[work].in) add_cluster(hasher, *net.graph, cluster);
  }
  return hasher.digest();
}

// But for when.
bool same_batch(const RowBatch& a, const RowBatch& b) {
  return a.input == b.input && a.sources == b.sources && a.begin == b.begin && a.end == b.end &&
         a.source_begin == b.source_begin && a.source_end == b.source_end;
}
bool same_phase(const UnitPhase& a, const UnitPhase& b) {
  return a.begin == b.begin && a.end == b.end && std::ranges::equal(a.batches, b.batches, same_batch);
}
bool same_rows(const UnitRows& a, const UnitRows& b) {
  return a.most_rows == b.most_rows && a.kept_rows == b.kept_rows && a.batch_rows == b.batch_rows &&
         std::ranges::equal(a.phases, b.phases, same_phase);
}

}  // namespace

KnownChoices::KnownChoices(const ChipNet& net, const std::vector<ChipUnit>& units, const Chip& chip)
    : net_(net), units_(units), chip_(chip) {
  for (const ChipUnit& unit : units) like_.push_back(likeness(net, unit));
}

const std::vector<UnitChoice>& KnownChoices::of(std::size_t unit, const UnitRows* rows) {
  const auto [first, last] = known_.equal_range(like_[unit]);
  for (auto known = first; known != last; ++known) {
    const std::optional<UnitRows>& its = known->second.rows;
    if (rows ? its && same_rows(*its, *rows) : !its) return known->second.choices;
  }
  Known made{rows ? std::optional(*rows) : std::nullopt, choices_of(net_, units_[unit], chip_, rows)};
  return known_.emplace(like_[unit], std::move(made))->second.choices;
}

}  // namespace taskspec
