// What host programs hold of mutable data: regions and their pieces, fields, partitions, and what an argument of a
// launch makes of one. All of them keep the region they are of.
//
//   print(cells, blocks(cells, 4))      ->      <region Cell[64]> <partition Cell[64], 4 pieces, disjoint, complete>
#pragma once
#include <atomic>

#include "interp/control/launch.hpp"
#include "ir/base/source.hpp"

namespace taskspec {

class Target;

// Keeps the partition that a value names; one that names none keeps nothing.
class HeldPartition {
 public:
  HeldPartition(const RegionHandle& region, PartitionId id) : region_(region), id_(id) {
    if (id_.valid()) region_.retain(id_);
  }
  ~HeldPartition() {
    if (id_.valid()) region_.release(id_);
  }
  HeldPartition(const HeldPartition&) = delete;

 private:
  const RegionHandle& region_;
  const PartitionId id_;
};

class SpaceValue final : public Object {
 public:
  SpaceValue(std::shared_ptr<RegionHandle> of, const Space& space)
      : region(std::move(of)), space(space), held_(*region, space.partition) {}
  const std::shared_ptr<RegionHandle> region;
  const Space space;
  std::string text() const override;  // of a piece "<region Cell[16..32]>"

 private:
  const HeldPartition held_;
};

class FieldValue final : public Object {
 public:
  FieldValue(std::shared_ptr<RegionHandle> of, const Space& space, std::uint32_t field)
      : region(std::move(of)), space(space), field(field), held_(*region, space.partition) {}
  const std::shared_ptr<RegionHandle> region;
  const Space space;
  const std::uint32_t field;
  std::string text() const override;  // "<field Cell.state>"

 private:
  const HeldPartition held_;
};

class PartitionValue final : public Object {
 public:
  PartitionValue(std::shared_ptr<RegionHandle> of, PartitionId id)
      : region(std::move(of)), id(id), held_(*region, id) {}
  const std::shared_ptr<RegionHandle> region;
  const PartitionId id;
  std::string text() const override;

 private:
  const HeldPartition held_;
};

// p[f(i)]: where f is not affine it is a function of the host, asked for each point when the domain is known.
class ProjectedPiece final : public Object {
 public:
  ProjectedPiece(std::shared_ptr<const PartitionValue> partition, Projection projection, Value function)
      : partition(std::move(partition)), projection(std::move(projection)), function(std::move(function)) {}
  const std::shared_ptr<const PartitionValue> partition;
  const Projection projection;
  const Value function;  // none where the projection says all
  const std::uint64_t serial = next_serial();
  std::string text() const override { return "<piece>"; }

 private:
  static std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last = 0;  // programs run on several threads
    return ++last;
  }
};

// m[f(i)]: the element of a map that each point of a launch takes; f as above.
class ProjectedMap final : public Object {
 public:
  ProjectedMap(std::shared_ptr<const LaunchMap> map, Projection projection, Value function)
      : map(std::move(map)), projection(std::move(projection)), function(std::move(function)) {}
  const std::shared_ptr<const LaunchMap> map;
  const Projection projection;
  const Value function;
  std::string text() const override { return "<element>"; }
};

// Those of this target, of which it says what they are; E1009 for what another session made.
const SpaceValue& space_in(Target& target, const Value& value, Span span);
const FieldValue& field_in(Target& target, const Value& value, Span span);
const PartitionValue& partition_in(Target& target, const Value& value, Span span);

// The type of a region or piece, or of a partition of one, with the extents that it has: of runs the number of their
// points.
Type type_of_data(Target& target, const Value& value, Type declared, Span span);

// A tensor of one element whose contents are known, of at most 8 bytes: an array, or a constant of a graph. Null: it is
// none.
const Array* known_number(const Value& value);

Value space_value(std::shared_ptr<RegionHandle> region, const Space& space);
Value partition_value(std::shared_ptr<RegionHandle> region, PartitionId id);

}  // namespace taskspec
