// Programs on shards: whatever number of them, the output of a program is that of the host, to the last bit.
#include <doctest/doctest.h>

#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <regex>
#include <sstream>

#include "interp/backends/backends.hpp"
#include "interp/control/natives.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::shard_programs_test {

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Every session that the text opens on the host, on shards.
std::string on_shards(const std::string& text, std::size_t shards, const std::string& more = "") {
  static const std::regex host(R"( on host(\([^()]*\))?)");
  return std::regex_replace(text, host, " on mpi(shards: " + std::to_string(shards) + more + ")");
}

const std::vector<std::size_t> few_shards = {1, 2, 3, 4, 7, 8, 16};

// What the programs are repeated for on the host, schedules and numbers of threads, is not there on shards: twice is
// enough there, where all nine would be the same.
std::string run_twice(std::string text) {
  for (const auto& [all, some] :
       {std::pair(R"(["push", "pull", "eager"])", R"(["push", "pull"])"), {"[1, 2, 4]", "[1]"}}) {
    const std::size_t at = text.find(all);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string_view(all).size(), some);
    REQUIRE(text.find(all) == std::string::npos);
  }
  return text;
}

// Those of `some`, in this order, with others between.
bool has_lines(const std::string& all, const std::string& some) {
  std::istringstream rest(all), lines(some);
  for (std::string line, next; std::getline(lines, line);) {
    do {
      if (!std::getline(rest, next)) return false;
    } while (next != line);
  }
  return true;
}

void check_on_shards(const std::string& name, const std::string& text, std::span<const std::size_t> counts,
                     const std::string& more = "") {
  const std::string twice = run_twice(text), expected = run_text(twice).output;
  REQUIRE(!expected.empty());
  REQUIRE(has_lines(expected_output(text), expected));
  for (const std::size_t shards : counts) {
    const std::string changed = on_shards(twice, shards, more);
    REQUIRE(changed != twice);
    const Ran ran = run_text(changed);
    CHECK_MESSAGE(ran.output == expected, name << " on " << shards << " shards: " << ran.output << ran.errors);
    CHECK(ran.code == 0);
  }
}

std::filesystem::path language_test(const std::string& name) { return source_root() / "tests/lang" / name; }

constexpr const char* stencil = R"(
fields Cell { state: f64, flux: f64 }
task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }
task mul_two(inout c: Cell[_].{flux}) { for i in c { c[i].flux *= 2.0 } }
task stencil(inout own: Cell[_].{flux}, in ghost: Cell[_].{state}) {
  for i in own { own[i].flux += 0.5 * (ghost[i - 1].state + ghost[i + 1].state) }
}
fn main(how: sharding, mul: sharding) {
  let cells = region Cell[64]
  let owned = blocks(cells, 4)
  let interior = owned & shrink(cells, 1)
  let ghost = halo(owned, 1)
  fill(cells.state, 1.0)
  fill(cells.flux, 1.0)
  for t in 0..10 {
    launch add_one(owned[i]) for i in 0..4 by how
    launch mul_two(interior[i]) for i in 0..4 by mul
    launch stencil(interior[i], ghost[i]) for i in 0..4 by how
  }
  print(cells.flux.sum(0).scalar)
}
)";

}  // namespace

TEST_CASE("programs over regions come to the same on any number of shards [programs][D25][D1]") {
  for (const char* name : {"regions_stencil.task", "regions_stencil_2d.task", "regions_cg.task", "regions_circuit.task",
                           "regions_logistic.task", "regions_mesh.task", "regions_mlp.task", "regions_patterns.task"})
    check_on_shards(name, contents(language_test(name)), few_shards);
}

TEST_CASE("programs come to the same where further proofs spare fences [programs][D11]") {
  for (const char* name : {"regions_stencil.task", "regions_stencil_2d.task", "regions_cg.task", "regions_circuit.task",
                           "regions_logistic.task", "regions_mesh.task", "regions_mlp.task", "regions_patterns.task"})
    check_on_shards(name, contents(language_test(name)), std::vector<std::size_t>{3, 4}, ", elide: \"more\"");
}

TEST_CASE("shards with several threads come to the same [programs][shard-threads]") {
  for (const char* name : {"regions_stencil.task", "regions_stencil_2d.task", "regions_cg.task", "regions_circuit.task",
                           "regions_logistic.task", "regions_mesh.task", "regions_mlp.task", "regions_patterns.task"})
    check_on_shards(name, contents(language_test(name)), std::vector<std::size_t>{1, 2, 5}, ", threads: 3");
}

