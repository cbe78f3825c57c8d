#include "interp/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/report/drawn_plan.hpp"
#include "interp/report/viewer.hpp"
#include "ir/base/hash.hpp"
#include "ir/base/render.hpp"
#include "ir/base/text.hpp"
#include "ir/json/cut_program.hpp"
#include "ir/json/json.hpp"
#include "ir/json/text.hpp"
#include "ir/show/graph_text.hpp"
#include "ir/show/svg.hpp"

namespace taskspec {

namespace {

// JSON that stands in a script element: nothing in it may look like the end of one, or like a comment.
std::string script_json(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (char c : json) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

template <class Items, class Write>
std::string json_list(const Items& items, const Write& write) {
  std::string out = "[";
  for (const auto& item : items) out += (out.size() > 1 ? ",\n" : "") + write(item);
  return out + "]";
}

std::string pair_json(const std::pair<std::string, std::string>& pair) {
  return "[" + json_quoted(pair.first) + "," + json_quoted(pair.second) + "]";
}

std::string graph_part(const ReportGraph& graph) {
  const auto number = [](std::uint32_t node) { return std::to_string(node); };
  const auto several = [](const std::pair<std::uint32_t, std::uint64_t>& one) {
    return fmt::format("[{},{}]", one.first, one.second);
  };
  return "{\"title\":" + json_quoted(graph.title) + ",\"runs\":" + std::to_string(graph.runs) +
         ",\"failed\":" + json_list(graph.failed, number) + ",\"stands\":" + json_list(graph.stands, several) +
         ",\"ends\":" + json_list(graph.ends, pair_json) + ",\"graph\":" + graph.json + "}";
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; });
}

// Those that have a text: an exported graph knows places, but not what stands there.
std::string sources_part(const Sources* sources) {
  std::string out = "[";
  for (std::size_t i = 0; sources && i < sources->size(); ++i) {
    const Source& source = (*sources)[SourceId(i)];
    if (is_blank(source.text())) continue;
    out += (out.size() > 1 ? ",\n" : "") + ("{\"path\":" + json_quoted(source.path())) +
           ",\"text\":" + json_quoted(source.text()) + "}";
  }
  return out + "]";
}

// Times count from the beginning of the program, or from the first dispatch where that is not known; nanoseconds.
std::string timeline_part(const Report& report) {
  std::int64_t begin = report.control.empty() ? INT64_MAX : 0;
  for (const ReportBar& bar : report.timeline) begin = std::min(begin, bar.begin_ns);
  return json_list(report.timeline, [begin](const ReportBar& bar) {
    return fmt::format("[{},{},{},{},{},{}]", bar.graph, bar.step, bar.worker, bar.begin_ns - begin,
                       bar.end_ns - bar.begin_ns, bar.run);
  });
}

std::string control_part(const std::vector<ReportControl>& entries) {
  return json_list(entries, [](const ReportControl& entry) {
    return fmt::format("[\"{}\",{},{},{},{},{},{},{}]", entry.what, entry.host ? 1 : 0, entry.channel, entry.number,
                       entry.graph, entry.run, entry.begin_ns, entry.end_ns - entry.begin_ns);
  });
}

void put_place(JsonText& out, Span span, const Sources* sources) {
  if (!sources || !span.valid() || span.source.index() >= sources->size()) {
    out.null();
    return;
  }
  const Source& source = (*sources)[span.source];
  const Position at = source.position(span.begin);
  out.open('{').member("path", source.path()).member("line", at.line).member("column", at.column);
  out.member("length", span.end - span.begin).close('}');
}

std::string ops_part(const std::vector<ReportOp>& ops, const Sources* sources) {
  return json_list(ops, [sources](const ReportOp& op) {
    JsonText out;
    out.open('{').member("pass", op.pass).member("op", op.op).member("makes", op.makes).member("task", op.task);
    out.key("place");
    put_place(out, op.span, sources);
    out.key("inside");
    put_place(out, op.inside, sources);
    out.member("calls", static_cast<std::int64_t>(op.calls));
    out.key("ms").real(op.ms).key("estimate").real(op.estimate).key("bytes").real(op.bytes).close('}');
    return out.take();
  });
}

std::string failures_part(const Report& report) {
  const Sources none;
  return diagnostics_json(plain(report.sources ? *report.sources : none, report.failures));
}

std::string data_of(const Report& report) {
  return "{\"title\":" + json_quoted(report.title) + ",\n\"facts\":" + json_list(report.facts, pair_json) +
         ",\n\"notes\":" + json_list(report.notes, json_quoted) + ",\n\"failures\":" + failures_part(report) +
         ",\n\"sources\":" + sources_part(report.sources) + ",\n\"timeline\":" + timeline_part(report) +
         ",\n\"control\":" + control_part(report.control) + ",\n\"end\":" + std::to_string(report.end_ns) +
         ",\n\"inside\":" + ops_part(report.inside, report.sources) +
         ",\n\"training\":" + ops_part(report.training, report.sources) +
         ",\n\"chips\":" + json_list(report.chips, [](const std::string& chip) { return chip; }) +
         ",\n\"shards\":" + json_list(report.shards, [](const std::string& run) { return run; }) +
         ",\n\"slices\":" + (report.slices.empty() ? "null" : report.slices) +
         ",\n\"graphs\":" + json_list(report.graphs, graph_part) + "}";
}

// Replaces @name@ by a text that is not looked at again.
std::string filled_in(std::string_view page, const std::vector<std::pair<std::string_view, std::string_view>>& marks) {
  std::string out;
  while (!page.empty()) {
    std::size_t at = page.find('@');
    out += page.substr(0, at);
    if (at == std::string_view::npos) break;
    page.remove_prefix(at);
    auto mark = std::find_if(marks.begin(), marks.end(), [&](const auto& m) { return page.starts_with(m.first); });
    out += mark == marks.end() ? page.substr(0, 1) : mark->second;
    page.remove_prefix(mark == marks.end() ? 1 : mark->first.size());
  }
  return out;
}

}  // namespace

