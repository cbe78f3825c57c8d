// All that a mapping decides, and nothing that follows from it: how each unit is cut, and which core does each piece in
// which phase. Small enough to be kept for undo.
//
//   MapDecisions now = decisions_of(plan);
//   now.units[3].grid = {.y = 2}; now.units[3].cores = {17, 18};
//   tidy(now);
//   std::optional<Diag> fault = structure_fault(net_units, now, ...)     none: the phases have an order
#pragma once
#include "hwsim/map/lay_out.hpp"
#include "hwsim/map/rows.hpp"

namespace taskspec {

struct MapUnit {
  PieceGrid grid;
  std::int32_t group = 0, phase = 0;
  std::vector<std::int32_t> cores;                // by piece: y * width + x
  bool streams = false;                           // rows as they come
  std::int64_t slab_rows = 0, pipeline_rows = 0;  // as in UnitPlan
  friend bool operator==(const MapUnit&, const MapUnit&) = default;
};

// Units whose equal weights, tables and inputs lie once on the cores that both use.
using UnitPair = std::pair<std::size_t, std::size_t>;  // the smaller number first

struct MapDecisions {
  std::vector<MapUnit> units;               // in the order of units_of
  std::vector<UnitPair> share;              // ascending
  std::int64_t slabs = 1;                   // as in ChipPlan
  std::int32_t depth = 1, step_groups = 0;  // likewise
  bool fetches_ahead = false;
  friend bool operator==(const MapDecisions&, const MapDecisions&) = default;
};

// Who reads whom, by unit.
struct UnitNet {
  std::vector<ChipUnit> units;
  std::vector<std::vector<std::size_t>> reads;            // without delay, ascending
  std::vector<std::vector<std::size_t>> reads_ever;       // with and without, itself too where it does
  std::vector<bool> gives;                                // something that leaves the chip
  std::vector<std::optional<std::string>> stream_faults;  // rows.hpp
  std::int64_t input_rows = 1;                            // of the input that has most: more batches there cannot be
};
UnitNet unit_net(const ChipNet& net);

// What a unit is made of: "CC 28 x 28 x 6, r 1, 5 x 5 + CCMPB 14 x 14 x 6".
std::string unit_text(const ChipNet& net, const ChipUnit& unit);

// Into more parts than there are rows, groups of columns or of features.
std::optional<Diag> grid_fault(const ChipNet& net, const ChipUnit& unit, const PieceGrid& grid);

// A number of a program as one of a decision, which is then refused if it cannot be.
std::int32_t clamped(std::int64_t number);

// Groups by the order of their first units, phases without gaps.
void tidy(MapDecisions& decisions);
std::int32_t phases_of(const MapDecisions& decisions, std::int32_t group);
bool has_streams(const MapDecisions& decisions);

struct MapPlaces {
  std::int32_t width = 0, height = 0;  // of all chips
  std::int32_t there = 0;              // cores that may be used: the first ones in row order
};

// What needs no memory and no packets to be seen: pieces and cores, phases that wait for one another, limits of their
// numbers. `order`: of units, so that each stands behind what it reads and behind the phases before its own.
std::optional<Diag> structure_fault(const UnitNet& net, const MapDecisions& decisions, const Chip& chip,
                                    const MapPlaces& places, std::vector<std::size_t>& order);

MapDecisions decisions_of(const ChipNet& net, const ChipPlan& plan);
// `order` as above; the pieces are those of the grids.
Result<ChipPlan> plan_of(const ChipNet& net, const UnitNet& units, const MapDecisions& decisions,
                         const std::vector<std::size_t>& order);

}  // namespace taskspec
