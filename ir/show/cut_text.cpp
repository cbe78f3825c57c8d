#include "ir/show/cut_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/base/text.hpp"
#include "ir/cut_report/parts.hpp"

namespace taskspec {

namespace {

constexpr std::array<std::string_view, 4> part_words{"fn", "task", "graph", "top level"};
constexpr std::size_t two_column_width = 100;

// At blanks, into pieces of at most `width` columns where that can be; all but the first stand four further in.
std::vector<std::string> wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::vector<std::string> lines{std::string(indent, ' ')};
  std::size_t used = indent;
  bool empty = true;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string word(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto columns = static_cast<std::size_t>(display_width(word));
    if (!empty && used + 1 + columns > width) {
      lines.emplace_back(indent + 4, ' ');
      used = indent + 4;
      empty = true;
    }
    lines.back() += (empty ? "" : " ") + word;
    used += columns + (empty ? 0 : 1);
    empty = false;
  }
  return lines;
}

std::string paragraph(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  for (const std::string& line : wrapped(text, indent, width)) out += line + "\n";
  return out;
}

std::vector<std::string> code(const std::optional<CodeLine>& line, std::size_t width) {
  if (!line) return {};
  return wrapped(line->text, 2 * line->depth, width);
}

std::string padded(const std::string& text, std::size_t width) {
  const auto columns = static_cast<std::size_t>(display_width(text));
  return text + std::string(width - std::min(width, columns), ' ');
}

std::string without_blanks_at_end(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

class Text {
 public:
  Text(const Program& program, const CutReport& report, const CutTextOptions& options)
      : program_(program), report_(report), options_(options) {}

  std::string write() {
    if (!options_.function.empty()) return one_function();
    out_ = paragraph(summary(report_), 0, options_.columns);
    programs();
    for (const ReportedFunction& function : report_.functions)
      if (function.is_cut()) this->function(function);
    uncut();
    channels();
    if (options_.metrics) metrics();
    advice();
    return std::move(out_);
  }

 private:
  std::string one_function() {
    const ReportedFunction* function = find_function(report_, options_.function);
    if (!function) return "";
    if (function->is_cut()) this->function(*function);
    uncut();
    channels();
    if (options_.metrics && function->parts.graph.valid()) {
      out_ += "\nmetrics\n";
      metrics_of(function->name, function->metrics);
    }
    out_.erase(0, 1);  // the empty line in front of a part
    return std::move(out_);
  }
  bool is_shown(std::string_view function) const { return options_.function.empty() || options_.function == function; }

  // "host program: " and its functions.
  void names(std::string_view title, const std::vector<std::string>& names) {
    out_ +=
        paragraph(fmt::format("{} {}", title, names.empty() ? "nothing" : joined(names, ", ")), 0, options_.columns);
  }

  void programs() {
    names("host program:", report_.host_functions());
    names("graph program:", report_.graph_functions());
    if (calls_nothing(program_, report_))
      out_ += paragraph("the top level calls none of its functions, so they are part of neither", 0, options_.columns);
    std::vector<std::string> sink;
    for (const SinkItem& item : report_.sink) sink.push_back(item.text);
    names("the sink collects:", sink);
  }

  std::string heading(const ReportedFunction& function) const {
    const Function& whole = program_[function.whole];
    return fmt::format("{} {}", name_of(whole.kind), function.name);
  }

  void function(const ReportedFunction& function) {
    out_ += "\n" + heading(function) + "\n";
    const bool host = function.parts.host.valid(), graph = function.parts.graph.valid();
    if (host && graph && options_.columns >= two_column_width) return two_columns(function);
    part(function, "host", host, &CutRow::host);
    part(function, "graph", graph, &CutRow::graph);
  }

  void part(const ReportedFunction& function, std::string_view side, bool there,
            std::optional<CodeLine> CutRow::*line) {
    if (!there) {
      out_ += fmt::format("  nothing for the {}\n", side);
      return;
    }
    out_ += fmt::format("  {}\n", side);
    if (!program_[function.whole].extern_symbol.empty()) out_ += "    a function of C++\n";
    for (const CutRow& row : function.rows)
      for (const std::string& text : code(row.*line, options_.columns - 4)) out_ += "    " + text + "\n";
  }

  // The host part takes what its longest line needs, at most half.
  std::size_t host_width(const ReportedFunction& function) const {
    std::size_t width = 4;
    for (const CutRow& row : function.rows)
      if (row.host)
        width = std::max(width, 2 * row.host->depth + static_cast<std::size_t>(display_width(row.host->text)));
    return std::min(width, (options_.columns - 7) / 2);
  }

  void two_columns(const ReportedFunction& function) {
    const std::size_t left = host_width(function), right = options_.columns - 7 - left;
    out_ += "  " + padded("host", left) + "  |  graph\n";
    for (const CutRow& row : function.rows) {
      const std::vector<std::string> host = code(row.host, left), graph = code(row.graph, right);
      for (std::size_t i = 0; i < std::max(host.size(), graph.size()); ++i) {
        std::string line = "  " + padded(i < host.size() ? host[i] : "", left) + " " +
                           (i == 0 ? std::string(between(row)) : " | ") + " " + (i < graph.size() ? graph[i] : "");
        out_ += without_blanks_at_end(std::move(line)) + "\n";
      }
    }
  }

  // An arrow for each direction in which something goes into or comes out of a channel in this row.
  std::string_view between(const CutRow& row) const {
    bool to_host = false, to_graph = false;
    for (const std::optional<CodeLine>* line : {&row.host, &row.graph})
      for (ChannelId id : *line ? (*line)->channels : std::vector<ChannelId>())
        (report_.channels[id.index()].to_host ? to_host : to_graph) = true;
    return to_host && to_graph ? "<->" : to_host || to_graph ? arrow(to_host) : " | ";
  }

  // Those that both programs share as they are.
  void uncut() {
    std::string text;
    for (const ReportedFunction& function : report_.functions) {
      if (function.is_cut() || !is_shown(function.name)) continue;
      const std::string_view nothing = !function.in_host    ? "nothing for the host"
                                       : !function.in_graph ? "nothing for the graph"
                                                            : "called by both";
      text += paragraph(fmt::format("{}: as written, {}", heading(function), nothing), 0, options_.columns);
    }
    if (!text.empty()) out_ += "\n" + text;
  }

  void channels() {
    std::vector<const ReportedChannel*> shown;
    for (const ReportedChannel& channel : report_.channels)
      if (is_shown(function_of(channel))) shown.push_back(&channel);
    if (shown.empty()) {
      out_ += "\nno channels: nothing is sent, nothing is received\n";
      return;
    }
    out_ += "\nchannels\n";
    for (const ReportedChannel* one : shown) {
      const ReportedChannel& channel = *one;
      const std::string often = channel.loops == 0   ? ""
                                : channel.loops == 1 ? ", each turn"
                                                     : fmt::format(", each turn of {} loops", channel.loops);
      out_ += fmt::format("  {} {} to the {}{}{}\n", channel.name, arrow(channel.to_host),
                          channel.to_host ? "host" : "graph", often, channel.round_trip ? ", a round trip" : "");
      for (const ReportedItem& item : channel.items)
        out_ +=
            paragraph(carries_nothing(item.what) ? fmt::format("{}: {}", name_of(item.what), item.why)
                                                 : fmt::format("{} {}: {}", name_of(item.what), item.type, item.why),
                      4, options_.columns);
    }
  }

  static std::string_view function_of(const ReportedChannel& channel) {
    return std::string_view(channel.name).substr(0, channel.name.rfind(':'));
  }

  static std::string counted(std::uint32_t count, std::string_view noun, std::uint32_t each_turn) {
    std::string text = plural(count, noun);
    return each_turn == 0 ? text : text + fmt::format(" ({} each turn)", each_turn);
  }

  void metrics_of(std::string_view name, const CutMetrics& metrics) {
    const std::uint32_t operations = metrics.operations();
    const auto turns =
        static_cast<std::uint32_t>(std::count_if(metrics.segments.begin(), metrics.segments.end(),
                                                 [](const GraphSegment& segment) { return segment.loops > 0; }));
    std::string first = counted(static_cast<std::uint32_t>(metrics.segments.size()), "segment", turns);
    if (!metrics.segments.empty())
      first += fmt::format(", {}: mean {:.1f} in a segment, largest {}", plural(operations, "operation"),
                           static_cast<double>(operations) / static_cast<double>(metrics.segments.size()),
                           metrics.largest());
    const std::string second = fmt::format("{}, {}, {}", counted(metrics.sends, "send", metrics.sends_each_turn),
                                           counted(metrics.receives, "receive", metrics.receives_each_turn),
                                           counted(metrics.round_trips, "round trip", metrics.round_trips_each_turn));
    out_ +=
        fmt::format("  {}\n", name) + paragraph(first, 4, options_.columns) + paragraph(second, 4, options_.columns);
  }

  void metrics() {
    out_ += "\nmetrics\n";
    for (const ReportedFunction& function : report_.functions)
      if (function.parts.graph.valid()) metrics_of(function.name, function.metrics);
    metrics_of("total", report_.total);
  }

  void advice() {
    if (report_.advice.empty()) return;
    out_ += "\nadvice\n";
    for (const CutAdvice& advice : report_.advice) out_ += paragraph(advice.text, 2, options_.columns);
  }

  const Program& program_;
  const CutReport& report_;
  const CutTextOptions& options_;
  std::string out_;
};

}  // namespace

std::string_view name_of(FunctionKind kind) { return part_words[static_cast<std::size_t>(kind)]; }

std::string summary(const CutReport& report) {
  std::string text = fmt::format("1 session, 1 sink, {}, {} ({}, {})", plural(report.functions.size(), "function"),
                                 plural(report.channels.size(), "channel"), plural(report.total.sends, "send"),
                                 plural(report.total.receives, "receive"));
  if (report.nested_sessions > 0)
    text += fmt::format(", {} with a session of {} own", plural(report.nested_sessions, "run"),
                        report.nested_sessions == 1 ? "its" : "their");
  return text;
}

std::string cut_text(const Program& program, const CutReport& report, const CutTextOptions& options) {
  return Text(program, report, options).write();
}

}  // namespace taskspec
