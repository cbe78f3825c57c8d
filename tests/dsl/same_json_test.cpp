// Two doors, one product: graphs written in C++ export the same bytes as graphs written as text, but for the places
// in the sources and the layout, which are of the C++ files there.
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include "interp/control/export_graph.hpp"
#include "interp/live_program.hpp"
#include "ir/base/text.hpp"
#include "ir/cut_report/report.hpp"
#include "ir/json/cut_program.hpp"
#include "ir/json/json.hpp"
#include "tests/dsl/twins.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::same_json_test {

namespace {

std::string json_of_text(const std::string& path, const std::string& graph) {
  Sources sources;
  Result<Program> program = load_program((source_root() / path).string(), {}, standard_toolbox(), sources);
  REQUIRE_MESSAGE(program, render(sources, program.diags()));
  std::string text;
  FunctionId id = find_graph(*program, graph);
  REQUIRE(id.valid());
  with_graph(*program, id, standard_toolbox().ops, [&](const GraphView& view) {
    text = graph_json(*program, view.function, view.graph, aggregate(view.graph));
  });
  return text;
}

// Up to the last two parts, which stand at the end.
std::string without_places(const std::string& json) {
  std::size_t end = json.find("\n\"spans\":");
  REQUIRE(end != std::string::npos);
  REQUIRE(json.find("\n\"layout\":", end) != std::string::npos);
  return json.substr(0, end);
}

void check_same(const std::string& from_text, const std::string& from_cpp) {
  CHECK(validate_graph_json(from_cpp).empty());
  std::string a = without_places(from_text), b = without_places(from_cpp);
  if (a == b) return;
  std::size_t line = 1, at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) line += a[at++] == '\n';
  std::size_t from = at < 60 ? 0 : at - 60;
  FAIL_CHECK("line " << line << " differs\n text: " << a.substr(from, 200) << "\n c++:  " << b.substr(from, 200));
}

struct Twin {
  const char* path;
  const char* graph;
  std::function<std::string()> json;
};

}  // namespace

TEST_CASE("graphs written in C++ export the bytes of the lessons [same-json]") {
  const Twin twins[] = {
      {"examples/02_composition.task", "pipeline", composition_json},
      {"examples/03_branches.task", "diamond", diamond_json},
      {"examples/03_branches.task", "hazard", hazard_json},
      {"examples/04_photo.task", "find_edges", find_edges_json},
      {"examples/08_schedules.task", "ladder", ladder_json},
      {"tests/golden/control.task", "walk", walk_json},
      {"tests/dsl/samples.task", "act", act_json},
      {"tests/dsl/samples.task", "many_ops", many_ops_json},
      {"tests/dsl/layers.task", "Net.forward", net_forward_json},
      {"tests/dsl/layers.task", "held", held_json},
  };
  for (const Twin& twin : twins) {
    CAPTURE(twin.path);
    CAPTURE(twin.graph);
    check_same(json_of_text(twin.path, twin.graph), twin.json());
  }
}