namespace {

// A body that ends when so many points are in it at one time.
class Meeting final : public NativeTaskBody {
 public:
  explicit Meeting(int points) : points_(points) {}
  void forward(const NativeCall&) const override {}
  void over_views(const NativeViewSite&, const ExternCall&) const override {
    std::unique_lock lock(mutex_);
    ++come_;
    changed_.notify_all();
    has_met_ = changed_.wait_for(lock, std::chrono::seconds(60), [&] { return come_ == points_; });
  }
  bool has_met() const { return has_met_; }

 private:
  const int points_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int come_ = 0;
  mutable bool has_met_ = false;
};

}  // namespace

TEST_CASE("points of one shard run at the same time on its threads [shard-threads]") {
  for (const auto& [shards, threads] : {std::pair(1, 2), {1, 4}, {2, 2}}) {
    const std::string points = std::to_string(shards * threads);
    const auto meeting = std::make_shared<const Meeting>(shards * threads);
    Natives natives;
    natives.define("meet", meeting);
    RunSettings settings;
    settings.natives = &natives;
    const Ran ran = run_text(
        "fields F { a: f64 }\ntask meet(inout v: F[_].{a}) extern \"meet\"\nfn main() {\n  let r = "
        "region F[" +
            points + "]\n  let p = blocks(r, " + points + ")\n  launch meet(p[i]) for i in 0.." + points +
            "\n  print(r.a.sum().scalar)\n}\n" + "run main() on mpi(shards: " + std::to_string(shards) +
            ", threads: " + std::to_string(threads) + ")\n",
        settings);
    CHECK_MESSAGE(ran.output == "0\n", ran.errors);
    CHECK(meeting->has_met());
  }
}

TEST_CASE("the counts of a stencil do not depend on how many shards there are [fence-counts][D10]") {
  for (const std::size_t shards : few_shards) {
    const std::string on = " on mpi(shards: " + std::to_string(shards) + ")\nprint(r.report.fences, r.report.elided)\n";
    CHECK(run_text(std::string(stencil) + "let r = run main(cyclic, cyclic)" + on).output == "253148\n21 19\n");
    CHECK(run_text(std::string(stencil) + "let r = run main(block, block)" + on).output == "253148\n21 19\n");
    CHECK(run_text(std::string(stencil) + "let r = run main(cyclic, block)" + on).output == "253148\n40 0\n");
  }
}

TEST_CASE("other programs have the counts that the theory gives them [fence-counts][D10]") {
  const std::string star = contents(language_test("regions_stencil_2d.task"));
  const std::string cg = contents(language_test("regions_cg.task"));
  const auto before = [](const std::string& text, const char* mark) { return text.substr(0, text.find(mark)); };
  for (const std::size_t shards : {1, 2, 5}) {
    const std::string on = " on mpi(shards: " + std::to_string(shards) + ")\nprint(r.report.fences, r.report.elided)\n";
    Ran ran = run_text(before(star, "\nfor s in") + "\nlet r = run main()" + on);
    CHECK_MESSAGE(ran.output.ends_with("7 2\n"), ran.output << ran.errors);
    std::string three = before(cg, "\nfor s in");
    const std::size_t at = three.find("&& k < n");
    REQUIRE(at != std::string::npos);
    three.replace(at, 8, "&& k < 3");
    ran = run_text(three + "\nlet r = run cg(256, 8, 0.0)" + on);
    CHECK_MESSAGE(ran.output.ends_with("8 19\n"), ran.output << ran.errors);
  }
}

TEST_CASE("only what the other shards lack is sent [messages][D10]") {
  const auto sent = [](std::size_t shards) {
    return run_text(std::string(stencil) + "let r = run main(cyclic, cyclic) on mpi(shards: " + std::to_string(shards) +
                    ")\nprint(r.report.messages, r.report.bytes)\n")
        .output;
  };
  // Ten steps with ghost cells, and the total of 64 numbers, which are one block of several shards: they go as they
  // are.
  CHECK(sent(1) == "253148\n0 0\n");
  CHECK(sent(2) == "253148\n22 1096\n");
  CHECK(sent(3) == "253148\n66 1784\n");
}

