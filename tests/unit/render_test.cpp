// How diagnostics look: the whole text of each, so that a change of the layout shows in review.
#include "ir/base/render.hpp"

#include <doctest/doctest.h>

#include "ir/base/text.hpp"
#include "ir/codes/codes.hpp"

namespace taskspec::render_test {

namespace {

// Sources, and spans found by their text.
struct Scene {
  Sources sources;
  Diags diags;

  SourceId file(std::string path, std::string text) { return sources.add(std::move(path), std::move(text)); }

  // The `nth` place (from 0) of `what`.
  Span find(SourceId id, std::string_view what, int nth = 0) const {
    std::string_view text = sources[id].text();
    std::size_t at = text.find(what);
    for (; nth > 0; --nth) at = text.find(what, at + 1);
    REQUIRE(at != std::string_view::npos);
    return {id, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + what.size())};
  }

  // With a line end before it, so that the expected text can begin on a line of its own.
  std::string text(RenderOptions options = {}) const { return "\n" + render(sources, diags, options); }
};

}  // namespace

TEST_CASE("one place, a label, and help") {
  Scene s;
  SourceId id = s.file("hello.task", "let energy = 45\nprint(enrgy)\n");
  s.diags.error("E1001", s.find(id, "enrgy"), "unknown name 'enrgy'").at("not found").help("did you mean 'energy'?");
  CHECK(s.text() == R"(
error E1001: unknown name 'enrgy'
 --> hello.task:2:7
  |
2 | print(enrgy)
  |       ^^^^^ not found
  = help: did you mean 'energy'?
)");
}

TEST_CASE("two labels on one line hang below each other") {
  Scene s;
  SourceId id = s.file("hello.task", "let c = a + b\n");
  s.diags.error("E2001", s.find(id, "+"), "shapes differ: f32[4] + f32[5]; dimension 0 is 4 against 5")
      .label(s.find(id, "a"), "f32[4]")
      .label(s.find(id, "b"), "f32[5]");
  CHECK(s.text() == R"(
error E2001: shapes differ: f32[4] + f32[5]; dimension 0 is 4 against 5
 --> hello.task:1:11
  |
1 | let c = a + b
  |         - ^ - f32[5]
  |         |
  |         f32[4]
)");
}

TEST_CASE("three labels on one line") {
  Scene s;
  SourceId id = s.file("hello.task", "f(one, two, three)\n");
  s.diags.error("E1003", s.find(id, "three"), "wrong arguments")
      .at("and this")
      .label(s.find(id, "one"), "this")
      .label(s.find(id, "two"), "that");
  CHECK(s.text() == R"(
error E1003: wrong arguments
 --> hello.task:1:13
  |
1 | f(one, two, three)
  |   ---  ---  ^^^^^ and this
  |   |    |
  |   |    that
  |   this
)");
}

TEST_CASE("an outer label around the primary one") {
  Scene s;
  SourceId id = s.file("hello.task", "let x = f(a, b)\n");
  s.diags.error("E1004", s.find(id, "a", 0), "wrong type").at("a string").label(s.find(id, "f(a, b)"), "in this call");
  CHECK(s.text() == R"(
error E1004: wrong type
 --> hello.task:1:11
  |
1 | let x = f(a, b)
  |         --^----
  |         | |
  |         | a string
  |         in this call
)");
}

TEST_CASE("parts stay visible under a primary place that holds them") {
  Scene s;
  SourceId id = s.file("hello.task", "print((l as f32[4]).array)\n");
  s.diags.error("E2001", s.find(id, "(l as f32[4])"), "shapes differ")
      .label(s.find(id, "l"), "3 elements")
      .label(s.find(id, "f32[4]"), "4 wanted");
  CHECK(s.text() == R"(
error E2001: shapes differ
 --> hello.task:1:7
  |
1 | print((l as f32[4]).array)
  |       ^-^^^^------^
  |        |    |
  |        |    4 wanted
  |        3 elements
)");
}

TEST_CASE("labels on other lines: one line between is shown, more are left out") {
  Scene s;
  SourceId id = s.file("a.task", "let x = 1\n// one\nlet y = 2\n// two\n// three\nlet x = 3\n");
  s.diags.error("E1005", s.find(id, "x", 1), "'x' is defined twice")
      .at("again here")
      .label(s.find(id, "x"), "first here")
      .label(s.find(id, "y"), "between");
  CHECK(s.text() == R"(
error E1005: 'x' is defined twice
 --> a.task:6:5
  |
1 | let x = 1
  |     - first here
2 | // one
3 | let y = 2
  |     - between
...
6 | let x = 3
  |     ^ again here
)");
}

