// The network on the chip: what the rules give for traffic that can be reckoned by hand.
#include "hwsim/noc/noc.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <set>
#include <vector>

#include "hwsim/noc/places.hpp"
#include "tests/hwsim/noc_cases.hpp"

namespace taskspec::noc_test {

namespace {

constexpr std::array all_models{NocModel::ideal, NocModel::contended, NocModel::events, NocModel::flit_all};
constexpr std::array waiting_models{NocModel::contended, NocModel::events, NocModel::flit_all};

NocResult one(const NocFigures& figures, NocModel model, const NocFlow& flow) {
  return solve_noc(figures, std::span(&flow, 1), model);
}

}  // namespace

TEST_CASE("alone in the network a flow takes its hops and its packets, under every model [noc]") {
  NocFigures figures = plain_mesh(16, 10);
  for (const auto& [hop_x, hop_y] : {std::pair{1, 1}, std::pair{2, 3}, std::pair{5, 4}})
    for (const NocModel model : all_models)
      for (const int source : {0, 37, 159})
        for (const int target : {0, 5, 37, 96, 159})
          for (const std::int64_t packets : {1, 7, 100}) {
            figures.hop_x = hop_x, figures.hop_y = hop_y;
            const NocResult result = one(
                figures, model, {.source = source, .target = target, .begin = 10, .span = packets, .packets = packets});
            CAPTURE(source);
            CAPTURE(target);
            CAPTURE(packets);
            CAPTURE(static_cast<int>(model));
            const std::int64_t way =
                std::abs(source % 16 - target % 16) * hop_x + std::abs(source / 16 - target / 16) * hop_y;
            CHECK(result.departures[0].first == 11);
            CHECK(result.departures[0].last == 10 + packets);
            CHECK(result.arrivals[0].first == 11 + way);
            CHECK(result.arrivals[0].last == 11 + way + packets - 1);
            CHECK(result.makespan() == way + packets);
          }
}

TEST_CASE("packets leave when they are ready, one per tick, those of the lower flow first [noc]") {
  const NocFigures figures = plain_mesh(4, 1);
  for (const NocModel model : all_models) {
    // ready at 3, 5, 7, 9: ceil(k * 7 / 4) behind 1; the other flow is ready at 9 as well
    const std::vector<NocFlow> flows{{.source = 0, .target = 2, .begin = 1, .span = 7, .packets = 4},
                                     {.source = 0, .target = 2, .begin = 8, .span = 3, .packets = 3}};
    const NocResult result = solve_noc(figures, flows, model);
    CHECK(result.departures[0].first == 3);
    CHECK(result.departures[0].last == 8);
    CHECK(result.departures[1].first == 9);
    CHECK(result.departures[1].last == 11);
    CHECK(result.arrivals[1].last == 13);
    // All ready at once: one per tick.
    CHECK(one(figures, model, {.source = 1, .target = 1, .begin = 5, .span = 0, .packets = 30}).arrivals[0].last == 34);
    NocFigures slow = figures;
    slow.link_clk = 10, slow.hop_x = 41;
    CHECK(one(slow, model, {.source = 0, .target = 3, .begin = 5, .span = 0, .packets = 3}).arrivals[0].last ==
          5 + 20 + 123);
  }
}

TEST_CASE("n senders of P packets to one core take n * P there [noc]") {
  for (const int senders : {2, 5, 24})
    for (const std::int64_t packets : {1, 16, 50})
      for (const NocModel model : waiting_models) {
        const NocFigures figures = plain_mesh(5, 5);
        std::vector<NocFlow> flows;
        // Each begins so that its first packet could be there at 20.
        for (int i = 0; static_cast<int>(flows.size()) < senders; ++i) {
          if (i == 12) continue;
          const int way = std::abs(i % 5 - 2) + std::abs(i / 5 - 2);
          flows.push_back({.source = i, .target = 12, .begin = 20 - way, .span = 0, .packets = packets});
        }
        const NocResult result = solve_noc(figures, flows, model);
        CAPTURE(senders);
        CAPTURE(packets);
        CAPTURE(static_cast<int>(model));
        std::int64_t first = result.end;
        for (const NocTimes& times : result.arrivals) first = std::min(first, times.first);
        CHECK(first == 20);
        CHECK(result.end - first + 1 == senders * packets);
        CHECK(result.traffic.ejected[12] == senders * packets);
      }
  // The ideal network does not know that.
  const std::vector<NocFlow> both{{.source = 0, .target = 1, .span = 9, .packets = 9},
                                  {.source = 2, .target = 1, .span = 9, .packets = 9}};
  CHECK(solve_noc(plain_mesh(3, 1), both, NocModel::ideal).makespan() == 10);
  CHECK(solve_noc(plain_mesh(3, 1), both, NocModel::contended).makespan() == 19);
}

TEST_CASE("segments that come at once are served in the order Local, W, E, N, S, then by source [noc]") {
  // Five to the middle of a mesh of 3 x 3, all there at 5; segments of up to 4 packets.
  NocFigures figures = plain_mesh(3, 3);
  figures.burst = 4;
  const std::vector<NocFlow> flows{{.source = 7, .target = 4, .begin = 4, .packets = 4},
                                   {.source = 1, .target = 4, .begin = 4, .packets = 3},
                                   {.source = 5, .target = 4, .begin = 4, .packets = 2},
                                   {.source = 3, .target = 4, .begin = 4, .packets = 1},
                                   {.source = 4, .target = 4, .begin = 5, .packets = 4}};
  for (const NocModel model : {NocModel::contended, NocModel::events}) {
    const NocResult result = solve_noc(figures, flows, model);
    CHECK(result.arrivals[4].first == 5);
    CHECK(result.arrivals[3].first == 9);
    CHECK(result.arrivals[2].first == 10);
    CHECK(result.arrivals[1].first == 12);
    CHECK(result.arrivals[0].first == 15);
    CHECK(result.end == 18);
  }
  // Cores of one router: both are local, so the lower source goes first.
  figures = plain_mesh(4, 1), figures.cores_per_router = 2;
  const std::vector<NocFlow> pair{{.source = 1, .target = 2, .packets = 3}, {.source = 0, .target = 2, .packets = 3}};
  for (const NocModel model : {NocModel::contended, NocModel::events}) {
    const NocResult result = solve_noc(figures, pair, model);
    CHECK(result.arrivals[1].first == 1);
    CHECK(result.arrivals[0].first == 4);
  }
}

TEST_CASE("a link is held for a segment, whose head goes on at once [noc]") {
  // Both want the link from 1 to 2: the local one first, the other behind it.
  const std::vector<NocFlow> flows{{.source = 0, .target = 2, .begin = 0, .packets = 5},
                                   {.source = 1, .target = 2, .begin = 1, .packets = 3}};
  // Packets that are ready just at their turn are of one segment, too.
  const std::vector<NocFlow> in_time{{.source = 0, .target = 2, .begin = 0, .span = 5, .packets = 5},
                                     {.source = 1, .target = 2, .begin = 1, .span = 3, .packets = 3}};
  for (const NocModel model : {NocModel::contended, NocModel::events}) {
    const NocResult later = solve_noc(plain_mesh(3, 1), in_time, model);
    CHECK(later.arrivals[1].last == 5);
    CHECK(later.arrivals[0].first == 6);
    CHECK(later.arrivals[0].last == 10);
    const NocResult result = solve_noc(plain_mesh(3, 1), flows, model);
    CHECK(result.arrivals[1].first == 2);
    CHECK(result.arrivals[1].last == 4);
    CHECK(result.arrivals[0].first == 5);
    CHECK(result.arrivals[0].last == 9);
  }
}

TEST_CASE("a copy leaves one tick after it came, through the injection port [noc]") {
  const std::vector<int> chain{5, 3};
  const std::vector<NocFlow> flows{{.source = 0, .target = 2, .begin = 4, .span = 6, .packets = 6, .copies = chain}};
  for (const NocModel model : all_models) {
    const NocResult result = solve_noc(plain_mesh(3, 2), flows, model);
    CAPTURE(static_cast<int>(model));
    CHECK(result.arrivals[0].first == 7);
    CHECK(result.arrivals[0].last == 12);
    REQUIRE(result.copies.size() == 2);
    CHECK(result.copies[0].first == 7 + 1 + 1);
    CHECK(result.copies[0].last == 14);
    CHECK(result.copies[1].first == 9 + 1 + 2);
    CHECK(result.copies[1].last == 17);
    CHECK(result.end == 17);
    CHECK(result.traffic.packets == 18);
    CHECK(result.traffic.injected[2] == 6);
    CHECK(result.traffic.injected[5] == 6);
    CHECK(result.traffic.hops_x == 6 * (2 + 2));
    CHECK(result.traffic.hops_y == 6);
  }
  // The port of core 2 is its own flow's until 11; the copy, ready at 8, then is the one that waits longest.
  std::vector<NocFlow> busy = flows;
  busy.push_back({.source = 2, .target = 0, .begin = 6, .span = 0, .packets = 5});
  for (const NocModel model : {NocModel::contended, NocModel::events})
    CHECK(solve_noc(plain_mesh(3, 2), busy, model).copies[0].first == 11 + 1);
}

TEST_CASE("the host sends and takes packets beside the first core of each row [noc]") {
  NocFigures figures = plain_mesh(4, 3);
  figures.hop_x = 2, figures.hop_y = 3;
  for (const NocModel model : all_models) {
    const NocResult in = one(figures, model, {.source = noc_host(1), .target = 2 * 4 + 3, .begin = 1, .packets = 5});
    CHECK(in.arrivals[0].first == 1 + 4 * 2 + 3);
    CHECK(in.arrivals[0].last == 1 + 4 * 2 + 3 + 4);
    CHECK(in.traffic.from_host == std::vector<std::int64_t>{0, 5, 0});
    CHECK(in.traffic.hops_x == 5 * 4);
    const NocResult out = one(figures, model, {.source = 3, .target = noc_host(2), .begin = 1, .packets = 5});
    CHECK(out.arrivals[0].first == 1 + 4 * 2 + 2 * 3);
    CHECK(out.traffic.to_host == std::vector<std::int64_t>{0, 0, 5});
    CHECK(out.traffic.hops_x == 5 * 4);
    CHECK(one(figures, model, {.source = noc_host(0), .target = noc_host(0), .packets = 1}).arrivals[0].first == 4);
  }
}

TEST_CASE("a border serves all rows of a chip, and spreads the packets of a segment [noc]") {
  NocFigures figures = plain_mesh(2, 2);
  figures.chips_x = 2, figures.chip_packet_clk = 4, figures.chip_hop_x = 32;
  // Core (1, 0) to (2, 0): over the border at once.
  for (const NocModel model : waiting_models) {
    const NocResult alone = one(figures, model, {.source = 1, .target = 2, .begin = 5, .packets = 10});
    CHECK(alone.arrivals[0].first == 5 + 32);
    CHECK(alone.arrivals[0].last == 5 + 32 + 9 * 4);
    CHECK(alone.traffic.borders[0] == 10);
    CHECK(alone.traffic.crossings == 10);
    CHECK(alone.traffic.links[1 * 4 + 0] == 10);
    CHECK(alone.traffic.hops_x == 10);
    CHECK(alone.traffic.busiest == 40);
    // Both rows: one server. The other way: another.
    const std::vector<NocFlow> rows{{.source = 1, .target = 2, .begin = 5, .packets = 10},
                                    {.source = 5, .target = 6, .begin = 5, .packets = 10},
                                    {.source = 2, .target = 1, .begin = 5, .packets = 10}};
    const NocResult both = solve_noc(figures, rows, model);
    CHECK(std::max(both.arrivals[0].last, both.arrivals[1].last) == 5 + 32 + 19 * 4);
    CHECK(both.arrivals[2].last == 5 + 32 + 9 * 4);
    CHECK(both.traffic.borders[0] == 20);
    CHECK(both.traffic.borders[4 + 1] == 10);
  }
  CHECK(one(figures, NocModel::ideal, {.source = 0, .target = 3, .begin = 5, .packets = 10}).arrivals[0].last ==
        5 + 1 + 32 + 1 + 9);
}

TEST_CASE("a bus serves all packets of a chip [noc]") {
  NocFigures figures = plain_mesh(4, 4);
  figures.shape = NocShape::bus, figures.hop_x = 3;
  const std::vector<NocFlow> flows{{.source = 0, .target = 1, .begin = 2, .packets = 8},
                                   {.source = 5, .target = 9, .begin = 2, .packets = 8},
                                   {.source = 7, .target = 7, .begin = 2, .packets = 8}};
  for (const NocModel model : {NocModel::contended, NocModel::events, NocModel::flit, NocModel::flit_all}) {
    const NocResult result = solve_noc(figures, flows, model);
    CHECK(result.model == NocModel::events);
    CHECK(result.arrivals[0].last == 2 + 3 + 7);
    CHECK(result.arrivals[1].last == 2 + 3 + 15);
    CHECK(result.arrivals[2].last == 2 + 7);
    CHECK(result.traffic.links == std::vector<std::int64_t>{16});
  }
  CHECK(solve_noc(figures, flows, NocModel::ideal).arrivals[1].last == 2 + 3 + 7);
  // Two chips: a bus, the border, the other bus.
  figures.chips_x = 2, figures.chip_packet_clk = 4, figures.chip_hop_x = 10;
  const NocResult across = one(figures, NocModel::contended, {.source = 0, .target = 7, .begin = 2, .packets = 3});
  CHECK(across.arrivals[0].first == 2 + 3 + 10 + 3);
  CHECK(across.arrivals[0].last == 2 + 3 + 10 + 3 + 2 * 4);
  CHECK(across.traffic.borders[0] == 3);
}

TEST_CASE("a fat tree goes up to the common ancestor, with more servers further up [noc]") {
  NocFigures figures = plain_mesh(16, 1);
  figures.shape = NocShape::fattree, figures.hop_x = 2;
  for (const NocModel model : {NocModel::ideal, NocModel::contended}) {
    CHECK(one(figures, model, {.source = 0, .target = 3, .packets = 5}).arrivals[0].last == 2 * 2 + 4);
    CHECK(one(figures, model, {.source = 0, .target = 4, .packets = 5}).arrivals[0].last == 4 * 2 + 4);
    CHECK(one(figures, model, {.source = 9, .target = 9, .packets = 5}).arrivals[0].last == 4);
  }
  // Level 1 has two servers, chosen by source + target: these three share one, or not.
  const std::vector<NocFlow> apart{{.source = 0, .target = 4, .packets = 6}, {.source = 1, .target = 6, .packets = 6}};
  CHECK(solve_noc(figures, apart, NocModel::contended).end == 4 * 2 + 5);
  const std::vector<NocFlow> shared{{.source = 0, .target = 4, .packets = 6}, {.source = 1, .target = 7, .packets = 6}};
  const NocResult result = solve_noc(figures, shared, NocModel::contended);
  CHECK(result.end == 4 * 2 + 11);
  CHECK(result.traffic.hops_x == 2 * 6 * 4);
}

TEST_CASE("flit is what contended is until a link is busy for more than half of the time [noc]") {
  const NocFigures figures = plain_mesh(4, 4);
  std::vector<NocFlow> flows;
  for (int i = 0; i < 20; ++i) flows.push_back({.source = 0, .target = 3, .begin = i * 10, .packets = 4});
  CHECK(solve_noc(figures, flows, NocModel::flit).model == NocModel::contended);
  for (NocFlow& flow : flows) flow.packets = 5;  // 100 of 198 ticks
  CHECK(solve_noc(figures, flows, NocModel::flit).model == NocModel::flit_all);
  CHECK(solve_noc(figures, {}, NocModel::flit).makespan() == 0);
}

TEST_CASE("under flit a run has segments and flits beside one another, each as if alone [noc]") {
  // In each row two heads of 16 packets meet on a link: segments go one behind the other, flits take turns.
  const NocFigures figures = plain_mesh(4, 2);
  std::vector<NocFlow> flows;
  for (const int row : {0, 1})
    for (const int x : {0, 1})
      flows.push_back({.source = 4 * row + x, .target = 4 * row + 3, .begin = x, .span = 16, .packets = 16});
  const std::span<const NocFlow> all = flows;
  const NocResult flits = solve_noc(figures, all.first(2), NocModel::flit_all),
                  segments = solve_noc(figures, all.last(2), NocModel::contended);
  REQUIRE(flits.arrivals[0].last != segments.arrivals[0].last);  // else it does not matter which is which

  NocRun run(figures, NocModel::flit);
  for (int i = 0; i < 4; ++i) CHECK(run.inject(flows[static_cast<std::size_t>(i)], i < 2) == i);
  std::vector<std::int64_t> arrived(4);
  std::int64_t now = 0;
  int last = -1;  // flow told at that time
  while (const std::optional<NocEvent> event = run.next()) {
    CHECK(event->at() >= now);
    if (event->at() == now) CHECK(event->flow >= last);
    now = event->at(), last = event->flow;
    if (event->kind == NocEvent::Kind::arrived) arrived[static_cast<std::size_t>(event->flow)] = now;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(arrived[i] == flits.arrivals[i].last);
    CHECK(arrived[2 + i] == segments.arrivals[i].last);
  }
  const NocTraffic traffic = run.traffic();
  CHECK(traffic.packets == 64);
  CHECK(traffic.hops_x == flits.traffic.hops_x + segments.traffic.hops_x);
  CHECK(traffic.busiest == std::max(flits.traffic.busiest, segments.traffic.busiest));
}

TEST_CASE("a run hands out departures and arrivals in order of time [noc]") {
  for (const NocModel model : {NocModel::ideal, NocModel::contended, NocModel::flit_all}) {
    NocRun run(plain_mesh(4, 1), model);
    CHECK_FALSE(run.next());
    CHECK(run.inject({.source = 0, .target = 3, .begin = 0, .span = 4, .packets = 4}) == 0);
    CHECK_FALSE(run.next(3));
    std::optional<NocEvent> event = run.next(100);
    REQUIRE(event);
    CHECK(event->kind == NocEvent::Kind::sent);
    CHECK(event->at() == 4);
    // An answer to what was heard.
    CHECK(run.inject({.source = 1, .target = 1, .begin = 4, .span = 1, .packets = 1}) == 1);
    for (const NocEvent::Kind kind : {NocEvent::Kind::sent, NocEvent::Kind::arrived}) {
      event = run.next(100);
      CHECK(event->flow == 1);
      CHECK(event->at() == 5);
      CHECK(event->kind == kind);
    }
    CHECK_FALSE(run.next(6));
    event = run.next(7);
    REQUIRE(event);
    CHECK(event->flow == 0);
    CHECK(event->kind == NocEvent::Kind::arrived);
    CHECK(event->times.first == 4);
    CHECK(event->at() == 7);
    CHECK_FALSE(run.next(100));
    CHECK(run.traffic().packets == 5);
  }
}

TEST_CASE("every server has a place of its own, in words [noc]") {
  NocFigures figures = plain_mesh(4, 3);
  const NocRoutes mesh(figures);
  CHECK(place_of(mesh, mesh.hop(1, 3, 0).server).text == "the link from core 1 east to core 2");
  CHECK(place_of(mesh, mesh.hop(9, 1, 1).server).text == "the link from core 5 north to core 1");
  CHECK(place_of(mesh, mesh.hop(9, 1, 1).server).core == 5);
  CHECK(place_of(mesh, mesh.ejection(7)).text == "the port that takes packets into core 7");
  CHECK(place_of(mesh, mesh.ejection(mesh.endpoint(noc_host(2)))).text == "the port to the host at row 2");
  CHECK(injection_of(mesh, 7).text == "the port that sends the packets of core 7");
  CHECK(injection_of(mesh, mesh.endpoint(noc_host(1))).text == "the port from the host at row 1");
  CHECK(injection_of(mesh, mesh.endpoint(noc_host(1))).core == -1);
  figures.chips_x = 2;
  const NocRoutes array(figures);
  CHECK(place_of(array, array.border(0, NocSide::east)).text == "the border of chip 0 to the east");
  figures.cores_per_router = 2;
  const NocRoutes shared(figures);
  CHECK(place_of(shared, shared.hop(0, 3, 0).server).text ==
        "the link from the router at 0, 0 east to the router at 1, 0");
  for (const NocRoutes* routes : {&mesh, &array, &shared}) {
    std::set<std::string> texts;
    for (std::size_t server = 0; server < routes->servers(); ++server) texts.insert(place_of(*routes, server).text);
    CHECK(texts.size() == routes->servers());
  }
  figures.cores_per_router = 1;
  figures.shape = NocShape::bus;
  CHECK(place_of(NocRoutes(figures), 1).text == "the bus of chip 1");
  figures.shape = NocShape::fattree;
  CHECK(place_of(NocRoutes(figures), 0).text == "a link of the tree of chip 0");
}

}  // namespace taskspec::noc_test
