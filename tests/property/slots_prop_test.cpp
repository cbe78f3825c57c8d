// Agents with slots in the control flow of graphs: what a graph makes one node of, a fn of the host program runs task
// by task. Both must leave the same values and the same states. A seed that fails is printed; run it alone with
// TASKSPEC_SEED.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::slots_prop_test {

namespace {

constexpr const char* agent =
    "agent Count {{\n  state s: i64[1] = zero()\n  weight k: i64[1] = constant(3)\n"
    "  task step(in x: i64[1]) -> (y: i64[1]) {{ s = (s * k + x) % 1009; y = s }}\n"
    "  task peek(in x: i64[1]) -> (y: i64[1]) {{ y = (s + x * k) % 1009 }}\n"
    "  fn next(x: i64[1]) -> i64[1] {{ return step(x).y + 1 }}\n"
    "  graph go(x: i64[1]) -> (y: i64[1]) {{ y = step(peek(x).y).y }}\n"
    "  graph loop(x: i64[1]) -> (y: i64[1]) {{ y = peek(x).y; for i in 0..2 {{ y = step(y).y + s }} }}\n}}\n";

// The same statements, as they are written in a graph and in a fn.
class Statements {
 public:
  explicit Statements(std::uint64_t seed) : random_(seed) {}

  void write(int depth = 0) {
    for (std::int64_t n = between(random_, 1, 3); n > 0; --n) statement(depth);
  }

  std::string graph, fn;

 private:
  void both(const std::string& text) {
    graph += text;
    fn += text;
  }

  void statement(int depth) {
    switch (depth < 3 ? between(random_, 0, 4) : 0) {
      case 1: {
        both(fmt::format("for i{} in 0..{} {{\n", depth, between(random_, 0, 3)));
        write(depth + 1);
        return both("}\n");
      }
      case 2: {
        const std::string value = fmt::format("y % {}", between(random_, 2, 4));
        graph += "if " + value + " == 0 {\n";
        fn += "if (" + value + ").scalar == 0 {\n";
        write(depth + 1);
        both("} else {\n");
        write(depth + 1);
        return both("}\n");
      }
      default:
        return both("y = " + call() + "\n");
    }
  }

  std::string call() {
    constexpr const char* agents[] = {"kept", "c", "l[0]", "l[1]"};
    constexpr const char* members[] = {".step(y).y", ".peek(y).y", ".next(y)", ".go(y).y", ".loop(y).y"};
    switch (between(random_, 0, 5)) {
      case 0:
        return "f(y)";
      case 1:
        return "through(y)";
      case 2:
        return "g(y) + 1";
      default:
        return std::string(agents[between(random_, 0, 3)]) + members[between(random_, 0, 4)];
    }
  }

