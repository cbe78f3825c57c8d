// --trace: what Chrome and Perfetto open.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/guard/tool.hpp"
#include "tests/unit/json_programs.hpp"

namespace taskspec::trace_test {

using nlohmann::json;

namespace {

json traced(const std::string& program, const std::string& options) {
  TemporaryFolder folder;
  folder.put("p.task", program);
  ToolOutcome run = in_shell("taskspec run p.task --trace t.json " + options + " >log && cat t.json", folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("a trace has a named row per worker, and a bar per chain with its tasks and place") {
  json trace = traced(json_programs::diamond + "print(diamond(4).y.array)\nprint(diamond(8).y.array)\n", "--threads 2");
  std::set<int> named, used;
  std::map<int, double> end;
  int bars = 0;
  for (const json& event : trace["traceEvents"]) {
    CHECK(event["pid"] == 1);
    if (event["ph"] == "M") {
      if (event["name"] == "thread_name") named.insert(event["tid"].get<int>());
      continue;
    }
    if (event["ph"] != "X") continue;
    used.insert(event["tid"].get<int>());
    CHECK(event["ts"].get<double>() >= 0);
    CHECK(event["dur"].get<double>() >= 0);
    if (event["cat"] != "chain") continue;
    ++bars;
    CHECK(event["args"]["tasks"].size() > 0);
    CHECK(event["args"]["at"].get<std::string>().starts_with("p.task:"));
  }
  CHECK(bars == 8);
  CHECK(named == used);
}

TEST_CASE("a trace has rows of both programs: who waits for which message, when plans were made and ran") {
  const json trace =
      traced(json_programs::diamond + "for i in 0..3 { print(diamond(4 + i).y.array) }\n", "--threads 1");
  std::map<std::string, std::vector<json>> events;  // by row and kind
  std::map<int, std::string> rows;
  for (const json& event : trace["traceEvents"])
    if (event["name"] == "thread_name") rows[event["tid"]] = event["args"]["name"];
  std::map<std::string, double> sent, taken;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") sent[event["id"]] = event["ts"];
    if (event["ph"] == "f") taken[event["id"]] = event["ts"];
    if (event["ph"] != "X") continue;
    const std::string name = event["name"], row = rows.at(event["tid"]);
    events[row + ": " + (event["cat"] == "chain" ? "chain" : name.substr(0, name.find(' ')))].push_back(event);
  }
  const std::vector<json>&waits = events["host program: receive"], &plans = events["graph program: plan"],
        &runs = events["graph program: run"];
  CHECK(waits.size() == 3);
  CHECK(plans.size() == 3);  // another shape each time
  REQUIRE(runs.size() == 3);
  CHECK(taken.size() >= 3);
  for (const auto& [id, time] : taken) {
    REQUIRE(sent.contains(id));
    CHECK(time >= sent[id]);
  }
  const auto end = [](const json& event) { return event["ts"].get<double>() + event["dur"].get<double>(); };
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(end(plans[i]) <= runs[i]["ts"].get<double>() + 0.002);
    CHECK(end(waits[i]) >= end(runs[i]) - 0.002);  // the host waits for what ran
    std::size_t inside = 0;
    for (const json& bar : events["worker 0: chain"])
      inside += bar["ts"].get<double>() >= runs[i]["ts"].get<double>() - 0.002 && end(bar) <= end(runs[i]) + 50;
    CHECK(inside >= 4);
  }
}

TEST_CASE("bars of one worker do not overlap, and tasks carry their paths") {
  json trace = traced(json_programs::diamond + "print(diamond(4).y.array)\n", "--threads 2");
  std::map<int, std::vector<std::pair<double, double>>> rows;
  std::set<std::string> tasks;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] != "chain") continue;
    double begin = event["ts"].get<double>();
    rows[event["tid"].get<int>()].emplace_back(begin, begin + event["dur"].get<double>());
    for (const json& task : event["args"]["tasks"]) tasks.insert(task.get<std::string>());
  }
  for (auto& [worker, bars] : rows) {
    std::sort(bars.begin(), bars.end());
    for (std::size_t i = 1; i < bars.size(); ++i) CHECK(bars[i].first >= bars[i - 1].second - 0.002);
  }
  CHECK(tasks.contains("diamond#0/add#0"));
  CHECK(tasks.size() == 6);
}

}  // namespace taskspec::trace_test
