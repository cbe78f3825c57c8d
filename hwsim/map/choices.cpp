// How a unit may be cut, and what each way costs.
#include <algorithm>
#include <set>

#include "hwsim/map/mapper.hpp"

namespace taskspec {

namespace {

std::int64_t cycles_of(const ChipCall& call, const Chip& chip) { return cycles(call.block, call.use, chip.cycles); }

PieceCost cost_of(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, const Chip& chip) {
  PieceBuffers made = buffers_of(net, unit, piece, 0, 1);
  const BufferFit fit = place_buffers(chip, made.buffers, 1);
  PieceCost cost{.fits = fit.fits, .bytes = fit.bytes, .cycles = 0, .first = {}};
  if (fit.first) {
    cost.first = fit.first->name;
    cost.first_bytes = fit.first->bytes;
    cost.there = fit.there;
  }
  std::int64_t received = 0;
  for (const ChipBuffer& buffer : made.buffers) received += buffer.use == BufferUse::receive ? buffer.bytes : 0;
  if (chip.limits.receive_bytes && received > *chip.limits.receive_bytes) {
    cost.fits = false;
    if (cost.first.empty()) {
      cost.first = unit.name + ", what it receives,";
      cost.first_bytes = received;
      cost.there = *chip.limits.receive_bytes;
    }
  }
  if (made.axon) cost.cycles += cycles_of(*made.axon, chip);
  if (made.soma) cost.cycles += cycles_of(*made.soma, chip);
  return cost;
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

std::vector<UnitChoice> choices_of(const ChipNet& net, const ChipUnit& unit, const Chip& chip) {
  std::vector<UnitChoice> choices;
  for (const PieceGrid& grid : grids_of(net, unit)) {
    const Result<std::vector<UnitPiece>> pieces = cut_unit(net, unit, grid);
    if (!pieces) continue;
    UnitChoice choice{grid, cost_of(net, unit, pieces->front(), chip)};
    std::set<std::vector<Extents>> seen{sizes_of(pieces->front())};
    for (const UnitPiece& piece : *pieces) {
      if (!seen.insert(sizes_of(piece)).second) continue;
      const PieceCost other = cost_of(net, unit, piece, chip);
      const std::int64_t most = std::max(choice.cost.cycles, other.cycles);
      if (choice.cost.fits && !other.fits) choice.cost = other;
      choice.cost.bytes = std::max(choice.cost.bytes, other.bytes);
      choice.cost.cycles = most;
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace taskspec
