#include "hwsim/noc/routes.hpp"

#include <algorithm>
#include <cstdlib>

#include "ir/base/diag.hpp"

namespace taskspec {

namespace {

void check_figures(const NocFigures& f) {
  const bool sizes = f.cores_x >= 1 && f.cores_y >= 1 && f.chips_x >= 1 && f.chips_y >= 1 && f.cores_per_router >= 1 &&
                     f.cores_x % f.cores_per_router == 0;
  // Coordinates have 16 bits, sources 24; 20 leave room for hosts.
  if (!sizes || std::int64_t{f.cores_x} * f.chips_x > 0xffff || std::int64_t{f.cores_y} * f.chips_y > 0xffff ||
      std::int64_t{f.cores_x} * f.chips_x * f.cores_y * f.chips_y > (1 << 20))
    bug("the grid of a network is empty, too large, or no multiple of its routers");
  if (f.link_clk < 1 || f.hop_x < 1 || f.hop_y < 1 || f.burst < 1 || f.burst > 0xffff || f.chip_packet_clk < 1 ||
      f.chip_hop_x < 1 || f.chip_hop_y < 1 || f.vcs < 1 || f.vcs > 32 || f.vc_depth < 1 || f.vc_depth > 0xffff)
    bug("a figure of a network is out of range");
}

}  // namespace

NocRoutes::NocRoutes(const NocFigures& figures)
    : figures_((check_figures(figures), figures)),
      cores_(figures.cores()),
      routers_x_(figures.routers_x()),
      routers_y_(figures.height()),
      chip_routers_x_(figures.cores_x / figures.cores_per_router) {
  for (int i = 0; i < endpoints(); ++i) {
    x_.push_back(static_cast<std::uint16_t>(is_host(i) ? 0 : i % figures.width() / figures.cores_per_router));
    y_.push_back(static_cast<std::uint16_t>(is_host(i) ? i - cores_ : i / figures.width()));
  }
  const int chips = figures.chips_x * figures.chips_y;
  if (figures.shape == NocShape::mesh)
    add_mesh();
  else if (figures.shape == NocShape::bus)
    servers_.assign(static_cast<std::size_t>(chips), {figures.link_clk, figures.hop_x});
  else
    add_trees();
  links_ = servers_.size();
  // A border is never quicker than the links before it.
  const std::int64_t service = std::max(figures.chip_packet_clk, figures.link_clk);
  for (int i = 0; i < chips * 4; ++i)
    servers_.push_back({service, i % 4 < 2 ? figures.chip_hop_x : figures.chip_hop_y});
  ejection_ = static_cast<std::uint32_t>(servers_.size());
  for (int i = 0; i < endpoints(); ++i) servers_.push_back({figures.link_clk, entry(i)});
}

int NocRoutes::endpoint(int core_or_host) const {
  const int row = -1 - core_or_host;
  if (core_or_host >= cores_ || row >= figures_.height()) bug("a packet of the network has no such core or row");
  return core_or_host >= 0 ? core_or_host : cores_ + row;
}

std::uint32_t NocRoutes::border(int chip, NocSide side) const {
  return static_cast<std::uint32_t>(links_ + static_cast<std::size_t>(chip) * 4 + static_cast<std::size_t>(side));
}

void NocRoutes::add_mesh() {
  const std::size_t links = static_cast<std::size_t>(routers_x_) * static_cast<std::size_t>(routers_y_) * 4;
  links_ = links;  // borders are numbered behind them
  for (std::size_t link = 0; link < links; ++link) {
    const int router = static_cast<int>(link / 4), column = router % routers_x_, row = router / routers_x_;
    const NocSide side = static_cast<NocSide>(link % 4);
    const bool horizontal = side == NocSide::east || side == NocSide::west;
    servers_.push_back({figures_.link_clk, horizontal ? figures_.hop_x : figures_.hop_y});
    const int chip_x = column / chip_routers_x_, chip_y = row / figures_.cores_y;
    const int next_x = column + (side == NocSide::east) - (side == NocSide::west);
    const int next_y = row + (side == NocSide::south) - (side == NocSide::north);
    const bool inside = next_x >= 0 && next_x < routers_x_ && next_y >= 0 && next_y < routers_y_;
    const bool crosses = inside && (next_x / chip_routers_x_ != chip_x || next_y / figures_.cores_y != chip_y);
    server_of_link_.push_back(crosses ? border(chip_y * figures_.chips_x + chip_x, side)
                                      : static_cast<std::uint32_t>(link));
  }
}

int NocRoutes::chip(int endpoint) const {
  return y(endpoint) / figures_.cores_y * figures_.chips_x + x(endpoint) / chip_routers_x_;
}

int NocRoutes::chip_hops(int from, int to) const {
  const int a = chip(from), b = chip(to), n = figures_.chips_x;
  return std::abs(a % n - b % n) + std::abs(a / n - b / n);
}

int NocRoutes::hops(int from, int to) const {
  const int across = chip_hops(from, to);
  if (figures_.shape == NocShape::mesh) return std::abs(x(from) - x(to)) + std::abs(y(from) - y(to));
  if (figures_.shape == NocShape::bus) return from == to ? 0 : across > 0 ? across + 2 : 1;
  return across + 2 * levels_up(from, to);
}

std::int64_t NocRoutes::latency(int from, int to) const {
  std::int64_t sum = entry(from) + entry(to);
  if (figures_.shape == NocShape::mesh) {
    const int dx = std::abs(x(from) - x(to)), dy = std::abs(y(from) - y(to));
    if (figures_.chips_x * figures_.chips_y == 1) return sum + dx * figures_.hop_x + dy * figures_.hop_y;
    const int chips_x = std::abs(x(from) / chip_routers_x_ - x(to) / chip_routers_x_);
    const int chips_y = std::abs(y(from) / figures_.cores_y - y(to) / figures_.cores_y);
    return sum + (dx - chips_x) * figures_.hop_x + (dy - chips_y) * figures_.hop_y + chips_x * figures_.chip_hop_x +
           chips_y * figures_.chip_hop_y;
  }
  for (int i = 0; i < hops(from, to); ++i) sum += servers_[hop(from, to, i).server].latency;
  return sum;
}

// The i-th border between the chips of two endpoints, x first; `before` is the port of the first.
NocHop NocRoutes::between_chips(int from, int to, int i, NocPort before) const {
  const int n = figures_.chips_x, x0 = chip(from) % n, y0 = chip(from) / n, x1 = chip(to) % n, y1 = chip(to) / n;
  const int dx = std::abs(x1 - x0);
  const NocSide side_x = x1 < x0 ? NocSide::west : NocSide::east, side_y = y1 < y0 ? NocSide::north : NocSide::south;
  const int along_x = std::min(i, dx), along_y = i - along_x;
  const int column = x1 < x0 ? x0 - along_x : x0 + along_x, row = y1 < y0 ? y0 - along_y : y0 + along_y;
  NocHop hop;
  hop.server = border(row * n + column, i < dx ? side_x : side_y);
  hop.port = i == 0 ? before : port_behind(i <= dx ? side_x : side_y);
  return hop;
}

NocPort NocRoutes::entered(int from, int to) const {
  return between_chips(from, to, chip_hops(from, to), NocPort::local).port;
}

NocHop NocRoutes::bus_hop(int from, int to, int i) const {
  const int across = chip_hops(from, to), last = hops(from, to);
  NocHop hop;
  if (i == last) {
    hop.server = ejection(to);
  } else if (i == 0 || i == last - 1) {
    hop.link = hop.server = static_cast<std::uint32_t>(chip(i == 0 ? from : to));
    if (i > 0) hop.port = entered(from, to);
  } else {
    hop = between_chips(from, to, i - 1, NocPort::local);
  }
  if (i == last && across > 0) hop.port = NocPort::outside;
  return hop;
}

// ---- fat trees of arity 4
// --------------------------------------------------------------------------------------------

void NocRoutes::add_trees() {
  const int leaves = figures_.cores_x * figures_.cores_y, chips = figures_.chips_x * figures_.chips_y;
  std::uint32_t links = 0;
  for (int nodes = leaves; nodes > 1; nodes = (nodes + 3) / 4) {
    level_base_.push_back(links);
    links += static_cast<std::uint32_t>(nodes) << (levels_++ + 1);
  }
  level_base_.push_back(links);
  servers_.assign(std::size_t{links} * static_cast<std::size_t>(chips), {figures_.link_clk, figures_.hop_x});
}

// Within its chip, in row order; the host comes in at the first core of its row.
int NocRoutes::leaf(int endpoint) const {
  const int core = is_host(endpoint) ? (endpoint - cores_) * figures_.width() : endpoint;
  return core / figures_.width() % figures_.cores_y * figures_.cores_x + core % figures_.width() % figures_.cores_x;
}

int NocRoutes::levels_up(int from, int to) const {
  if (chip_hops(from, to) > 0) return levels_;
  int levels = 0;
  for (int a = leaf(from), b = leaf(to); a != b; a /= 4, b /= 4) ++levels;
  return levels;
}

std::uint32_t NocRoutes::tree_link(int chip, int level, int node, bool down, int choice) const {
  const std::uint32_t servers = 1U << level;
  return static_cast<std::uint32_t>(chip) * level_base_.back() + level_base_[static_cast<std::size_t>(level)] +
         static_cast<std::uint32_t>(node) * 2 * servers + (down ? servers : 0) +
         static_cast<std::uint32_t>(choice) % servers;
}

NocHop NocRoutes::tree_hop(int from, int to, int i) const {
  const int up = levels_up(from, to), across = chip_hops(from, to), choice = leaf(from) + leaf(to);
  auto child = [](int node) { return static_cast<NocPort>(static_cast<int>(NocPort::first_child) + node % 4); };
  NocHop hop;
  if (i < up) {
    hop.link = hop.server = tree_link(chip(from), i, leaf(from) >> (2 * i), false, choice);
    if (i > 0) hop.port = child(leaf(from) >> (2 * (i - 1)));
  } else if (i < up + across) {
    hop = between_chips(from, to, i - up, NocPort::local);
  } else if (const int level = 2 * up + across - 1 - i; level >= 0) {
    hop.link = hop.server = tree_link(chip(to), level, leaf(to) >> (2 * level), true, choice);
    if (level < up - 1)
      hop.port = NocPort::parent;
    else if (across == 0)
      hop.port = child(leaf(from) >> (2 * level));
    else
      hop.port = static_cast<NocPort>(static_cast<int>(NocPort::outside) + static_cast<int>(entered(from, to)));
  } else {
    hop.server = ejection(to);
    hop.port = up > 0 || across > 0 ? NocPort::parent : NocPort::local;
  }
  return hop;
}

}  // namespace taskspec
