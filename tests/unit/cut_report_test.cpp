// What is said of a program that was cut in two: its lines, channels, metrics and advice, as text and as JSON.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "ir/base/text.hpp"
#include "ir/cut_report/report.hpp"
#include "ir/json/cut_program.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/cut_reported.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::cut_report_test {
using namespace taskspec::testing;

namespace {

const std::string game = R"(graph act(p: f32[2], s: f32[2]) -> (a: f32[2]) { a = p * s }
fn over(s: [float]) -> bool { return s[0] > 3.0 }
fn step(s: [float], move: int) -> ([float], float) { return ([s[0] + 1.0, s[1] + (move as float)], 0.5) }
fn unused(x: f32[2]) -> f32[2] { return x }
fn episode(p: f32[2]) -> float {
  var s = [0.0, 1.0]
  var total = 0.0
  while !over(s) {
    let a = act(p, tensor(s)).a
    let move = a.argmax(0).scalar
    let (next, reward) = step(s, move)
    total += reward
    s = next
  }
  return total
}
print(episode([1.0, 2.0] as f32[2]))
)";

std::string json_of(const std::string& text) {
  const Reported reported(text);
  return cut_json(reported.cut.program, reported.report);
}

}  // namespace

TEST_CASE("the parts of a function are lines of the language, with names instead of ids [G1]") {
  const Reported reported(game);
  CHECK(reported.host("episode") == R"(s = [0, 1]
total = 0
while enqueue episode:0 (!over(s)) {
  enqueue episode:1 (s)
  (next, reward) = step(s, dequeue episode:2)
  total = total + reward
  s = next
}
return total
)");
  CHECK(reported.graph("episode") == R"(while dequeue episode:0 {
  s = dequeue episode:1
  enqueue episode:2 (argmax(act(p, tensor(s)).a, 0))
}
)");
  const std::vector<std::string> host{"test.task", "over", "step", "episode"}, graph{"test.task", "act", "episode"};
  CHECK(reported.report.host_functions() == host);
  CHECK(reported.report.graph_functions() == graph);
}

TEST_CASE("both ends of a channel stand in one row, and what is left of one call") {
  const Reported reported(game);
  std::size_t joined = 0;
  for (const CutRow& row : reported.function("episode").rows) {
    if (!row.host || !row.graph) continue;
    if (row.host->channels.empty())
      CHECK(row.host->call == row.graph->call);
    else
      joined += row.host->channels == row.graph->channels ? 1 : 0;
  }
  CHECK(joined == 3);
}

TEST_CASE("what changes the order of effects gets a line of its own") {
  const Reported reported(R"(
fn noisy(n: int) -> int {
  print(n)
  return n + 1
}
fn all(n: int, b: bool) -> int {
  let first = noisy(n)
  print("between")
  var v = n * 2
  let old = v
  v = 7
  if b && noisy(3) > 1 {
    v = first
  } else {
    v += first * (old - (n - 1))
  }
  for i in [1, 2] { v += i }
  while v > 100 { v -= 1 }
  return v
}
print(all(2, true))
)");
  CHECK(reported.host("all") == R"(first = noisy(n)
print("between")
v = n * 2
old = v
v = 7
if b && noisy(3) > 1 {
  v = first
} else {
  v = v + first * (old - (n - 1))
}
for i in [1, 2] {
  v = v + i
}
while v > 100 {
  v = v - 1
}
return v
)");
}

TEST_CASE("what is sent or received inside of && is told in order") {
  const std::string text = R"(
fn both(x: f32[N], b: bool) -> bool {
  return b && x.sum(0).scalar > 1.0
}
print(both([1.0, 2.0] as f32[2], true))
)";
  CHECK(Reported(text, CutOptions::none()).host("both") == "return b && enqueue both:1 (dequeue both:0 > 1)\n");
}

TEST_CASE("a loop that takes its elements apart keeps their names") {
  const Reported reported(R"(
var x = [1.0, 2.0] as f32[2]
for (i, n) in enumerate([4, 5]) {
  print(i, x.sum(0).scalar)
  x = x * (n as f32) + (n as f32)
}
for (i, m) in enumerate([4, 5]) { print(i) }
for pair in enumerate([4, 5]) {
  let (k, n) = pair
  print(pair, k + n)
}
for (k, w) in zip(args(), args()) { x = x + parse_float(w) }
)");
  CHECK(reported.host("test.task") == R"(for (i, _) in enumerate([4, 5]) {
  print(i, dequeue test.task:0)
}
for (i, _) in enumerate([4, 5]) {
  print(i)
}
for pair in enumerate([4, 5]) {
  print(pair, pair.0 + pair.1)
}
for (_, w) in enqueue test.task:1 (zip(args(), args())) {
  enqueue test.task:2 (parse_float(w))
}
)");
  CHECK(reported.graph("test.task") == R"(x = [1, 2] as f32[2]
for (_, n) in enumerate([4, 5]) {
  enqueue test.task:0 (sum(x, 0))
  x = x * n as f32 + n as f32
}
for _ in dequeue test.task:1 {
  x = x + dequeue test.task:2
}
)");
}

