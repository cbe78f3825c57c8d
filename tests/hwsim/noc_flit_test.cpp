// The default model of the network against the one that works cycle by cycle. They share no rule of time.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "hwsim/noc/noc.hpp"
#include "tests/hwsim/noc_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::noc_flit_test {

namespace {

constexpr std::pair<int, int> meshes[] = {{3, 3}, {4, 3}, {4, 4}, {5, 3}, {8, 8}, {16, 10}};

// Makespans, per mille of that under `flit`.
std::int64_t difference(const NocTrafficCase& made) {
  const std::int64_t contended = solve_noc(made.figures, made.flows, NocModel::contended).makespan();
  const std::int64_t flits = solve_noc(made.figures, made.flows, NocModel::flit_all).makespan();
  return std::abs(contended - flits) * 1'000 / flits;
}

}  // namespace

TEST_CASE("contended is within 5 % of flit, packets to random cores [noc]") {
  for (const std::uint64_t seed : random_seeds(1, 60))
    for (const NocPattern pattern : {NocPattern::uniform, NocPattern::transposed, NocPattern::hot_spot})
      for (const auto& [width, height] : meshes)
        for (const int load : {10, 30, 50, 70}) {
          std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(load));
          CAPTURE(seed);
          CAPTURE(static_cast<int>(pattern));
          CAPTURE(width);
          CAPTURE(load);
          CHECK(difference(patterned_traffic(random, pattern, width, height, load, 1'000, 1)) <= 50);
        }
}

TEST_CASE("contended is within 5 % of flit where one round of allocation would idle too long [noc]") {
  for (const std::uint64_t seed : {61, 194, 244}) {  // with one round 7 %
    std::mt19937_64 random(seed);
    CAPTURE(seed);
    CHECK(difference(patterned_traffic(random, NocPattern::uniform, 4, 4, 70, 1'000, 1)) <= 50);
  }
}

TEST_CASE("contended is within 5 % of flit, heads of four packets [noc]") {
  for (const std::uint64_t seed : random_seeds(1, 20))
    for (const NocPattern pattern : {NocPattern::uniform, NocPattern::transposed, NocPattern::hot_spot})
      for (const auto& [width, height] : {meshes[2], meshes[5]}) {
        std::mt19937_64 random(seed);
        CAPTURE(seed);
        CAPTURE(static_cast<int>(pattern));
        CAPTURE(width);
        CHECK(difference(patterned_traffic(random, pattern, width, height, 70, 4'000, 4)) <= 50);
      }
}

TEST_CASE("contended is within 5 % of flit where hops take longer than links, and cores share routers [noc]") {
  for (const std::uint64_t seed : random_seeds(2, 40))
    for (const int load : {10, 70}) {
      std::mt19937_64 random(seed);
      NocTrafficCase made = patterned_traffic(random, NocPattern::uniform, 32, 4, 50, 3'000, 1);
      NocFigures& figures = made.figures;
      figures.cores_per_router = 4, figures.link_clk = 10, figures.hop_x = 41, figures.hop_y = 65;
      const std::int64_t window = walked_traffic(figures, made.flows).busiest * 100 / load;
      for (NocFlow& flow : made.flows) flow.begin = between(random, 0, window);
      CAPTURE(seed);
      CAPTURE(load);
      CHECK(difference(made) <= 50);
    }
}

TEST_CASE("flits wait for credit: a full channel holds the one before it [noc]") {
  // Two flows of 40 to core 2 of a row, which takes one packet per tick. The far one passes core 1, whose input has
  // room for vcs * vc_depth flits: the sender cannot be further ahead than that.
  NocFigures figures = plain_mesh(3, 1);
  figures.vcs = 2, figures.vc_depth = 3;
  const std::vector<NocFlow> flows{{.source = 0, .target = 2, .packets = 40},
                                   {.source = 1, .target = 2, .packets = 40}};
  const NocResult few = solve_noc(figures, flows, NocModel::flit_all);
  figures.vc_depth = 60;
  const NocResult many = solve_noc(figures, flows, NocModel::flit_all);
  CHECK(few.end == many.end);
  CHECK(many.departures[0].last == 39);
  CHECK(few.departures[0].last > 39);
  // They take turns at the link between 1 and 2.
  CHECK(few.arrivals[1].last - few.arrivals[0].last <= 6);
  CHECK(few.end == 80);
}

TEST_CASE(
    "one channel of one flit passes a packet every other tick, because its credit comes back a tick later [noc]") {
  NocFigures figures = plain_mesh(3, 1);
  figures.vcs = 1, figures.vc_depth = 1;
  const NocFlow flow{.source = 0, .target = 2, .packets = 10};
  const NocResult result = solve_noc(figures, std::span(&flow, 1), NocModel::flit_all);
  CHECK(result.arrivals[0].first == 2);
  CHECK(result.arrivals[0].last == 2 + 9 * 2);
}

}  // namespace taskspec::noc_flit_test
