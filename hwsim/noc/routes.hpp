// Which links a packet takes, in order, and the numbers of all servers. Geometry alone: no times of packets.
//
//   NocRoutes routes(figures);
//   const int from = routes.endpoint(flow.source), to = routes.endpoint(flow.target);
//   for (int i = 0; i <= routes.hops(from, to); ++i) routes.hop(from, to, i).server   // the last is the ejection port
//
// An endpoint is a core, or behind them the host of a row. A server is a link, a border of a chip, or the ejection port
// of an endpoint. Links of a mesh: router * 4 + NocSide. Of a fat tree, chip after chip, level after level from the
// leaves, node after node: the 2^level servers upwards, then those downwards.
#pragma once
#include <cstdint>
#include <vector>

#include "hwsim/noc/noc.hpp"

namespace taskspec {

enum class NocSide : std::uint8_t { east, west, north, south };

// Where a segment comes in, in the order in which equal arrivals are served. `first_child` and the three behind it,
// then `parent`, are those of fat trees; a tree's root takes what comes from other chips at `outside` + side.
enum class NocPort : std::uint8_t { local, west, east, north, south, first_child = 1, parent = 5, outside };

struct NocHop {
  static constexpr std::uint32_t no_link = ~std::uint32_t{0};
  std::uint32_t server = 0;
  std::uint32_t link =
      no_link;  // of NocTraffic::links; an ejection port is none, nor is a border between buses or trees
  NocPort port = NocPort::local;
};

struct NocServer {
  std::int64_t service = 1;  // ticks per packet
  std::int64_t latency = 0;  // from the start of service until the head is at the next one
};

class NocRoutes {
 public:
  explicit NocRoutes(const NocFigures& figures);

  const NocFigures& figures() const { return figures_; }
  int cores() const { return cores_; }
  int endpoints() const { return cores_ + figures_.height(); }
  int endpoint(int core_or_host) const;
  bool is_host(int endpoint) const { return endpoint >= cores_; }
  // In routers; the host stands at column 0, whose west port it uses.
  int x(int endpoint) const { return x_[static_cast<std::size_t>(endpoint)]; }
  int y(int endpoint) const { return y_[static_cast<std::size_t>(endpoint)]; }
  int routers_x() const { return routers_x_; }
  int routers_y() const { return routers_y_; }
  // Ticks between the injection port and the first router, and between the last router and the target.
  std::int64_t entry(int endpoint) const { return is_host(endpoint) ? figures_.hop_x : 0; }

  int hops(int from, int to) const;              // without the ejection port
  NocHop hop(int from, int to, int i) const;     // i <= hops
  std::int64_t latency(int from, int to) const;  // of a packet that waits nowhere, with both entries

  std::size_t links() const { return links_; }
  std::size_t servers() const { return servers_.size(); }
  const NocServer& server(std::size_t server) const { return servers_[server]; }
  // Of a mesh: the link itself, or the border that it crosses.
  std::uint32_t server_of_link(std::size_t link) const { return server_of_link_[link]; }
  std::uint32_t border(int chip, NocSide side) const;
  std::uint32_t ejection(int endpoint) const { return ejection_ + static_cast<std::uint32_t>(endpoint); }
  bool is_border(std::size_t server) const { return server >= links_ && server < ejection_; }

 private:
  void add_mesh();
  void add_trees();
  NocHop mesh_hop(int from, int to, int i) const;
  NocHop bus_hop(int from, int to, int i) const;
  NocHop tree_hop(int from, int to, int i) const;
  NocHop between_chips(int from, int to, int i, NocPort before) const;
  int chip(int endpoint) const;
  int chip_hops(int from, int to) const;
  NocPort entered(int from, int to) const;  // the side of the last chip where the route comes in
  int levels_up(int from, int to) const;    // of a fat tree: links from the source to where it turns
  std::uint32_t tree_link(int chip, int level, int node, bool down, int choice) const;
  int leaf(int endpoint) const;

  NocFigures figures_;
  int cores_, routers_x_, routers_y_, chip_routers_x_;
  std::vector<std::uint16_t> x_, y_;
  std::size_t links_ = 0;
  std::uint32_t ejection_ = 0;
  std::vector<NocServer> servers_;
  std::vector<std::uint32_t> server_of_link_;
  int levels_ = 0;                         // of a fat tree
  std::vector<std::uint32_t> level_base_;  // of a fat tree's links, then its links in all
};

constexpr NocSide opposite(NocSide side) { return static_cast<NocSide>(static_cast<int>(side) ^ 1); }
// The port at which the next router takes what left by that side.
constexpr NocPort port_behind(NocSide side) {
  constexpr NocPort ports[] = {NocPort::west, NocPort::east, NocPort::south, NocPort::north};
  return ports[static_cast<int>(side)];
}

inline NocHop NocRoutes::mesh_hop(int from, int to, int i) const {
  const int x0 = x(from), x1 = x(to), y0 = y(from), y1 = y(to);
  const int dx = x1 < x0 ? x0 - x1 : x1 - x0, dy = y1 < y0 ? y0 - y1 : y1 - y0;
  const NocSide side_x = x1 < x0 ? NocSide::west : NocSide::east, side_y = y1 < y0 ? NocSide::north : NocSide::south;
  const bool x_first = figures_.order == NocOrder::x_first;
  const int first = x_first ? dx : dy;
  const NocSide side_1 = x_first ? side_x : side_y, side_2 = x_first ? side_y : side_x;
  NocHop hop;
  if (i == 0)
    hop.port = is_host(from) ? NocPort::west : NocPort::local;
  else
    hop.port = port_behind(i <= first ? side_1 : side_2);
  if (i == dx + dy) {
    hop.server = ejection(to);
    return hop;
  }
  const NocSide side = i < first ? side_1 : side_2;
  const int along_1 = i < first ? i : first, along_2 = i - along_1;
  const int along_x = x_first ? along_1 : along_2, along_y = x_first ? along_2 : along_1;
  const int column = x1 < x0 ? x0 - along_x : x0 + along_x, row = y1 < y0 ? y0 - along_y : y0 + along_y;
  hop.link = static_cast<std::uint32_t>((row * routers_x_ + column) * 4 + static_cast<int>(side));
  hop.server = server_of_link_[hop.link];
  return hop;
}

inline NocHop NocRoutes::hop(int from, int to, int i) const {
  if (figures_.shape == NocShape::mesh) return mesh_hop(from, to, i);
  return figures_.shape == NocShape::bus ? bus_hop(from, to, i) : tree_hop(from, to, i);
}

}  // namespace taskspec
