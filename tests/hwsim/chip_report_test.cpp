// Reports of runs on chips as a user asks for them: text, JSON, CSV, page and timeline.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::chip_report_test {

using nlohmann::json;

namespace {

const std::string& runs_on_chips() {
  static const std::string path = (source_root() / "tests/browser/chip.task").string();
  return path;
}

std::vector<std::string> lines_with(const std::string& text, const std::string& begin) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) found.push_back(line);
  return found;
}

}  // namespace

TEST_CASE("the report has the tables and one hash for 1, 2 and 4 threads [chip-hash] [H10]") {
  TemporaryFolder folder;
  std::set<std::vector<std::string>> hashes;
  for (const char* threads : {"1", "2", "4"}) {
    const ToolOutcome run = in_shell("taskspec run '" + runs_on_chips() + "' --report --threads " + threads, folder);
    REQUIRE_MESSAGE(run.code == 0, run.err);
    hashes.insert(lines_with(run.out, "hash "));
    REQUIRE(hashes.begin()->size() == 4);
    CHECK(lines_with(run.out, "layer ").size() == 4);  // of crossbars, too
    CHECK(lines_with(run.out, "limit: phase ").size() == 2);
    CHECK(lines_with(run.out, "limit: a phase takes 5050 clk").size() == 1);
    CHECK(lines_with(run.out, "limit: packets; the port from the host at row ").size() == 1);
    CHECK(lines_with(run.out, "roofline: ").size() == 2);
    CHECK(lines_with(run.out, "assumed: ").size() ==
          11);  // of layers, of the chip, of energy; of crossbars, of these energy not
    CHECK(lines_with(run.out, "mac_i8 ").size() == 3);
  }
  CHECK(hashes.size() == 1);
  CHECK((*hashes.begin())[0] != (*hashes.begin())[1]);  // the same values in other times
}

TEST_CASE("a report of a chip as JSON and as CSV") {
  TemporaryFolder folder;
  const ToolOutcome run = in_shell("taskspec run '" + runs_on_chips() + "' --report r.json >log && cat r.json", folder);
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const json report = json::parse(run.out);
  REQUIRE(report["chips"].size() == 4);
  for (const json& chip : report["chips"]) {
    const bool spikes = chip != report["chips"].back();
    CHECK(chip["title"] == (spikes ? "snn" : "halved"));
    CHECK(chip["steps"] == (spikes ? 12 : 1));
    CHECK(chip["layers"].size() == (spikes ? 2 : 1));
    CHECK(chip["limit"].contains("port") == !spikes);
    CHECK(chip["cycles"].get<std::int64_t>() > 0);
    CHECK(!chip.contains("stages"));
  }
  CHECK(report["chips"][0]["noc"] == "contended");
  CHECK(report["chips"][1]["noc"] == "ideal");
  CHECK(report["chips"][1]["cores"].size() == 2);
  const ToolOutcome rows = in_shell("taskspec run '" + runs_on_chips() + "' --report r.csv >log && cat r.csv", folder);
  REQUIRE_MESSAGE(rows.code == 0, rows.err);
  CHECK(lines_with(rows.out, "run,part,name,").size() == 1);
  CHECK(lines_with(rows.out, "snn,chip,tianjicx,").size() == 2);
  CHECK(lines_with(rows.out, "snn,layer,").size() == 6);
  const ToolOutcome none = in_shell("echo 'print(1)' >p.task; taskspec run p.task --report r.csv && cat r.csv", folder);
  CHECK(none.code == 0);
  CHECK(none.out == "1\n");
}

TEST_CASE("a page of a chip holds its stages and its spikes, also when the chip runs the program itself [H2]") {
  TemporaryFolder folder;
  const ToolOutcome run = in_shell("taskspec run '" + runs_on_chips() + "' --report r.html >log && cat r.html", folder);
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = run.out.find(begin) + begin.size();
  const json data = json::parse(run.out.substr(from, run.out.find("</script>", from) - from));
  REQUIRE(data["chips"].size() == 4);
  for (const json& chip : data["chips"]) {
    if (chip["title"] == "halved") continue;  // no neurons
    CHECK(chip["stages"].size() > 20);
    const bool crossbars = chip["chip"] == "tianjic";  // there sums of bytes are a population, too
    REQUIRE(chip["populations"].size() == (crossbars ? 2 : 1));
    const json& neurons = chip["populations"].back();
    CHECK(neurons["steps"] == 12);
    CHECK(neurons["neurons"] == 16);
    CHECK(neurons["potentials"].size() == 16);
    CHECK(neurons["potentials"][0].size() == 12);
    std::int64_t spikes = 0;
    for (const json& count : neurons["per_neuron"]) spikes += count.get<std::int64_t>();
    CHECK(spikes > 0);
    CHECK(neurons["spikes"].size() == 2 * static_cast<std::size_t>(spikes));
  }
  CHECK(data["chips"][0]["populations"] == data["chips"][1]["populations"]);
  CHECK(data["chips"][0]["populations"][0]["per_neuron"] == data["chips"][2]["populations"][1]["per_neuron"]);
  folder.put("g.task",
             "graph g(x: i8[64], w: i8[16, 64]) -> (y: i8[16]) { y = (w @ x).shift_right(6) as i8[16] }\n"
             "let y = g(fill(i8[64], 3), fill(i8[16, 64], 2))\nprint(y.y.array)\n");
  const ToolOutcome whole =
      in_shell("taskspec run g.task --on 'hw(chip: \"tiny\")' --report g.html && cat g.html", folder);
  CHECK_MESSAGE(whole.code == 0, whole.err);
  CHECK(whole.out.find("\"chip\":\"tiny\"") != std::string::npos);
}

TEST_CASE("a timeline has rows per core and stage of each chip, in its own clock") {
  TemporaryFolder folder;
  const ToolOutcome run = in_shell("taskspec run '" + runs_on_chips() + "' --trace t.json >log && cat t.json", folder);
  REQUIRE_MESSAGE(run.code == 0, run.err);
  std::set<int> processes;
  std::set<std::string> names;
  std::set<std::string> stages;
  const json trace = json::parse(run.out);
  for (const json& event : trace["traceEvents"]) {
    if (event["pid"] == 1) continue;
    processes.insert(event["pid"].get<int>());
    if (event["name"] == "thread_name") names.insert(event["args"]["name"].get<std::string>());
    if (event["ph"] == "X") stages.insert(event["cat"].get<std::string>());
  }
  CHECK(processes == std::set<int>{2, 3, 4, 5});
  CHECK(std::ranges::any_of(names, [](const std::string& name) { return name.ends_with(" axon"); }));
  CHECK(stages.contains("axon"));
  CHECK(stages.contains("send"));
  CHECK(stages.contains("wait"));
}

}  // namespace taskspec::chip_report_test
