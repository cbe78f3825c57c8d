#include "hwsim/noc/segments.hpp"

#include <limits>

#include "ir/base/diag.hpp"

namespace taskspec {

NocPorts::NocPorts(const NocRoutes& routes, std::span<const NocFlow> flows, LargeVector<NocTimes>& departures)
    : flows_(flows), departures_(departures), link_clk_(routes.figures().link_clk), burst_(routes.figures().burst) {
  departures_.assign(flows.size(), {std::numeric_limits<std::int64_t>::max(), 0});
  begins_.assign(static_cast<std::size_t>(routes.endpoints()) + 2, 0);
  auto slot = [&](const NocFlow& flow) { return static_cast<std::size_t>(routes.endpoint(flow.source)) + 2; };
  for (const NocFlow& flow : flows) {
    if (flow.begin < 0 || flow.span < 0 || flow.packets < 1) bug("a flow of the network has no packets, or no time");
    ++begins_[slot(flow)];
  }
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  entries_.resize(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const NocFlow& flow = flows[i];
    const bool single = flow.packets == 1;
    entries_[begins_[slot(flow) - 1]++] = {.ready = single ? flow.begin + flow.span : NocDepartures(flow).ready(),
                                           .flow = static_cast<std::uint32_t>(i),
                                           .target = static_cast<std::uint32_t>(routes.endpoint(flow.target)),
                                           .single = single};
  }
}

std::span<const NocPorts::Entry> NocPorts::sorted(int endpoint) {
  const std::size_t at = static_cast<std::size_t>(endpoint);
  const std::span<Entry> all(entries_.data() + begins_[at], begins_[at + 1] - begins_[at]);
  if (!std::is_sorted(all.begin(), all.end(), before)) std::sort(all.begin(), all.end(), before);
  return all;
}

}  // namespace taskspec
