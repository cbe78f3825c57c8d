// `ideal` in a batch: departures, and a latency for each flow. Links are counted by where routes begin and end on them.
#include <array>

#include "hwsim/noc/engine.hpp"
#include "hwsim/noc/segments.hpp"

namespace taskspec {

namespace {

// Of a mesh: what is added at the first link of a straight way and taken away behind its last one.
class StraightWays {
 public:
  explicit StraightWays(const NocRoutes& routes)
      : routes_(routes), columns_(routes.routers_x()), rows_(routes.routers_y()) {
    const std::size_t places = static_cast<std::size_t>(columns_ + 1) * static_cast<std::size_t>(rows_ + 1);
    for (std::vector<std::int64_t>& side : changes_) side.assign(places, 0);
  }

  void add(int from, int to, std::int64_t packets) {
    const int x0 = routes_.x(from), x1 = routes_.x(to), y0 = routes_.y(from), y1 = routes_.y(to);
    const bool x_first = routes_.figures().order == NocOrder::x_first;
    const int row = x_first ? y0 : y1, column = x_first ? x1 : x0;
    if (x1 > x0) add(NocSide::east, x0, row, x1, row, packets);
    if (x1 < x0) add(NocSide::west, x1 + 1, row, x0 + 1, row, packets);
    if (y1 > y0) add(NocSide::south, column, y0, column, y1, packets);
    if (y1 < y0) add(NocSide::north, column, y1 + 1, column, y0 + 1, packets);
  }

  void write(NocCounts& counts) {
    for (std::size_t side = 0; side < changes_.size(); ++side) {
      const bool horizontal = side < 2;
      for (int y = 0; y < rows_; ++y)
        for (int x = 0; x < columns_; ++x) {
          const std::int64_t here = changes_[side][place(x, y)];
          changes_[side][horizontal ? place(x + 1, y) : place(x, y + 1)] += here;
          const std::size_t link = static_cast<std::size_t>(y * columns_ + x) * changes_.size() + side;
          counts.links[link] += here;
          counts.servers[routes_.server_of_link(link)] += here;
        }
    }
  }

 private:
  std::size_t place(int x, int y) const { return static_cast<std::size_t>(y * (columns_ + 1) + x); }
  void add(NocSide side, int x0, int y0, int x1, int y1, std::int64_t packets) {
    std::vector<std::int64_t>& changes = changes_[static_cast<std::size_t>(side)];
    changes[place(x0, y0)] += packets;
    changes[place(x1, y1)] -= packets;
  }

  const NocRoutes& routes_;
  int columns_, rows_;
  std::array<std::vector<std::int64_t>, 4> changes_;  // by side
};

void count_hops(const NocRoutes& routes, int from, int to, std::int64_t packets, NocCounts& counts) {
  for (int i = 0; i < routes.hops(from, to); ++i) {
    const NocHop hop = routes.hop(from, to, i);
    if (hop.link != NocHop::no_link) counts.links[hop.link] += packets;
    counts.servers[hop.server] += packets;
  }
}

}  // namespace

void solve_noc_ideal(const NocRoutes& routes, std::span<const NocFlow> flows, NocResult& result) {
  NocPorts ports(routes, flows, result.departures);
  for (int from = 0; from < routes.endpoints(); ++from)
    ports.run(from, [](std::uint32_t, int, std::int64_t, std::int64_t) {});
  NocCounts counts(routes);
  const bool mesh = routes.figures().shape == NocShape::mesh;
  StraightWays ways(routes);
  result.arrivals.reserve(flows.size());
  for (const NocFlow& flow : flows) {
    const int from = routes.endpoint(flow.source), to = routes.endpoint(flow.target);
    const NocTimes& left = result.departures[result.arrivals.size()];
    const std::int64_t latency = routes.latency(from, to);
    result.arrivals.push_back({left.first + latency, left.last + latency});
    counts.injected[static_cast<std::size_t>(from)] += flow.packets;
    counts.servers[routes.ejection(to)] += flow.packets;
    if (mesh)
      ways.add(from, to, flow.packets);
    else
      count_hops(routes, from, to, flow.packets, counts);
  }
  if (mesh) ways.write(counts);
  result.traffic = counts.traffic(routes);
}

}  // namespace taskspec
