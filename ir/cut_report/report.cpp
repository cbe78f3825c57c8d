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

CodeNames names_for(const Slices& slices) {
  CodeNames names{function_names(slices.program), {}, {}};
  for (std::size_t i = 0; i < slices.parts.size(); ++i)
    for (FunctionId part : {slices.parts[i].host, slices.parts[i].graph})
      if (part.valid()) names.functions[part.index()] = names.functions[i];
  for (const Channel& channel : slices.channels) {
    names.channels.push_back(channel_name(names.functions, channel));
    const std::string written = channel.items.size() == 1 && channel.items[0].span.valid()
                                    ? one_line(slices.program.sources.text(channel.items[0].span), 40)
                                    : "";
    names.hints.push_back(is_name(written) ? written : "");
  }
  return names;
}

std::vector<CodeLine> lines_of_part(const Slices& slices, FunctionId part, const CodeNames& names) {
  return part.valid() ? code_lines(slices.program, part, names) : std::vector<CodeLine>();
}

// The main program first, and its top level before its functions; imported modules as they are.
std::vector<std::size_t> reading_order(const Slices& slices) {
  std::vector<std::size_t> order(slices.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto is_main = [&](std::size_t i) { return slices.program.functions[i].module == slices.program.main_module; };
  auto is_top = [&](std::size_t i) { return slices.program.functions[i].kind == FunctionKind::module; };
  std::stable_partition(order.begin(), order.end(), is_top);
  std::stable_partition(order.begin(), order.end(), is_main);
  return order;
}

void add_functions(const Slices& slices, const CodeNames& names, SlicesReport& report) {
  const Reached reached = reached_of(slices);
  const std::vector<bool> repeats = repeating(slices, reached);
  const std::vector<bool> communicates = communicating(slices, Part::graph);
  for (std::size_t i : reading_order(slices)) {
    SlicedFunction function{.whole = FunctionId(i), .parts = slices.parts[i], .name = names.functions[i]};
    function.in_host = reached.host[i];
    function.in_graph = reached.graph[i];
    if (!function.in_host && !function.in_graph) continue;
    if (!function.in_host) function.parts.host = {};
    if (!function.in_graph) function.parts.graph = {};
    function.rows = side_by_side(lines_of_part(slices, function.parts.host, names),
                                 lines_of_part(slices, function.parts.graph, names));
    function.metrics.segments = segments_of(slices, function.parts.graph, communicates);
    if (repeats[i])
      for (GraphSegment& segment : function.metrics.segments) ++segment.loops;
    report.functions.push_back(std::move(function));
  }
}

void add_channels(const Slices& slices, const CodeNames& names, SlicesReport& report) {
  std::vector<std::vector<SlicedItem>> items = items_of(slices);
  const std::vector<bool> repeats = repeating(slices, reached_of(slices));
  for (std::size_t i = 0; i < slices.channels.size(); ++i) {
    const Channel& channel = slices.channels[i];
    SlicedChannel seen{.id = ChannelId(i),
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
void add_effects(const Slices& slices, FunctionId id, SlicesReport& report) {
  const Function& part = slices.program[id];
  each_call(part, part.body, [&](CallId at) {
    const Call& call = part[at];
    const bool op = call.form == Form::op && console_operand(*call.op);
    const bool builtin = call.form == Form::builtin && call.builtin->effect == Effect::host;
    if (!op && !builtin) return;
    const std::string_view name = op ? call.op->name : call.builtin->name;
    report.sink.push_back({fmt::format("{} at {}", name, position_text(slices.program, call.span)), {}, call.span});
  });
}

void add_sink(const Slices& slices, SlicesReport& report) {
  for (const SlicedChannel& channel : report.channels)
    if (channel.to_host)
      report.sink.push_back({channel.name, channel.id, channel.items.empty() ? Span() : channel.items[0].span});
  for (const SlicedFunction& function : report.functions) {
    if (!function.in_graph) continue;
    if (!function.is_cut() || function.parts.graph.valid())
      add_effects(slices, function.is_cut() ? function.parts.graph : function.whole, report);
  }
}

std::uint32_t nested_sessions(const Slices& slices, const SlicesReport& report) {
  std::uint32_t count = 0;
  for (const SlicedFunction& function : report.functions) {
    const Function& whole = slices.program[function.whole];
    each_call(whole, whole.body,
              [&](CallId id) { count += whole[id].form->to_run == FormRecord::ToRun::session ? 1 : 0; });
  }
  return count;
}

std::vector<std::string> names_where(const SlicesReport& report, bool SlicedFunction::*reached) {
  std::vector<std::string> names;
  for (const SlicedFunction& function : report.functions)
    if (function.*reached) names.push_back(function.name);
  return names;
}

}  // namespace

std::vector<std::string> SlicesReport::host_functions() const { return names_where(*this, &SlicedFunction::in_host); }
std::vector<std::string> SlicesReport::graph_functions() const { return names_where(*this, &SlicedFunction::in_graph); }

const SlicedFunction* find_function(const SlicesReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.functions, name, &SlicedFunction::name);
  return found == report.functions.end() ? nullptr : &*found;
}

bool calls_nothing(const Program& program, const SlicesReport& report) {
  auto in_main = [&](const Function& function) {
    return function.module == program.main_module && function.kind != FunctionKind::module &&
           function.part == Part::whole;
  };
  return std::ranges::any_of(program.functions, in_main) &&
         std::ranges::none_of(report.functions, [&](const SlicedFunction& one) { return in_main(program[one.whole]); });
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
    if (!is_name(function.name)) name = "closure at " + position_text(program, function.span);  // <closure>
    std::string whose = module;
    std::ranges::replace(whose, '/', '.');
    names.push_back(function.module == program.main_module ? name : whose + "." + name);
  }
  return names;
}

SlicesReport report_slices(const Slices& slices) {
  SlicesReport report;
  const CodeNames names = names_for(slices);
  add_functions(slices, names, report);
  add_channels(slices, names, report);
  add_sink(slices, report);
  count_messages(slices, report);
  for (const SlicedFunction& function : report.functions) report.total.add(function.metrics);
  report.nested_sessions = nested_sessions(slices, report);
  report.advice = advice_on(slices, report);
  return report;
}

}  // namespace taskspec