ReportGraph report_graph(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                         const Plan* plan) {
  ReportGraph result;
  result.json = graph_json(program, function, graph, chains, plan, false);
  for (std::size_t c = 0; c < chains.size(); ++c)
    result.ends.emplace_back(first_text(graph, chains, ChainId(c)), last_text(graph, chains, ChainId(c)));
  return result;
}

ReportGraph report_graph(const Program& program, const Plan& plan, const Chains& chains, const DrawnPlan& drawn) {
  ReportGraph result;
  result.json = graph_json(program, {}, *drawn.graph, drawn.chains, &drawn.plan, false);
  for (std::size_t c = 0; c < drawn.chains.size(); ++c)
    if (drawn.stands_for[c] > 0) {
      result.ends.emplace_back("stands for " + plural(drawn.stands_for[c], "task") + ", which are not drawn one by one",
                               "");
      result.stands.emplace_back(drawn.chains.members(ChainId(c))[0].value, drawn.stands_for[c]);
    } else {
      result.ends.emplace_back(first_text(*plan.graph, chains, drawn.chain_of[c]),
                               last_text(*plan.graph, chains, drawn.chain_of[c]));
    }
  return result;
}

std::string report_cut_json(const Program& program) {
  const CutProgram cut = cut_program(program);
  return cut_json(cut.program, report_cut(cut));
}

std::string report_html(const Report& report) {
  const std::string data = script_json(data_of(report));
  // Only the script that carries this word may run: it depends on all texts, so none of them can hold it.
  const std::string nonce = hash128(data).text();
  return filled_in(viewer().page, {{"@title@", xml_text(report.title)},
                                   {"@style@", viewer().style},
                                   {"@script@", viewer().script},
                                   {"@data@", data},
                                   {"@nonce@", nonce}});
}

}  // namespace taskspec
