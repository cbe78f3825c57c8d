#include "hwsim/chip/chip.hpp"

#include <algorithm>

#include "ir/files/files.hpp"

namespace taskspec {

std::int64_t ChipSync::barrier_clk(std::int64_t tiles) const {
  if (barrier.empty()) return 0;
  if (tiles <= barrier.front().first) return barrier.front().second;
  for (std::size_t i = 1; i < barrier.size(); ++i) {
    const auto [few, low] = barrier[i - 1];
    const auto [many, high] = barrier[i];
    if (tiles > many) continue;
    const std::int64_t rise = (high - low) * (tiles - few), steps = many - few;
    return low + (rise >= 0 ? rise / steps : -((-rise + steps - 1) / steps));
  }
  return barrier.back().second;
}

std::optional<ChipExtent> fewest_chips(const ChipGrid& grid, std::int64_t cores) {
  const std::int64_t per_chip = grid.cores.area();
  std::optional<ChipExtent> best;
  for (std::int64_t y = 1; y <= grid.max_chips.y; ++y) {
    const std::int64_t x = std::max<std::int64_t>(1, (cores + per_chip * y - 1) / (per_chip * y));
    if (x <= grid.max_chips.x && (!best || x * y < best->area())) best = {x, y};
  }
  return best;
}

bool ChipMac::takes(Precision activation, Precision weight) const {
  return std::ranges::find(pairs, std::pair(activation, weight)) != pairs.end();
}

std::int64_t Chip::memory_bytes() const {
  std::int64_t bytes = 0;
  for (const ChipBank& bank : banks) bytes += bank.bytes;
  return bytes;
}

const ChipBank* Chip::bank_at(std::int64_t byte) const {
  for (const ChipBank& bank : banks)
    if (byte >= bank.base && byte < bank.end()) return &bank;
  return nullptr;
}

std::vector<const ChipFigure*> Chip::assumed() const {
  std::vector<const ChipFigure*> found;
  for (const ChipFigure& figure : figures)
    if (figure.is_assumed()) found.push_back(&figure);
  return found;
}

const ChipFigure* Chip::figure(std::string_view pointer) const {
  const auto found = std::ranges::find(figures, pointer, &ChipFigure::pointer);
  return found == figures.end() ? nullptr : &*found;
}

std::string_view name_of(EnergyEvent event) {
  constexpr std::string_view names[energy_events] = {
      "mac_i8",   "mac_tern", "alu",       "rd",         "wr",       "out",    "in",     "hop_x", "hop_y", "chip",
      "core_clk", "idle_clk", "syn_dense", "syn_sparse", "syn_conv", "access", "update", "spike", "msg"};
  return names[static_cast<std::size_t>(event)];
}

std::string_view name_of(ChipKind kind) {
  constexpr std::string_view names[] = {"primitive", "crossbar", "synaptic"};
  return names[static_cast<std::size_t>(kind)];
}
std::string_view name_of(SyncMode mode) {
  constexpr std::string_view names[] = {"adaptive", "fixed", "tick"};
  return names[static_cast<std::size_t>(mode)];
}
std::string_view name_of(NocTopology topology) {
  constexpr std::string_view names[] = {"mesh", "bus", "fattree"};
  return names[static_cast<std::size_t>(topology)];
}
std::string_view name_of(BankRole role) {
  constexpr std::string_view names[bank_roles] = {"input",  "weight",  "bias", "table",  "state",
                                                  "output", "receive", "send", "program"};
  return names[static_cast<std::size_t>(role)];
}
std::string_view name_of(NeuronModel model) {
  constexpr std::string_view names[] = {"clif", "loihi", "truenorth"};
  return names[static_cast<std::size_t>(model)];
}

}  // namespace taskspec
