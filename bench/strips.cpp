#include "bench/strips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "bench/strips_loops.hpp"
#include "frontend/check.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/host/view/view_body.hpp"
#include "ir/base/render.hpp"

namespace taskspec::bench {

namespace {

// The tasks of the samples: stencil, circuit, conjugate gradient, 2-d stencil.
constexpr const char* text = R"(
fields Cell { state: f64, flux: f64 }
task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }
task mul_two(inout c: Cell[_].{flux})  { for i in c { c[i].flux *= 2.0 } }
task stencil(inout own: Cell[_].{flux}, in ghost: Cell[_].{state}) {
  for i in own { own[i].flux += 0.5 * (ghost[i - 1].state + ghost[i + 1].state) }
}
fields Node { charge: f64, voltage: f64, cap: f64 }
fields Wire { a: int, b: int, current: f64, ohm: f64 }
task currents(inout w: Wire[_].{current}, in w2: Wire[_].{a, b, ohm}, in n: Node[_].{voltage}) {
  for i in w { w[i].current = (n[w2[i].a].voltage - n[w2[i].b].voltage) / w2[i].ohm }
}
task charges(in w: Wire[_].{current, a, b}, reduce(+) n: Node[_].{charge}, in dt: float) {
  for i in w {
    n[w[i].a].charge += -dt * w[i].current
    n[w[i].b].charge +=  dt * w[i].current
  }
}
task drained(in w: Wire[_].{current, a, b}, inout n: Node[_].{charge}, in dt: float) {
  for i in w {
    n[w[i].a].charge -= dt * w[i].current
    n[w[i].b].charge += dt * w[i].current
  }
}
task voltages(inout n: Node[_].{voltage, charge}, in k: Node[_].{cap}) {
  for i in n { n[i].voltage += n[i].charge / k[i].cap; n[i].charge = 0.0 }
}
fields Vec { x: f64, r: f64, p: f64, q: f64 }
task matvec(inout q: Vec[_].{q}, in p: Vec[_].{p}) {
  for i in q { q[i].q = 2.0 * p[i].p - at(p, i - 1, 0.0).p - at(p, i + 1, 0.0).p }
}
task dot_pq(in v: Vec[_].{p, q}) -> (s: f64[1]) { s = (v.p * v.q).sum(0) }
task step(inout v: Vec[_].{x, r}, in u: Vec[_].{p, q}, in alpha: f64[1]) {
  for i in v { v[i].x += alpha * u[i].p; v[i].r += -alpha * u[i].q }
}
task turn(inout v: Vec[_].{p}, in u: Vec[_].{r}, in beta: f64[1]) {
  for i in v { v[i].p = u[i].r + beta * v[i].p }
}
fields G { a: f64, b: f64 }
task star(inout o: G[_, _].{b}, in g: G[_, _].{a}) {
  for (i, j) in o { o[i, j].b += 0.25 * (g[i - 1, j].a + g[i + 1, j].a + g[i, j - 1].a + g[i, j + 1].a) }
}
)";

struct Bodies {
  Sources sources;
  std::unique_ptr<Program> program;
  Toolbox tools = standard_toolbox();

  Bodies() {
    const SourceId main = sources.add("strips.task", text);
    Result<Program> checked = check(sources, main, {.ops = tools.ops, .builtins = tools.builtins});
    if (!checked) bug("a benchmark does not compile: " + render(sources, checked.diags()));
    program = std::make_unique<Program>(*std::move(checked));
  }
  std::shared_ptr<const ViewBody> body(std::string_view name, std::vector<ArrayType> inputs) const {
    for (std::size_t k = 0; k < program->functions.size(); ++k) {
      if (program->functions[k].name != name) continue;
      auto made = ViewBody::make({*program, FunctionId(k), tools.ops, std::move(inputs)});
      if (!made) bug("a benchmark does not compile: " + render(sources, made.diags()));
      return *made;
    }
    bug("no such task");
  }
};

struct Fields {
  Rect root;
  std::vector<std::vector<double>> columns;  // ints lie in them as their bits
  std::vector<ViewField> bases;

  Fields(const Rect& extents, std::size_t count) : root(extents) {
    for (std::size_t f = 0; f < count; ++f) columns.emplace_back(static_cast<std::size_t>(root.size()), 1.0);
    for (std::vector<double>& column : columns) bases.push_back({reinterpret_cast<std::byte*>(column.data())});
  }
  double* operator[](std::size_t f) { return columns[f].data(); }
  Index* ints(std::size_t f) { return reinterpret_cast<Index*>(columns[f].data()); }
};

