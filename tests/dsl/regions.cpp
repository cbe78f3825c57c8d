// tests/dsl/regions.task
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

using namespace taskspec;

namespace {

const Fields Cell = fields("Cell", {{"state", f64}, {"flux", f64}});

Task add_one() {
  return task("add_one").inout("c", Cell, {"state"}).body([](View c) {
    for (Tensor i : c) c[i]["state"] += 1.0;
  });
}
Task mul_two() {
  return task("mul_two").inout("c", Cell, {"flux"}).body([](View c) {
    for (Tensor i : c) c[i]["flux"] *= 2.0;
  });
}
Task stencil() {
  return task("stencil").inout("own", Cell, {"flux"}).in("ghost", Cell, {"state"}).body([](View own, View ghost) {
    for (Tensor i : own) own[i]["flux"] += 0.5 * (ghost[i - 1]["state"] + ghost[i + 1]["state"]);
  });
}

Fn heat() {
  return fn("heat")
      .in("ncells", integer)
      .in("ntiles", integer)
      .in("nsteps", integer)
      .returns(real)
      .body([](Tensor ncells, Tensor ntiles, Tensor nsteps) {
        Region cells = region("cells", Cell, ncells);
        Partition owned = blocks(cells, ntiles);
        Partition interior = owned & shrink(cells, 1);
        Partition ghost = halo(owned, 1);
        fill(cells["state"], 1.0);
        fill(cells["flux"], 1.0);
        for_(range(0, nsteps), [&](Tensor) {
          trace_([&] {
            launch(add_one(), owned).over(0, ntiles).by(cyclic);
            launch(mul_two(), interior).over(0, ntiles).by(cyclic);
            launch([&](Tensor i) { return stencil()(interior[i], ghost[i]); }).over(0, ntiles).by(cyclic);
          });
        });
        return cells["flux"].sum(0).scalar();
      });
}

const Fields G = fields("G", {{"a", f64}, {"b", f64}});

Task star() {
  return task("star").inout("o", G("_", "_"), {"b"}).in("g", G("_", "_"), {"a"}).body([](View o, View g) {
    for (auto [i, j] : o.points<2>())
      o.at(i, j)["b"] +=
          0.25 * (g.at(i - 1, j)["a"] + g.at(i + 1, j)["a"] + g.at(i, j - 1)["a"] + at(g, i, j + 1, 0.0)["a"]);
  });
}
Task incr() {
  return task("incr").inout("o", G("_", "_"), {"a"}).body([](View o) {
    for (auto [i, j] : o.points<2>()) o.at(i, j)["a"] += 1.0;
  });
}

Fn plane() {
  return fn("plane")
      .in("n", integer)
      .in("steps", integer)
      .returns(tuple_of(real, real))
      .body([](Tensor n, Tensor steps) {
        Region g = region("g", G, n, n);
        Partition own = blocks(g, 2, 2);
        Partition near = halo(own, 1, "star");
        Partition inner = own & shrink(g, 1);
        fill(g["a"], 1.0);
        for_(range(0, steps), [&](Tensor) {
          launch(star(), inner, near).over(grid(2, 2));
          launch([&](Tensor i, Tensor j) { return incr()(own.at(j, i)); }).over(grid(2, 2));
        });
        return tupled(g["b"].sum().scalar(), g["a"].sum().scalar());
      });
}

const Fields Node = fields("Node", {{"charge", f64}, {"part", integer}});
const Fields Wire = fields("Wire", {{"a", integer}, {"current", f64}});

Task spread() {
  return task("spread")
      .reduce("+", "n", Node, {"charge"})
      .in("w", Wire, {"a", "current"})
      .in("dt", real)
      .body([](View n, View w, Tensor dt) {
        for (Tensor i : w) n[w[i]["a"]]["charge"] += dt * w[i]["current"];
      });
}
Task flow() {
  return task("flow").out("w", Wire, {"current"}).body([](View w) {
    for (Tensor i : w) w[i]["current"] = i.as(f64);
  });
}
Task total() {
  return task("total").in("n", Node, {"charge"}).out("s", f64[1]).out("m", f64[1]).body([](View n) {
    return results("s", n["charge"].sum(0), "m", n["charge"].max(0));
  });
}

Fn circuit() {
  return fn("circuit")
      .in("points", integer)
      .in("lines", integer)
      .in("pieces", integer)
      .returns(list_of(real))
      .body([](Tensor points, Tensor lines, Tensor pieces) {
        Region nodes = region("nodes", Node, points);
        Region wires = region("wires", Wire, lines);
        fill(wires["a"], iota(lines) * 7 % points);
        fill(nodes["part"], iota(points) * pieces / points);
        Partition pn = by_field(nodes["part"], pieces);
        Partition pw = preimage(pn, wires["a"]);
        Partition rn = assume(image(nodes, pw, wires["a"]) | pn, "complete");
        launch(flow(), pw).over(0, pieces);
        launch(spread(), rn, pw, 0.5).over(0, pieces);
        Launched t = launch(total(), pn).over(0, pieces);
        print_(t["s"].sum().scalar(), t["m"].max().scalar(), t["s"][1].scalar());
        return nodes["charge"].array();
      });
}

const Fields Ring = fields("Ring", {{"now", f64}, {"both", f64}});

Task number() {
  return task("number").inout("c", Ring, {"now"}).in("k", integer).body([](View c, Tensor k) {
    for (Tensor i : c) c[i]["now"] += k.as(f64);
  });
}
Task around() {
  return task("around")
      .out("own", Ring, {"both"})
      .in("near", Ring, {"now"})
      .in("n", integer)
      .body([](View own, View near, Tensor n) {
        for (Tensor i : own) own[i]["both"] = near[(i + n - 1) % n]["now"] + near[(i + 1) % n]["now"];
      });
}

Fn ring() {
  return fn("ring")
      .in("n", integer)
      .in("pieces", integer)
      .returns(tuple_of(real, real))
      .body([](Tensor n, Tensor pieces) {
        Region line = region("line", Ring, n);
        Region table = region("table", Ring, 4, 4);
        Partition own = blocks(line, pieces);
        Partition near = periodic_halo(own, 1);
        Partition rows = blocks(table, 2);
        launch([&](Tensor i) { return number()(own[i], 10 * i + 1); }).over(0, pieces);
        launch([&](Tensor i) { return number()(rows[i], i * i); }).over(0, 2);
        launch([&](Tensor i) { return around()(own[i], near[i], n); }).over(0, pieces);
        return tupled(line["both"].sum(0).scalar(), table["now"].sum().scalar());
      });
}

}  // namespace

std::string heat_json() { return slices_json(heat()(64, 4, 10)); }
std::string plane_json() { return slices_json(plane()(8, 3)); }
std::string circuit_json() { return slices_json(circuit()(12, 30, 3)); }
std::string ring_json() { return slices_json(ring()(12, 3)); }
double heat_result() { return run(heat()(64, 4, 10)).scalar<double>(); }
std::vector<double> plane_result() {
  Tensor both = run(plane()(8, 3));
  return {both[0].scalar<double>(), both[1].scalar<double>()};
}
std::vector<double> circuit_result() { return run(circuit()(12, 30, 3)).array<double>(); }
std::vector<double> ring_result() {
  Tensor both = run(ring()(12, 3));
  return {both[0].scalar<double>(), both[1].scalar<double>()};
}
