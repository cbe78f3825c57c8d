#include "hwsim/spikes/of_chip.hpp"

#include <algorithm>

#include "hwsim/time/clock.hpp"

namespace taskspec {

namespace {

bool holds_weights(const ChipBank& bank) { return bank.holds(BankRole::weight); }

}  // namespace

SpikeLimits spike_limits(const Chip& chip, ChipExtent chips, std::optional<std::int64_t> cores) {
  const ChipLimits& limits = chip.limits;
  const SpikeLimits none;
  const bool is_crossbar = chip.kind == ChipKind::crossbar;
  const std::int64_t there = chip.grid.cores.area() * chips.area();
  SpikeLimits made{.cores = std::min(there, cores.value_or(there)),
                   .neurons = limits.neurons.value_or(no_limit),
                   .axons_in = limits.fan_in.value_or(no_limit),
                   .axons_out = is_crossbar ? no_limit : limits.fan_out.value_or(no_limit),
                   .destinations = is_crossbar ? limits.fan_out.value_or(no_limit) : no_limit,
                   .synapse_bits = limits.synapse_bits.value_or(no_limit),
                   .bits_per_synapse = bits_per_synapse(chip),
                   .weight_bits = limits.weight_bits.value_or(none.weight_bits),
                   .delay = limits.delay_max.value_or(no_limit),
                   .adds_partial_sums = is_crossbar && chip.runs_ann,
                   .room = SpikeRoom{chip.grid, chips, cores.has_value()}};
  // Of several banks nobody says which synapses lie where; what a crossbar holds its inputs and neurons say.
  if (!is_crossbar && std::ranges::count_if(chip.banks, holds_weights) == 1) {
    const auto bank = std::ranges::find_if(chip.banks, holds_weights);
    made.memory_bits = bank->bytes * 8;
    made.memory_bank = static_cast<std::size_t>(bank - chip.banks.begin());
  }
  return made;
}

std::int64_t bits_per_synapse(const Chip& chip) {
  if (chip.limits.axon_types) return 1;
  return chip.limits.weight_bits.value_or(SpikeLimits{}.bits_per_synapse);
}

SpikeGrid spike_grid(const Chip& chip, ChipExtent chips) {
  const std::int64_t routers = chip.grid.cores.x / chip.grid.cores_per_router;
  SpikeGrid grid{.width = static_cast<std::int32_t>(routers * chips.x),
                 .cores_per_router = static_cast<std::int32_t>(chip.grid.cores_per_router),
                 .chip_width = static_cast<std::int32_t>(routers),
                 .chip_height = static_cast<std::int32_t>(chip.grid.cores.y)};
  if (chip.noc.topology != NocTopology::mesh) grid.routes = std::make_shared<const NocRoutes>(noc_figures(chip, chips));
  return grid;
}

SpikeCosts spike_costs(const Chip& chip) {
  const ChipTime& time = chip.time;
  const ChipNoc& noc = chip.noc;
  return {.message_in = time.message_in,
          .synapse = {time.synapse_dense, time.synapse_sparse, time.synapse_conv},
          .access = time.access,
          .update = time.update,
          .spike = time.spike,
          .message_out = time.message_out,
          .hop_x = noc.hop_clk_x,
          .hop_y = noc.hop_clk_y,
          .border_x = noc.chip_hop_clk_x - noc.hop_clk_x,
          .border_y = noc.chip_hop_clk_y - noc.hop_clk_y,
          .sums_per_packet = std::max<std::int64_t>(1, noc.payload_bytes / 4),
          .least_tick = chip.sync.mode == SyncMode::fixed ? chip.sync.phase_clk : chip.sync.tick_clk,
          .barrier = chip.sync.barrier};
}

}  // namespace taskspec