struct Row {
  std::string name;
  Index points = 0;
  std::function<void()> strips, plain, wide;
  std::string form;
  Repeats times[3] = {};  // body, plain, wide
  double scale = 0;       // of seconds to ns per point
};

// The fields that one row works on, and its body on all of them.
struct BodyRun {
  std::shared_ptr<const ViewBody> body;
  std::vector<IndexSpace> spaces;
  std::vector<Fields*> fields;
  double scalar = 0, out = 0;
  std::vector<std::byte> scratch;

  void operator()() {
    std::vector<ViewMemory> views;
    for (std::size_t k = 0; k < fields.size(); ++k) views.push_back({&spaces[k], &fields[k]->root, fields[k]->bases});
    const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(&scalar)};
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(&out)};
    TaskContext context;
    Serial serial;
    context.parallel = &serial;
    scratch.resize(body->scratch_bytes() + 64);
    context.scratch = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    if (!body->run({.views = views, .inputs = inputs, .outputs = outputs}, context))
      bug("a body of a benchmark failed: " + context.faults[0].fault.message);
  }
};

class Rows {
 public:
  Rows(const Bodies& bodies, Index points) : bodies_(bodies), n_(points) {}

  void add(const std::string& name, std::string_view task, std::vector<ArrayType> inputs, std::vector<Fields*> fields,
           std::vector<IndexSpace> spaces, std::function<void(const StripLoops&)> loop, double scalar = 0,
           Index points = 0) {
    auto run = std::make_shared<BodyRun>();
    run->body = bodies_.body(task, std::move(inputs));
    run->spaces = std::move(spaces);
    run->fields = std::move(fields);
    run->scalar = scalar;
    rows.push_back({name, points > 0 ? points : n_, [run] { (*run)(); }, [loop] { loop(plain_loops); },
                    [loop] { loop(wide_loops); }, std::string(run->body->form())});
  }
  std::vector<Row> rows;

 private:
  const Bodies& bodies_;
  Index n_;
};

struct World {
  explicit World(Index points) : n(points) {
    std::mt19937_64 random(1);
    for (Fields* fields : {&cells, &nodes, &vec, &grid})
      for (std::vector<double>& column : fields->columns)
        for (double& x : column) x = static_cast<double>(random() % 1024) / 1024;
    // Wires whose ends are near one another, as those of a piece of a circuit are.
    for (Index i = 0; i < n; ++i) {
      const Index a = i / 4, b = std::min(n / 4 - 1, a + static_cast<Index>(random() % 64));
      wires.ints(0)[i] = a;
      wires.ints(1)[i] = b;
      wires[3][i] = 1.0 + static_cast<double>(random() % 8);
    }
    for (Index at = 0; at < n; at += 1 + static_cast<Index>(random() % 3)) {
      const Index hi = std::min(n, at + 1 + static_cast<Index>(random() % 4));
      runs.push_back({at, hi});
      at = hi;
    }
    some_wires = IndexSpace(wires.root, Intervals::of_sorted(runs));
  }

  Index n;
  Fields cells{Rect::of({n}), 2}, nodes{Rect::of({n / 4}), 3}, wires{Rect::of({n}), 4}, vec{Rect::of({n}), 4};
  Index side = static_cast<Index>(std::sqrt(static_cast<double>(n)));
  Fields grid{Rect::of({side, side}), 2};
  std::vector<taskspec::Run> runs;
  IndexSpace some_wires;
  double sink = 0;
};