TEST_CASE("what a program prints before it fails, it prints on any number of shards [programs][D17]") {
  // Many shards on few cores: some come to the failure while shard 0 still waits for what it prints.
  const std::string before =
      "fields F { a: f64 }\ntask divide(inout v: F[_].{a}, in d: int) { for i in v { v[i].a = (1 / (d - i)) as float } "
      "}\n"
      "fn main(d: int) {\n  let r = region F[32]\n  let p = blocks(r, 16)\n  fill(r.a, 0.5)\n"
      "  for k in 0..3 { print(k, r.a.sum().scalar) }\n";
  const std::string printed = "0 16\n1 16\n2 16\n";
  for (const char* failing : {"  attach(r, file: \"no_such_file.npy\")\n}\nrun main(2)",
                              "  launch divide(p[i], d) for i in 0..16\n  print(r.a.sum().scalar)\n}\nrun main(31)"})
    for (int again = 0; again < 20; ++again) {
      const Ran ran =
          run_text(before + failing + (again < 16 ? " on mpi(shards: 16)\n" : " on mpi(shards: 3, threads: 3)\n"));
      CHECK(ran.output == printed);
      CHECK(ran.code == 3);
      CHECK_MESSAGE(ran.errors.find("error E", ran.errors.find("error E") + 1) == std::string::npos, ran.errors);
    }
}

namespace {

struct Failing {
  const char *text, *printed, *error;
};

// Of each: what `main` prints, and then one error.
const Failing failing_programs[] = {
    // A shard parts from others while they still ask what depends on what.
    {"fields Cell { n: i64, q: i64 }\n"
     "task div(inout c: Cell[_].{n}, in k: int) { for i in c { c[i].n = 100 / (k - i) } }\n"
     "task sten(out o: Cell[_].{q}, in g: Cell[_].{n}) { for i in o { o[i].q = 4 * at(g, i - 2, 4).n } }\n"
     "fn main() {\n  let r = region Cell[26]\n  fill(r.n, iota(26) * 4 + 7)\n  let p = blocks(r, 5)\n"
     "  launch sten(p[i], halo(p, 2)[i]) for i in 0..5 by cyclic\n"
     "  launch div(p[i], 20) for i in 0..5 by block\n  print(r.n.sum().scalar)\n}\n",
     "", "error E5002"},
    // What was said in a batch that failed is not said again at the end.
    {"fields Cell { n: i64, m: i64, k: i64 }\n"
     "task gz(inout c: Cell[_].{n}, in w: Cell[_].{k}, in o: Cell[_].{m}) { for i in c { c[i].n = o[w[i].k].m } }\n"
     "task um(inout c: Cell[_].{m}, in k: int) { for i in c { c[i].m += k } }\n"
     "task un(inout c: Cell[_].{n}, in k: int) { for i in c { c[i].n += k } }\n"
     "fn main() {\n  let r = region Cell[20]\n  let p = blocks(r, 5)\n"
     "  launch un(p[i], i) for i in 0..5 by cyclic\n  launch um(p[i], i) for i in 0..5 by cyclic\n"
     "  fill(r.k, iota(20) + 9)\n  launch gz(p[i], p[i], r) for i in 0..5\n  print(r.n.sum().scalar)\n}\n",
     "", "error E5003"},
    // What the graph shows in the batch that fails.
    {"fields F { a: f64 }\ntask divide(inout v: F[_].{a}, in d: int) { for i in v { v[i].a = (1 / (d - i)) as float } "
     "}\n"
     "fn main() {\n  let r = region F[32]\n  let p = blocks(r, 16)\n  fill(r.a, 0.5)\n"
     "  for k in 0..3 {\n    var t = r.a.sum()\n    graph_print(\"sum\", t)\n  }\n"
     "  launch divide(p[i], 31) for i in 0..16\n  print(r.a.sum().scalar)\n}\n",
     "sum: 16\nsum: 16\nsum: 16\n", "error E5002"}};

}  // namespace

TEST_CASE("a point that fails ends a run on shards with its own error, wherever the others are [programs][D29]") {
  for (const Failing& program : failing_programs)
    for (const int shards : {2, 3, 5})
      for (int again = 0; again < 12; ++again) {
        const Ran ran =
            run_text(std::string(program.text) + "run main() on mpi(shards: " + std::to_string(shards) + ")\n");
        CHECK(ran.output == program.printed);
        CHECK(ran.code == 3);
        CHECK_MESSAGE(ran.errors.starts_with(program.error), ran.errors);
        CHECK_MESSAGE(ran.errors.find("error E", 1) == std::string::npos, ran.errors);
      }
}