TEST_CASE("names of arguments appear where defaults are left out") {
  const Reported reported(R"(
let x = normal(f32[2, 2], seed: 3, std: 0.5)
print(x.softmax().array, softmax(x, 0).array)
)");
  const std::string graph = reported.graph("test.task");
  CHECK_MESSAGE(contains(graph, "normal(f32[2, 2], 3, std: 0.5)"), graph);
  CHECK_MESSAGE(contains(graph, "softmax(x), softmax(x, 0)"), graph);
}

TEST_CASE("a channel tells its kind, its direction and why it is needed [G7]") {
  const Reported reported(game);
  REQUIRE(reported.report.channels.size() == 3);
  const ReportedChannel& predicate = reported.report.channels[0];
  CHECK(predicate.name == "episode:0");
  CHECK(!predicate.to_host);
  CHECK(predicate.loops == 1);
  CHECK(predicate.items[0].what == Carries::predicate);
  CHECK(predicate.items[0].type == "bool");
  const ReportedChannel& state = reported.report.channels[1];
  CHECK(state.items[0].value == "s");
  CHECK(state.items[0].why == "'s' is made by the host at 6:7 and needed by the graph at 9:27");
  const ReportedChannel& move = reported.report.channels[2];
  CHECK(move.to_host);
  CHECK(move.waits);
  CHECK(move.round_trip);
  CHECK(move.items[0].why == "'a.argmax(0).scalar' at 10:16 receives it");
  std::size_t booleans = 0;
  for (const ReportedChannel& channel : reported.report.channels)
    for (const ReportedItem& item : channel.items) booleans += item.type == "bool" ? 1 : 0;
  CHECK(booleans == 1);
}

TEST_CASE("a name for what is received and never computed moves no data, and nobody waits") {
  const Reported reported("let x = [1.0, 2.0] as f32[2] + 1.0\nprint(x.handle)\n");
  REQUIRE(reported.report.channels.size() == 1);
  CHECK(reported.report.channels[0].items[0].what == Carries::handle);
  CHECK(!reported.report.channels[0].waits);
  CHECK(contains(reported.report.channels[0].items[0].why, "no data"));
}

TEST_CASE("a wide terminal gets two columns, a narrow one gets the parts one below the other") {
  const Reported reported(game);
  for (const std::size_t columns : {60, 80, 99, 100, 120, 160, 240}) {
    const std::string text = reported.text(columns, true);
    CHECK(contains(text, "host  ") == (columns >= 100));
    CHECK(contains(text, "<-- enqueue") == false);
    for (std::string_view line : lines_of(text))
      CHECK_MESSAGE(static_cast<std::size_t>(display_width(line)) <= columns, columns << ": " << line);
  }
  const std::string wide = reported.text(160);
  CHECK_MESSAGE(contains(wide, "  while enqueue episode:0 (!over(s)) {          --> while dequeue episode:0 {\n"),
                wide);
  CHECK_MESSAGE(contains(wide, "dequeue episode:2) <--   enqueue episode:2 ("), wide);
  CHECK(contains(reported.text(80), "fn over\n  host\n    return s[0] > 3\n  nothing for the graph\n"));
  CHECK(contains(wide, "graph act: as written, nothing for the host\n"));
  CHECK(wide.starts_with("1 session, 1 sink, 5 functions, 3 channels (2 sends, 1 receive)\n"));
}

TEST_CASE("side by side each end of a channel has an arrow, and both directions in one row have one with two points") {
  const Reported reported(R"(
fn twice(x: f32[2], k: float) -> f32[2] {
  print(k)
  return x * k
}
print(twice([1.0, 2.0] as f32[2], parse_float("2")).array)
)");
  const std::string wide = reported.text(140);
  for (std::string_view line : lines_of(wide)) {
    if (line.starts_with("  print(dequeue test.task:1)")) CHECK_MESSAGE(contains(std::string(line), " <"), wide);
    if (contains(std::string(line), "enqueue test.task:1 (twice([1, 2] as f32[2], dequeue test.task:0))"))
      CHECK_MESSAGE(contains(std::string(line), " <-> "), wide);
  }
  CHECK_MESSAGE(contains(wide, "<->"), wide);
}

