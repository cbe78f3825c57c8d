// The executables of a session: made once per shape of batch, so the body of a loop is prepared once.
#pragma once
#include <unordered_map>

#include "interp/session/batch.hpp"
#include "ir/graph/chains.hpp"
#include "ir/plan/backend.hpp"

namespace taskspec {

class Plans {
 public:
  struct Made {
    std::shared_ptr<Executable> executable;
    BatchGraph graph;
    std::vector<std::string> chains;   // as a profile names them; only where somebody asks for it
    std::vector<std::uint64_t> bytes;  // that each of them writes
    std::vector<Work> work;            // and what it does
    std::size_t chain_count = 0;
    std::uint32_t number = 0;  // of the shape, in order of making
  };
  using Found = std::variant<const Made*, std::vector<Poison>>;  // valid until the next one is made

  Plans(Backend& backend, Bodies& bodies, const FieldMemory& memory, SinkRule rule, bool named)
      : backend_(backend), bodies_(bodies), memory_(memory), rule_(rule), named_(named) {}

  // Or what the backend refuses, by position in the batch.
  Found find(const Batch& batch, const TaskGraph& graph, const Requirements& requirements);

  std::uint32_t made() const { return made_; }
  // What is known of the users of a region that is no more, or of the pieces of a partition.
  void forget(RegionId region) { users_.forget(region); }
  void forget(RegionId region, PartitionId partition) { users_.forget(region, partition); }
  double seconds() const { return seconds_; }  // that it took to make them

 private:
  Backend& backend_;
  Bodies& bodies_;
  const FieldMemory& memory_;
  const SinkRule rule_;
  const bool named_;
  std::unordered_map<std::string, Made> known_;  // by key of the batch
  std::size_t tasks_ = 0;                        // in all of them
  FieldUsers users_;
  std::uint32_t made_ = 0;
  double seconds_ = 0;
};

}  // namespace taskspec
