// The mapper: from a net to a program for a chip. Deterministic; one algorithm for all nets.
//
//   Result<ChipProgram> program = map_net(net, {.chip = chip});
//
// Each unit (an axon with its soma) is cut into pieces that fit a core; with cores left over, the slowest are cut
// further, until the step is as short as it gets. Where there are fewer cores than units, neighbours share cores, one
// phase each.
#pragma once
#include "hwsim/map/cut_sums.hpp"
#include "hwsim/map/lay_out.hpp"

namespace taskspec {

enum class MapObjective : std::uint8_t { throughput, latency, energy, cores };
std::optional<MapObjective> map_objective(std::string_view name);

struct MapOptions {
  std::shared_ptr<const Chip> chip;
  ChipExtent chips = {0, 0};               // 0 x 0: as the chip's file says
  std::optional<std::int32_t> cores = {};  // the first n in row order
  MapObjective objective = MapObjective::throughput;
  // Items that a receive buffer has room for: 2 where memory suffices is double buffering. With it cores may fetch
  // ahead (mode A2S2), if all that they read comes from groups before theirs.
  std::int32_t depth = 1;
  bool fetches_ahead = false;
  std::int32_t step_groups = 0;  // that groups of cores are dealt into, in their order; 0: none
  // In how many batches of rows inputs come, and what can streams; 1: nothing does. None: whole if that fits, else as
  // is best.
  std::optional<std::int64_t> slabs = {};
  // Where CADD is, for sums that are cut along r (cut_sums.hpp); none: no sum is cut.
  std::optional<BlockTable> blocks = {};
};

// Errors: E4041 a piece that fits no core, E4042 too few cores, E4043 a limit, E4044 a way, E4045 what the chip has
// not.
Result<ChipProgram> map_net(const ChipNet& net, const MapOptions& options);

// Rooms of receive buffers, step groups and mode A2S2 that say nothing, or do not go together.
std::optional<std::string> items_fault(std::int64_t depth, std::int64_t step_groups, bool fetches_ahead);

// A number among the options that says nothing, or nothing for this net (E4040), or more than there is (E4043).
Diags check_options(const ChipNet& net, const MapOptions& options);

// With sums cut that fit no core, where options have blocks for it: what the functions below want, and mappings. Errors
// E4040, E4043.
struct FittedNet {
  ChipNet net;
  SumCuts cuts;
};
Result<FittedNet> fitted_net(const ChipNet& net, const MapOptions& options, CutsWhen when);
ChipExtent chips_of(const MapOptions& options);
std::int64_t cores_of(const MapOptions& options);

// What `make` makes of the net with as few sums cut as need be; if it makes nothing of it, of that with more of them.
template <class Make>
auto of_fitted(const ChipNet& net, const MapOptions& options, Make make) {
  using Made = decltype(make(FittedNet()));
  Result<FittedNet> few = fitted_net(net, options, CutsWhen::needed);
  if (!few) return Made(few.diags());
  const SumCuts cuts = few->cuts;
  Made made = make(*std::move(few));
  if (made) return made;
  Result<FittedNet> more = fitted_net(net, options, CutsWhen::early);
  if (!more || more->cuts == cuts) return made;
  Made other = make(*std::move(more));
  return other ? std::move(other) : std::move(made);
}

// What is decided, with the cores where they come to lie; and the program that follows from it. These know the
// objectives throughput and cores; `latency` and `energy`, which look for better ones, are map_net's (objectives.cpp).
struct MappedNet {
  ChipPlan plan;
  ChipProgram program;
};
Result<MappedNet> plan_and_lay_out(const ChipNet& net, const MapOptions& options);
Result<ChipPlan> plan_net(const ChipNet& net, const MapOptions& options);
// The mapper's own: on so many cores, which have no places yet.
Result<ChipPlan> plan_on(const ChipNet& net, const MapOptions& options, std::int64_t most);
// Of a plan whose cores have their places, on so many cores in row order.
Result<ChipProgram> program_of(const ChipNet& net, const MapOptions& options, ChipExtent chips, std::int32_t there,
                               const ChipPlan& plan);
Result<ChipPlan> plan_for(const ChipNet& net, const MapOptions& options);  // of any objective

// What one piece would be on a core by itself.
struct PieceCost {
  bool fits = false;
  std::int64_t bytes = 0, cycles = 0;
  std::string first;  // that finds no place
  std::int64_t first_bytes = 0, there = 0;
};

// A way to cut a unit, at its worst piece.
struct UnitChoice {
  PieceGrid grid;
  PieceCost cost;
  std::int64_t pipeline_rows = 0;
};
// What tells pieces of a unit apart: the extents of all that they read and make.
std::vector<Extents> sizes_of(const UnitPiece& piece);
// `rows`: of a stream, which is not cut along y; none: whole.
std::vector<UnitChoice> choices_of(const ChipNet& net, const ChipUnit& unit, const Chip& chip,
                                   const UnitRows* rows = nullptr);

}  // namespace taskspec
