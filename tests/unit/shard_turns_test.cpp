// Loops whose turns are launches and the numbers that these are given: from some turn on only the numbers are worked
// out. What a program prints is the same as on the host, whatever stands in its loops.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "tests/unit/failing_memory.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::shard_turns_test {

namespace {

constexpr std::string_view definitions = R"(
fields Cell { a: int, b: int }
task up(inout c: Cell[_].{a}, in t: int, in x: float, in yes: bool) {
  for i in c {
    c[i].a = (c[i].a * 3 + t + (x * 8.0) as int) % 10007
    if yes { c[i].a += 1 }
  }
}
task over(inout c: Cell[_].{b}, in d: Cell[_].{a}, in t: int) {
  for i in c {
    var s = c[i].b
    for j in d { s = (s * 5 + d[j].a + t) % 10007 }
    c[i].b = s
  }
}
let scale = 3
)";

// Loops of random turns, one behind the other.
class RandomLoops {
 public:
  explicit RandomLoops(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    const std::int64_t points = 2 * between(random_, 2, 4);
    text_ = fmt::format(
        "fn work(k: int) -> (int, int, int, float) {{\n  let cells = region Cell[{0} * 2]\n"
        "  var p = blocks(cells, {0})\n  var q = blocks(cells, {1})\n  let near = halo(p, 1)\n"
        "  var s = 1\n  var x = 0.5\n  let whole = {0}\n",
        points, points / 2);
    points_ = points;
    for (std::int64_t loops = between(random_, 1, 4); loops > 0; --loops) loop();
    return text_ + "  return (cells.a.sum(0).scalar, cells.b.sum(0).scalar, s, x)\n}\n";
  }

 private:
  bool one_of(std::int64_t many) { return between(random_, 1, many) == 1; }
  void line(const std::string& what) { text_ += "    " + what + "\n"; }

  std::string integer() {
    switch (between(random_, 0, 7)) {
      case 0:
        return fmt::format("{}", between(random_, 0, 9));
      case 1:
        return "k";
      case 2:
        return "s % 100";
      case 3:
        return fmt::format("t * {} - s", between(random_, 1, 5));
      case 4:
        return "(t + k) % 7";
      case 5:
        return "t / 3 + scale";
      case 6:
        return lets_ > 0 ? fmt::format("u{}", between(random_, 0, lets_ - 1)) : "t";
      default:
        return "t";
    }
  }
  std::string real() {
    switch (between(random_, 0, 3)) {
      case 0:
        return "0.25";
      case 1:
        return "x";
      case 2:
        return "x * 0.5 + (t % 5)";
      default:
        return "((s % 9) as float) / 4.0";
    }
  }
  std::string boolean() { return one_of(2) ? "t % 2 == 0" : one_of(2) ? "true" : "s < 40"; }

  std::string launch() {
    const bool halves = one_of(3);
    const std::string of = halves ? "q" : "p";
    const std::string domain = !halves && one_of(2) ? "whole" : fmt::format("{}", halves ? points_ / 2 : points_);
    const std::string number = one_of(4) ? fmt::format("2 * i + {}", one_of(3) ? integer() : "1") : integer();
    if (!halves && one_of(2)) return fmt::format("launch over(p[i], near[i], {}) for i in 0..{}", number, domain);
    return fmt::format("launch up({}[i], {}, {}, {}) for i in 0..{}", of, number, real(), boolean(), domain);
  }

  // Mostly what may stand in a turn of launches alone.
  void statement() {
    switch (between(random_, 0, 4)) {
      case 0:
        line(fmt::format("s = (s * 3 + {}) % 1009", integer()));
        break;
      case 1:
        line(fmt::format("x = ({}) * 0.5 + 0.125", real()));
        break;
      case 2:
        line(fmt::format("let u{} = {} % 50", lets_, integer()));
        ++lets_;
        break;
      default:
        line(launch());
    }
  }
  // What changes more than numbers.
  void other() {
    switch (between(random_, 0, 5)) {
      case 0:
        line("if t % 3 == 0 { " + launch() + " }");
        break;
      case 1:
        line("if t % 41 == 7 { s = (s + cells.a.sum(0).scalar) % 1009 }");
        break;
      case 2:
        line("if t % 50 == 49 { fill(cells.a, t) }");
        break;
      case 3:
        line("for w in 0..2 { s = (s + w) % 1009 }");
        break;
      case 4:
        line(fmt::format("launch up(p[i], t, 0.5, false) for i in 0..1 + t % {}", points_));
        break;
      default:
        line(fmt::format("launch up(p[(i + t) % {0}], 1, 0.5, true) for i in 0..{0}", points_));
    }
  }