std::vector<Row> rows_of(const Bodies& bodies, World& w) {
  const IndexSpace all(w.cells.root), inner(Rect{{1}, {w.n - 1}, 1}), nodes(w.nodes.root), grid(w.grid.root);
  const IndexSpace inside(Rect{{1, 1}, {w.side - 1, w.side - 1}, 2});
  const ArrayType real{Precision::f64, {}}, one{Precision::f64, {1}};
  Rows rows(bodies, w.n);
  Fields &c = w.cells, &n = w.nodes, &e = w.wires, &v = w.vec, &g = w.grid;
  const Index size = w.n;
  rows.add("3 add_one", "add_one", {}, {&c}, {all}, [&, size](const StripLoops& l) { l.add_one(c[0], 0, size); });
  rows.add("3 mul_two", "mul_two", {}, {&c}, {all}, [&, size](const StripLoops& l) { l.mul_two(c[1], 0, size); });
  rows.add("3 stencil", "stencil", {}, {&c, &c}, {inner, all},
           [&, size](const StripLoops& l) { l.stencil(c[1], c[0], 1, size - 1); });
  rows.add("4 currents", "currents", {}, {&e, &e, &n}, {all, all, nodes},
           [&, size](const StripLoops& l) { l.currents(e[2], e.ints(0), e.ints(1), e[3], n[1], 0, size); });
  rows.add(
      "4 charges", "charges", {real}, {&e, &n}, {all, nodes},
      [&, size](const StripLoops& l) { l.charges(e[2], e.ints(0), e.ints(1), n[0], 1e-6, 0, size); }, 1e-6);
  rows.add(
      "4 charges, inout", "drained", {real}, {&e, &n}, {all, nodes},
      [&, size](const StripLoops& l) { l.charges(e[2], e.ints(0), e.ints(1), n[0], 1e-6, 0, size); }, 1e-6);
  rows.add(
      "4 voltages", "voltages", {}, {&n, &n}, {nodes, nodes},
      [&, size](const StripLoops& l) { l.voltages(n[1], n[0], n[2], 0, size / 4); }, 0, size / 4);
  rows.add(
      "4 currents, runs of 1 to 4", "currents", {}, {&e, &e, &n}, {w.some_wires, w.some_wires, nodes},
      [&](const StripLoops& l) {
        for (const taskspec::Run& r : w.runs) l.currents(e[2], e.ints(0), e.ints(1), e[3], n[1], r.lo, r.hi);
      },
      0, w.some_wires.size());
  rows.add("8 matvec", "matvec", {}, {&v, &v}, {all, all},
           [&, size](const StripLoops& l) { l.matvec(v[3], v[2], size, 0, size); });
  rows.add("8 dot_pq", "dot_pq", {}, {&v}, {all},
           [&, size](const StripLoops& l) { w.sink += l.dot(v[2], v[3], 0, size); });
  rows.add(
      "8 step", "step", {one}, {&v, &v}, {all, all},
      [&, size](const StripLoops& l) { l.step(v[0], v[1], v[2], v[3], 1e-9, 0, size); }, 1e-9);
  rows.add(
      "8 turn", "turn", {one}, {&v, &v}, {all, all},
      [&, size](const StripLoops& l) { l.turn(v[2], v[1], 1e-9, 0, size); }, 1e-9);
  rows.add(
      "2-d star", "star", {}, {&g, &g}, {inside, grid},
      [&](const StripLoops& l) { l.star(g[1], g[0], w.side, w.side); }, 0, inside.size());
  return std::move(rows.rows);
}

// Those whose names have `part` in them.
double measure_all(std::vector<Row>& rows, const std::string& part, int repeats, const char* title) {
  std::erase_if(rows, [&](const Row& row) { return row.name.find(part) == std::string::npos; });
  for (Row& row : rows) {
    const Index turns = std::max<Index>(1, 400'000 / row.points);
    for (int i = 0; i < repeats; ++i) {
      const std::function<void()>* runs[] = {&row.strips, &row.plain, &row.wide};
      for (int k = 0; k < 3; ++k)
        row.times[k].add(measure([&] {
          for (Index t = 0; t < turns; ++t) (*runs[k])();
        }));
    }
    row.scale = 1e9 / static_cast<double>(row.points * turns);
  }
  fmt::print("{}; ns per point by CPU time at the minimum\n\n", title);
  Table table({"", "form", "body", "C++ -O3", "of it", "C++ -O3, wide", "of it"});
  double worst = 1e9;
  for (const Row& row : rows) {
    const double body = row.times[0].min_cpu(), plain = row.times[1].min_cpu(), wide = row.times[2].min_cpu();
    worst = std::min(worst, plain / body);
    table.add({row.name, row.form, fmt::format("{:.2f}", body * row.scale), fmt::format("{:.2f}", plain * row.scale),
               fmt::format("{:.0f} %", 100 * plain / body), fmt::format("{:.2f}", wide * row.scale),
               fmt::format("{:.0f} %", 100 * wide / body)});
  }
  fmt::print("{}\n", table.text());
  return worst;
}

}  // namespace

int strips(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 9;
  const Bodies bodies;
  double worst = 1e9;
  for (const auto& [points, title] : {std::pair(Index{1} << 14, "16,384 points, in the second cache"),
                                      std::pair(Index{1} << 22, "4,194,304 points, from memory")}) {
    World world(points);
    std::vector<Row> rows = rows_of(bodies, world);
    worst = std::min(worst, measure_all(rows, settings.file, repeats, title));
  }
  fmt::print("the slowest body has {:.0f} % of the speed of C++ -O3; the bar is 50 %\n", 100 * worst);
  return 0;
}

}  // namespace taskspec::bench
