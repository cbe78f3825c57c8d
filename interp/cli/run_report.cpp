#include "interp/cli/run_report.hpp"

#include <fmt/format.h>

#include "interp/cli/terminal.hpp"
#include "interp/report/drawn_plan.hpp"
#include "interp/report/report.hpp"
#include "interp/session/profile_text.hpp"
#include "interp/train/rates.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace {

// A page that shows more is slow to open, and nobody reads it.
constexpr std::size_t most_plans = 100, most_bars = 100'000, most_tasks = 200'000;

ReportOp report_op(const OpRow& row) {
  return {.pass = {},
          .op = row.op,
          .makes = row.type,
          .task = row.task,
          .span = row.span,
          .inside = row.inside,
          .calls = row.calls,
          .ms = static_cast<double>(row.ns) * 1e-6,
          .bytes = row.work.bytes};
}

// Of a program that trains, without what only changes a shape.
std::vector<ReportOp> training_ops(const SessionReport& report) {
  std::vector<ReportOp> ops;
  if (!report.rates) return ops;
  for (const OpRow& row : report.ops) {
    if (row.pass == TrainingPass::none || row.calls == 0) continue;
    ReportOp& op = ops.emplace_back(report_op(row));
    op.pass = text(row.pass);
    op.inside = {};
    op.estimate = estimated_ms(row, *report.rates) * static_cast<double>(row.calls);
  }
  return ops;
}

// What ran inside of loops, branches and fns that are one node of a graph.
std::vector<ReportOp> inner_ops(const SessionReport& report) {
  std::vector<ReportOp> ops;
  for (const OpRow& row : report.ops)
    if (row.inside.valid()) ops.push_back(report_op(row));
  return ops;
}

// With the bars, of the plans that are shown.
void add_control(Report& page, const SessionReport& report) {
  page.end_ns = report.end_ns;
  for (const ControlEntry& entry : report.control) {
    const bool message = entry.what == ControlEntry::What::send || entry.what == ControlEntry::What::receive;
    if (!message && entry.plan >= page.graphs.size()) continue;
    if (page.control.size() == most_bars) break;
    page.control.push_back({name_of(entry.what), entry.host, entry.channel, entry.number, entry.plan, entry.run,
                            entry.begin_ns, entry.end_ns});
  }
}

// `boxes`: in its picture.
std::string plan_title(std::size_t number, const PlanRuns& runs, std::size_t boxes) {
  const std::size_t tasks = runs.plan->graph->size();
  return fmt::format("plan {}: {}{}, ran {}", number + 1, plural(tasks, "task"),
                     boxes == tasks ? "" : " in " + plural(boxes, "box", "boxes"),
                     runs.runs == 1 ? "once" : fmt::format("{} times", runs.runs));
}

Report with_facts(Report page, const SessionReport& report) {
  page.facts = {{"tasks", std::to_string(report.tasks)},
                {"chains", std::to_string(report.chains)},
                {"dispatches", std::to_string(report.dispatches)},
                {"plans", fmt::format("{} made in {:.3f} ms", report.plans, report.making * 1e3)},
                {"peak", bytes_text(static_cast<double>(report.memory.peak_bytes))},
                {"arena", bytes_text(static_cast<double>(report.arena))},
                {"alive at once", bytes_text(static_cast<double>(report.plan_peak))},
                {"seconds", fmt::format("{:.6f}", report.seconds)}};
  for (const BodyForm& body : report.bodies) page.facts.push_back({"body of " + body.task, form_text(body)});
  return page;
}

}  // namespace

