#include "hwsim/spikes/overruns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hwsim/spikes/of_chip.hpp"

namespace taskspec {

namespace {

std::string population_on(std::int32_t core, const SpikingNet& net, const SpikePlacement& placement) {
  const auto slice = std::ranges::find(placement.slices, core, &SpikeSlice::core);
  return slice == placement.slices.end() ? "" : fmt::format(", population '{}'", net[slice->population].name);
}

}  // namespace

Diag overrun_refusal(const Chip& chip, const SpikingNet& net, const SpikeMachine& machine,
                     std::span<const SpikeTick> ticks) {
  const SpikeTick& first = ticks.front();
  const auto works = [](const SpikeCoreTime& core) { return core.neurons + core.synapses; };
  SpikeCoreTime busiest, last;
  for (const SpikeCoreTime& core : first.cores) {
    if (works(core) > works(busiest)) busiest = core;
    if (core.last_packet > last.last_packet) last = core;
  }
  const std::int64_t barrier = barrier_ticks(spike_costs(chip), machine.traffic().tiles());
  const std::int64_t time = first.length - barrier;
  const bool waits = time > works(busiest);  // for packets
  const SpikeCoreTime& guilty = waits ? last : busiest;
  Diag diag("E5012", Severity::error, {},
            fmt::format("core {}{}: phase {} takes {} clk, and a phase of {} has {}", guilty.core,
                        population_on(guilty.core, net, machine.placement()), first.number, first.length, chip.name,
                        chip.sync.phase_clk));
  if (waits) {
    const std::int64_t way = time - last.last_packet;
    diag.note(fmt::format("most for {}: the last packet leaves after {} clk and arrives {} clk later",
                          way > last.last_packet ? "packets" : "neurons", last.last_packet, way));
  } else {
    diag.note(fmt::format("most for {}: neurons and what they send take {} clk there, what arrives {}",
                          guilty.neurons >= guilty.synapses ? "neurons" : "synapses", guilty.neurons, guilty.synapses));
  }
  if (barrier > 0) diag.note(fmt::format("the barrier takes {} clk", barrier));
  const std::int64_t longest = std::ranges::max_element(ticks, {}, &SpikeTick::length)->length;
  diag.help(fmt::format("sync/phase_clk of {} suffices for what ran so far", longest));
  return diag;
}

}  // namespace taskspec
