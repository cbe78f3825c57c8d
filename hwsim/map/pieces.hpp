// Units of a net, and the pieces that they are cut into. A unit is what a core does in one phase: an axon and the soma
// that reads its sums, or one of them alone.
//
//   std::vector<ChipUnit> units = units_of(net);
//   Result<std::vector<UnitPiece>> pieces = cut_unit(net, units[0], {.y = 2, .x = 1, .f = 1});
#pragma once
#include "hwsim/net/net.hpp"
#include "ir/blocks/rewrites.hpp"
#include "ir/blocks/windows.hpp"

namespace taskspec {

inline constexpr std::size_t no_work = SIZE_MAX;
inline constexpr std::int64_t feature_group = 32, column_group = 4;  // what the units compute side by side

struct ChipUnit {
  std::size_t axon = no_work, soma = no_work;                         // of ChipNet::works
  std::string name;                                                   // of the first of them
  std::size_t last() const { return soma != no_work ? soma : axon; }  // whose result leaves the unit
};

// In topological order.
std::vector<ChipUnit> units_of(const ChipNet& net);

// Into how many parts, along each axis.
struct PieceGrid {
  std::int64_t y = 1, x = 1, f = 1;
  std::int64_t pieces() const { return y * x * f; }
  std::string text() const;  // "2 x 1 x 4"
  friend bool operator==(const PieceGrid&, const PieceGrid&) = default;
};

// The parts of one piece; boxes are those of the works.
struct UnitPiece {
  std::optional<BlockPart> axon, soma;
  const BlockPart& last() const { return soma ? *soma : *axon; }
};

// Features go in groups of 32, columns in groups of 4. `only_worst`: some of the pieces, among them those that need
// most. Error E4002: it cannot be cut so.
Result<std::vector<UnitPiece>> cut_unit(const ChipNet& net, const ChipUnit& unit, const PieceGrid& grid,
                                        bool only_worst = false);

// Of a piece whose rows are not cut, the part that makes rows [begin, end) of its last work. Error E4002.
Result<UnitPiece> rows_of(const UnitPiece& piece, std::int64_t begin, std::int64_t end);

// The part of a block that makes a box of its array, and what it reads for that. Error E4002: there is no such part.
Result<BlockPart> part_making(const TaskBlock& block, const Box& out);

// Rows of sums that an axon makes for rows [begin, end) of a soma with that window, of `extent` in all: those that it
// reads, and those before them that no window reads.
struct SumRange {
  std::int64_t begin = 0, end = 0;
};
SumRange sums_of_rows(const BlockWindow& window, std::int64_t begin, std::int64_t end, std::int64_t extent);

// All ways that make sense, at most 64, those of few pieces first. Rows of streams are not cut.
std::vector<PieceGrid> grids_of(const ChipNet& net, const ChipUnit& unit, bool cuts_rows = true);

}  // namespace taskspec