TEST_CASE("a label in another file") {
  Scene s;
  SourceId main = s.file("main.task", "import lib\nlib.f(1)\n");
  std::string above(11, '\n');
  SourceId lib = s.file("lib.task", above + "fn f() { }\n");
  s.diags.error("E1003", s.find(main, "1"), "'f' takes no arguments, 1 given")
      .label(s.find(lib, "f()"), "defined here");
  CHECK(s.text() == R"(
error E1003: 'f' takes no arguments, 1 given
  --> main.task:2:7
   |
 2 | lib.f(1)
   |       ^
  ::: lib.task:12:4
   |
12 | fn f() { }
   |    --- defined here
)");
}

TEST_CASE("a span of several lines is marked at both ends") {
  Scene s;
  SourceId id = s.file("g.task", "graph g() -> (y: f32) {\n  let a = 1\n  let b = 2\n  y = a\n}\n");
  Span body = join(s.find(id, "{"), s.find(id, "}"));
  s.diags.error("E1302", body, "graph 'g' has host effects").at("in this body");
  CHECK(s.text() == R"(
error E1302: graph 'g' has host effects
 --> g.task:1:23
  |
1 | graph g() -> (y: f32) {
  |                       ^
...
5 | }
  | ^ in this body
)");
}

TEST_CASE("tabs and wide characters keep the carets under their text") {
  Scene s;
  SourceId id = s.file("t.task", "\tlet gr\u00f6\u00dfe = \"\u65e5\u672c\" + vile\n");
  s.diags.error("E1001", s.find(id, "vile"), "unknown name 'vile'")
      .at("here")
      .label(s.find(id, "\u65e5\u672c"), "text");
  CHECK(s.text() ==
        "\n"
        "error E1001: unknown name 'vile'\n"
        " --> t.task:1:27\n"
        "  |\n"
        "1 |     let gr\u00f6\u00dfe = \"\u65e5\u672c\" + vile\n"
        "  |                  ----    ^^^^ here\n"
        "  |                  |\n"
        "  |                  text\n");
}

TEST_CASE("broken bytes and control characters do not reach the terminal") {
  Scene s;
  SourceId id = s.file("b.task", "print(\"\xFF\x1b[31m\u202e\")\n");
  s.diags.error("E0006", {id, 7, 8}, "the source is not UTF-8").at("byte FF belongs to no character");
  CHECK(s.text() ==
        "\n"
        "error E0006: the source is not UTF-8\n"
        " --> b.task:1:8\n"
        "  |\n"
        "1 | print(\"\uFFFD\uFFFD[31m\uFFFD\")\n"
        "  |        ^ byte FF belongs to no character\n");
}

