#include "interp/mpi/named_data.hpp"

#include <algorithm>
#include <utility>

#include "ir/region/piece_form.hpp"

namespace taskspec {

namespace {

std::string pieces_text(const Partition& partition) {
  const Hash128 made_of = partition.form->made_of();
  return partition.content.text() + (made_of == Hash128() ? "" : made_of.text());
}

}  // namespace

// ---- handles --------------------------------------------------------------------------------------

void NamedData::named(RegionId region) {
  recorder_.retain(region);
  Named& made = regions_[region.value];
  made = {};
  made.handles = 1;
  made.is_kept = true;
  new_regions_.push_back(region);
}

void NamedData::unnamed(RegionId region) {
  Named& known = regions_.at(region.value);
  --known.handles;
  if (known.is_unnamed()) run_.deletions().dropped(known.call);
}

// One may be there already: it was found again, or others are made of it.
void NamedData::named(PartitionId partition) {
  const auto [at, is_new] = partitions_.try_emplace(partition.value);
  Named& known = at->second;
  if (is_new) new_partitions_.push_back(partition);
  if (!std::exchange(known.is_kept, true)) {
    if (std::erase(waiting_, partition) == 0) {
      recorder_.retain(partition);
    } else {  // it was deleted, and is made again
      drop(known);
      known.call = 0;
      new_partitions_.push_back(partition);
    }
  }
  if (known.is_unnamed()) run_.deletions().named_again(known.call);
  ++known.handles;
}

void NamedData::unnamed(PartitionId partition) {
  const auto at = partitions_.find(partition.value);
  if (at == partitions_.end()) return;  // it went with its region
  --at->second.handles;
  if (at->second.is_unnamed()) run_.deletions().dropped(at->second.call);
}

// ---- calls ----------------------------------------------------------------------------------------

bool NamedData::note_new() {
  note_sent();
  note_regions();
  note_partitions();
  return delete_agreed();
}

// Values of the host are constants in the graph: contents of files, lists, numbers. They come with the next call, which
// is the first one that may use them.
void NamedData::note_sent() {
  const TaskGraph& graph = recorder_.graph;
  if (constants_seen_ == graph.constant_count()) return;
  Hasher hash;
  bool has_any = false;
  for (; constants_seen_ < graph.constant_count(); ++constants_seen_) {
    if (!graph.holds_constant(constants_seen_)) continue;
    const Value& value = graph.constant(constants_seen_);
    if (!value.is_array()) continue;
    const Array& array = value.array();
    hash.add(static_cast<std::uint64_t>(array.type().precision)).add(array.type().extents.size());
    for (const std::int64_t extent : array.type().extents) hash.add(static_cast<std::uint64_t>(extent));
    hash.bytes(std::span(array.raw(), array.bytes()));
    has_any = true;
  }
  if (has_any) run_.begin_call().sent(hash.digest());
}

void NamedData::note_regions() {
  if (new_regions_.empty()) return;
  for (const RegionId id : std::exchange(new_regions_, {})) {
    Named& made = regions_.at(id.value);
    made.number = regions_made_++;
    run_.begin_call()
        .created("region", Created::region, made.number)
        .domain("extents", forest()[id].extents)
        .text("fields", forest()[id].fields_name);
    made.call = run_.called(CallKind::region, forest()[id].name, forest()[id].made);
    regions_made_by_.emplace(made.call, id);
    if (made.is_unnamed()) run_.deletions().dropped(made.call);
  }
}

// First those that no handle named, of which others are made; they go with their region.
void NamedData::note_partitions() {
  const RegionForest& forest = this->forest();
  if (new_partitions_.empty() && partitions_seen_ == forest.partitions_made()) return;
  std::vector<PartitionId> made;
  for (std::uint32_t k = 0; k < forest.partitions(); ++k) {
    const Partition& partition = forest[PartitionId(k)];
    if (partition.form && partition.serial >= partitions_seen_ && !partitions_.contains(k))
      made.push_back(PartitionId(k));
  }
  std::ranges::sort(made, {}, [&](PartitionId id) { return forest[id].serial; });
  partitions_seen_ = forest.partitions_made();
  made.insert(made.end(), new_partitions_.begin(), new_partitions_.end());
  new_partitions_.clear();
  for (const PartitionId id : made) {
    const Partition& partition = forest[id];
    Named& known = partitions_[id.value];
    known.number = partitions_made_++;
    known.root = partition.parent.root;
    run_.begin_call()
        .created("region", Created::region, number(known.root))
        .domain("colours", partition.colours)
        .text("pieces", pieces_text(partition));
    known.call = run_.called(CallKind::partition, "partition", partition.made);
    partitions_made_by_.emplace(known.call, id);
    std::vector<PartitionId> operands;
    if (partition.parent.partition.valid()) operands.push_back(partition.parent.partition);
    partition.form->each_operand([&](PartitionId operand) { operands.push_back(operand); });
    for (const PartitionId operand : operands)
      if (const auto at = partitions_.find(operand.value); at != partitions_.end()) {
        if (at->second.is_unnamed()) run_.deletions().named_again(at->second.call);
        ++at->second.made_of;
        partitions_.at(id.value).operands.push_back(operand);
      }
  }
  for (const PartitionId id : made)
    if (const Named& known = partitions_.at(id.value); known.is_unnamed()) run_.deletions().dropped(known.call);
}

// ---- deletion -------------------------------------------------------------------------------------

// The calls come first, then all that was recorded before has run, here and in the analysis: so what is freed is free
// at one place of the program on all shards, and what comes later finds it gone, or not, alike.
bool NamedData::delete_agreed() {
  const std::optional<std::vector<std::uint64_t>> agreed = run_.agreed_deletions();
  if (!agreed || (agreed->empty() && waiting_.empty())) return false;
  std::vector<RegionId> regions;
  for (const std::uint64_t made : *agreed) {
    if (const auto region = regions_made_by_.find(made); region != regions_made_by_.end()) {
      const RegionId id = region->second;
      run_.begin_call().created("region", Created::region, number(id));
      run_.called(CallKind::deletion, forest()[id].name, forest()[id].made);
      run_.untrace(id);
      regions.push_back(id);
      continue;
    }
    const PartitionId id = partitions_made_by_.at(made);
    run_.begin_call().created("partition", Created::partition, number(id));
    run_.called(CallKind::deletion, "partition", forest()[id].made);
    run_.untrace(id);
    Named& known = partitions_.at(id.value);
    known.is_kept = false;
    partitions_made_by_.erase(made);
    waiting_.push_back(id);
  }
  recorder_.run_pending();
  run_.settle();
  for (const RegionId id : regions) forget(id);
  while (forget_partitions()) {
  }
  while (waiting_.size() > most_waiting) {
    const PartitionId oldest = waiting_.front();
    run_.force(oldest, partitions_.at(oldest.value).call);
    while (forget_partitions()) {
    }
    if (std::ranges::find(waiting_, oldest) != waiting_.end()) break;  // others are made of it
  }
  return true;
}

void NamedData::forget(RegionId region) {
  std::vector<PartitionId> gone;
  for (auto& [id, known] : partitions_)
    if (known.root == region && known.call > 0) gone.emplace_back(id);
  std::ranges::sort(gone);
  for (const PartitionId id : gone) {
    Named& known = partitions_.at(id.value);
    run_.deletions().named_again(known.call);  // nobody else will say that it goes
    partitions_made_by_.erase(known.call);
    drop(known);
    partitions_.erase(id.value);
    std::erase(waiting_, id);
  }
  run_.forget(region);
  regions_made_by_.erase(regions_.at(region.value).call);
  regions_.erase(region.value);
  recorder_.release(region);
}

// True: one has gone, so others may.
bool NamedData::forget_partitions() {
  const std::vector<PartitionId> waiting = waiting_;
  bool has_any = false;
  for (const PartitionId id : waiting) {
    const std::uint32_t own = 1 + run_.data.holds(id);
    if (partitions_.at(id.value).made_of > 0 || forest()[id].holders > own || !run_.forget(id)) continue;
    std::erase(waiting_, id);
    drop(partitions_.at(id.value));
    partitions_.erase(id.value);
    recorder_.release(id);
    has_any = true;
  }
  return has_any;
}

void NamedData::drop(Named& partition) {
  for (const PartitionId operand : std::exchange(partition.operands, {}))
    if (const auto at = partitions_.find(operand.value); at != partitions_.end()) {
      --at->second.made_of;
      if (at->second.is_unnamed()) run_.deletions().dropped(at->second.call);
    }
}

}  // namespace taskspec