TEST_CASE("an extent that a type names is bound where it is received") {
  const Reported both("let n = parse_int(\"4\")\nlet x = iota(n) as f32[n]\nprint(x.sum(0).scalar)\n");
  CHECK(both.graph("test.task") == "n = dequeue test.task:0\nenqueue test.task:1 (sum(iota(n) as f32[n], 0))\n");
  const Reported only("let n = parse_int(\"4\")\nlet x = fill(f32[n], 1.0)\nprint(x.sum(0).scalar)\n");
  CHECK(only.graph("test.task") == "n = dequeue test.task:0\nenqueue test.task:1 (sum(fill(f32[n], 1), 0))\n");
}

TEST_CASE("slices as JSON follow their schema, and other texts do not") {
  const Reported reported(game);
  const std::string json = cut_json(reported.cut.program, reported.report);
  CHECK(validate_cut_json(json).empty());
  CHECK(json == json_of(game));
  CHECK(contains(json, "\"name\":\"episode:2\""));
  CHECK(contains(cut_schema(), "taskspec-slices"));
  auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return !validate_cut_json(text).empty();
  };
  CHECK(broken("\"version\":1", "\"version\":2"));
  CHECK(broken("\"kind\":\"predicate\"", "\"kind\":\"wish\""));
  CHECK(broken("\"to\":\"graph\"", "\"to\":\"nowhere\""));
  CHECK(broken("\"sinks\":1,", ""));
  CHECK(broken("\"loops\":1", "\"loops\":-1"));
  CHECK(broken("{", "["));
}

TEST_CASE("modules of one name are told apart by their paths") {
  const std::string module = "fn go(x: f32[1]) -> f32[1] {\n  print(x.sum(0).scalar)\n  return x\n}\n";
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "mods");
  folder.put("step.task", module);
  folder.put("mods/step.task", module);
  folder.put("other.task", module);
  folder.put("main.task",
             "import mods.step as st\nimport step\nimport other\nlet x = [1.0] as f32[1]\n"
             "print(st.go(x).scalar, step.go(x).scalar, other.go(x).scalar)\n");
  Sources sources;
  const Result<Program> program = load_program((folder.path() / "main.task").string(), {}, standard_toolbox(), sources);
  REQUIRE(program);
  const CutReport report = report_cut(cut_program(*program));
  std::vector<std::string> names = report.host_functions(),
                           expected{"main.task", "mods.step.go", "other.go", "step.go"};
  std::erase_if(names, [](const std::string& name) { return name.ends_with("step.task") || name == "other.task"; });
  std::ranges::sort(names);
  CHECK(names == expected);
  CHECK(find_function(report, "mods.step.go") != nullptr);
  CHECK(find_function(report, "st.go") == nullptr);
}

TEST_CASE("implicit sends are diagnostics, one for each value") {
  const Reported reported(game);
  const Diags warnings = implicit_sends(reported.cut, Severity::warning);
  REQUIRE(warnings.size() == 2);
  CHECK(!warnings.has_errors());
  CHECK(warnings.items()[0].code.text() == "E1304");
  CHECK(warnings.items()[0].message ==
        "the host decides '!over(s)', which is sent to the graph in each turn of its loop");
  CHECK(warnings.items()[1].message == "'s' is sent to the graph in each turn of its loop");
  CHECK(!warnings.items()[0].help_text.empty());
  CHECK(implicit_sends(reported.cut, Severity::error).has_errors());
  CHECK(implicit_sends(Reported("print(([1.0] as f32[1] + 1.0).scalar)\n").cut, Severity::error).empty());
}

TEST_CASE("every example and test of the language can be shown cut in two") {
  std::size_t shown = 0;
  for (const char* folder : {"examples", "tests/lang", "tests/golden"})
    for (const std::string& file : files_below(folder, {".task"})) {
      CAPTURE(file);
      Sources sources;
      Result<Program> program = load_program((source_root() / file).string(), {}, standard_toolbox(), sources);
      if (!program) continue;
      for (const CutOptions& options : {CutOptions(), CutOptions::none()}) {
        const CutProgram cut = cut_program(*program, options);
        const CutReport report = report_cut(cut);
        const std::string text = cut_text(cut.program, report, {.columns = 120, .metrics = true, .function = ""});
        CHECK(!contains(text, "?("));
        CHECK(validate_cut_json(cut_json(cut.program, report)).empty());
        std::vector<bool> host(report.channels.size(), false), graph = host;
        for (const ReportedFunction& function : report.functions)
          for (const CutRow& row : function.rows) {
            for (ChannelId id : row.host ? row.host->channels : std::vector<ChannelId>()) host[id.index()] = true;
            for (ChannelId id : row.graph ? row.graph->channels : std::vector<ChannelId>()) graph[id.index()] = true;
          }
        for (std::size_t i = 0; i < host.size(); ++i)
          CHECK_MESSAGE((host[i] && graph[i]), report.channels[i].name << " has no two ends in\n" << text);
        ++shown;
      }
    }
  CHECK(shown > 80);
}

}  // namespace taskspec::cut_report_test
