// --trace: what Chrome and Perfetto open.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/guard/tool.hpp"
#include "tests/unit/json_programs.hpp"

using nlohmann::json;

namespace {

json traced(const std::string& program, const std::string& options) {
  TemporaryFolder folder;
  folder.put("p.task", program);
  Outcome run = in_shell("taskspec run p.task --trace t.json " + options + " >log && cat t.json", folder);
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
    REQUIRE(event["ph"] == "X");
    ++bars;
    used.insert(event["tid"].get<int>());
    CHECK(event["ts"].get<double>() >= 0);
    CHECK(event["dur"].get<double>() >= 0);
    CHECK(event["args"]["tasks"].size() > 0);
    CHECK(event["args"]["at"].get<std::string>().starts_with("p.task:"));
  }
  CHECK(bars == 8);
  CHECK(named == used);
  const json& first = trace["traceEvents"].back();
  CHECK(first["name"].get<std::string>().starts_with("["));
}

TEST_CASE("bars of one worker do not overlap, and tasks carry their paths") {
  json trace = traced(json_programs::diamond + "print(diamond(4).y.array)\n", "--threads 2");
  std::map<int, std::vector<std::pair<double, double>>> rows;
  std::set<std::string> tasks;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
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
