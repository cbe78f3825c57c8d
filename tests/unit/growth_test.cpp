// Programs that grow: an entry that is wrong leaves nothing behind, and an entry is looked at alone.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <set>

#include "frontend/check.hpp"
#include "frontend/check/undo_map.hpp"
#include "interp/control/facts.hpp"
#include "interp/control/letters.hpp"
#include "ir/show/program_text.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::growth_test {

namespace {

struct Case {
  Checker checker{{.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins}};
  std::size_t entries = 0;

  Result<Checker::Entry> add(const std::string& text) {
    return checker.add(checker.sources().add(fmt::format("<{}>", ++entries), text));
  }
  Result<Type> type_of(const std::string& text) { return checker.type_of(checker.sources().add("<type>", text)); }
  // All that a person can ask for, and the program itself.
  std::string known() const {
    std::string text;
    for (const Checker::Known& name : checker.names())
      text += fmt::format("{} {} {} {}\n", name.what, name.name, name.function.value, name.variable.value);
    return text + program_text(checker.program());
  }
};

// Entries of a person who makes mistakes: names from a small set are defined, used, defined again, and missing.
class Person {
 public:
  explicit Person(std::uint64_t seed) : random_(seed) {}

  std::string entry() {
    switch (pick(0, 15)) {
      case 0:
        return fmt::format("let {} = {}", name("n"), pick(1, 9));
      case 1:
        return fmt::format("let {} = {} + {}", name("n"), name("n"), pick(1, 9));
      case 2:
        return fmt::format("var {} = fill(f32[{}], 1.0)", name("v"), name("n"));
      case 3:
        return fmt::format("{} = {}({}).y", name("v"), name("t"), name("v"));
      case 4:
        return fmt::format("task {}(in x: f32[N]) -> (y: f32[N]) {{ y = x * {}.0 }}", name("t"), pick(1, 9));
      case 5:
        return fmt::format("task {}(in x: f32[N], in z: int) -> (y: f32[N]) {{ y = x * float(z) }}", name("t"));
      case 6:
        return fmt::format("graph {}(x: f32[N]) -> (y: f32[N]) {{ y = {}({}(x).y).y }}", name("g"), name("t"),
                           name("t"));
      case 7:
        return fmt::format("fn {}(i: int) -> int {{ return {}(i) + {} }}", name("f"), name("f"), name("n"));
      case 8:
        return fmt::format("fn {}(i: int) -> int {{ return i + {} }}", name("f"), name("n"));
      case 9:
        return fmt::format("let {} = map([1, 2], i => i + {}({}))", name("l"), name("f"), name("n"));
      case 10:
        return fmt::format("let a{0} = {1}; let b{0} = missing{0}", pick(0, 3), pick(0, 3));
      case 11:
        return fmt::format(
            "agent {}(k: int) {{ state s: f32[2] = fill(f32[2], 0.0); task add() {{ s = s + float(k) }} }}", name("A"));
      case 12:
        return fmt::format("let {} = {}({})", name("o"), name("A"), name("n"));
      case 13:
        return fmt::format("{}.add()", name("o"));
      case 14:
        return fmt::format("for i in 0..{} {{ {} = {}({}).y }}", name("n"), name("v"), name("g"), name("v"));
      default:
        return fmt::format("{} + {}({})", name("n"), name("f"), pick(0, 9));
    }
  }
  std::string name(const char* kind) { return fmt::format("{}{}", kind, pick(0, 3)); }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return between(random_, low, high); }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("[growth] a map that remembers is what it was at each mark") {
  using checking::UndoMap;
  for (std::uint64_t seed : random_seeds(100, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    UndoMap<std::map<int, int>> map;
    map.remember();
    std::vector<std::pair<std::size_t, std::map<int, int>>> marks;
    auto now = [&] { return std::map<int, int>(map.begin(), map.end()); };
    for (int i = 0; i < 200; ++i) {
      const int key = static_cast<int>(between(random, 0, 9));
      switch (between(random, 0, 6)) {
        case 0:
          map.add(key, i);
          break;
        case 1:
          map.put(key, i);
          break;
        case 2:
          map.remove(key);
          break;
        case 3:
          map.remove_from(key);
          break;
        case 4:
          marks.emplace_back(map.mark(), now());
          break;
        default:
          if (marks.empty()) break;
          map.back_to(marks.back().first);
          REQUIRE(now() == marks.back().second);
          if (between(random, 0, 1) == 0) marks.pop_back();
      }
    }
    map.back_to(0);
    CHECK(map.size() == 0);
  }
}

TEST_CASE("[growth] entries that are wrong leave nothing behind: the others make the same program") {
  for (std::uint64_t seed : random_seeds(60, 2'000)) {
    CAPTURE(seed);
    Person person(seed);
    Case grown, fresh;
    std::size_t wrong = 0;
    for (int i = 0; i < 80; ++i) {
      const std::string text = person.entry(), before = grown.known();
      if (person.pick(0, 3) == 0) {
        (void)grown.type_of(person.entry());
        REQUIRE_MESSAGE(grown.known() == before, "its type was asked for");
      }
      const Result<Checker::Entry> entry = grown.add(text);
      REQUIRE(verify(grown.checker.program()).empty());
      if (!entry) {
        ++wrong;
        REQUIRE_MESSAGE(grown.known() == before, text);
        continue;
      }
      const Result<Checker::Entry> again = fresh.add(text);
      REQUIRE_MESSAGE(again, text);
      CHECK(again->again == entry->again);
      REQUIRE(again->broken.size() == entry->broken.size());
      for (std::size_t k = 0; k < entry->broken.size(); ++k) CHECK(again->broken[k].why == entry->broken[k].why);
      REQUIRE_MESSAGE(grown.known() == fresh.known(), text);
      REQUIRE(grown.checker.forgotten() == fresh.checker.forgotten());
    }
    CHECK(wrong > 0);
  }
}

TEST_CASE("[growth] an entry whose run failed takes its names back") {
  for (std::uint64_t seed : random_seeds(30, 1'000)) {
    CAPTURE(seed);
    Person person(seed);
    Case c;
    auto names = [&] {
      std::string text;
      for (const Checker::Known& name : c.checker.names())
        text += fmt::format("{} {} {} {}\n", name.what, name.name, name.function.value, name.variable.value);
      return text;
    };
    for (int i = 0; i < 80; ++i) {
      const std::string before = names();
      if (!c.add(person.entry())) continue;
      if (person.pick(0, 2) > 0) continue;
      c.checker.take_back();
      REQUIRE(names() == before);
    }
  }
}

TEST_CASE("[growth] what is named twice is not forgotten while one of the names means it") {
  Case c;
  REQUIRE(c.add("let a = fill(f32[2], 1.0)"));
  REQUIRE(c.add("let b = a"));
  REQUIRE(c.add("let a = 1"));
  REQUIRE(c.checker.forgotten().size() == 1);
  CHECK(!c.checker.forgotten()[0].second.valid());  // the variable goes, the value stays: it is b's
  REQUIRE(c.add("let b = 2"));
  REQUIRE(c.checker.forgotten().size() == 1);
  CHECK(c.checker.forgotten()[0].second.valid());
}

TEST_CASE("[growth] what a function reads is not forgotten") {
  Case c;
  REQUIRE(c.add("let k = 2"));
  REQUIRE(c.add("fn f() -> int { return k }"));
  REQUIRE(c.add("let g = f"));
  REQUIRE(c.add("let k = 3"));
  CHECK(c.checker.forgotten().empty());
}

TEST_CASE("[growth] the work for an entry does not grow with the program") {
  Case c;
  REQUIRE(c.add("task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }"));
  REQUIRE(c.add("let t0 = fill(f32[4], 1.0)"));
  std::set<std::size_t> functions, changes;
  for (int i = 0; i < 300; ++i) {
    REQUIRE(c.add(fmt::format("let t{} = inc(t{}).y; fn f{}(n: int) -> int {{ return n + {} }}", i + 1, i, i, i)));
    functions.insert(c.checker.work().functions);
    changes.insert(c.checker.work().changes);
  }
  CHECK(functions == std::set<std::size_t>{2});  // the top level and the new one
  CHECK(changes.size() == 1);
  CHECK(*changes.begin() < 20);
  REQUIRE(c.add("task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 2.0 }"));
  CHECK(c.checker.work().functions == 2);
}

TEST_CASE("[growth] facts of a top level that grew are those that are found at once") {
  for (std::uint64_t seed : random_seeds(60, 2'000)) {
    CAPTURE(seed);
    Person person(seed);
    Case c;
    Facts grown(c.checker.program());
    const FunctionId top = c.checker.program().main().top_level;
    for (int i = 0; i < 60; ++i)
      if (c.add(person.entry())) (void)grown.grow(top);
    Facts once(c.checker.program());
    (void)once.grow(top);
    const FunctionFacts &a = grown.function(top), &b = once.function(top);
    CHECK(a.places == b.places);
    CHECK(a.appends == b.appends);
    CHECK(a.last_read_starts == b.last_read_starts);
    CHECK(a.last_reads == b.last_reads);
  }
}

TEST_CASE("[growth] the characters of a text are counted once") {
  Letters letters;
  const Value text(std::string("a\u00f1b")), other(std::string("xy"));
  CHECK(letters.of(text) == std::vector<std::size_t>{0, 1, 3, 4});
  for (int i = 0; i < 100; ++i) {
    CHECK(letters.of(text).size() == 4);
    CHECK(letters.of(other).size() == 3);
  }
  CHECK(letters.counted() == 6);
}

TEST_CASE("growth: a var whose extents may be any has none of an entry that was taken back") {
  Case grown;
  CHECK(grown.add("var v: f32[_] = fill(f32[3], 1.0)"));
  CHECK(grown.add("v = fill(f32[4], 1.0)"));
  CHECK(grown.add("let l = [v, v]"));
  CHECK_FALSE(grown.add("v = fill(f32[5], 1.0)\nvar w: i32[_] = fill(i32[2], 1)\nlet p = [w, w]\nlet q = missing"));
  CHECK(grown.add("var w: f64[_, _] = fill(f64[2, 2], 1.0)"));
  CHECK(grown.type_of("w + w")->text() == "f64[_, _]");
  CHECK_FALSE(grown.add("let m = [v, concat([v, v], 0)]"));
}

}  // namespace taskspec::growth_test
