// Traces: what populations gave, by step or as events; written, read back, and as arrays of programs.
#include "interp/import/nir/traces.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "ir/base/diag.hpp"
#include "tests/guard/tool.hpp"
#include "tests/nir/networks.hpp"

namespace taskspec::traces_test {

namespace {

Array spikes(std::vector<std::int64_t> values, Extents shape) {
  Array array = Array::make({Precision::boolean, shape});
  for (std::size_t i = 0; i < values.size(); ++i) array.set_integer(static_cast<std::int64_t>(i), values[i]);
  return array;
}

Array whole(std::vector<std::int64_t> values, Extents shape) {
  Array array = Array::make({Precision::i64, shape});
  for (std::size_t i = 0; i < values.size(); ++i) array.set_integer(static_cast<std::int64_t>(i), values[i]);
  return array;
}

nir::Trace trace(const std::string& node, const std::string& observable) {
  nir::Trace made;
  made.node = node;
  made.observable = observable;
  return made;
}

std::vector<nir::Trace> sample() {
  nir::Trace gridded = trace("lif", "spikes"), voltages = trace("block/lif", "v"), events = trace("input", "spikes");
  gridded.data = spikes({0, 1, 1, 0, 0, 0}, {1, 3, 2});
  voltages.data = random_numbers({2, 4, 3}, 1, -1, 1);
  gridded.dt = voltages.dt = 1e-3;
  events.kind = nir::Trace::Kind::events;
  events.index = whole({1, 0, -1}, {1, 3});
  events.time = numbers({1e-3, 3e-3, INFINITY}, {1, 3});
  events.neurons = 2;
  events.t_max = 4e-3;
  nir::Trace valued = events;
  valued.observable = "currents";
  valued.kind = nir::Trace::Kind::valued_events;
  valued.value = numbers({0.5, -2, 0}, {1, 3});
  return {gridded, voltages, events, valued};
}

}  // namespace

TEST_CASE("traces are written and read back equal [nir]") {
  const TemporaryFolder folder;
  nir::write_traces(sample(), folder / "trace.nir");
  const std::vector<nir::Trace> again = nir::read_traces(folder / "trace.nir");
  REQUIRE(again.size() == 4);
  for (const nir::Trace& wanted : sample()) {
    const nir::Trace* found = nullptr;
    for (const nir::Trace& trace : again)
      if (trace.node == wanted.node && trace.observable == wanted.observable) found = &trace;
    REQUIRE(found);
    CHECK(found->kind == wanted.kind);
    if (wanted.kind == nir::Trace::Kind::by_step) {
      CHECK(found->data.precision() == wanted.data.precision());
      CHECK(largest_difference(found->data, wanted.data) == 0);
      CHECK(found->dt == wanted.dt);
      continue;
    }
    CHECK(largest_difference(found->index, wanted.index) == 0);
    CHECK(found->time.number(1) == wanted.time.number(1));
    CHECK(found->neurons == 2);
    CHECK(found->t_max == wanted.t_max);
    CHECK(found->value.valid() == wanted.value.valid());
  }
}

TEST_CASE("events lie in the steps at whose end they are told [nir]") {
  const std::vector<NamedArray> arrays = nir::by_step(sample(), 1e-3);
  REQUIRE(arrays.size() == 4);
  CHECK(arrays[2].name == "input/spikes");
  CHECK(largest_difference(arrays[2].array, spikes({0, 1, 0, 0, 1, 0, 0, 0}, {1, 4, 2})) == 0);
  CHECK(largest_difference(arrays[3].array, numbers({0, 0, 0, 0.5, 0, 0, -2, 0}, {1, 4, 2})) == 0);
  CHECK_THROWS_AS(nir::by_step(sample(), std::nullopt), Error);
}

TEST_CASE("traces go to a program and come back [nir]") {
  const TemporaryFolder folder;
  nir::write_traces(sample(), folder / "trace.nir");
  CHECK(in_shell("taskspec import trace.nir -o trace.npz --dt 1e-3", folder).code == 0);
  folder.put("main.task", R"(let s = load(bool[1, 4, 2], "trace.npz", name: "input/spikes")
print(s.array)
save((s as f32[1, 4, 2]) * 2.0, "twice.npz", name: "lif/currents")
)");
  CHECK(in_shell("taskspec run main.task", folder).out ==
        "[[[false, true], [false, false], [true, false], [false, false]]]\n");
  CHECK(in_shell("taskspec import trace.nir -o trace.npz", folder).err.starts_with("error E1003: trace 'input/"));
  CHECK(in_shell("taskspec import trace.nir -o net.task", folder).err.find("it holds traces, no model") !=
        std::string::npos);
  save_arrays(folder / "out.npz", std::vector<NamedArray>{{"lif/spikes", spikes({1, 0, 0, 1}, {2, 2})}});
  CHECK(in_shell("taskspec export out.npz -o out.nir --dt 1e-4", folder).code == 0);
  const std::vector<nir::Trace> made = nir::read_traces(folder / "out.nir");
  REQUIRE(made.size() == 1);
  CHECK(made[0].node == "lif");
  CHECK(made[0].data.extents() == Extents{1, 2, 2});
  CHECK(made[0].dt == 1e-4);
  CHECK(in_shell("taskspec export out.npz -o out.nir", folder).err.starts_with("error E1003"));
  nir::write_model(chain({}, {1}, {1}), folder / "model.nir");
  CHECK(in_shell("taskspec import model.nir -o t.npz", folder).err.find("it holds no traces") != std::string::npos);
}

}  // namespace taskspec::traces_test
