// Programs for the analysis, written as the text would say them.
//
//   OperationList program;
//   program.fill(cells, 0);
//   program.launch(4, PointSharding::cyclic(), {use(forest, owned, {0}, Privilege::inout)});
#pragma once
#include "interp/shards/analysis/engine.hpp"
#include "ir/region/operators.hpp"

namespace taskspec {

inline LaunchUse use(const RegionForest& forest, PartitionId partition, std::initializer_list<std::uint32_t> fields,
                     Privilege privilege, ReduceOp op = ReduceOp::sum) {
  LaunchUse made;
  made.space = {forest[partition].parent.root};
  made.partition = partition;
  made.projection = Projection::identity(forest[partition].colours.rank);
  made.fields = FieldMask::of(fields);
  made.privilege = privilege;
  made.op = op;
  made.name = "p";
  return made;
}

inline LaunchUse use(RegionId region, std::initializer_list<std::uint32_t> fields, Privilege privilege) {
  LaunchUse made;
  made.space = {region};
  made.fields = FieldMask::of(fields);
  made.privilege = privilege;
  made.name = "r";
  return made;
}

struct OperationList {
  std::vector<Operation> ops;

  void launch(const Rect& domain, const PointSharding& sharding, std::vector<LaunchUse> uses) {
    add({.kind = CallKind::launch, .domain = domain, .sharding = sharding, .uses = std::move(uses)});
  }
  void alone(CallKind kind, std::vector<LaunchUse> uses) {
    add({.kind = kind, .sharding = PointSharding::owner(ShardId(0)), .uses = std::move(uses)});
  }
  void fill(RegionId region, std::uint32_t field) { alone(CallKind::fill, {use(region, {field}, Privilege::out)}); }
  void partition(RegionId region, std::uint32_t field) {
    add({.kind = CallKind::partition, .uses = {use(region, {field}, Privilege::in)}, .is_counted = false});
  }
  void receive(RegionId region, std::uint32_t field) {
    add({.kind = CallKind::receive,
         .uses = {use(region, {field}, Privilege::in)},
         .is_counted = false,
         .by_owners = true});
  }

 private:
  void add(Operation op) {
    op.number = ops.size() + 1;
    ops.push_back(std::move(op));
  }
};

}  // namespace taskspec