  std::mt19937_64 random_;
};

std::string program(const std::string& function, const std::string& call) {
  return fmt::format(agent) +
         "let kept = Count()\nlet bound = kept.next\n"
         "fn through(x: i64[1]) -> i64[1] { return kept.step(x).y + bound(x) }\n" +
         function + "let one = [5] as i64[1]\n" +
         fmt::format("print({0}.array, {0}.array, kept.peek(one).y.array)\n", call);
}

constexpr const char* begin = "let c = Count()\nlet l = [Count(), Count()]\nlet f = c.next\nlet g = l[1].next\n";

// A member graph, with its control flow and without: what is unrolled runs task by task.
struct Member {
  std::string control, straight;
};

Member block(std::mt19937_64& random, int depth);

Member statement(std::mt19937_64& random, int depth) {
  constexpr const char* simple[] = {
      "y = step(y).y\n",      "y = (y + s) % 1009\n", "bump(s, y)\n",           "y = f(y)\n",
      "y = h(y) % 1009\n",    "y = helped(s, y)\n",   "y = peek(y).y\n",        "y = other.step(y).y\n",
      "y = l[1].next(y)\n",   "bump(t, s)\n",         "y = (y + t) % 1009\n",   "y = go(y).y\n",
      "y = held.step(y).y\n", "y = row[1].next(y)\n", "y = row[0].peek(y).y\n", "y = d(y)\n"};
  if (depth == 3 || between(random, 0, 2) > 0) {
    const std::string text = simple[between(random, 0, std::ssize(simple) - 1)];
    return {text, text};
  }
  if (between(random, 0, 1) == 0) {
    const std::int64_t count = between(random, 0, 3);
    Member body = block(random, depth + 1),
           loop{fmt::format("for i{} in 0..{} {{\n{}}}\n", depth, count, body.control), ""};
    for (std::int64_t k = 0; k < count; ++k) loop.straight += body.straight;
    return loop;
  }
  const std::int64_t bound = between(random, 0, 5);
  const Member yes = block(random, depth + 1), no = block(random, depth + 1);
  return {fmt::format("if n > {} {{\n{}}} else {{\n{}}}\n", bound, yes.control, no.control),
          3 > bound ? yes.straight : no.straight};
}

Member block(std::mt19937_64& random, int depth) {
  Member all;
  for (std::int64_t k = between(random, 1, 4); k > 0; --k) {
    const Member one = statement(random, depth);
    all.control += one.control;
    all.straight += one.straight;
  }
  return all;
}

std::string member_program(const std::string& body) {
  return "task bump(inout t: i64[1], in x: i64[1]) { t = (t * 5 + x) % 1009 }\n"
         "fn helped(inout t: i64[1], x: i64[1]) -> i64[1] { bump(t, x); return t + 1 }\n"
         "agent Inner {\n  state s: i64[1] = zero()\n"
         "  task step(in x: i64[1]) -> (y: i64[1]) { s = (s * 7 + x) % 1009; y = s }\n"
         "  task peek(in x: i64[1]) -> (y: i64[1]) { y = (s + x * 3) % 1009 }\n"
         "  fn next(x: i64[1]) -> i64[1] { return step(x).y + 1 }\n}\n"
         "let other = Inner()\nlet l = [other, Inner()]\n"
         "agent Own {\n  layer held = Inner()\n  state s: i64[1] = zero()\n  layer row = [Inner(), Inner()]\n"
         "  state t: i64[1] = zero()\n"
         "  task step(in x: i64[1]) -> (y: i64[1]) { s = (s * 3 + x) % 1009; y = s }\n"
         "  task peek(in x: i64[1]) -> (y: i64[1]) { y = (s + x * 2 + t) % 1009 }\n"
         "  fn next(x: i64[1]) -> i64[1] { return step(x).y + 1 }\n"
         "  graph go(x: i64[1]) -> (y: i64[1]) { bump(t, x); y = step(peek(x).y).y }\n"
         "  graph made(x: i64[1], n: int) -> (y: i64[1]) {\n"
         "let f = next\nlet h: fn(i64[1]) -> i64[1] = v => step(v).y + v\nlet d = held.next\ny = x\n" +
         body +
         "}\n"
         "  graph sums(x: i64[1]) -> (y: i64[1]) { y = held.peek(x).y + row[0].peek(x).y * 7 + row[1].peek(x).y * 11 "
         "}\n"
         "}\nlet a = Own()\nlet one = [5] as i64[1]\n"
         "print(a.made(one, 3).y.array, a.made(one, 3).y.array, a.peek(one).y.array, other.step(one).y.array)\n"
         "print(check(a.made).acyclic, a.peek(one).y.array, a.sums(one).y.array)\n";
}

RunSettings settings_of(std::uint64_t seed) {
  RunSettings settings;
  settings.threads = static_cast<int>(seed % 4);
  settings.schedule = seed % 3 == 0 ? Schedule::eager : seed % 3 == 1 ? Schedule::push : Schedule::pull;
  return settings;
}

}  // namespace

TEST_CASE("random control flow over agents with slots: graphs leave what the host program leaves [I6]") {
  int nodes = 0;
  for (std::uint64_t seed : random_seeds(150, 4'000)) {
    CAPTURE(seed);
    Statements statements(seed);
    statements.write();
    const std::string graph =
        program("graph made(x: i64[1]) -> (y: i64[1]) {\n" + std::string(begin) + "y = x\n" + statements.graph + "}\n",
                "made(one).y");
    const std::string fn = program(
        "fn made(x: i64[1]) -> i64[1] {\n" + std::string(begin) + "var y = x\n" + statements.fn + "return y\n}\n",
        "made(one)");
    INFO(graph);
    const Ran wanted = run_text(fn);
    REQUIRE(wanted.code == 0);
    const Ran ran = run_text(graph, settings_of(seed));
    CHECK(ran.errors == "");
    CHECK(ran.output == wanted.output);
    CHECK(run_text_directly(graph).output == wanted.output);
    nodes += statements.graph.find('{') != std::string::npos;
  }
  CHECK(nodes > 50);
}

TEST_CASE("random control flow inside a member graph leaves what the same code without control flow leaves [I6]") {
  for (std::uint64_t seed : random_seeds(150, 4'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Member member = block(random, 0);
    const std::string control = member_program(member.control);
    INFO(control);
    const Ran wanted = run_text(member_program(member.straight));
    CHECK(wanted.errors == "");
    const Ran ran = run_text(control, settings_of(seed));
    CHECK(ran.errors == "");
    CHECK(ran.output == wanted.output);
    CHECK(run_text_directly(control).output == wanted.output);
  }
}

}  // namespace taskspec::slots_prop_test
