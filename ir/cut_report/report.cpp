#include "ir/cut_report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "ir/cut_report/code_words.hpp"
#include "ir/cut_report/parts.hpp"
#include "ir/program/top_level.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

namespace {

std::string channel_name(const std::vector<std::string>& functions, const Channel& channel) {
  return fmt::format("{}:{}", functions[channel.function.index()], channel.site);
}

CodeNames names_for(const CutProgram& cut) {
  CodeNames names{function_names(cut.program), {}, {}};
  for (std::size_t i = 0; i < cut.parts.size(); ++i)
    for (FunctionId part : {cut.parts[i].host, cut.parts[i].graph})
      if (part.valid()) names.functions[part.index()] = names.functions[i];
  for (const Channel& channel : cut.channels) {
    names.channels.push_back(channel_name(names.functions, channel));
    const std::string written = channel.items.size() == 1 && channel.items[0].span.valid()
                                    ? one_line(cut.program.sources.text(channel.items[0].span), 40)
                                    : "";
    names.hints.push_back(is_name(written) ? written : "");
  }
  return names;
}

std::vector<CodeLine> lines_of_part(const CutProgram& cut, FunctionId part, const CodeNames& names) {
  return part.valid() ? code_lines(cut.program, part, names) : std::vector<CodeLine>();
}

// The main program first, and its top level before its functions; imported modules as they are.
std::vector<std::size_t> reading_order(const CutProgram& cut) {
  std::vector<std::size_t> order(cut.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto is_main = [&](std::size_t i) { return cut.program.functions[i].module == cut.program.main_module; };
  auto is_top = [&](std::size_t i) { return cut.program.functions[i].kind == FunctionKind::module; };
  std::stable_partition(order.begin(), order.end(), is_top);
  std::stable_partition(order.begin(), order.end(), is_main);
  return order;
}

void add_functions(const CutProgram& cut, const CodeNames& names, CutReport& report) {
  const Reached reached = reached_of(cut);
  const std::vector<bool> repeats = repeating(cut, reached);
  const std::vector<bool> communicates = communicating(cut, Part::graph);
  for (std::size_t i : reading_order(cut)) {
    ReportedFunction function{.whole = FunctionId(i), .parts = cut.parts[i], .name = names.functions[i]};
    function.in_host = reached.host[i];
    function.in_graph = reached.graph[i];
    if (!function.in_host && !function.in_graph) continue;
    if (!function.in_host) function.parts.host = {};
    if (!function.in_graph) function.parts.graph = {};
    function.rows =
        side_by_side(lines_of_part(cut, function.parts.host, names), lines_of_part(cut, function.parts.graph, names));
    function.metrics.segments = segments_of(cut, function.parts.graph, communicates);
    if (repeats[i])
      for (GraphSegment& segment : function.metrics.segments) ++segment.loops;
    report.functions.push_back(std::move(function));
  }
}

void add_channels(const CutProgram& cut, const CodeNames& names, CutReport& report) {
  std::vector<std::vector<ReportedItem>> items = items_of(cut);
  const std::vector<bool> repeats = repeating(cut, reached_of(cut));
  for (std::size_t i = 0; i < cut.channels.size(); ++i) {
    const Channel& channel = cut.channels[i];
    ReportedChannel seen{.id = ChannelId(i),
                         .name = names.channels[i],
                         .function = channel.function,
                         .to_host = channel.to_host,
                         .loops = channel.loops + (repeats[channel.function.index()] ? 1U : 0U),
                         .items = std::move(items[i])};
    seen.waits = channel.to_host && std::any_of(channel.items.begin(), channel.items.end(),
                                                [](const ChannelItem& item) { return waits(item.what); });
    report.channels.push_back(std::move(seen));
  }
}

// Effects that are left in the graph program: the sink orders them behind everything else.
void add_effects(const CutProgram& cut, FunctionId id, CutReport& report) {
  const Function& part = cut.program[id];
  each_call(part, part.body, [&](CallId at) {
    const Call& call = part[at];
    const bool op = call.form == Form::op && console_operand(*call.op);
    const bool builtin = call.form == Form::builtin && call.builtin->effect == Effect::host;
    if (!op && !builtin) return;
    const std::string_view name = op ? call.op->name : call.builtin->name;
    report.sink.push_back({fmt::format("{} at {}", name, position_text(cut.program, call.span)), {}, call.span});
  });
}

void add_sink(const CutProgram& cut, CutReport& report) {
  for (const ReportedChannel& channel : report.channels)
    if (channel.to_host)
      report.sink.push_back({channel.name, channel.id, channel.items.empty() ? Span() : channel.items[0].span});
  for (const ReportedFunction& function : report.functions) {
    if (!function.in_graph) continue;
    if (!function.is_cut() || function.parts.graph.valid())
      add_effects(cut, function.is_cut() ? function.parts.graph : function.whole, report);
  }
}

std::uint32_t nested_sessions(const CutProgram& cut, const CutReport& report) {
  std::uint32_t count = 0;
  for (const ReportedFunction& function : report.functions) {
    const Function& whole = cut.program[function.whole];
    each_call(whole, whole.body,
              [&](CallId id) { count += whole[id].form->to_run == FormRecord::ToRun::session ? 1 : 0; });
  }
  return count;
}

std::vector<std::string> names_where(const CutReport& report, bool ReportedFunction::*reached) {
  std::vector<std::string> names;
  for (const ReportedFunction& function : report.functions)
    if (function.*reached) names.push_back(function.name);
  return names;
}

}  // namespace

std::vector<std::string> CutReport::host_functions() const { return names_where(*this, &ReportedFunction::in_host); }
std::vector<std::string> CutReport::graph_functions() const { return names_where(*this, &ReportedFunction::in_graph); }

const ReportedFunction* find_function(const CutReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.functions, name, &ReportedFunction::name);
  return found == report.functions.end() ? nullptr : &*found;
}

