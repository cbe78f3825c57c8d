// The report: one HTML file that holds everything it shows and asks nothing of the network. What it shows is the JSON
// with the sources, the sentences that say why chains end, and what a run did.
//
//   Report report{.title = "pipeline.task", .sources = &program.sources};
//   report.graphs.push_back(report_graph(program, id, graph, chains));
//   write_text("pipeline.html", report_html(report));
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/graph/chains.hpp"
#include "ir/plan/plan.hpp"

namespace taskspec {

struct ReportGraph {
  std::string title;                                                 // empty: the name of the graph
  std::string json;                                                  // without contents
  std::vector<std::pair<std::string, std::string>> ends;             // by chain: why it starts and ends where it does
  std::uint64_t runs = 0;                                            // of its plan
  std::vector<std::uint32_t> failed = {};                            // nodes
  std::vector<std::pair<std::uint32_t, std::uint64_t>> stands = {};  // nodes that stand for several tasks
};

// One dispatch of a step of the plan of a graph, in which run of all.
struct ReportBar {
  std::uint32_t graph = 0, step = 0, worker = 0, run = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

// What host or graph program did beside the workers: "send", "receive", "plan", "run".
struct ReportControl {
  std::string_view what;
  bool host = false;
  std::uint32_t channel = 0, number = 0;  // of a message, which both ends name alike
  std::uint32_t graph = 0, run = 0;       // of plan and run
  std::int64_t begin_ns = 0, end_ns = 0;
};

// An op of a step of training, and what it took in a run beside what was to be expected of it.
struct ReportOp {
  std::string pass, op, makes, task;
  Span span;
  Span inside = {};  // where the loop, branch or fn stands that it ran in
  std::uint64_t calls = 0;
  double ms = 0, estimate = 0, bytes = 0;  // of all calls; ms, estimate in milliseconds
};

struct Report {
  std::string title;
  const Sources* sources = nullptr;
  std::vector<ReportGraph> graphs = {};
  std::string slices = {};  // the JSON of the two programs (report_cut_json); empty: there are none to show
  std::vector<ReportBar> timeline = {};
  std::vector<ReportControl> control = {};                      // beside it, on the same clock
  std::int64_t end_ns = 0;                                      // of the program
  std::vector<ReportOp> inside = {};                            // what ran inside of nodes that are loops and the like
  std::vector<ReportOp> training = {};                          // none: the program trains nothing
  std::vector<std::string> chips = {};                          // JSON of each run on a chip (chip_json)
  std::vector<std::string> shards = {};                         // JSON of each run on shards
  std::vector<std::pair<std::string, std::string>> facts = {};  // names and values
  std::vector<std::string> notes = {};                          // what was left out, say
  Diags failures = {};                                          // what ended the run
};

ReportGraph report_graph(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                         const Plan* plan = nullptr);

// Of a plan with launches, as a page draws it (drawn_plan.hpp); its chains end for the reasons that they have in the
// plan.
struct DrawnPlan;
ReportGraph report_graph(const Program& program, const Plan& plan, const Chains& chains, const DrawnPlan& drawn);

// The host and the graph program of a program as the tab Slices shows them.
std::string report_cut_json(const Program& program);

// Names and texts may hold anything; none of them becomes markup or script.
std::string report_html(const Report& report);

}  // namespace taskspec
