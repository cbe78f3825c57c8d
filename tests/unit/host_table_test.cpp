// The lookup table: cells go one way only.
#include <doctest/doctest.h>

#include <type_traits>

#include "interp/host/lookup_table.hpp"
#include "tests/unit/host_graphs.hpp"
#include "tests/unit/plain_plan.hpp"

namespace taskspec::host_table_test {

namespace {

// Brings a fresh cell into a state.
void bring(LookupTable& table, BufferId cell, CellState state) {
  if (state == CellState::unbound) return;
  REQUIRE(table.pend(cell));
  if (state == CellState::ready) REQUIRE(table.publish(cell));
  if (state == CellState::poisoned) REQUIRE(table.poison(cell, {NodeId(0), {"E5002", "division by zero"}}));
}

}  // namespace

TEST_CASE("cells of a lookup table take the allowed steps and refuse all others [A2]") {
  MixGraph g;
  g.result(g.add({}, {1})[0]);
  auto plan = plain_plan(g.graph, aggregate(*g.graph));
  BufferId cell = plan->results[0];
  using enum CellState;
  for (CellState from : {unbound, pending, ready, poisoned}) {
    CAPTURE(static_cast<int>(from));
    auto check = [&](CellState to, bool allowed, auto&& move) {
      LookupTable table(*plan);
      bring(table, cell, from);
      CHECK(move(table) == allowed);
      CHECK(table.state(cell) == (allowed ? to : from));
    };
    check(pending, from == unbound, [&](LookupTable& t) { return t.pend(cell); });
    check(ready, from == pending, [&](LookupTable& t) { return t.publish(cell); });
    check(poisoned, from == pending, [&](LookupTable& t) {
      return t.poison(cell, {NodeId(1), {"E5001", "overflow"}});
    });
  }
  LookupTable table(*plan);
  bring(table, cell, poisoned);
  CHECK(table.poison(cell).origin == NodeId(0));
  CHECK(table.poison(cell).fault.message == "division by zero");
  table.clear();
  CHECK(table.state(cell) == unbound);
}

TEST_CASE("a cell knows its location and version, and neither a value nor an address [A1] [A2]") {
  MixGraph g;
  PlaceId place = g.place(g.input(3));
  g.add({}, {}, {place}, {true});
  g.add({}, {}, {place}, {true});
  g.result(g.graph->current(place));
  auto plan = plain_plan(g.graph, aggregate(*g.graph));
  // As if both updates were made in place.
  BufferId second = plan->operands[plan->tasks[1].first_out], first = plan->operands[plan->tasks[0].first_out];
  plan->buffers[second.index()].shares = first.value;
  LookupTable table(*plan);
  CHECK(table.place(first).location == first);
  CHECK(table.place(first).version == 0);
  CHECK(table.place(second).location == first);
  CHECK(table.place(second).version == 1);
  static_assert(std::is_same_v<decltype(CellPlace::location), BufferId>, "a location is an id");
  static_assert(sizeof(CellPlace) == 8, "nothing else is in it");
}

TEST_CASE("inputs and constants are there before anything runs [A2]") {
  MixGraph g;
  g.result(g.add({g.input(1), g.constant({7})}, {1})[0]);
  auto plan = plain_plan(g.graph, aggregate(*g.graph));
  LookupTable table(*plan);
  table.begin();
  for (std::size_t b = 0; b < plan->buffers.size(); ++b) {
    bool made = BufferId(b) == plan->results[0];
    CHECK(table.state(BufferId(b)) == (made ? CellState::pending : CellState::ready));
  }
}

}  // namespace taskspec::host_table_test
