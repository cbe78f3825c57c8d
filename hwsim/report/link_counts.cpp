#include "hwsim/report/link_counts.hpp"

#include "hwsim/time/clock.hpp"

namespace taskspec {

LinkCounts::LinkCounts(const Chip& chip, ChipExtent chips)
    : routes_(noc_figures(chip, chips)),
      is_mesh_(chip.noc.topology == NocTopology::mesh),
      packets_(routes_.links()),
      sent_(static_cast<std::size_t>(routes_.endpoints() - routes_.cores())),
      taken_(sent_.size()) {}

PerEvent LinkCounts::add(int from, int to, std::int64_t packets) {
  PerEvent events;
  for (int i = 0; i < routes_.hops(from, to); ++i) {
    const NocHop hop = routes_.hop(from, to, i);
    if (hop.link != NocHop::no_link) packets_[hop.link] += packets;
    const bool is_border = routes_.is_border(hop.server);
    if (is_border) events[EnergyEvent::chip] += packets;
    const std::size_t side = is_mesh_ ? hop.link % 4 : is_border ? (hop.server - routes_.links()) % 4 : 0;
    events[side < 2 ? EnergyEvent::hop_x : EnergyEvent::hop_y] += packets;
  }
  if (routes_.is_host(from) || routes_.is_host(to)) events[EnergyEvent::hop_x] += packets;
  if (routes_.is_host(from)) sent_[static_cast<std::size_t>(from - routes_.cores())] += packets;
  if (routes_.is_host(to)) taken_[static_cast<std::size_t>(to - routes_.cores())] += packets;
  return events;
}

std::vector<LinkRow> LinkCounts::rows() const {
  std::vector<LinkRow> rows;
  if (!is_mesh_) return rows;
  for (std::size_t link = 0; link < packets_.size(); ++link)
    if (packets_[link] > 0)
      rows.push_back({static_cast<std::int32_t>(link / 4), static_cast<std::int32_t>(link % 4), packets_[link]});
  return rows;
}

std::vector<HostRow> LinkCounts::hosts() const {
  std::vector<HostRow> rows;
  for (std::size_t row = 0; row < sent_.size(); ++row)
    if (sent_[row] + taken_[row] > 0) rows.push_back({static_cast<std::int32_t>(row), sent_[row], taken_[row]});
  return rows;
}

}  // namespace taskspec