TEST_CASE("what fails on shards is told at its own place, though an equal call stood at another one [programs]") {
  const std::string fields = "fields Cell { n: i64, k: i64 }\n";
  const std::string point =
      fields +
      "task g(inout c: Cell[_].{n}, in w: Cell[_].{k}) { for i in c { c[i].n = w[w[i].k].k } }\n"
      "fn main() {\n  let r = region Cell[12]\n  let p = blocks(r, 4)\n  fill(r.k, iota(12) * 2 % 12)\n"
      "  launch g(p[i], r) for i in 0..4\n  print(r.n.sum().scalar)\n  fill(r.k, iota(12) * 2)\n"
      "  launch g(p[i], r) for i in 0..4\n  print(r.n.sum().scalar)\n}\n";
  const std::string sharding = fields +
                               "task up(inout c: Cell[_].{n}, in k: int) { for i in c { c[i].n += k } }\n"
                               "fn far(i: int, n: int, s: int) -> int { return s * (n / 5) }\n"
                               "fn main() {\n  let r = region Cell[12]\n  let p = blocks(r, 6)\n"
                               "  launch up(p[i], i) for i in 0..4 by far\n  print(r.n.sum().scalar)\n\n"
                               "  launch up(p[i], i) for i in 0..6 by far\n}\n";
  for (const std::string* text : {&point, &sharding})
    for (const char* shards : {"1", "2", "3", "5"}) {
      const Ran ran = run_text(*text + "run main() on mpi(shards: " + shards + ")\n");
      CHECK(ran.code == 3);
      CHECK_MESSAGE(ran.errors.find("--> test.task:10:3\n") != std::string::npos, ran.errors);
    }
}

TEST_CASE("the total of a field is made of what each shard's own blocks come to [messages][D10]") {
  const std::string program =
      "fields F { a: f64 }\ntask touch(inout v: F[_].{a}) { for i in v { v[i].a += 0.25 } }\n"
      "fn main(n: int) -> float {\n  let r = region F[n]; let p = blocks(r, 8)\n"
      "  launch touch(p[i]) for i in 0..8 by block\n  return r.a.sum().scalar\n}\n";
  const auto sent = [&](int points) {
    return run_text(program + "let r = run main(" + std::to_string(points) +
                    ") on mpi(shards: 4)\nprint(r.value, r.report.messages, r.report.bytes)\n")
        .output;
  };
  CHECK(sent(64 * 1024) == "16384 8 512\n");
  CHECK(sent(64 * 64 * 1024) == "1048576 8 512\n");
}

TEST_CASE("totals that nobody has received yet are told in the order of the program [D10]") {
  const std::string program =
      "fields F { a: f64, b: f64 }\ntask touch(inout v: F[_].{a}) { for i in v { v[i].a += 0.25 } }\n"
      "fn main() -> (float, float) {\n  let r = region F[64]; let p = blocks(r, 4)\n  fill(r.b, 2.0)\n"
      "  for t in 0..3 { launch touch(p[i]) for i in 0..4 }\n  let b = r.b.sum(); let a = r.a.sum()\n"
      "  return (a.scalar, b.scalar)\n}\n";
  for (const std::size_t shards : few_shards)
    CHECK(run_text(program + "print((run main() on mpi(shards: " + std::to_string(shards) + ")).value)\n").output ==
          "(48, 128)\n");
}

TEST_CASE("a whole program runs on shards, and one of them is seen [D1]") {
  RunSettings settings;
  settings.backend_options = {{"shards", "3"}};
  settings.on = std::make_shared<BackendChoice>(builtin_mpi);
  const Ran ran = run_text(std::string(stencil) + "print(shards())\nmain(block, block)\nprint(\"end\")\n", settings);
  CHECK(ran.output == "3\n253148\nend\n");
}

TEST_CASE("runs on few and on many shards stand in one program") {
  const Ran ran = run_text(std::string(stencil) +
                           "for n in [2, 4, 1, 3] { let r = run main(cyclic, cyclic) on mpi(shards: n); "
                           "print(n, r.report.fences, r.report.messages) }\n");
  CHECK(ran.output == "253148\n2 21 22\n253148\n4 21 68\n253148\n1 21 0\n253148\n3 21 66\n");
}

