// A chip as its network sees it.
#include <algorithm>

#include "hwsim/time/clock.hpp"

namespace taskspec {

NocFigures noc_figures(const Chip& chip, ChipExtent chips) {
  const ChipNoc& noc = chip.noc;
  auto whole = [](std::int64_t number) { return static_cast<int>(number); };
  return {.shape = static_cast<NocShape>(noc.topology),
          .order = static_cast<NocOrder>(noc.order),
          .cores_x = whole(chip.grid.cores.x),
          .cores_y = whole(chip.grid.cores.y),
          .chips_x = whole(chips.x),
          .chips_y = whole(chips.y),
          .cores_per_router = whole(chip.grid.cores_per_router),
          .link_clk = noc.link_clk,
          .hop_x = noc.hop_clk_x,
          .hop_y = noc.hop_clk_y,
          .burst = noc.burst,
          .vcs = whole(noc.vcs),
          .vc_depth = whole(noc.vc_depth),
          .chip_packet_clk = std::max<std::int64_t>(1, noc.chip_packet_clk),
          .chip_hop_x = std::max<std::int64_t>(1, noc.chip_hop_clk_x),
          .chip_hop_y = std::max<std::int64_t>(1, noc.chip_hop_clk_y)};
}

}  // namespace taskspec
