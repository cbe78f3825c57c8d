// All that a mapping decides: how each unit is cut, which piece runs on which core and when, what streams. Everything
// else follows from it (row_schedule, lay_out).
#pragma once
#include "hwsim/map/pieces.hpp"

namespace taskspec {

// Whole: all rows of a piece in one phase. Stream: rows in slabs, one per phase, as they come.
enum class UnitForm : std::uint8_t { whole, stream };

struct UnitPlan {
  ChipUnit unit;
  PieceGrid grid;
  std::vector<UnitPiece> pieces;
  // Phase: of whole units; of those that make rows in one tick on cores of a group the order among them.
  std::int32_t group = 0, phase = 0;
  std::vector<std::int32_t> cores;  // by piece: position among the cores of the program
  UnitForm form = UnitForm::whole;
  std::int64_t slab_rows = 0;      // stream: that it makes in a phase, at most; 0: as many as the net's inputs come in
  std::int64_t pipeline_rows = 0;  // of sums that are kept between axon and soma; 0: all of them
};

struct ChipPlan {
  std::vector<UnitPlan> units;                             // in topological order
  std::vector<std::int32_t> group_phases;                  // how many; where rows stream row_schedule says it
  std::vector<std::int32_t> group_of_core, places;         // by position; place: a first one, y * width + x
  std::int32_t depth = 1, step_groups = 0;                 // as in MapOptions
  bool fetches_ahead = false;                              // likewise
  std::vector<std::pair<std::size_t, std::size_t>> share;  // units whose equal weights lie once on a core of both
  std::int64_t slabs = 1;                                  // in how many batches of rows an input comes to streams
};

}  // namespace taskspec
