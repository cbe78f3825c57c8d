// Elements of fields as messages, and back: one message for each peer, or several if it would be long, with the runs of
// all fields of one operation's use behind one another.
//
//   send(port, {{a_movement, b_movement}}, {{a_base, b_base}}, {{8, 4}});
//   receive(port, {{a_movement, b_movement}}, {{a_base, b_base}}, {{8, 4}}, [&] { engine.turn(); });
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

// By field; null: nothing of this one moves here. Bases are those of the arrays of the whole root.
using Movements = std::span<const Movement* const>;
void send(DataPort& port, Movements fields, std::span<const std::byte* const> bases,
          std::span<const std::size_t> widths);
void receive(DataPort& port, Movements fields, std::span<std::byte* const> bases, std::span<const std::size_t> widths,
             FunctionRef<void()> meanwhile);

// The contributions of one point to one field: they lie as PieceMemory::own(*piece) has it.
struct OwnBuffer {
  const std::byte* base = nullptr;
  const IndexSpace* piece = nullptr;
};
// Of a field, by its place among those handed in, and of an own point, by its linear number.
using OwnBuffers = FunctionRef<OwnBuffer(std::size_t field, std::int64_t point)>;
using FoldMovements = std::span<const FoldMovement* const>;

void send_contributions(DataPort& port, FoldMovements fields, std::span<const Precision> precisions, const Rect& root,
                        OwnBuffers own);
// Adds up, in the order of points, what all shards contribute to the elements whose home is here. Bits are those of the
// host backend, which folds each point's whole buffer in that order.
void fold_contributions(DataPort& port, FoldMovements fields, std::span<std::byte* const> bases,
                        std::span<const Precision> precisions, ReduceOp op, const Rect& root, OwnBuffers own,
                        FunctionRef<void()> meanwhile);

}  // namespace taskspec