// Which mapping it has come to decides what all do next.
TEST_CASE("a search for a mapping that ends by the clock finds one for all shards") {
  const std::string program =
      "fields Cell { a: f64 }\n"
      "task one(inout c: Cell[_].{a}) { for i in c { c[i].a = 1.0 } }\n"
      "ir net {\n  x: SIC i8 [y: 12, x: 12, r: 16]\n"
      "  w: SW i8 [f: 32, r: 16, ky: 3, kx: 3] = iota(4608).reshape(32, 16, 3, 3) as i8[32, 16, 3, 3]\n"
      "  c: CC i32 [y: 10, x: 10, f: 32, r: 16, ky: 3, kx: 3, iy: 12, ix: 12]\n  z: SO i32 [y: 10, x: 10, f: 32]\n"
      "  x -> c.input; w -> c.weight; c -> z\n}\n"
      "fn work() -> bool {\n  let m = map(net, chip: \"tianjicx\")\n"
      "  let first = m.split(\"c\", y: 2).energy\n  let found = m.optimise(\"0.05s\").energy\n"
      "  let cells = region Cell[2 + (found as int) % 99991]\n"
      "  launch one(blocks(cells, 2)[i]) for i in 0..2\n"
      "  let size = cells.a.sum(0).scalar as int\n  let before = m.undo().energy\n"
      "  return found < first && before == first && size == 2 + (found as int) % 99991\n}\n";
  for (const char* shards : {"2", "3"}) {
    const Ran ran = run_text(program + "print((run work() on mpi(shards: " + shards + ")).value)\n");
    CHECK_MESSAGE(ran.code == 0, ran.errors);
    CHECK_MESSAGE(ran.output.ends_with("true\n"), ran.output << ran.errors);
  }
}

TEST_CASE("a shard that makes another call is named, whatever is hashed [inject][D17]") {
  for (const char* level : {"off", "batch", "every"})
    for (const char* argument : {"domain", "sharding", "task", "projection", "argument 1", "fields"})
      for (const std::size_t shards : {2, 3, 5}) {
        const std::string who = std::to_string(shards - 1);
        const Ran ran =
            run_text(std::string(stencil) + "run main(cyclic, cyclic) on mpi(shards: " + std::to_string(shards) +
                     ", level: \"" + level + "\", inject: \"" + who + ":17:" + argument + "\")\n");
        CHECK(ran.code == 3);
        CHECK_MESSAGE(
            ran.errors.find("E6001: control determinism violated at call 17 'launch stencil'") != std::string::npos,
            level << " " << argument << ": " << ran.errors);
        CHECK_MESSAGE(ran.errors.find("shard {" + who + "}") != std::string::npos, ran.errors);
        CHECK(ran.output.empty() == (std::string_view(level) != "off"));
      }
}

TEST_CASE("a point that fails ends the run on all shards, and says where") {
  const std::string program =
      "fields F { a: f64, at: int }\n"
      "task touch(inout v: F[_].{a}, in w: F[_].{at}) { for i in v { v[i].a += v[w[i].at].a } }\n"
      "fn main() {\n  let r = region F[16]; let p = blocks(r, 8)\n  fill(r.at, 99)\n"
      "  launch touch(p[i], p[i]) for i in 0..8\n  print(r.a.sum(0).scalar)\n}\n";
  const Ran host = run_text(program + "run main() on host\n");
  for (const std::size_t shards : {1, 2, 4}) {
    const Ran ran = run_text(program + "run main() on mpi(shards: " + std::to_string(shards) + ")\n");
    CHECK(ran.code == 3);
    CHECK(ran.output.empty());
    CHECK_MESSAGE(ran.errors.starts_with(host.errors.substr(0, 12)), ran.errors);  // its code
  }
}

