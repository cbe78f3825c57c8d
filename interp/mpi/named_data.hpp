// Regions and partitions of one shard's program, by the calls that made them: what handles name, and what has been
// deleted. A handle ends when its shard gets to it; that is no call. What no shard names any more is deleted at a call
// that all make (interp/shards/control/deletion.hpp), and until then it is kept, with all that the analysis and the
// data know of it.
//
//   NamedData data(run, recorder);
//   data.note_new();                    // before each call of the program: regions and partitions made since,
//                                       // and what was sent to the graph
//   data.number(region)                 // as it is hashed: never given again
#pragma once
#include "interp/control/recorder.hpp"
#include "interp/mpi/shard_run.hpp"

namespace taskspec {

class NamedData final : public DataHandles {
 public:
  // Partitions that lists of users still name wait until these are covered; above so many a fence takes the place of
  // all users of a region.
  static constexpr std::size_t most_waiting = 64;

  NamedData(ShardRun& run, Recorder& recorder) : run_(run), recorder_(recorder) { recorder.data_handles = this; }

  bool note_new();  // true: something was deleted
  bool has_new() const {
    return constants_seen_ != recorder_.graph.constant_count() || !new_regions_.empty() || !new_partitions_.empty() ||
           partitions_seen_ != forest().partitions_made();
  }
  std::uint64_t number(RegionId region) const { return regions_.at(region.value).number; }
  std::uint64_t number(PartitionId partition) const { return partitions_.at(partition.value).number; }

  void named(RegionId region) override;
  void unnamed(RegionId region) override;
  void named(PartitionId partition) override;
  void unnamed(PartitionId partition) override;

 private:
  struct Named {
    std::uint64_t number = 0;  // of those that there were
    std::uint64_t call = 0;    // that made it; 0: not made yet
    std::uint32_t handles = 0;
    bool is_kept = false;       // until it is deleted
    std::uint32_t made_of = 0;  // of partitions: others that are
    std::vector<PartitionId> operands{};
    RegionId root{};
    bool is_unnamed() const { return call > 0 && is_kept && handles + made_of == 0; }
  };
  void note_sent();
  void note_regions();
  void note_partitions();
  bool delete_agreed();
  void forget(RegionId region);
  bool forget_partitions();
  void drop(Named& partition);  // of what it was made
  const RegionForest& forest() const { return recorder_.graph.regions; }

  ShardRun& run_;
  Recorder& recorder_;
  std::unordered_map<std::uint32_t, Named> regions_, partitions_;  // by id
  std::map<std::uint64_t, RegionId> regions_made_by_;              // by call
  std::map<std::uint64_t, PartitionId> partitions_made_by_;
  std::vector<RegionId> new_regions_;
  std::vector<PartitionId> new_partitions_;
  std::vector<PartitionId> waiting_;  // deleted, and still named by lists
  std::size_t constants_seen_ = 0;
  std::uint64_t regions_made_ = 0, partitions_made_ = 0, partitions_seen_ = 0;  // seen: serials of the forest below
};

}  // namespace taskspec