bool calls_nothing(const Program& program, const CutReport& report) {
  auto in_main = [&](const Function& function) {
    return function.module == program.main_module && function.kind != FunctionKind::module &&
           function.part == Part::whole;
  };
  return std::ranges::any_of(program.functions, in_main) &&
         std::ranges::none_of(report.functions,
                              [&](const ReportedFunction& one) { return in_main(program[one.whole]); });
}

std::string_view arrow(bool to_host) { return to_host ? "<--" : "-->"; }

namespace {

// Modules go by their names; where two have the same one, by their paths from the main module on: "mods/step".
std::vector<std::string> module_names(const Program& program) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(program.main().path).parent_path();
  std::vector<std::string> names;
  for (const Module& module : program.modules) {
    const auto same = std::ranges::count(program.modules, module.name, &Module::name);
    const std::string path = fs::path(module.path).lexically_relative(folder).replace_extension().generic_string();
    names.push_back(same == 1 || path.empty() ? module.name : path);
  }
  return names;
}

}  // namespace

std::vector<std::string> function_names(const Program& program) {
  const std::vector<std::string> modules = module_names(program);
  std::vector<std::string> names;
  std::map<std::string, int> closures;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    const Module& written = program.modules[function.module.index()];
    const std::string& module = modules[function.module.index()];
    std::string name = program.display_name(FunctionId(i));
    if (function.kind == FunctionKind::module) {
      names.push_back(written.path.ends_with(".task") ? module + ".task" : module);  // no fn goes by such a name
      continue;
    }
    if (!is_name(function.name) && !function.name.empty())
      name = "closure at " + position_text(program, function.span);  // <closure>
    std::string whose = module;
    std::ranges::replace(whose, '/', '.');
    names.push_back(function.module == program.main_module ? name : whose + "." + name);
  }
  return names;
}

CutReport report_cut(const CutProgram& cut) {
  CutReport report;
  const CodeNames names = names_for(cut);
  add_functions(cut, names, report);
  add_channels(cut, names, report);
  add_sink(cut, report);
  count_messages(cut, report);
  for (const ReportedFunction& function : report.functions) report.total.add(function.metrics);
  report.nested_sessions = nested_sessions(cut, report);
  report.advice = advice_on(cut, report);
  return report;
}

}  // namespace taskspec
