#include "hwsim/spikes/of_chip.hpp"

#include <algorithm>

namespace taskspec {

SpikeLimits spike_limits(const Chip& chip, ChipExtent chips) {
  const ChipLimits& limits = chip.limits;
  const SpikeLimits none;
  const bool is_crossbar = chip.kind == ChipKind::crossbar;
  return {.cores = chip.grid.cores.area() * chips.area(),
          .neurons = limits.neurons.value_or(no_limit),
          .axons_in = limits.fan_in.value_or(no_limit),
          .axons_out = is_crossbar ? no_limit : limits.fan_out.value_or(no_limit),
          .destinations = is_crossbar ? limits.fan_out.value_or(no_limit) : no_limit,
          .synapse_bits = limits.synapse_bits.value_or(no_limit),
          .bits_per_synapse = limits.weight_bits.value_or(none.bits_per_synapse),
          .weight_bits = limits.weight_bits.value_or(none.weight_bits),
          .delay = limits.delay_max.value_or(no_limit),
          .adds_partial_sums = is_crossbar && chip.runs_ann};
}

SpikeGrid spike_grid(const Chip& chip, ChipExtent chips) {
  const std::int64_t routers = chip.grid.cores.x / chip.grid.cores_per_router;
  return {.width = static_cast<std::int32_t>(routers * chips.x),
          .cores_per_router = static_cast<std::int32_t>(chip.grid.cores_per_router),
          .chip_width = static_cast<std::int32_t>(routers),
          .chip_height = static_cast<std::int32_t>(chip.grid.cores.y)};
}

SpikeCosts spike_costs(const Chip& chip) {
  const ChipTime& time = chip.time;
  return {.message_in = time.message_in,
          .synapse = {time.synapse_dense, time.synapse_sparse, time.synapse_conv},
          .access = time.access,
          .update = time.update,
          .spike = time.spike,
          .message_out = time.message_out,
          .hop_x = chip.noc.hop_clk_x,
          .hop_y = chip.noc.hop_clk_y,
          .border = std::max<std::int64_t>(0, chip.noc.chip_hop_clk_x - chip.noc.hop_clk_x),
          .sums_per_packet = std::max<std::int64_t>(1, chip.noc.payload_bytes / 4),
          .least_tick = chip.sync.mode == SyncMode::fixed ? chip.sync.phase_clk : chip.sync.tick_clk,
          .barrier = chip.sync.barrier};
}

}  // namespace taskspec
