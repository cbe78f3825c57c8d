// The HTML report: what it holds, and that nothing in it gets out of its place. tests/browser clicks through one.
#include "interp/report/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "frontend/check.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/pipeline.hpp"
#include "interp/report/viewer.hpp"
#include "interp/session/profile_text.hpp"
#include "ir/files/files.hpp"
#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/json_programs.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::report_test {

namespace {

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  from += begin.size();
  return text.substr(from, text.find(end, from) - from);
}

std::string data_of(const std::string& html) {
  return between(html, "<script type=\"application/json\" id=\"data\">", "</script>");
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string html_of(const std::string& path, const std::string& text, const std::string& name) {
  Sources sources;
  SourceId main = sources.add(path, text);
  Result<Program> program =
      check(sources, main, {.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  REQUIRE(program);
  Report report{.title = path, .sources = &program->sources};
  FunctionId id = find_graph(*program, name);
  with_graph(*program, id, standard_toolbox().ops, [&](const GraphView& view) {
    report.graphs.push_back(report_graph(*program, id, view.graph, aggregate(view.graph)));
  });
  return report_html(report);
}

}  // namespace

TEST_CASE("a report is one page without addresses") {
  std::string html = html_of("x.task", json_programs::pipeline, "pipeline");
  CHECK(html.starts_with("<!doctype html>"));
  CHECK(html.find('@') == html.find("@media"));  // every mark is filled in
  for (const char* outside :
       {"http://", "https://", "src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML", "eval("}) {
    std::string page = html;
    for (std::size_t at; (at = page.find("http://www.w3.org/2000/svg")) != std::string::npos;) page.erase(at, 26);
    CHECK_MESSAGE(page.find(outside) == std::string::npos, outside);
  }
  CHECK(html.find("default-src 'none'") != std::string::npos);
  CHECK(html_of("x.task", json_programs::pipeline, "pipeline") == html);  // equal graphs, equal bytes
}

TEST_CASE("a report holds source, graph, chains and the sentences about them") {
  std::string data = data_of(html_of("x.task", json_programs::pipeline, "pipeline"));
  CHECK(data.find("\"path\":\"x.task\"") != std::string::npos);
  CHECK(data.find("task energy(in dev: f32[N]") != std::string::npos);
  CHECK(data.find("\"name\":\"Moments.apply#0\"") != std::string::npos);
  CHECK(data.find("ends with energy#0, because it is the result e (result)") != std::string::npos);
  CHECK(data.find("\"layout\"") != std::string::npos);
  CHECK(data.find("\"body\"") == std::string::npos);  // it is to be looked at, not to be run
}

TEST_CASE("hostile names and texts stay data in a report") {
  std::string evil = "// </script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> @style@\n";
  std::string html = html_of("\"><img src=x onerror=alert(2)>.task", evil + json_programs::pipeline, "pipeline");
  CHECK(count(html, "</script>") == 2);
  CHECK(count(html, "<script") == 2);
  CHECK(html.find("<img") == std::string::npos);
  CHECK(html.find("<!--") == std::string::npos);
  CHECK(data_of(html).find('<') == std::string::npos);
  CHECK(data_of(html).find("\\u003c/script\\u003e") != std::string::npos);
  CHECK(between(html, "<title>", "</title>").find('<') == std::string::npos);
  CHECK(data_of(html).find("@style@") != std::string::npos);
}

TEST_CASE("hostile names stay data in the tab of the slices, too") {
  TemporaryFolder folder;
  folder.put("evil.task",
             "fn f(s: string, x: f32[2]) -> f32[2] {\n  print(s)\n  return x\n}\n"
             "print(f(\"</script><img src=x>\", [1.0, 2.0] as f32[2]).array)\n");
  const std::string html = in_shell("taskspec slices evil.task --format html", folder).out;
  CHECK(count(html, "</script>") == 2);
  CHECK(html.find("<img") == std::string::npos);
  CHECK(data_of(html).find("\"graphs\":[]") != std::string::npos);
  CHECK(data_of(html).find("print(s)") != std::string::npos);
}

TEST_CASE("the script of the viewer cannot end early, and each of its files is in it") {
  std::string script(viewer().script);
  CHECK(script.find("</script") == std::string::npos);
  for (const std::string& file : files_below("interp/report/viewer", {".js"}))
    CHECK_MESSAGE(script.find(read_file(file)) != std::string::npos, file);
  CHECK(std::string(viewer().style).find(":root") != std::string::npos);
}

TEST_CASE("graph --format html and run --report out.html write reports") {
  TemporaryFolder folder;
  folder.put("p.task", json_programs::diamond + "let y = diamond(4).y\nprint(y.array)\n");
  ToolOutcome page = in_shell("taskspec graph p.task --format html", folder);
  CHECK(page.code == 0);
  CHECK(data_of(page.out).find("\"title\":\"p.task\"") != std::string::npos);
  ToolOutcome run = in_shell("taskspec run p.task --report out.html && cat out.html", folder);
  CHECK(run.code == 0);
  std::string data = data_of(run.out);
  CHECK(data.find("\"format\":\"taskspec-slices\"") != std::string::npos);
  CHECK(data.find("\"why\":\"'y.array' at") != std::string::npos);
  CHECK(data.find("plan 1: 6 tasks, ran once") != std::string::npos);
  CHECK(data.find("\"timeline\":[[0,0,") != std::string::npos);
  CHECK(data.find("\"control\":[[") != std::string::npos);
  CHECK(data.find("\"name\":\"diamond#0\"") != std::string::npos);  // the scope of the call
  ToolOutcome other = in_shell("taskspec run p.task --report out.txt", folder);
  CHECK(other.code == 2);
  CHECK(other.err.find("ends in .json, .html or .csv") != std::string::npos);
}

TEST_CASE("the report of a run that failed says what ended it, and what had run") {
  TemporaryFolder folder;
  folder.put("f.task",
             "task count(in n: int) -> (y: i64[4]) { y = iota(4) + n }\n"
             "let a = count(1).y\nprint(a.sum().scalar)\nprint((a / (a - a)).array)\n"
             "graph g(n: int) -> (y: i64[4]) { y = iota(4) / (count(0).y - n) }\n");
  ToolOutcome page = in_shell("taskspec run f.task --report out.html; echo $?; cat out.html", folder);
  CHECK(page.out.starts_with("10\n3\n"));
  std::string data = data_of(page.out);
  CHECK(data.find("\"failures\":{\"diagnostics\":[{\"code\":\"E5002\"") != std::string::npos);
  CHECK(data.find("[\"tasks\",\"0\"]") == std::string::npos);
  ToolOutcome text = in_shell("taskspec run f.task --report", folder);
  CHECK_MESSAGE(text.out.find("\nfailed      E5002: ") != std::string::npos, text.out);
  CHECK_MESSAGE(text.out.find(" at f.task:4:") != std::string::npos, text.out);
  ToolOutcome json = in_shell("taskspec run f.task --report out.json; cat out.json", folder);
  CHECK(json.out.find("\"failures\":{\"diagnostics\":[{\"code\":\"E5002\"") != std::string::npos);
  ToolOutcome graph = in_shell("taskspec run f.task --name g -D n=2 --report", folder);
  CHECK(graph.code == 3);
  CHECK_MESSAGE(graph.out.find("failed      E5002: ") != std::string::npos, graph.out);
  ToolOutcome fine = in_shell("taskspec run f.task --name g -D n=9 --report out.html && cat out.html", folder);
  CHECK(data_of(fine.out).find("\"failures\":{\"diagnostics\":[]}") != std::string::npos);
}

TEST_CASE("a profile tells the making of plans and kernels from running them") {
  TemporaryFolder folder;
  folder.put("p.task",
             "task product(in a: f32[N, N]) -> (y: f32[N, N]) { y = a @ a }\n"
             "let a = product(uniform(f32[64, 64], seed: 1)).y\n"
             "for i in 0..3 { print(product(a).y.max().scalar > 0.0) }\n");
  ToolOutcome run = in_shell("taskspec run p.task --profile --report out.json; cat out.json", folder);
  REQUIRE(run.code == 0);
  double made = -1;
  std::size_t plans = run.out.find("\nplans: ");
  REQUIRE_MESSAGE(plans != std::string::npos, run.out);
  CHECK(std::sscanf(run.out.c_str() + plans, " plans: %*d made in %lf ms; arena", &made) == 1);
  CHECK_MESSAGE(made > 0, run.out);
  CHECK(run.out.find(" alive at once ", plans) != std::string::npos);
  CHECK(run.out.find("\"making\":0.") != std::string::npos);
}

TEST_CASE("a profile adds up what chains took; only a timeline keeps each dispatch") {
  const std::string text = "var x = fill(f32[4], 1.0)\nfor i in 0..50 { x = x * 0.5; print(x.sum(0).scalar) }\n";
  RunSettings settings;
  settings.record = true;
  const Ran profiled = run_text(text, settings);
  REQUIRE(!profiled.report.profile.empty());
  CHECK(profiled.report.profile[0].calls > 40);
  CHECK(profiled.report.timeline.empty());
  CHECK(profiled.report.plans_run.empty());
  settings.record = false;
  settings.timeline = true;
  const Ran kept = run_text(text, settings);
  CHECK(!kept.report.profile.empty());
  CHECK(kept.report.timeline.size() >= 50);
  CHECK(!kept.report.plans_run.empty());
  CHECK(run_text(text).report.profile.empty());
}

TEST_CASE("a profile tells the first dispatch of a chain from the later ones") {
  RunSettings settings;
  settings.timeline = true;
  const Ran ran = run_text(
      "task half(in x: f32[N]) -> (y: f32[N]) { y = x * 0.5 }\nvar x = fill(f32[1000], 1.0)\n"
      "for i in 0..2500 { x = half(x).y; print(x.sum(0).scalar >= 0.0) }\nprint(half(x).y.shape)\n",
      settings);
  std::size_t many = 0;
  for (const ProfileRow& row : ran.report.profile) {
    CHECK(row.least_ns <= row.median_ns);
    CHECK(row.first_ns <= row.ns);
    CHECK(row.least_ns * static_cast<std::int64_t>(row.calls - 1) + row.first_ns <= row.ns);
    if (row.calls == 1) CHECK((row.first_ns == row.ns && row.least_ns == row.ns && row.median_ns == row.ns));
    many += row.calls > 2000;
    const auto first = std::ranges::find_if(ran.report.timeline, [&](const TimelineEntry& entry) {
      return ran.report.plans_run[entry.plan].chains[entry.chain.index()] == row.chain;
    });
    REQUIRE(first != ran.report.timeline.end());
    CHECK(first->end_ns - first->begin_ns == row.first_ns);
  }
  CHECK(many > 0);
}

TEST_CASE("a loop in a graph has rows of its own in a profile: turns, tasks, ops, and their work") {
  TemporaryFolder folder;
  folder.put("p.task",
             "task step(in a: f32[8, 8]) -> (y: f32[8, 8]) { y = a * 0.5 + 1.0 }\n"
             "graph g(x: f32[8, 8], n: int) -> (y: f32[8, 8]) {\n  var a = x\n"
             "  for i in 0..n { let s = step(a).y\n    a = s @ s }\n  y = a\n}\n"
             "print(g(fill(f32[8, 8], 0.1), 5).y.shape, g(fill(f32[8, 8], 0.2), 2).y.shape)\n");
  const ToolOutcome run = in_shell("taskspec run p.task --profile", folder);
  REQUIRE(run.code == 0);
  const auto has = [&](const std::string& calls, const std::string& op, const std::string& task) {
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string first;
      words >> first;
      if (first == calls && line.find(" " + op + " ") != std::string::npos &&
          line.find(" " + task + " ") != std::string::npos)
        return true;
    }
    return false;
  };
  CHECK_MESSAGE(has("7", "turn", "for"), run.out);
  CHECK_MESSAGE(run.out.find("turn    768 B at once") != std::string::npos, run.out);  // a, step(a) and what it makes
  CHECK_MESSAGE(has("7", "task", "for > step"), run.out);
  CHECK_MESSAGE(has("7", "mul", "for > step"), run.out);
  CHECK_MESSAGE(has("7", "matmul", "for"), run.out);
}

TEST_CASE("the report of a run knows what failed, what ran inside of loops, and both programs' time") {
  TemporaryFolder folder;
  folder.put("f.task",
             "task div(in a: i64[4], in b: i64[4]) -> (y: i64[4]) { y = a / b }\n"
             "graph g(x: i64[4]) -> (y: i64[4], z: i64[4]) {\n  let bad = div(x, x - x).y\n  y = bad + x\n"
             "  var s = x\n  for i in 0..3 { s = s + x }\n  z = s\n}\n"
             "let r = g(iota(4))\nprint(r.z.array)\nprint(r.y.array)\n");
  const ToolOutcome run = in_shell("taskspec run f.task --report out.html; cat out.html", folder);
  const std::string data = data_of(run.out);
  CHECK(count(data, "\"failed\":[]") + 1 == count(data, "\"failed\":["));
  CHECK(data.find("\"op\":\"turn\"") != std::string::npos);
  CHECK(data.find("\"insides\":[\n{\"bodies\":[{\"name\":\"body\"") != std::string::npos);
  CHECK(data.find("\"control\":[[\"") != std::string::npos);
  CHECK(data.find("[\"run\",0,") != std::string::npos);
  CHECK(data.find("[\"receive\",1,") != std::string::npos);
}

TEST_CASE("a profile knows the work of its chains by the records of ops, and says where nobody does") {
  RunSettings settings;
  settings.record = true;
  const Ran ran = run_text(
      "task product(in a: f32[N, N]) -> (y: f32[N, N]) { y = a @ a }\n"
      "task clipped(in x: f32[4]) -> (y: f32[4]) { y = x\n if x.max(0) > 0.5 { y = x * 0.5 } }\n"
      "let a = uniform(f32[64, 64], seed: 1)\n"
      "for i in 0..3 { print(product(a).y.max().scalar > 0.0) }\n"
      "print(clipped(uniform(f32[4], seed: 2)).y.array)\n",
      settings);
  std::size_t found = 0;
  for (const ProfileRow& row : ran.report.profile) {
    if (row.chain.starts_with("[product")) {
      ++found;
      CHECK(row.work.operations >= 2.0 * 64 * 64 * 64 * static_cast<double>(row.calls));
      CHECK(row.work.operations < 2.1 * 64 * 64 * 64 * static_cast<double>(row.calls));
      CHECK(row.work.bytes >= 64 * 64 * 4);
    }
    if (row.chain.find("clipped") != std::string::npos) {
      ++found;
      CHECK(row.work.bytes == 0);
    }
  }
  CHECK_MESSAGE(found == 2, profile_text(ran.report, {}));
}

TEST_CASE("every example and language test gives a report of its run") {
  TemporaryFolder folder;
  for (const char* name : {"examples/02_composition.task", "examples/06_control.task", "examples/07_state.task",
                           "tests/lang/agents.task", "tests/lang/graph_control.task", "tests/lang/globals.task",
                           "tests/lang/slots.task", "tests/lang/nested_sessions.task", "tests/lang/poison.task"}) {
    CAPTURE(name);
    std::string path = (source_root() / name).string();
    ToolOutcome run =
        in_shell("taskspec run '" + path + "' --report out.html --trace out.json; test -s out.html", folder);
    CHECK(run.code == 0);
    CHECK(run.err.find("bug") == std::string::npos);
  }
}

// Exit code 77: no Chromium here.
TEST_CASE(
    "a browser clicks through reports: tabs, selection, search, collapse, 10,000 tasks, training, no network [S11] "
    "[L15]") {
  TemporaryFolder folder;
  std::string tests = (source_root() / "tests/browser").string();
  ToolOutcome made =
      in_shell("set -e\ntaskspec run '" + tests + "/walk.task' --report small.html\n" +
                   "echo 'print(1)' >empty.task; taskspec run empty.task --report empty.html\n" + "taskspec run '" +
                   tests + "/fails.task' --report failed.html || true\n" + "taskspec run '" + tests +
                   "/trains.task' --report trained.html\ntaskspec run '" + tests + "/chip.task' --report chip.html\n" +
                   "python3 '" + tests + "/large_graph.py' >large.task\n" +
                   "taskspec graph large.task --name large --format html >large.html",
               folder, 120);
  REQUIRE_MESSAGE(made.code == 0, made.err);
  ToolOutcome walk = in_shell("PYTHONDONTWRITEBYTECODE=1 python3 '" + tests +
                                  "/click_through.py' small.html large.html empty.html "
                                  "failed.html trained.html chip.html",
                              folder, 300);
  if (walk.code == 77) {
    MESSAGE("skipped: there is no chromium");
    return;
  }
  CHECK_MESSAGE(walk.code == 0, walk.out << walk.err);
  CHECK(walk.out.ends_with("all well\n"));
}

TEST_CASE("a plan of launches is drawn by launches: some points of each, turns that do the same as one [regions]") {
  TemporaryFolder folder;
  const std::string text = (source_root() / "tests/browser/launches.task").string();
  ToolOutcome run = in_shell("taskspec run '" + text + "' --report out.html >/dev/null && cat out.html", folder, 120);
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const std::string data = data_of(run.out);
  for (const char* name :
       {R"("title":"plan 1: 2402 tasks in )", R"("name":"spread#0[6]")", R"("name":"spread#0[7..12]")",
        R"("name":"keep#1[7..12]")", R"("name":"spread#2..99[0..12]")", R"("name":"keep#2..99[0..12]")",
        R"("name":"spread#1","def":null)", R"(stands for 1176 tasks, which are not drawn one by one)"})
    CHECK_MESSAGE(data.find(name) != std::string::npos, name);
  CHECK(data.find(R"("name":"spread#0[7]")") == std::string::npos);
  CHECK(data.find(R"("name":"spread#2[0]")") == std::string::npos);
  // 60,000 points: the page is small, as it is not by them.
  ToolOutcome many =
      in_shell("sed 's/tiles = 12/tiles = 600/;s/steps = 100/steps = 50/' '" + text +
                   "' >many.task && taskspec run many.task --report many.html >/dev/null && stat -c %s many.html",
               folder, 120);
  REQUIRE_MESSAGE(many.code == 0, many.err);
  CHECK_MESSAGE(std::stoll(many.out) < 5'000'000, many.out);
}

TEST_CASE("a browser opens launches to their points [regions]") {
  TemporaryFolder folder;
  const std::string tests = (source_root() / "tests/browser").string();
  ToolOutcome walk = in_shell("taskspec run '" + tests + "/launches.task' --report out.html >/dev/null\n" +
                                  "PYTHONDONTWRITEBYTECODE=1 python3 '" + tests + "/launches.py' out.html",
                              folder, 120);
  if (walk.code == 77) {
    MESSAGE("skipped: there is no chromium");
    return;
  }
  CHECK_MESSAGE(walk.code == 0, walk.out << walk.err);
  CHECK(walk.out.ends_with("all well\n"));
}

TEST_CASE("the report of a run on shards that failed goes as far as each of them came [shards]") {
  TemporaryFolder folder;
  const std::string work =
      "fields Cell { x: f64 }\n"
      "task bump(inout c: Cell[_].{x}, in k: int) {\n"
      "  for i in c { if k > 3 { c[i].x += c[i + 100].x } else { c[i].x += 1.0 } }\n"
      "}\n"
      "fn work() {\n"
      "  let cells = region Cell[8]\n"
      "  let p = blocks(cells, 4)\n"
      "  for t in 0..6 { launch bump(p[i], t) for i in 0..4 }\n"
      "  print(cells.x.sum(0).scalar)\n"
      "}\n";
  write_text(folder / "inner.task", work + "run work() on mpi(shards: 2)\n");
  write_text(folder / "whole.task", work + "work()\n");
  for (const char* words : {"inner.task", "whole.task --on mpi --shards 2", "whole.task --on mpi --shards 1"}) {
    CAPTURE(words);
    const ToolOutcome run =
        in_shell("taskspec run " + std::string(words) + " --report out.html; status=$?; cat out.html; exit $status",
                 folder, 120);
    CHECK(run.code == 3);
    CHECK_MESSAGE(run.err.find("E5003") != std::string::npos, run.err);
    const std::string data = data_of(run.out);
    CHECK(data.find(R"("counts":{},"by_shard":[)") != std::string::npos);
    CHECK(data.find(R"("what":"launch bump")") != std::string::npos);
  }
}

TEST_CASE("the report of a run on shards has what each of them did, and why they waited [shards]") {
  TemporaryFolder folder;
  const std::string tests = (source_root() / "tests/browser").string();
  ToolOutcome run =
      in_shell("taskspec run '" + tests + "/shards.task' --report out.html >/dev/null && cat out.html", folder, 120);
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const std::string data = data_of(run.out);
  for (const char* part : {R"("shards":[{"shards":4,"ranks":1,"counts":{"fences":)", R"("what":"launch stencil")",
                           "flux: points of the launches are on other shards",
                           "flux: each point takes the piece that it took before, on its own shard"})
    CHECK_MESSAGE(data.find(part) != std::string::npos, part);
  ToolOutcome json =
      in_shell("taskspec run '" + tests + "/shards.task' --report out.json >/dev/null && cat out.json", folder, 120);
  CHECK_MESSAGE(json.out.find(R"("by_shard":[)") != std::string::npos, json.out);
  // 200,000 points and 300 calls: no list of points is in it.
  ToolOutcome many = in_shell(
      "sed 's/Cell\\[64\\]/Cell[200000]/;s/, 8)/, 20000)/;s/0\\.\\.8 /0..20000 /;s/0\\.\\.10 /0..3 /' '" + tests +
          "/shards.task' >many.task && taskspec run many.task --report many.html >/dev/null && "
          "stat -c %s many.html",
      folder, 300);
  REQUIRE_MESSAGE(many.code == 0, many.err);
  CHECK_MESSAGE(std::stoll(many.out) < 5'000'000, many.out);
}

TEST_CASE("a browser shows what shards did [shards]") {
  TemporaryFolder folder;
  const std::string tests = (source_root() / "tests/browser").string();
  ToolOutcome walk = in_shell("taskspec run '" + tests + "/shards.task' --report out.html >/dev/null\n" +
                                  "PYTHONDONTWRITEBYTECODE=1 python3 '" + tests + "/shards.py' out.html",
                              folder, 120);
  if (walk.code == 77) {
    MESSAGE("skipped: there is no chromium");
    return;
  }
  CHECK_MESSAGE(walk.code == 0, walk.out << walk.err);
  CHECK(walk.out.ends_with("all well\n"));
}

TEST_CASE("a browser searches the reference: what does not fit is not to be seen") {
  TemporaryFolder folder;
  const std::string tests = (source_root() / "tests/browser").string();
  ToolOutcome walk = in_shell("taskspec doc --format html >manual.html\nPYTHONDONTWRITEBYTECODE=1 python3 '" + tests +
                                  "/reference.py' manual.html",
                              folder, 120);
  if (walk.code == 77) {
    MESSAGE("skipped: there is no chromium");
    return;
  }
  CHECK_MESSAGE(walk.code == 0, walk.out << walk.err);
  CHECK(walk.out.ends_with("all well\n"));
}

}  // namespace taskspec::report_test