std::string run_report_html(const std::string& title, const Program& program, const Sources& sources,
                            const RunResult& result, const RunPictures* pictures) {
  const SessionReport& report = result.report;
  Report page{.title = title, .sources = &sources, .failures = result.diags};
  page.slices = report_cut_json(program);
  page.training = training_ops(report);
  page.inside = inner_ops(report);
  std::size_t tasks = 0;
  std::vector<std::vector<std::uint32_t>> steps;  // by plan with launches, and its steps: those that are drawn
  if (pictures)
    for (const auto& picture : *pictures)
      (picture->tab() == RunPicture::Tab::shards ? page.shards : page.chips).push_back(picture->json(true));
  for (const PlanRuns& runs : report.plans_run) {
    if (!runs.plan) break;  // of a backend without plans
    const TaskGraph& graph = *runs.plan->graph;
    const Chains chains = aggregate(graph);
    std::optional<DrawnPlan> some = drawn(*runs.plan, chains);
    const std::size_t boxes = some ? some->graph->size() : graph.size();
    tasks += boxes;
    if (page.graphs.size() == most_plans || (tasks > most_tasks && !page.graphs.empty())) break;
    page.graphs.push_back(some ? report_graph(program, *runs.plan, chains, *some)
                               : report_graph(program, {}, graph, chains, runs.plan.get()));
    ReportGraph& shown = page.graphs.back();
    shown.title = plan_title(page.graphs.size() - 1, runs, boxes);
    shown.runs = runs.runs;
    for (NodeId node : runs.failed) shown.failed.push_back(some ? some->nodes[node.index()] : node.value);
    steps.push_back(some ? std::move(some->steps) : std::vector<std::uint32_t>());
  }
  if (!page.graphs.empty() && page.graphs.size() < report.plans_run.size())
    page.notes.push_back(
        fmt::format("the first {} of {} are shown", page.graphs.size(), plural(report.plans_run.size(), "plan")));
  for (const TimelineEntry& entry : report.timeline) {
    if (page.timeline.size() == most_bars) break;
    if (entry.plan >= page.graphs.size()) continue;
    const std::vector<std::uint32_t>& drawn_as = steps[entry.plan];
    const std::uint32_t step = drawn_as.empty() ? entry.chain.value : drawn_as[entry.chain.index()];
    page.timeline.push_back({entry.plan, step, entry.worker, entry.run, entry.begin_ns, entry.end_ns});
  }
  add_control(page, report);
  if (!page.graphs.empty() && page.timeline.size() < report.timeline.size())
    page.notes.push_back(
        fmt::format("the timeline shows {} of {} dispatches", page.timeline.size(), report.timeline.size()));
  return report_html(with_facts(std::move(page), report));
}

std::string refused_report(const Options& options) {
  if (!options.report || options.report->empty()) return "";
  for (const char* ending : {".json", ".html", ".csv"})
    if (options.report->ends_with(ending)) return "";
  return "--report writes text to standard output, or a file that ends in .json, .html or .csv";
}

namespace {

std::string reports_csv(const RunPictures& pictures) {
  std::string text = pictures.empty() ? "" : pictures[0]->csv_head();
  for (const auto& picture : pictures) text += picture->csv();
  return text;
}

std::string reports_text(const SessionReport& report, const std::vector<PlainDiag>& failures,
                         const RunPictures& pictures) {
  std::string text = report_text(report, failures);
  for (const auto& picture : pictures) text += "\n" + picture->text();
  return text;
}

std::string reports_json(const SessionReport& report, const std::vector<PlainDiag>& failures,
                         const RunPictures& pictures) {
  std::vector<std::string> chips, shards;
  for (const auto& picture : pictures)
    (picture->tab() == RunPicture::Tab::shards ? shards : chips).push_back(picture->json(false));
  return report_json(report, failures, chips, shards);
}

}  // namespace

void write_reports(const Options& options, const Program& program, const Sources& sources, const RunResult& result,
                   const RunPictures* pictures) {
  const SessionReport& report = result.report;
  const RunPictures none, &shown = pictures ? *pictures : none;
  if (options.profile) write_out(profile_text(report, sources));
  if (options.report) {
    const std::string& file = *options.report;
    if (file.empty())
      write_out(reports_text(report, plain(sources, result.diags), shown));
    else if (file.ends_with(".html"))
      write_text(file, run_report_html(options.files[0], program, sources, result, pictures));
    else if (file.ends_with(".csv"))
      write_text(file, reports_csv(shown));
    else
      write_text(file, reports_json(report, plain(sources, result.diags), shown));
  }
  if (!options.trace.empty()) {
    std::string more;
    for (std::size_t i = 0; i < shown.size(); ++i) more += shown[i]->trace(static_cast<int>(i) + 2);
    write_text(options.trace, trace_json(report, sources, more));
  }
  flush_out();
}

}  // namespace taskspec::cli