  // What is no launch comes again and again, behind as many of them each time or not.
  void something_else() {
    constexpr std::int64_t turns[] = {1, 2, 3, 5, 8, 13, 20, 33};
    const std::int64_t every = turns[between(random_, 0, 7)];
    const char* what[] = {"s = (s + cells.a.sum(0).scalar) % 1009", "s = (s + cells.b.sum(0).scalar) % 1009",
                          "fill(cells.b, s)", "launch up(p[i], s, x, true) for i in 0..1",
                          "s = (s + cells.a.array[3]) % 1009"};  // elements come to all
    line(fmt::format("if t % {} == {} {{ {} }}", every, between(random_, 0, every - 1), what[between(random_, 0, 4)]));
  }

  void loop() {
    lets_ = 0;
    const std::int64_t turns = between(random_, 0, 1) == 0 ? between(random_, 100, 400) : between(random_, 40, 90);
    text_ += fmt::format("  for t in {}..{} {{\n", between(random_, 0, 3), turns);
    const bool is_plain = !one_of(4);
    const std::int64_t statements = between(random_, 1, 5);
    const std::int64_t odd = between(random_, 0, statements - 1);
    for (std::int64_t k = 0; k < statements; ++k) !is_plain&& k == odd ? other() : statement();
    line(launch());
    if (one_of(2)) something_else();
    if (one_of(8)) something_else();
    text_ += "  }\n";
  }

  std::mt19937_64 random_;
  std::string text_;
  std::int64_t points_ = 0, lets_ = 0;
};

// Of a whole run.
std::int64_t allocations(const std::string& program) {
  constexpr std::int64_t none_fails = INT64_MAX;
  FailingMemory memory(none_fails);
  const Ran ran = run_text(program);
  const std::int64_t made = memory.counted();
  memory.stop();
  CHECK_MESSAGE(ran.code == 0, ran.errors);
  return made;
}

}  // namespace

TEST_CASE("loops of launches and numbers do on shards what they do on the host [shard-turns][D1]") {
  for (const std::uint64_t seed : random_seeds(40, 2000)) {
    CAPTURE(seed);
    const std::string text = std::string(definitions) + RandomLoops(seed).text();
    CAPTURE(text);
    const Ran host = run_text(text + "print(work(2))\n");
    REQUIRE_MESSAGE(host.code == 0, host.errors);
    for (const int shards : {1, 2, 3}) {
      CAPTURE(shards);
      const Ran ran = run_text(text + fmt::format("print((run work(2) on mpi(shards: {})).value)\n", shards));
      CHECK_MESSAGE(ran.code == 0, ran.errors);
      REQUIRE(ran.output == host.output);
    }
  }
}

// However many there were before it, a loop is found again: its launches are noted, and little is made of a batch of
// them. One that was recorded asks for memory some 500 times a turn.
TEST_CASE("a loop behind many others asks for little memory in its turns [shard-turns]") {
  std::string text = std::string(definitions) + "fn work(n: int) {\n";
  constexpr int loops = 40;
  for (int k = 0; k < loops; ++k)
    text += fmt::format(
        "  let r{0} = region Cell[4]\n  let p{0} = blocks(r{0}, 4)\n  for t in 0..{1} {{\n"
        "    launch up(p{0}[i], t, 0.5, true) for i in 0..4\n    launch over(p{0}[i], p{0}[i], t) for i in 0..4\n  "
        "}}\n",
        k, k + 1 < loops ? "100" : "n");
  constexpr int few = 200, many = 1000, most_of_turn = 50;
  const auto asked = [&](int turns) {
    return allocations(text + fmt::format("}}\nrun work({}) on mpi(shards: 2)\n", turns));
  };
  CHECK(asked(many) - asked(few) < most_of_turn * (many - few));
}

// A total that is received behind some turns of a loop: its launches are noted all the same, whatever else of it is
// made, and one template of a trace serves behind each of them.
TEST_CASE("a loop goes on behind what comes into it [shard-turns][traces]") {
  const auto program = [](int every, int turns) {
    return std::string(definitions) +
           fmt::format(
               "fn work() -> int {{\n  let r = region Cell[8]\n  let p = blocks(r, 4)\n  let inner = p & shrink(r, 1)\n"
               "  let near = halo(p, 1)\n  var s = 0\n  for t in 0..{} {{\n"
               "    launch up(p[i], t, 0.5, true) for i in 0..4\n    launch over(inner[i], near[i], t) for i in 0..4\n"
               "    if t % {} == 0 {{ s = (s + r.b.sum(0).scalar) % 1009 }}\n  }}\n  return s\n}}\n"
               "let r = run work() on mpi(shards: 2)\n",
               turns, every);
  };
  for (const int every : {1, 3, 10, 20, 37}) {
    CAPTURE(every);
    constexpr int few = 300, many = 900, of_turn = 60, of_total = 800;
    const std::int64_t more = allocations(program(every, many)) - allocations(program(every, few));
    CHECK(more < (of_turn + of_total / every) * (many - few));
    const Ran ran = run_text(program(every, many) + "print(r.value == work(), r.report.records)\n");
    CHECK_MESSAGE(ran.output.starts_with("true "), ran.errors);
    CHECK(std::stoi(ran.output.substr(5)) <= 8);
  }
}

}  // namespace taskspec::shard_turns_test