namespace {

// What does not depend on where things stand in a file, and how many functions stand before them.
std::string function_and_channels(const std::string& json, const std::string& name) {
  std::string text;
  std::istringstream lines(json);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("{\"id\":"))
      inside = line.find("\"name\":\"" + name) != std::string::npos && line.find("\"module\"") == std::string::npos;
    if (line.starts_with("\"sink\"")) break;
    if (inside) text += line + "\n";
  }
  for (const char* place : {R"re("at":\[[^\]]*\])re", R"re("(id|function)":[0-9]+)re",
                            R"re(closure at [0-9]+:[0-9]+)re", R"re("(value|why)":"([^"\\]|\\.)*")re"})
    text = std::regex_replace(text, std::regex(place), "");
  return text;
}

}  // namespace

TEST_CASE("a fn written in C++ is cut into the same two programs as its text, and gives the same [same-json]") {
  Sources sources;
  const std::string path = (source_root() / "tests/dsl/episode.task").string();
  Result<Program> program = load_program(path, {}, standard_toolbox(), sources);
  REQUIRE_MESSAGE(program, render(sources, program.diags()));
  const CutProgram cut = cut_program(*program);
  const std::string text = function_and_channels(cut_json(cut.program, report_cut(cut)), "episode");
  const std::string cpp = episode_json();
  CHECK(validate_cut_json(cpp).empty());
  for (const std::string name : {"reset", "over", "step"})  // there they are C++
    CHECK_MESSAGE(
        cpp.find("\"name\":\"" + name + "\",\"kind\":\"fn\",\"extern\":\"" + name + "\"") != std::string::npos, name);
  CHECK(text.find("enqueue") != std::string::npos);
  CHECK(text.find("episode:2") != std::string::npos);
  CHECK(text == function_and_channels(cpp, "episode"));

  std::string printed;
  RunSettings settings;
  settings.output = [&](std::string_view line) { printed += line; };
  CHECK(run_program(*program, standard_toolbox(), settings).exit_code == 0);
  const std::string result = print(Value(episode_apart())) + "\n";
  CHECK_MESSAGE(printed.ends_with("\n" + result), printed);
  CHECK(episode_at_once() == episode_apart());
}

namespace {

// Up to the first receive, which C++ makes in an order of its own. Values go by the order in which they are made, as
// what they are called differs.
std::string without_names(std::string text) {
  text = text.substr(0, text.rfind('\n', text.find("dequeue")));
  const std::regex made(R"re("text":"([a-z_0-9]+) = )re");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), made), end; at != end; ++at) names.push_back((*at)[1]);
  for (std::size_t k = 0; k < names.size(); ++k)
    text = std::regex_replace(text, std::regex("\\b" + names[k] + "\\b"), "V" + std::to_string(k));
  return text;
}

}  // namespace

TEST_CASE("programs over regions written in C++ are cut into the same two programs as their texts [same-json]") {
  Sources sources;
  const std::string path = (source_root() / "tests/dsl/regions.task").string();
  Result<Program> program = load_program(path, {}, standard_toolbox(), sources);
  REQUIRE_MESSAGE(program, render(sources, program.diags()));
  const CutProgram cut = cut_program(*program);
  const std::string all = cut_json(cut.program, report_cut(cut));
  const std::pair<const char*, std::string> twins[] = {
      {"heat", heat_json()}, {"plane", plane_json()}, {"circuit", circuit_json()}, {"ring", ring_json()}};
  for (const auto& [name, cpp] : twins) {
    CAPTURE(name);
    CHECK(validate_cut_json(cpp).empty());
    const std::string text = function_and_channels(all, name);
    CHECK(text.find("region()") != std::string::npos);
    CHECK(without_names(text) == without_names(function_and_channels(cpp, name)));
  }
  CHECK(heat_result() == 253148);
  CHECK(plane_result() == std::vector<double>{216, 256});
  CHECK(ring_result() == std::vector<double>{264, 8});
  double charge = 0;
  for (double part : circuit_result()) charge += part;
  CHECK(charge == 0.5 * 29 * 30 / 2);
}

TEST_CASE("a graph tells its regions, and which pieces a launch takes by formula, not point by point [same-json]") {
  LiveProgram live(standard_toolbox(), {}, {});
  auto enter = [&](const char* text) { REQUIRE(live.enter("<1>", text).exit_code == 0); };
  enter("fields Cell { state: f64, n: i32 }");
  enter("task add(inout c: Cell[_].{state}, in d: Cell[_].{n}) { for i in c { c[i].state += 1.0 } }");
  enter("let cells = region Cell[3000000]; let p = blocks(cells, 1000000)");
  enter("launch add(p[2 * i + 1], p[i]) for i in 0..500000");
  const TaskGraph& graph = live.session().graph;
  const std::string json = graph_json(live.program(), FunctionId(), graph, aggregate(graph), nullptr, false);
  CHECK(validate_graph_json(json).empty());
  CHECK(json.size() < 10'000);
  for (const char* part :
       {R"("regions":[)", R"("fields":"Cell","name":"cells","points":{"lo":[0],"hi":[3000000]})",
        R"("colours":{"lo":[0],"hi":[1000000]},"disjoint":true)",
        R"("launch":{"work":"task","domain":{"lo":[0],"hi":[500000]},"uses":[{"name":"cells","region":0,"partition":0)",
        R"("projection":{"kind":"affine","factors":[[2]],"offsets":[1]},"fields":["state"],"priv":"inout"})",
        R"("projection":{"kind":"identity"},"fields":["n"],"priv":"in"})", R"("ref":{"region":0,"view":"n"})"})
    CHECK_MESSAGE(json.find(part) != std::string::npos, part << " in " << json);

  // What leads nowhere is said, not followed.
  auto changed = [&](const std::string& from, const std::string& to) {
    const std::size_t at = json.find(from);
    REQUIRE(at != std::string::npos);
    const std::vector<std::string> wrong = validate_graph_json(std::string(json).replace(at, from.size(), to));
    return wrong.empty() ? std::string() : wrong[0];
  };
  CHECK(changed(R"("view":"n")", R"("view":"m")").find("region 0 has no field 'm'") != std::string::npos);
  CHECK(changed(R"("region":0,"partition":0)", R"("region":0,"partition":7)").find("region 0 has no partition 7") !=
        std::string::npos);
  CHECK(changed(R"("ref":{"region":0)", R"("ref":{"region":1)") != "");
  CHECK(json.find(R"("made":{"op":"blocks","counts":[1000000]})") != std::string::npos);
  CHECK(changed(R"("op":"blocks")", R"("op":"halo","of":[7])").find("there is no partition 7") != std::string::npos);
  CHECK(changed(R"("op":"blocks")", R"("op":"bricks")") != "");
  CHECK(changed(R"("kind":"affine")", R"("kind":"bent")") != "");
  CHECK(changed(R"("version":2)", R"("version":3)") != "");
}

}  // namespace taskspec::same_json_test
