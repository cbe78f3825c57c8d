// How a unit may be cut, and what each way costs.
#include <algorithm>
#include <set>

#include "hwsim/map/mapper.hpp"

namespace taskspec {

namespace {

std::int64_t cycles_of(const ChipCall& call, const Chip& chip) { return cycles(call.block, call.use, chip.cycles); }

PieceCost cost_of(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, const Chip& chip,
                  const PieceUse& use) {
  Result<PieceBuffers> made = buffers_of(net, unit, piece, use);
  if (!made) return {.first = unit.name + ", a slab of rows,"};
  const auto phases = static_cast<std::int32_t>(made->phases.size());
  const BufferFit fit = place_buffers(chip, made->buffers, phases);
  PieceCost cost{.fits = fit.fits, .bytes = fit.bytes, .cycles = 0, .first = {}};
  if (fit.first) {
    cost.first = fit.first->name;
    cost.first_bytes = fit.first->bytes;
    cost.there = fit.there;
  }
  std::int64_t received = 0;
  for (const ChipBuffer& buffer : made->buffers) received += buffer.use == BufferUse::receive ? buffer.bytes : 0;
  if (chip.limits.receive_bytes && received > *chip.limits.receive_bytes) {
    cost.fits = false;
    if (cost.first.empty()) {
      cost.first = unit.name + ", what it receives,";
      cost.first_bytes = received;
      cost.there = *chip.limits.receive_bytes;
    }
  }
  for (ChipPhase& phase : made->phases) {
    if (phase.axon) phase.axon->cycles = cycles_of(*phase.axon, chip);
    if (phase.soma) phase.soma->cycles = cycles_of(*phase.soma, chip);
    const std::size_t k = static_cast<std::size_t>(&phase - made->phases.data());
    const ChipPhase& same = use.rows ? made->phases[made->like[k]] : phase;
    cost.cycles += computed_at(same, chip.cycles.start);
    if (use.rows && !phase.moves.empty()) {
      std::int64_t bytes = 0;
      for (const ChipMove& move : phase.moves)
        bytes += move.box.size[0] * made->buffers[static_cast<std::size_t>(move.from)].layout.strides[0] / 8;
      cost.cycles += chip.cycles.start + 2 * (bytes / chip.cycles.soma_bytes_per_clk + 1);
    }
  }
  return cost;
}

// At its worst piece.
std::optional<UnitChoice> choice_of(const ChipNet& net, const ChipUnit& unit, const Chip& chip, const PieceGrid& grid,
                                    const PieceUse& use) {
  const Result<std::vector<UnitPiece>> pieces = cut_unit(net, unit, grid, true);
  if (!pieces) return std::nullopt;
  UnitChoice choice{
      .grid = grid, .cost = cost_of(net, unit, pieces->front(), chip, use), .pipeline_rows = use.pipeline_rows};
  std::set<std::vector<Extents>> seen{sizes_of(pieces->front())};
  for (const UnitPiece& piece : *pieces) {
    if (!seen.insert(sizes_of(piece)).second) continue;
    const PieceCost other = cost_of(net, unit, piece, chip, use);
    const std::int64_t most = std::max(choice.cost.cycles, other.cycles);
    if (choice.cost.fits && !other.fits) choice.cost = other;
    choice.cost.bytes = std::max(choice.cost.bytes, other.bytes);
    choice.cost.cycles = most;
  }
  return choice;
}

}  // namespace

std::vector<Extents> sizes_of(const UnitPiece& piece) {
  std::vector<Extents> sizes;
  for (const std::optional<BlockPart>* part : {&piece.axon, &piece.soma}) {
    sizes.emplace_back();
    if (!*part) continue;
    sizes.push_back((*part)->out.size);
    for (const Box& box : (*part)->in) sizes.push_back(box.size);
  }
  return sizes;
}

std::vector<UnitChoice> choices_of(const ChipNet& net, const ChipUnit& unit, const Chip& chip, const UnitRows* rows) {
  std::vector<UnitChoice> choices;
  const bool is_pair = unit.axon != no_work && unit.soma != no_work;
  for (const PieceGrid& grid : grids_of(net, unit, rows == nullptr)) {
    PieceUse use{.rows = rows, .pipeline_rows = rows && is_pair ? 1 : 0, .only_sizes = true};
    std::optional<UnitChoice> choice = choice_of(net, unit, chip, grid, use);
    if (!choice) continue;
    // Sums as a whole fill memory: then some rows of them.
    if (!choice->cost.fits && is_pair && !rows) {
      use.pipeline_rows = 1;
      if (std::optional<UnitChoice> rowwise = choice_of(net, unit, chip, grid, use); rowwise && rowwise->cost.fits)
        choice = std::move(rowwise);
    }
    choices.push_back(*std::move(choice));
  }
  return choices;
}

}  // namespace taskspec
