#include "interp/session/profile_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include "interp/control/op_text.hpp"
#include "ir/json/json.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

namespace {

// {"step":0,"tasks":["a#0","b#0"],"at":"x.task:3:9"}
std::string step_arguments(const Plan& plan, StepId step, const Sources& sources) {  // of a chain, by its number
  std::string tasks, place;
  for (std::uint32_t t = plan.step_starts[step.index()]; t < plan.step_starts[step.index() + 1]; ++t) {
    NodeId node = plan.tasks[t].node;
    tasks += (tasks.empty() ? "" : ",") + json_quoted(plan.graph->path(node));
    if (Span span = (*plan.graph)[node].span; place.empty() && span.valid() && span.source.index() < sources.size()) {
      Position at = sources[span.source].position(span.begin);
      place = fmt::format("{}:{}:{}", sources[span.source].path(), at.line, at.column);
    }
  }
  return fmt::format("{{\"step\":{},\"tasks\":[{}],\"at\":{}}}", step.value, tasks, json_quoted(place));
}

// In thousand millions per second: beside what the machine can do it says what holds a chain up.
template <class Row>
std::string rate_text(double count, const Row& row) {
  const bool known = row.work.bytes > 0 && row.ns > 0;
  return known ? fmt::format("{:.2f}", count / static_cast<double>(row.ns)) : "-";
}

// Those that took the most first.
std::string ops_text(std::vector<OpRow> rows, const Sources& sources) {
  std::erase_if(rows, [](const OpRow& row) { return row.calls == 0; });
  if (rows.empty()) return "";
  std::ranges::stable_sort(rows, std::greater(), &OpRow::ns);
  const std::vector<std::string> texts = op_texts(rows, sources);
  std::string out =
      fmt::format("{:>8} {:>12} {:>12} {:>8} {:>8}  {}\n", "calls", "ms", "bytes", "Gop/s", "GB/s", texts[0]);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out +=
        fmt::format("{:>8} {:>12.3f} {:>12} {:>8} {:>8}  {}\n", rows[i].calls, static_cast<double>(rows[i].ns) * 1e-6,
                    bytes_text(rows[i].work.bytes), rate_text(rows[i].work.operations, rows[i]),
                    rate_text(rows[i].work.bytes, rows[i]), texts[i + 1]);
  return out;
}

// Rows of the two programs stand above those of the workers.
constexpr std::uint32_t host_row = 1'000'000, graph_row = 1'000'001;

double micro(std::int64_t ns) { return static_cast<double>(ns) * 1e-3; }

// A bar for what a program waited for or did, and an arrow from who sends a message to who takes it.
std::string control_events(const SessionReport& report) {
  if (report.control.empty()) return "";
  std::string out;
  for (const auto& [row, name, place] :
       {std::tuple(host_row, "host program", -2), std::tuple(graph_row, "graph program", -1)})
    out += fmt::format(
        ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"args\":{{\"name\":\"{1}\"}}}},\n"
        "{{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"args\":{{\"sort_index\":{2}}}}}",
        row, name, place);
  for (const ControlEntry& entry : report.control) {
    const bool sends = entry.what == ControlEntry::What::send, takes = entry.what == ControlEntry::What::receive;
    const std::uint32_t row = entry.host ? host_row : graph_row;
    const std::string what = sends || takes ? fmt::format("{} {}", name_of(entry.what), entry.channel)
                                            : fmt::format("{} {}", name_of(entry.what), entry.plan + 1);
    out += fmt::format(
        ",\n{{\"name\":\"{}\",\"cat\":\"control\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},"
        "\"args\":{{}}}}",
        what, row, micro(entry.begin_ns), micro(entry.end_ns - entry.begin_ns));
    if (!sends && !takes) continue;
    out += fmt::format(
        ",\n{{\"name\":\"message\",\"cat\":\"message\",\"ph\":\"{}\",\"id\":\"{}.{}\",\"pid\":1,\"tid\":{},\"ts\":{:."
        "3f}{}}}",
        sends ? "s" : "f", entry.channel, entry.number, row, micro(sends ? entry.begin_ns : entry.end_ns),
        sends ? "" : ",\"bp\":\"e\"");
  }
  return out;
}

}  // namespace

