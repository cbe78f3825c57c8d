// The SVG of a graph: what it shows, and that no name gets out of its text.
#include "ir/show/svg.hpp"

#include <doctest/doctest.h>

#include "frontend/check.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/pipeline.hpp"
#include "ir/show/graph_layout.hpp"
#include "tests/unit/json_programs.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::svg_test {

namespace {

std::string svg_of(const std::string& text, const std::string& name) {
  Sources sources;
  SourceId main = sources.add("test.task", text);
  Result<Program> program =
      check(sources, main, {.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  REQUIRE(program);
  std::string svg;
  with_graph(*program, find_graph(*program, name), standard_toolbox().ops,
             [&](const GraphView& view) { svg = to_svg(view.graph, aggregate(view.graph)); });
  return svg;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Every tag is closed: text and attributes hold no stray < or >.
bool well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    std::size_t end = svg.find('>', at);
    std::string tag = svg.substr(at + 1, end - at - 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("an SVG shows tasks, slots, inputs, results, chains and their rules") {
  std::string svg = svg_of(json_programs::diamond, "diamond");
  CHECK(svg.starts_with("<svg xmlns"));
  CHECK(well_formed(svg));
  CHECK(count(svg, "class=\"box") == 6);
  CHECK(count(svg, "class=\"halo\"") == 6);
  CHECK(count(svg, "class=\"band\"") == 2);  // of the chains with more than one task
  CHECK(svg.find(">inc#1<") != std::string::npos);
  CHECK(svg.find(">y: f32[n]<") != std::string::npos);
  CHECK(svg.find(">sink<") != std::string::npos);
  CHECK(svg.find("because it branches to inc&#35;0") == std::string::npos);  // only what must be escaped is
  CHECK(svg.find("because it branches to inc#0 and dbl#0 (sink rule)") != std::string::npos);
  CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
}

TEST_CASE("an SVG draws futures and orders apart") {
  std::string svg = svg_of(json_programs::hazard, "hazard");
  CHECK(well_formed(svg));
  CHECK(count(svg, "class=\"edge order\"") > 0);
  CHECK(svg.find(">RAW<") != std::string::npos);
  CHECK(svg.find(">WAR<") != std::string::npos);
}

TEST_CASE("all sample graphs and an empty one are well-formed SVG") {
  for (const auto& [name, text] : json_programs::all) CHECK_MESSAGE(well_formed(svg_of(text, name)), name);
  std::string empty = to_svg(TaskGraph(), aggregate(TaskGraph()));
  CHECK(well_formed(empty));
  CHECK(empty.find("no tasks") != std::string::npos);
}

TEST_CASE("names that look like markup stay names in an SVG") {
  TaskGraph graph;
  graph.name = "</title><script>alert(1)</script>";
  Definition evil;
  evil.kind = Definition::Kind::native;
  evil.name = "\"/><img src=x onerror=alert(1)>&'\x01\xff";
  evil.inputs = {"]]>"};
  evil.outputs = {"<!--"};
  std::size_t input = graph.add_input({"<x>", Type::tensor(Precision::f32, {Dim(4)})});
  TypeId type = graph.intern(Type::tensor(Precision::f32, {Dim(4)}));
  std::vector<Ref> in{Ref::input(input)};
  std::vector<TypeId> out{type};
  graph.add(graph.define(evil), {.in = in, .out = out});
  std::string svg = to_svg(graph, aggregate(graph));
  CHECK(well_formed(svg));
  for (const char* bad : {"<script", "<img", "<x>", "<!--", "\x01", "\xff"})
    CHECK_MESSAGE(svg.find(bad) == std::string::npos, bad);
}

TEST_CASE("xml_text escapes what XML reads and what it cannot hold") {
  CHECK(xml_text("a<b>&\"c'") == "a&#60;b&#62;&#38;&#34;c&#39;");
  CHECK(xml_text(std::string("\0\x1b x", 4)) == "   x");
  CHECK(xml_text("\xff\xc3") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(xml_text("größe ∑") == "größe ∑");
}

TEST_CASE("names too long for a box are cut by characters") {
  CHECK(shortened("short") == "short");
  CHECK(shortened("ααααα", 4) == "ααα…");
  CHECK(shortened("αααα", 4) == "αααα");
  CHECK(shortened(std::string(500, 'x')).size() == 47 + 3);
}

TEST_CASE("export writes a graph as SVG and as HTML") {
  TemporaryFolder folder;
  std::string svg = folder / "g.svg", html = folder / "g.html";
  Ran ran = run_text(json_programs::pipeline + "export(pipeline, \"" + svg + "\")\nexport(pipeline, \"" + html +
                     "\")\nprint(read(\"" + svg + "\")[0..4], len(read(\"" + html + "\")) > 1000)\n");
  CHECK(ran.errors == "");
  CHECK(ran.output == "<svg true\n");
  Ran bad = run_text(json_programs::pipeline + "export(pipeline, \"g.gif\")\n");
  CHECK(bad.errors.find("end it in .json, .dot, .svg, .html or .nir") != std::string::npos);
}

}  // namespace taskspec::svg_test