TEST_CASE("places at a line end and at the end of the file") {
  Scene s;
  SourceId id = s.file("e.task", "let x =\nf(");
  s.diags.error("E0001", {id, 7, 8}, "an expression is missing");
  s.diags.error("E0002", {id, 10, 10}, "'(' is never closed");
  CHECK(s.text() == R"(
error E0001: an expression is missing
 --> e.task:1:8
  |
1 | let x =
  |        ^

error E0002: '(' is never closed
 --> e.task:2:3
  |
2 | f(
  |   ^
)");
}

TEST_CASE("an empty file and an empty line") {
  Scene s;
  SourceId id = s.file("empty.task", "");
  s.diags.error("E0001", {id, 0, 0}, "nothing here");
  CHECK(s.text() == R"(
error E0001: nothing here
 --> empty.task:1:1
  |
1 |
  | ^
)");
}

TEST_CASE("a span beyond the text is cut, not followed") {
  Scene s;
  SourceId id = s.file("x.task", "abc");
  s.diags.error("E0001", {id, 2, 900}, "too far");
  s.diags.error("E0001", {id, 700, 900}, "much too far");
  CHECK(s.text() == R"(
error E0001: too far
 --> x.task:1:3
  |
1 | abc
  |   ^

error E0001: much too far
 --> x.task:1:4
  |
1 | abc
  |    ^
)");
}

TEST_CASE("without a place there is the message alone; labels without one become notes") {
  Scene s;
  s.diags.error("E7001", {}, "no file 'x.png'").label({}, "asked for by load").note("two\nlines").help("look again");
  CHECK(s.text() == R"(
error E7001: no file 'x.png'
  = note: asked for by load
  = note: two
          lines
  = help: look again
)");
}

TEST_CASE("a very long line is cut around its mark") {
  Scene s;
  std::string left(5000, '1'), right(5000, '2');
  SourceId id = s.file("long.task", "let a = " + left + " + enrgy + " + right + "\n");
  s.diags.error("E1001", s.find(id, "enrgy"), "unknown name 'enrgy'").label(s.find(id, "let"), "far away");
  std::string text = s.text();
  for (std::string_view line : lines_of(text)) CHECK(line.size() < 180);
  CHECK(text.find("...111") != std::string::npos);
  CHECK(text.find("222...") != std::string::npos);
  std::vector<std::string_view> lines = lines_of(text);
  std::size_t name = lines[4].find("enrgy");
  CHECK(lines[5].substr(name, 5) == "^^^^^");
}

TEST_CASE("errors come in source order, warnings among them") {
  Scene s;
  SourceId id = s.file("w.task", "one\ntwo\n");
  s.diags.error("E1001", s.find(id, "two"), "second");
  s.diags.warning("E1008", s.find(id, "one"), "first");
  CHECK(s.text() == R"(
warning E1008: first
 --> w.task:1:1
  |
1 | one
  | ^^^

error E1001: second
 --> w.task:2:1
  |
2 | two
  | ^^^
)");
}

TEST_CASE("at most twenty errors are shown, then a count") {
  Scene s;
  SourceId id = s.file("many.task", std::string(33, 'x'));
  for (std::uint32_t i = 0; i < 33; ++i) s.diags.error("E1001", {id, i, i + 1}, "unknown name 'x'");
  std::string text = s.text();
  std::size_t shown = 0;
  for (std::string_view line : lines_of(text)) shown += line.starts_with("error E1001");
  CHECK(shown == 20);
  CHECK(text.ends_with("\n\n33 errors, 20 shown\n"));
  CHECK(s.text({.at_most = 33}).find("shown") == std::string::npos);
}

TEST_CASE("colour changes nothing but colour") {
  Scene s;
  SourceId id = s.file("hello.task", "let c = a + b\n");
  s.diags.error("E2001", s.find(id, "+"), "shapes differ").label(s.find(id, "a"), "f32[4]").help("reshape");
  std::string coloured = s.text({.colour = true}), bare;
  CHECK(coloured.find("\x1b[1;31merror E2001\x1b[0m") != std::string::npos);
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      bare += coloured[i];
  }
  CHECK(bare == s.text());
}

TEST_CASE("no diagnostics, no text") { CHECK(render({}, Diags()).empty()); }

TEST_CASE("the plain form has the places resolved") {
  Scene s;
  SourceId id = s.file("p.task", "let x = 1\nlet x = 2\n");
  s.diags.error("E1005", s.find(id, "x", 1), "'x' is defined twice")
      .at("again")
      .label(s.find(id, "x"), "first")
      .note("n");
  std::vector<PlainDiag> all = plain(s.sources, s.diags);
  REQUIRE(all.size() == 1);
  CHECK(all[0].code == "E1005");
  CHECK(all[0].severity == "error");
  CHECK(all[0].primary.path == "p.task");
  CHECK(all[0].primary.begin.line == 2);
  CHECK(all[0].primary.begin.column == 5);
  CHECK(all[0].primary.end.column == 6);
  CHECK(all[0].labels.at(0).begin.line == 1);
  CHECK(all[0].labels.at(0).text == "first");
  CHECK(all[0].notes == std::vector<std::string>{"n"});
}

TEST_CASE("an explanation holds program, cause and fix") {
  const CodeInfo* info = find_code("E1008");
  REQUIRE(info);
  CHECK("\n" + explain(*info) == R"(
E1008: statement without effect

    let x = 1
    x + 1

cause:
  Only a call, `launch` or `run` can stand as a statement: the value of anything else would be lost. This
  also happens when a line starts with ( [ or -, which begins a new statement.
fix:
  Name the value with `let`, print it, or remove it. To go on with the line before, end that one with the
  operator.
)");
  CHECK(find_code("E9999") == nullptr);
}

}  // namespace taskspec::render_test