std::string profile_text(const SessionReport& report, const Sources& sources) {
  std::string out = fmt::format("\n{:>8} {:>12} {:>9} {:>9} {:>9} {:>12} {:>8} {:>8}  chain\n", "calls", "ms",
                                "first us", "least us", "median us", "bytes", "Gop/s", "GB/s");
  std::vector<ProfileRow> rows = report.profile;
  if (rows.empty()) out += "no task ran: what is known before the run is computed then, and leaves none behind\n";
  std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) { return a.ns > b.ns; });
  for (const ProfileRow& row : rows)
    out += fmt::format("{:>8} {:>12.3f} {:>9.1f} {:>9.1f} {:>9.1f} {:>12} {:>8} {:>8}  {}\n", row.calls,
                       static_cast<double>(row.ns) * 1e-6, static_cast<double>(row.first_ns) * 1e-3,
                       static_cast<double>(row.least_ns) * 1e-3, static_cast<double>(row.median_ns) * 1e-3,
                       bytes_text(static_cast<double>(row.bytes)), rate_text(row.work.operations, row),
                       rate_text(row.work.bytes, row), row.chain);
  out += ops_text(report.ops, sources);
  out += fmt::format("memory: {} allocations, {} frees; peak {}\n", report.memory.allocations, report.memory.frees,
                     bytes_text(static_cast<double>(report.memory.peak_bytes)));
  out += fmt::format("plans: {} made in {:.3f} ms; arena {}, alive at once {} ({} without chains)\n", report.plans,
                     report.making * 1e3, bytes_text(static_cast<double>(report.arena)),
                     bytes_text(static_cast<double>(report.plan_peak)),
                     bytes_text(static_cast<double>(report.peak_without_chains)));
  return out;
}

std::string form_text(const BodyForm& body) {
  return body.why_no_strip.empty() ? body.form : fmt::format("{} ({})", body.form, body.why_no_strip);
}

std::string report_text(const SessionReport& report, const std::vector<PlainDiag>& failures) {
  std::string out = "\n";
  for (const PlainDiag& diag : failures) {
    out += fmt::format("failed      {}: {}", diag.code, diag.message);
    if (!diag.primary.path.empty())
      out += fmt::format(" at {}:{}:{}", diag.primary.path, diag.primary.begin.line, diag.primary.begin.column);
    out += '\n';
  }
  out += fmt::format("tasks       {}\nchains      {}\ndispatches  {} ({} saved)\ndropped     {}\n", report.tasks,
                     report.chains, report.dispatches, report.tasks - std::min(report.tasks, report.dispatches),
                     report.dropped);
  out += fmt::format("plans       {} (made in {:.6f} s)\npeak        {}\nseconds     {:.6f}\n", report.plans,
                     report.making, bytes_text(static_cast<double>(report.memory.peak_bytes)), report.seconds);
  const char* title = "bodies      ";
  for (const BodyForm& body : report.bodies)
    out += fmt::format("{}{}: {}\n", std::exchange(title, "            "), body.task, form_text(body));
  return out;
}

std::string report_json(const SessionReport& report, const std::vector<PlainDiag>& failures,
                        const std::vector<std::string>& chips, const std::vector<std::string>& shards) {
  const auto all = [](const char* name, const std::vector<std::string>& runs) {
    std::string text;
    for (const std::string& run : runs) text += (text.empty() ? ",\"" + std::string(name) + "\":[" : ",\n") + run;
    return runs.empty() ? text : text + "]";
  };
  const std::string of_chips = all("chips", chips) + all("shards", shards);
  std::string bodies;
  for (const BodyForm& body : report.bodies)
    bodies += fmt::format("{}{{\"task\":{},\"form\":{},\"why_no_strip\":{}}}", bodies.empty() ? ",\"bodies\":[" : ",",
                          json_quoted(body.task), json_quoted(body.form), json_quoted(body.why_no_strip));
  if (!bodies.empty()) bodies += "]";
  return fmt::format(
      "{{\"tasks\":{},\"chains\":{},\"dispatches\":{},\"dropped\":{},\"plans\":{},\"making\":{},\"peak\":{},"
      "\"arena\":{},\"alive\":{},\"peak_without_chains\":{},\"allocations\":{},\"frees\":{},\"seconds\":{},"
      "\"failures\":{}{}{}}}\n",
      report.tasks, report.chains, report.dispatches, report.dropped, report.plans, report.making,
      report.memory.peak_bytes, report.arena, report.plan_peak, report.peak_without_chains, report.memory.allocations,
      report.memory.frees, report.seconds, diagnostics_json(failures), bodies, of_chips);
}

std::string trace_json(const SessionReport& report, const Sources& sources, std::string_view more) {
  std::string out =
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"taskspec\"}}";
  std::set<std::uint32_t> workers;
  for (const TimelineEntry& entry : report.timeline) workers.insert(entry.worker);
  for (std::uint32_t worker : workers)
    out += fmt::format(
        ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"args\":{{\"name\":\"worker {0}\"}}}}",
        worker);
  for (const TimelineEntry& entry : report.timeline) {
    const PlanRuns& runs = report.plans_run[entry.plan];
    out += fmt::format(
        ",\n{{\"name\":{},\"cat\":\"chain\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{}}"
        "}",
        json_quoted(runs.chains[entry.chain.index()]), entry.worker, static_cast<double>(entry.begin_ns) * 1e-3,
        static_cast<double>(entry.end_ns - entry.begin_ns) * 1e-3,
        runs.plan ? step_arguments(*runs.plan, StepId(entry.chain.index()), sources) : "{}");
  }
  return out.append(control_events(report)).append(more) + "\n]}\n";
}

}  // namespace taskspec
