// Random traffic: both ways of `contended` give the same times, nothing is lost under any model, and `contended` comes
// close to `flit`.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <vector>

#include "hwsim/noc/noc.hpp"
#include "tests/hwsim/noc_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::noc_prop_test {

namespace {

bool same(std::span<const NocTimes> a, std::span<const NocTimes> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NocTimes& x, const NocTimes& y) { return x.first == y.first && x.last == y.last; });
}

void check_same(const NocResult& a, const NocResult& b) {
  CHECK(same(a.departures, b.departures));
  CHECK(same(a.arrivals, b.arrivals));
  CHECK(same(a.copies, b.copies));
  CHECK(a.end == b.end);
}

void check_counts(const NocTraffic& a, const NocTraffic& b) {
  CHECK(a.links == b.links);
  CHECK(a.borders == b.borders);
  CHECK(a.injected == b.injected);
  CHECK(a.ejected == b.ejected);
  CHECK(a.from_host == b.from_host);
  CHECK(a.to_host == b.to_host);
  CHECK(a.packets == b.packets);
  CHECK(a.hops_x == b.hops_x);
  CHECK(a.hops_y == b.hops_y);
  CHECK(a.crossings == b.crossings);
}

}  // namespace

TEST_CASE("links solved one by one give the times of the queue of events [noc]") {
  for (const std::uint64_t seed : random_seeds(1'000, 20'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const NocTrafficCase made = random_traffic(random, NocShape::mesh, false);
    const NocResult batch = solve_noc(made.figures, made.flows, NocModel::contended);
    const NocResult events = solve_noc(made.figures, made.flows, NocModel::events);
    REQUIRE(batch.model == NocModel::contended);
    REQUIRE(events.model == NocModel::events);
    check_same(batch, events);
    check_counts(batch.traffic, events.traffic);
  }
}

TEST_CASE("far from tick 0 the network takes as long as near it [noc]") {
  for (const std::uint64_t seed : random_seeds(50, 1'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    NocTrafficCase made = random_traffic(random, NocShape::mesh, false);
    const NocResult near = solve_noc(made.figures, made.flows, NocModel::contended);
    for (const int bits : {30, 40, 44, 46, 47, 52, 58}) {
      CAPTURE(bits);
      const std::int64_t later = std::int64_t{1} << bits;
      for (NocFlow& flow : made.flows) flow.begin += later;
      const NocResult far = solve_noc(made.figures, made.flows, NocModel::contended);
      for (NocFlow& flow : made.flows) flow.begin -= later;
      REQUIRE(far.arrivals.size() == near.arrivals.size());
      for (std::size_t i = 0; i < near.arrivals.size(); ++i) {
        CHECK(far.arrivals[i].first == near.arrivals[i].first + later);
        CHECK(far.arrivals[i].last == near.arrivals[i].last + later);
      }
      check_counts(far.traffic, near.traffic);
    }
  }
}

TEST_CASE("every packet arrives, over the links of its route, under every model [noc]") {
  for (const std::uint64_t seed : random_seeds(200, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const NocTrafficCase made = random_traffic(random, NocShape::mesh, seed % 2 == 0);
    const NocTraffic walked = walked_traffic(made.figures, made.flows);
    const NocResult ideal = solve_noc(made.figures, made.flows, NocModel::ideal);
    for (const NocModel model : {NocModel::ideal, NocModel::contended, NocModel::events, NocModel::flit_all}) {
      CAPTURE(static_cast<int>(model));
      const NocResult result = solve_noc(made.figures, made.flows, model);
      check_counts(result.traffic, walked);
      // Nothing takes less than in the ideal network.
      for (std::size_t i = 0; i < made.flows.size(); ++i) {
        CHECK(result.arrivals[i].first - result.departures[i].first >=
              ideal.arrivals[i].first - ideal.departures[i].first);
        CHECK(result.arrivals[i].last - result.arrivals[i].first >=
              (made.flows[i].packets - 1) * made.figures.link_clk);
      }
    }
  }
}

TEST_CASE("buses and trees lose nothing either [noc]") {
  for (const std::uint64_t seed : random_seeds(200, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const NocShape shape = seed % 2 == 0 ? NocShape::bus : NocShape::fattree;
    const NocTrafficCase made = random_traffic(random, shape, seed % 3 == 0);
    const NocResult ideal = solve_noc(made.figures, made.flows, NocModel::ideal);
    const NocResult events = solve_noc(made.figures, made.flows, NocModel::contended);
    check_counts(ideal.traffic, events.traffic);
    std::int64_t packets = 0;
    for (const NocFlow& flow : made.flows) packets += flow.packets * static_cast<std::int64_t>(1 + flow.copies.size());
    CHECK(events.traffic.packets == packets);
    for (std::size_t i = 0; i < made.flows.size(); ++i)
      CHECK(events.arrivals[i].first - events.departures[i].first >=
            ideal.arrivals[i].first - ideal.departures[i].first);
  }
}

TEST_CASE("flows injected while the network runs arrive as if all had been known [noc]") {
  for (const std::uint64_t seed : random_seeds(200, 5'000)) {
    for (const NocModel model : {NocModel::ideal, NocModel::events, NocModel::flit_all}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(model));
      std::mt19937_64 random(seed);
      NocTrafficCase made = random_traffic(random, seed % 5 == 0 ? NocShape::fattree : NocShape::mesh, seed % 2 == 0);
      for (NocFlow& flow : made.flows) flow.span = std::max<std::int64_t>(flow.span, 1);
      std::sort(made.flows.begin(), made.flows.end(),
                [](const NocFlow& a, const NocFlow& b) { return a.begin < b.begin; });
      const NocResult all = solve_noc(made.figures, made.flows, model);
      NocRun run(made.figures, model);
      std::vector<NocTimes> departures(made.flows.size()), arrivals(made.flows.size());
      std::size_t copies = 0, injected = 0;
      std::int64_t now = 0;
      while (true) {
        const std::int64_t until = injected < made.flows.size() ? made.flows[injected].begin : INT64_MAX;
        const std::optional<NocEvent> event = run.next(until);
        if (!event && until == INT64_MAX) break;
        if (!event) {
          run.inject(made.flows[injected++]);
          continue;
        }
        CHECK(event->at() >= now);
        now = event->at();
        const std::size_t flow = static_cast<std::size_t>(event->flow);
        if (event->leg > 0)
          ++copies;
        else
          (event->kind == NocEvent::Kind::sent ? departures : arrivals)[flow] = event->times;
      }
      CHECK(same(departures, all.departures));
      CHECK(same(arrivals, all.arrivals));
      CHECK(copies == all.copies.size());
      check_counts(run.traffic(), all.traffic);
    }
  }
}

}  // namespace taskspec::noc_prop_test