// A file that is another one each time that it is read: what it decides differs before anybody has compared calls, and
// what the shards say to one another does not fit.
constexpr std::string_view parted = R"(
fields Cell { a: f64, b: f64 }
task one(inout c: Cell[_].{a}) { for i in c { c[i].a = 1.0 } }
task near(inout c: Cell[_].{b}, in d: Cell[_].{a}) { for i in c { for j in d { c[i].b += d[j].a } } }
task sum_of(in d: Cell[_].{a}) -> (s: f64[1]) { s = d.a.sum(0) }
task add(inout c: Cell[_].{b}, in x: f64[1]) { for i in c { c[i].b += x[0] } }
fn other() -> int {
  let text = read("/proc/sys/kernel/random/uuid")
  var n = 0
  for c in 0..36 { n = (n * 7 + len(split(text[c..c + 1], "a")) + len(split(text[c..c + 1], "3")) * 2) % 9973 }
  return n
}
fn work(kind: int) -> float {
  let n = other()
  var size = 256
  if kind == 0 { size = 10 + n }
  let cells = region Cell[size]
  let parts = blocks(cells, 256)
  var last = 256
  if kind == 1 || kind == 4 { last = 2 + n % 200 }
  if kind == 0 { return cells.a.sum(0).scalar }
  launch one(parts[i]) for i in 0..256
  var where_to = 3
  if kind == 2 { where_to = n % 240 }
  let wide = cover(cells, 256, i => [0..1 + where_to])
  if kind == 2 { launch near(parts[i], wide[i]) for i in 0..256 }
  let sums = launch sum_of(parts[i]) for i in 0..last
  if kind == 3 { launch add(parts[i], sums.s[(i + n) % 256]) for i in 0..256 }
  if kind == 4 { launch add(parts[i], sums.s[1]) for i in 0..256 }
  return cells.b.sum(0).scalar + sums.s.sum()[0].scalar
}
)";

TEST_CASE("shards that part in what they do, and not only in what is hashed, are told so [D17]") {
  if (!std::ifstream("/proc/sys/kernel/random/uuid")) return;
  for (const char* level : {"off", "batch", "every"})
    for (int kind = 0; kind < 5; ++kind) {
      CAPTURE(level);
      CAPTURE(kind);
      const Ran ran = run_text(std::string(parted) + "print((run work(" + std::to_string(kind) +
                               ") on mpi(shards: 3, level: \"" + level + "\")).value)\n");
      CHECK(ran.code == 3);
      CHECK_MESSAGE(ran.errors.starts_with("error E6001: control determinism violated"), ran.errors);
      const bool names_call = ran.errors.find("violated at call") != std::string::npos;
      CHECK_MESSAGE((names_call || std::string_view(level) == "off"), ran.errors);
      CHECK(ran.output.empty());
    }
}

// Points of other shards take so long that the difference is heard of while this one waits for what they make.
TEST_CASE("what a shard hears of while it computes is no failure of its own [inject][D17]") {
  const std::string program =
      "fields Cell { state: f64, flux: f64 }\n"
      "task grow(inout c: Cell[_].{state}) {\n"
      "  for i in c { for k in 0..(i * 500) { c[i].state = c[i].state * 0.5 + 1.0 } }\n}\n"
      "task take(inout c: Cell[_].{flux}, in g: Cell[_].{state}) {\n"
      "  for i in c { c[i].flux += g[i - 1].state + g[i + 1].state }\n}\n"
      "fn main() {\n"
      "  let cells = region Cell[64]; let owned = blocks(cells, 4); let inner = owned & shrink(cells, 1)\n"
      "  let ghost = halo(owned, 1)\n"
      "  launch grow(owned[i]) for i in 0..4\n"
      "  launch take(inner[i], ghost[i]) for i in 0..4\n"
      "  print(cells.flux.sum(0).scalar)\n}\n";
  for (int time = 0; time < 12; ++time) {
    const Ran ran = run_text(program + "run main() on mpi(shards: 4, level: \"every\", inject: \"2:7:domain\")\n");
    CHECK(ran.code == 3);
    CHECK_MESSAGE(ran.errors.find("shard {2} domain 0..5\n") != std::string::npos, ran.errors);
  }
}

TEST_CASE("a sharding that names no shard is E6005, on all of them") {
  const std::string program = std::string(stencil) + "fn far(i: int, n: int, s: int) -> int { return i + 2 }\n";
  const Ran ran = run_text(program + "run main(far, far) on mpi(shards: 4)\n");
  CHECK(ran.code == 3);
  CHECK_MESSAGE(ran.errors.find("E6005") != std::string::npos, ran.errors);
}

