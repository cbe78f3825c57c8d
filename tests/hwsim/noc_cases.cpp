#include "tests/hwsim/noc_cases.hpp"

#include <algorithm>
#include <cstdlib>

#include "tests/unit/random_cases.hpp"

using namespace taskspec;

NocFigures plain_mesh(int width, int height) {
  NocFigures figures;
  figures.cores_x = width, figures.cores_y = height;
  figures.burst = 16, figures.vcs = 4, figures.vc_depth = 8;
  return figures;
}

NocTrafficCase random_traffic(std::mt19937_64& random, NocShape shape, bool copies) {
  auto draw = [&](std::int64_t low, std::int64_t high) { return between(random, low, high); };
  auto small = [&](int high) { return static_cast<int>(draw(1, high)); };
  NocTrafficCase made;
  NocFigures& f = made.figures;
  f.shape = shape;
  f.order = draw(0, 1) == 0 ? NocOrder::x_first : NocOrder::y_first;
  f.cores_per_router = draw(0, 3) == 0 ? small(4) : 1;
  f.cores_x = small(5) * f.cores_per_router, f.cores_y = small(5);
  if (draw(0, 2) == 0) f.chips_x = small(3), f.chips_y = small(3);
  f.burst = small(5);
  if (draw(0, 1) == 0) f.link_clk = small(4), f.hop_x = small(7), f.hop_y = small(7);
  f.chip_packet_clk = small(5), f.chip_hop_x = small(20), f.chip_hop_y = small(20);
  f.vcs = small(4), f.vc_depth = small(8);
  const std::int64_t window = draw(1, 200), flows = draw(1, 60);
  const int favourite = static_cast<int>(draw(0, f.cores() - 1));
  auto core = [&] { return draw(0, 4) == 0 ? favourite : static_cast<int>(draw(0, f.cores() - 1)); };
  auto place = [&] { return draw(0, 7) == 0 ? noc_host(static_cast<int>(draw(0, f.height() - 1))) : core(); };
  for (std::int64_t i = 0; i < flows; ++i) {
    NocFlow flow{.source = place(), .target = place(), .begin = draw(0, window)};
    flow.packets = draw(0, 1) == 0 ? 1 : draw(1, 40);
    flow.span = draw(0, 3) == 0 ? flow.packets : draw(0, flow.packets * 3);
    made.copies.emplace_back();
    if (copies && flow.target >= 0 && draw(0, 2) == 0)
      for (std::int64_t n = draw(1, 4); n > 0; --n) made.copies.back().push_back(core());
    made.flows.push_back(flow);
  }
  for (std::size_t i = 0; i < made.flows.size(); ++i) made.flows[i].copies = made.copies[i];
  return made;
}

NocTrafficCase patterned_traffic(std::mt19937_64& random, NocPattern pattern, int width, int height, int load_percent,
                                 int packets, int packets_per_flow) {
  NocTrafficCase made;
  made.figures = plain_mesh(width, height);
  const int cores = width * height;
  const int hot = static_cast<int>(between(random, 0, cores - 1));
  for (int sent = 0; sent < packets; sent += packets_per_flow) {
    NocFlow flow{.source = static_cast<int>(between(random, 0, cores - 1)), .packets = packets_per_flow};
    flow.span = packets_per_flow;
    const int x = flow.source % width, y = flow.source / width;
    if (pattern == NocPattern::transposed)  // x and y change places, as far as the grid reaches
      flow.target = x % height * width + y % width;
    else if (pattern == NocPattern::hot_spot && between(random, 0, 9) == 0)
      flow.target = hot;
    else
      flow.target = static_cast<int>(between(random, 0, cores - 1));
    made.flows.push_back(flow);
  }
  const std::int64_t window = walked_traffic(made.figures, made.flows).busiest * 100 / load_percent;
  for (NocFlow& flow : made.flows) flow.begin = between(random, 0, window);
  return made;
}

NocTraffic walked_traffic(const NocFigures& f, const std::vector<NocFlow>& flows) {
  NocTraffic all;
  const int routers_x = f.width() / f.cores_per_router, chip_x = f.cores_x / f.cores_per_router;
  all.links.resize(static_cast<std::size_t>(routers_x * f.height()) * 4);
  all.borders.resize(static_cast<std::size_t>(f.chips_x * f.chips_y) * 4);
  all.injected.resize(static_cast<std::size_t>(f.cores())), all.ejected.resize(all.injected.size());
  all.from_host.resize(static_cast<std::size_t>(f.height())), all.to_host.resize(all.from_host.size());
  auto at = [](std::vector<std::int64_t>& counts, int i) -> std::int64_t& {
    return counts[static_cast<std::size_t>(i)];
  };
  auto leg = [&](int from, int to, std::int64_t n) {
    (from < 0 ? at(all.from_host, -1 - from) : at(all.injected, from)) += n;
    (to < 0 ? at(all.to_host, -1 - to) : at(all.ejected, to)) += n;
    all.packets += n;
    all.hops_x += n * ((from < 0) + (to < 0));
    int x = from < 0 ? 0 : from % f.width() / f.cores_per_router, y = from < 0 ? -1 - from : from / f.width();
    const int tx = to < 0 ? 0 : to % f.width() / f.cores_per_router, ty = to < 0 ? -1 - to : to / f.width();
    while (x != tx || y != ty) {
      const bool along_x = f.order == NocOrder::x_first ? x != tx : y == ty;
      const int side = along_x ? (tx > x ? 0 : 1) : (ty > y ? 3 : 2);
      at(all.links, (y * routers_x + x) * 4 + side) += n;
      const int chip = y / f.cores_y * f.chips_x + x / chip_x;
      (along_x ? x : y) += side == 0 || side == 3 ? 1 : -1;
      (along_x ? all.hops_x : all.hops_y) += n;
      if (y / f.cores_y * f.chips_x + x / chip_x == chip) continue;
      at(all.borders, chip * 4 + side) += n;
      all.crossings += n;
    }
  };
  for (const NocFlow& flow : flows) {
    leg(flow.source, flow.target, flow.packets);
    int from = flow.target;
    for (const int copy : flow.copies) leg(from, copy, flow.packets), from = copy;
  }
  for (const auto* counts : {&all.links, &all.ejected, &all.to_host})
    for (const std::int64_t n : *counts) all.busiest = std::max(all.busiest, n * f.link_clk);
  return all;
}
