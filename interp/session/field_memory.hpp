// The memory of the fields of regions: one location for each, made when it is first asked for. It has room for all
// elements, or, of a region of which a shard touches few, for those alone.
//
//   FieldMemory memory(backend, graph);
//   memory.want(cells, packed);      // what is recorded from now on touches these elements and no others
//   memory.change();                 // before the next batch
//   memory.location(ref);            // of a field
#pragma once
#include <memory>

#include "ir/graph/task_graph.hpp"
#include "ir/plan/backend.hpp"

namespace taskspec {

class FieldMemory {
 public:
  using Packed = std::shared_ptr<const PackedPlaces>;

  FieldMemory(Backend& backend, const TaskGraph& graph) : backend_(backend), graph_(graph) {}
  ~FieldMemory();
  FieldMemory(const FieldMemory&) = delete;

  Location location(Ref field);  // throws Error E5008 with the region's place
  void drop(RegionId region) noexcept;

  // Null: all elements. Those that have been touched are among them. A region whose memory changes again and again has
  // all of it.
  void want(RegionId region, Packed packed);
  // Makes it so, with the contents that are there. Throws Error E5008: then regions have what they had, or what they
  // want.
  void change();
  std::uint64_t changes() const { return changes_; }  // so far: locations are others now
  // Null: nobody has wanted anything.
  std::shared_ptr<const FieldRoom> room(RegionId region) const;

  static constexpr std::uint32_t most_changes = 16;  // of one region

 private:
  struct Fields {
    std::vector<Location> locations;  // by field; none where nobody used it yet
    std::shared_ptr<FieldRoom> room;
    Packed wanted;
    bool is_due = false;  // `wanted` is not what it has
    std::uint32_t changes = 0;
  };
  Fields& fields(RegionId region) {
    if (fields_.size() <= region.index()) fields_.resize(region.index() + 1);
    return fields_[region.index()];
  }
  Location allocate(RegionId region, std::size_t field, const Packed& packed);
  void change(RegionId region, Fields& fields);

  Backend& backend_;
  const TaskGraph& graph_;
  std::vector<Fields> fields_;  // by region
  std::vector<RegionId> due_;
  std::uint64_t changes_ = 0;
  std::uint32_t rooms_ = 0;
};

}  // namespace taskspec