TEST_CASE("agree gives what the first replica has") {
  const Ran ran = run_text(std::string(stencil) +
                           "let begin = agree(clock())\n"
                           "fn timed(t: float) -> float { main(block, block); return t }\n"
                           "let r = run timed(begin) on mpi(shards: 3)\nprint(r.value == begin)\n");
  CHECK_MESSAGE(ran.output == "253148\ntrue\n", ran.errors);
}

namespace {

// messages, bytes of a run; `what` is a program with a fn main(n: int).
std::pair<std::int64_t, std::int64_t> sent(const std::string& what, std::size_t shards, std::int64_t n) {
  const Ran ran =
      run_text(what + "let r = run main(" + std::to_string(n) + ") on mpi(shards: " + std::to_string(shards) +
               ")\nprint(r.report.messages, r.report.bytes)\n");
  CHECK_MESSAGE(ran.code == 0, ran.errors);
  const std::string last = ran.output.substr(ran.output.rfind('\n', ran.output.size() - 2) + 1);
  std::istringstream numbers(last);
  std::pair<std::int64_t, std::int64_t> found;
  numbers >> found.first >> found.second;
  return found;
}

std::string map_program(const std::string& how, const std::string& use) {
  return "fields F { a: f64 }\n"
         "task tell(in v: F[_].{a}) -> (s: f64[1]) { s = v.a.sum(0) * 0.125 }\n"
         "fn main(n: int) {\n"
         "  let r = region F[n]; let p = blocks(r, n)\n  fill(r.a, iota(n) as f64[n] * 0.7)\n"
         "  let m = (launch tell(p[i]) for i in 0..n by " +
         how + ").s\n  " + use + "\n}\n";
}

}  // namespace

TEST_CASE(
    "of a map that is summed up only the nodes of a tree are sent: as the logarithm of its points [messages][D10]") {
  const std::string program = map_program("block", "print(m.sum().array, m.min().array)");
  for (const std::int64_t n : {1, 3, 37, 1000})
    for (const std::size_t shards : {2, 5, 8})
      CHECK(run_text(program + "run main(" + std::to_string(n) + ") on mpi(shards: " + std::to_string(shards) + ")\n")
                .output == run_text(program + "run main(" + std::to_string(n) + ") on host\n").output);
  for (const std::size_t shards : {3, 4}) {
    const auto few = sent(program, shards, 1001), many = sent(program, shards, 8011);
    CHECK(few.first == many.first);
    // Two reductions; each shard's nodes, of 16 bytes and the value, come to each other one.
    const auto most = [&](double n) {
      return 2.0 * static_cast<double>(shards * shards) * (2 * std::log2(n) * 24 + 64);
    };
    CHECK(static_cast<double>(few.second) <= most(1001));
    CHECK(static_cast<double>(many.second) <= most(8011));
    CHECK(many.second - few.second <= 2 * static_cast<std::int64_t>(shards * shards) * 2 * 3 * 24);
  }
  // Who owns every third point owns no subtree.
  const std::string cyclic = map_program("cyclic", "print(m.sum().array)");
  CHECK(sent(cyclic, 3, 2000).second > 2 * 2000 * 8);
}

TEST_CASE("one element of a map comes from its owner alone, all of them come to all [messages]") {
  const std::string one = map_program("cyclic", "print(m[n - 1].array)"),
                    all = map_program("cyclic", "print(m.gather().array)");
  CHECK(sent(one, 4, 100) == std::pair<std::int64_t, std::int64_t>(3, 3 * 8));
  CHECK(sent(all, 4, 100) == std::pair<std::int64_t, std::int64_t>(12, 3 * 100 * 8));
  for (const std::string& program : {one, all})
    for (const std::size_t shards : {1, 3, 7})
      CHECK(run_text(program + "run main(5) on mpi(shards: " + std::to_string(shards) + ")\n").output ==
            run_text(program + "run main(5) on host\n").output);
}

