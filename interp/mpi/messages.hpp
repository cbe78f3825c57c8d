// What stands between the points of a shard: tasks of its graph that send and receive. They come one after the other,
// in the order of the program, on every shard; so the first of all that anybody waits for has its sender past
// everything in front of it, and nobody waits for ever.
#pragma once
#include "interp/mpi/shard_run.hpp"
#include "interp/shards/data/map_moves.hpp"
#include "interp/shards/data/pack.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

// Elements of fields of one region, for one use of an operation. Inputs of its launch are what fills have set: for each
// field those of its movement.
class FieldExchange final : public LaunchFiles {
 public:
  struct Field {
    std::uint32_t field = 0;
    std::size_t width = 0;  // bytes of an element
    std::shared_ptr<const Movement> movement;
  };
  FieldExchange(ShardRun& run, std::vector<Field> fields);
  void transfer(std::size_t position, const Piece& piece) const override;
  std::unique_ptr<Bound> bind(std::size_t position, const Piece& piece) const override;
  std::string key() const override;

 private:
  class Again;
  void put_bases(const Piece& piece, std::span<std::byte*> bases) const;  // by entry of fields_
  void fill(const Piece& piece) const;
  bool fills() const;
  ShardRun& run_;
  const std::vector<Field> fields_;
  const Packing packing_;
};

// Contributions of the points of one launch, to all fields that it reduces.
class Contributions final : public LaunchMessages {
 public:
  struct Use {
    std::vector<Precision> precisions;  // by field
    std::vector<std::shared_ptr<const FoldMovement>> movements;
    ReduceOp op{};
    std::size_t use = 0;  // of the launch
  };
  Contributions(ShardRun& run, std::vector<Use> uses, std::shared_ptr<const std::vector<std::uint32_t>> own)
      : run_(run), uses_(std::move(uses)), own_(std::move(own)) {}
  void fold(const Fields& fields) const override;
  std::string key() const override;

 private:
  ShardRun& run_;
  const std::vector<Use> uses_;
  const std::shared_ptr<const std::vector<std::uint32_t>> own_;
};

// The elements of a map, which all shards get.
class SharedMap final : public LaunchMessages {
 public:
  struct Map {
    std::vector<OwnPoints> points;  // by shard
    std::size_t width = 0;          // bytes of an element
  };
  SharedMap(ShardRun& run, Map map, std::string key) : run_(run), map_(std::move(map)), key_(std::move(key)) {}
  void maps(std::span<std::byte* const> maps) const override;
  std::string key() const override { return key_; }

 private:
  ShardRun& run_;
  const Map map_;
  const std::string key_;
};

// What the points of a map make together by the fixed tree: each shard says what the subtrees come to that are its own.
class ReducedMap final : public LaunchMessages {
 public:
  ReducedMap(ShardRun& run, const MapShape& shape, OwnPoints own, std::string key)
      : run_(run), shape_(shape), own_(std::move(own)), key_(std::move(key)) {}
  void maps(std::span<std::byte* const> operands) const override;  // the map, the value
  std::string key() const override { return key_; }

 private:
  ShardRun& run_;
  const MapShape shape_;
  const OwnPoints own_;
  const std::string key_;
};

// What the elements of a field come to by the fixed tree of the root.
class FieldTotal final : public LaunchMessages {
 public:
  FieldTotal(ShardRun& run, std::shared_ptr<const TotalShare> share, ReduceOp op, Precision precision)
      : run_(run), share_(std::move(share)), op_(op), precision_(precision) {}
  void total(const std::byte* field, const PackedPlaces* packed, std::byte* into) const override;
  std::string key() const override;

 private:
  ShardRun& run_;
  const std::shared_ptr<const TotalShare> share_;
  const ReduceOp op_;
  const Precision precision_;
};

// What one shard has comes to all others, as it is: an element of a map, or what a task made that was called alone.
class OwnersValue final : public LaunchMessages {
 public:
  struct Part {
    std::size_t from = 0;  // in the operand, bytes
    std::size_t bytes = 0;
  };
  OwnersValue(ShardRun& run, ShardId owner, std::vector<Part> parts)
      : run_(run), owner_(owner), parts_(std::move(parts)) {}
  void maps(std::span<std::byte* const> operands) const override;  // what is there by part, then the values
  std::string key() const override;

 private:
  ShardRun& run_;
  const ShardId owner_;
  const std::vector<Part> parts_;
};

}  // namespace taskspec
