// Elements of fields as messages, and back: one message for each peer, or several if it would be long, with the runs of
// all fields of one operation's use behind one another.
//
//   const Packing packing({{a_movement, b_movement}}, {{8, 4}});
//   packing.send(port, {{a_base, b_base}}, packed);
//   packing.receive(port, {{a_base, b_base}}, packed, [&] { engine.turn(); });
//   BoundPacking bound(packing, port, {{a_base, b_base}}, packed);      // for many times
//
// Both ends hand in the fields in one order. A message of other elements than are expected is ContentsDiffer.
#pragma once
#include <span>

#include "interp/shards/data/data_port.hpp"
#include "interp/shards/data/movement.hpp"
#include "ir/records/reduce_op.hpp"
#include "ir/region/piece_memory.hpp"

namespace taskspec {

// What is longer goes as several messages, which end between sources where that is possible.
inline constexpr std::size_t longest_message = std::size_t{256} << 10;

// By field; null: nothing of this one moves here. Bases are those of the arrays of the root, of all of its elements or
// of those that are packed.
using Movements = std::span<const Movement* const>;
class Packing {
 public:
  // By field, whose movements outlive this.
  Packing(Movements fields, std::span<const std::size_t> widths);
  void send(DataPort& port, std::span<const std::byte* const> bases, const PackedPlaces* packed) const;
  void receive(DataPort& port, std::span<std::byte* const> bases, const PackedPlaces* packed,
               FunctionRef<void()> meanwhile) const;

 private:
  friend class BoundPacking;
  struct Part {
    std::size_t field = 0, width = 0;
    const Intervals* runs = nullptr;
  };
  struct Contents {
    ShardId shard;           // that they go to, or come from
    std::uint32_t mark = 0;  // of all parts
    std::size_t bytes = 0;
  };
  struct Peer : Contents {
    std::vector<Part> parts;  // by field
  };
  static std::vector<Peer> peers(Movements fields, std::vector<Movement::Part> Movement::*parts,
                                 std::span<const std::size_t> widths);
  // By bytes that lie together: each(visit), visit(at, bytes).
  template <class Each>
  static void send_to(DataPort& port, const Contents& contents, Each&& each);
  template <class Each>
  static void receive_from(DataPort& port, const Contents& contents, Each&& each, FunctionRef<void()> meanwhile);
  template <class Byte, class Visit>
  static void each_run(const Peer& peer, std::span<Byte* const> bases, const PackedPlaces* packed, Visit&& visit);
  const std::vector<Peer> send_, receive_;  // ascending
};

// A packing of fields that stay where they are.
class BoundPacking {
 public:
  BoundPacking(const Packing& packing, DataPort& port, std::span<std::byte* const> bases, const PackedPlaces* packed);
  void send();
  void receive(FunctionRef<void()> meanwhile);

 private:
  struct Peer {
    Packing::Contents contents;
    std::vector<std::span<std::byte>> parts;
  };
  static std::vector<Peer> peers(std::span<const Packing::Peer> of, std::span<std::byte* const> bases,
                                 const PackedPlaces* packed);
  DataPort& port_;
  const std::vector<Peer> send_, receive_;
};

// The contributions of one point to one field: they lie as PieceMemory::own(*piece) has it.
struct OwnBuffer {
  const std::byte* base = nullptr;
  const IndexSpace* piece = nullptr;
};
// Of a field, by its place among those handed in, and of an own point, by its linear number.
using OwnBuffers = FunctionRef<OwnBuffer(std::size_t field, std::int64_t point)>;
using FoldMovements = std::span<const FoldMovement* const>;

void send_contributions(DataPort& port, FoldMovements fields, std::span<const Precision> precisions, ReduceOp op,
                        const Rect& root, OwnBuffers own);
// Adds up, in the order of points, what all shards contribute to the elements whose home is here. Bits are those of the
// host backend, which folds each point's whole buffer in that order; unless shards come in place of points.
void fold_contributions(DataPort& port, FoldMovements fields, std::span<std::byte* const> bases,
                        const PackedPlaces* packed, std::span<const Precision> precisions, ReduceOp op,
                        const Rect& root, OwnBuffers own, FunctionRef<void()> meanwhile);

}  // namespace taskspec