TEST_CASE("a task that is called alone is shard 0's, and what it makes comes to all [messages][single]") {
  const std::string program =
      "fields F { a: f64, n: int }\n"
      "task scale(inout v: F[_].{a}, in factor: f64[1]) -> (s: f64[1], twice: f64[1]) {\n"
      "  for i in v { v[i].a *= 3.0 }\n  s = v.a.sum(0) * factor\n  twice = s * 2.0\n}\n"
      "task count(in v: F[_].{a}, reduce(+) all: F[_].{n}) { for i in v { all[0].n += 1 } }\n"
      "task add(inout v: F[_].{a}, in x: f64[1]) { for i in v { v[i].a += 1.0 } }\n"
      "fn main(n: int) {\n"
      "  let r = region F[n]; let p = blocks(r, 4)\n  fill(r.a, 1.5)\n"
      "  launch add(p[i], [1.0] as f64[1]) for i in 0..4\n"
      "  let x = scale(r, [0.5] as f64[1])\n"
      "  count(r, r)\n"
      "  launch add(p[i], x.twice) for i in 0..4\n"
      "  let y = scale(p[1], x.s)\n"
      "  print(x.s.scalar, y.s.scalar, y.twice.scalar, r.a.sum(0).scalar, r.n.sum(0).scalar)\n}\n";
  for (const std::size_t shards : few_shards)
    CHECK(run_text(program + "run main(64) on mpi(shards: " + std::to_string(shards) + ")\n").output ==
          run_text(program + "run main(64) on host\n").output);
  // To shard 0 what shard 1 wrote, and back; the values; and nothing that shard 0 has already.
  const std::string alone =
      "fields F { a: f64 }\n"
      "task touch(inout v: F[_].{a}) -> (s: f64[1]) { for i in v { v[i].a += 1.0 }\n  s = v.a.sum(0) }\n"
      "fn main(n: int) {\n"
      "  let r = region F[n]; let p = blocks(r, 2)\n"
      "  launch touch(p[i]) for i in 0..2\n  touch(r)\n  touch(r)\n"
      "  launch touch(p[i]) for i in 0..2\n}\n";
  CHECK(sent(alone, 2, 64) == std::pair<std::int64_t, std::int64_t>(4, 2 * 32 * 8 + 2 * 8));
}

TEST_CASE("what is too long for one message is cut, and comes to the same [messages]") {
  const std::string program =
      "fields F { a: f64 }\n"
      "task count(inout v: F[_].{a}) { for i in v { v[i].a += 0.5 } }\n"
      "task take(in w: F[_].{a}) -> (s: f64[1]) { s = w.a.sum(0) }\n"
      "fn main(n: int) {\n"
      "  let r = region F[n]; let p = blocks(r, 2); let q = halo(p, n)\n"
      "  launch count(p[i]) for i in 0..2\n"
      "  print((launch take(q[i]) for i in 0..2).s.sum().scalar)\n}\n";
  CHECK(run_text(program + "run main(150000) on mpi(shards: 2)\n").output ==
        run_text(program + "run main(150000) on host\n").output);
  // 75,000 numbers each way, in messages of 32,768; and the sum.
  CHECK(sent(program, 2, 150000).first == 2 * 3 + 2);
  CHECK(sent(program, 2, 65536).first == 2 * 1 + 2);
}

TEST_CASE("regions that a program makes and drops on shards leave nothing behind [delete][D22]") {
  const std::string program =
      "fields F { a: f64 }\n"
      "task touch(inout v: F[_].{a}) { for i in v { v[i].a += 1.0 } }\n"
      "fn once(k: int) -> float {\n"
      "  let r = region F[4096]; let p = blocks(r, 4)\n"
      "  fill(r.a, 0.5)\n  launch touch(p[i]) for i in 0..4\n  return r.a.sum(0).scalar * (k as float)\n}\n"
      "fn main(n: int) {\n  var sum = 0.0\n  for k in 0..n { sum += once(k) }\n  print(sum)\n}\n";
  for (const std::size_t shards : {1, 2, 4}) {
    const auto run = [&](int n) {
      // Of one thread: what several need beside each other differs from run to run.
      return run_text(program + "let r = run main(" + std::to_string(n) + ") on mpi(shards: " + std::to_string(shards) +
                      ", threads: 1)\nprint(r.report.peak)\n");
    };
    const Ran few = run(60), many = run(240);
    CHECK_MESSAGE(few.code == 0, few.errors);
    const auto peak = [](const Ran& ran) { return ran.output.substr(ran.output.find('\n') + 1); };
    CHECK(peak(few) == peak(many));
    CHECK(many.output.substr(0, many.output.find('\n') + 1) == run_text(program + "run main(240) on host\n").output);
  }
}

}  // namespace taskspec::shard_programs_test
