// Why something goes through a channel, and what an edit of the text would save.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/base/text.hpp"
#include "ir/cut_report/code_words.hpp"
#include "ir/cut_report/parts.hpp"
#include "ir/program/top_level.hpp"

namespace taskspec {

namespace {

std::string written(const Program& program, Span span) {
  if (!span.valid() || span.source.index() >= program.sources.size()) return "";
  return one_line(program.sources.text(span), 40);
}

// What the host puts into each channel; none into those that lead to it.
std::vector<const Call*> enqueues_of(const CutProgram& cut) {
  std::vector<const Call*> enqueues(cut.channels.size(), nullptr);
  for (const FunctionParts& parts : cut.parts) {
    if (!parts.host.valid()) continue;
    for (const Call& call : cut.program[parts.host].calls)
      if (call.form == Form::enqueue) enqueues[call.index] = &call;
  }
  return enqueues;
}

// A variable goes by its name and by the place that makes it, everything else by itself.
Span made_at(const Function& whole, const Call& call) {
  if (call.form == Form::variable) return whole.variables[call.variable.index()].span;
  if (call.form == Form::parameter) return whole.parameters[call.index].span;
  return call.span;
}

std::string to_graph(const CutProgram& cut, const Function& whole, const ChannelItem& item, const Call* call,
                     const std::string& value) {
  const Program& program = cut.program;
  const Span made = call ? made_at(whole, *call) : item.span;
  const std::string place = position_text(program, made.valid() ? made : item.span);
  if (item.what == Carries::predicate)
    return fmt::format("the host decides '{}' at {}, and the graph has to take the same way", value,
                       position_text(program, item.span));
  if (item.what == Carries::order)
    return fmt::format("the host may end the program before '{}' at {} is to be seen", value,
                       position_text(program, item.span));
  if (item.what == Carries::passed)
    return fmt::format("'{}' at {} may end the program: the graph goes on when it has not", value,
                       position_text(program, item.span));
  if (item.what == Carries::trips)
    return fmt::format("how many turns the loop over '{}' at {} has", value, position_text(program, item.span));
  const bool elsewhere = item.span.valid() && made.valid() && item.span.begin != made.begin;
  return fmt::format("'{}' is made by the host at {} and needed by the graph{}", value, place,
                     elsewhere ? " at " + position_text(program, item.span) : "");
}

std::string to_host(const CutProgram& cut, const ChannelItem& item, const std::string& value) {
  const std::string place = position_text(cut.program, item.span);
  switch (item.what) {
    case Carries::handle:
      return fmt::format("the name of '{}' at {}; no data", value, place);
    case Carries::shape:
      return fmt::format("extents of '{}' at {}, known without running anything", value, place);
    case Carries::contents:
      return fmt::format("the host works with the contents of '{}' at {}", value, place);
    case Carries::result:
      return fmt::format("'{}' at {} is known when the graph is", value, place);
    default:
      return fmt::format("'{}' at {} receives it", value, place);
  }
}

// ---- advice ---------------------------------------------------------------------------------------

// "line 12", or "models/policy.task:12" where it is in another file than the main one.
std::string line_text(const Program& program, Span span) {
  const std::string place = position_text(program, span);
  const std::string line = place.substr(0, place.rfind(':'));
  return line.find(':') == std::string::npos ? "line " + line : line;
}

constexpr std::string_view into_a_graph = "move the loop into a graph, where `while` and `if` test a bool tensor";

struct Receive {
  const ReportedChannel& channel;
  const Call& loop;  // the innermost one around it, of the host part
  bool decides;      // whether that loop goes on
  bool host_works;   // in each turn of that loop, with more than what was received
};

// What a loop can do instead of receiving: `kept = kept + [y.sum(0)]`, with `s => s.scalar` after it.
std::string kept_in_list(const ReportedItem& item) {
  std::string tensor = item.value;
  const std::string word = "." + std::string(name_of(item.what));
  const bool received = tensor.ends_with(word);
  if (!received) return "keep the tensors in a list, and work with them after the loop";
  tensor.resize(tensor.size() - word.size());
  return fmt::format(
      "keep the tensors in a list (kept = kept + [{}]), and receive after the loop "
      "(map(kept, t => t{}))",
      tensor, word);
}

std::string advice_text(const Program& program, const Receive& receive) {
  const std::string where = line_text(program, receive.channel.items[0].span);
  const std::string loop = line_text(program, receive.loop.span);
  const std::string forces = fmt::format("receive at {} forces the loop at {} to synchronise each step: ", where, loop);
  if (receive.decides && receive.host_works)
    return forces +
           "it decides when the loop ends, and the host has work in each turn; decide only every few turns, of which "
           "the graph then does several without waiting";
  if (receive.decides)
    return forces + "it decides when the loop ends; " + std::string(into_a_graph) + ", and receive after it";
  if (receive.channel.may_end)
    return forces +
           "whether the program goes on decides what the graph may show; test it only every few turns, or after the "
           "loop";
  if (receive.channel.round_trip)
    return forces +
           "what the host makes of it is sent back; do that with tensor operations, and receive after the loop";
  return forces + "nothing in the graph depends on it; " + kept_in_list(receive.channel.items[0]);
}

// Does the host part do anything in this loop that a graph cannot do?
bool host_works_in(const Program& program, const Function& host, const Call& loop) {
  bool works = false;
  for (const Block& block : loop.blocks)
    each_call(host, block, [&](CallId id) {
      const Call& call = host[id];
      const bool shown = call.builtin && call.builtin->effect != Effect::pure;
      const bool called =
          call.form == Form::call && (program[call.callee].effects.host || !program[call.callee].extern_symbol.empty());
      works = works || shown || called || call.form->enters == FormRecord::Enters::value || call.form == Form::enqueue;
    });
  return works;
}

}  // namespace

std::vector<std::vector<ReportedItem>> items_of(const CutProgram& cut) {
  const std::vector<const Call*> enqueues = enqueues_of(cut);
  std::vector<std::vector<ReportedItem>> all;
  for (std::size_t i = 0; i < cut.channels.size(); ++i) {
    const Channel& channel = cut.channels[i];
    const Function& whole = cut.program[channel.function];
    std::vector<ReportedItem>& items = all.emplace_back();
    for (const ChannelItem& item : channel.items) {
      const bool known = !channel.to_host && enqueues[i] && items.size() < enqueues[i]->in.size();
      const Function* host = known ? &cut.program[cut.part(channel.function, Part::host)] : nullptr;
      const Call* sent = known ? &(*host)[enqueues[i]->in[items.size()]] : nullptr;
      std::string value = sent && sent->form == Form::variable ? whole.variables[sent->variable.index()].name
                                                               : written(cut.program, item.span);
      if (value.empty()) value = "a value";
      std::string why = channel.to_host ? to_host(cut, item, value) : to_graph(cut, whole, item, sent, value);
      items.push_back({item.what, item.type.text(), std::move(value), std::move(why), item.span});
    }
  }
  return all;
}

namespace {

void add(std::vector<CutAdvice>& advice, std::string text, Span span) {
  auto start = [](const std::string& all) { return all.substr(0, all.find(" (")); };
  auto says_it = [&](const CutAdvice& one) { return start(one.text) == start(text); };  // of this line already
  if (std::none_of(advice.begin(), advice.end(), says_it)) advice.push_back({std::move(text), span});
}

// Of the receives in loops of one function.
void advise(const CutProgram& cut, const CutReport& report, const Function& host, std::vector<CutAdvice>& advice) {
  const std::vector<CallPosition> places = positions_of(host);
  std::map<CallId, Feeding> loops;
  each_call(host, host.body, [&](CallId id) {
    const CallId loop = places[id.index()].loop;
    if (host[id].form != Form::dequeue || !loop.valid()) return;
    const ReportedChannel& channel = report.channels[host[id].index];
    if (!channel.waits || channel.items.empty()) return;
    if (!loops.contains(loop)) loops.emplace(loop, Feeding::of_loop(host, loop));
    const bool works = host_works_in(cut.program, host, host[loop]);
    const Receive receive{channel, host[loop], loops.at(loop).feeds(id), works};
    add(advice, advice_text(cut.program, receive), channel.items[0].span);
  });
}

// Of loops that the graph program decides by itself, without a message: it waits for its own tensors.
void advise_on_graph(const CutProgram& cut, const Function& graph, const std::vector<bool>& communicates,
                     std::vector<CutAdvice>& advice) {
  const std::vector<CallPosition> places = positions_of(graph);
  const std::vector<FunctionId> wholes = wholes_of(cut);
  auto talks = [&](const Call& loop) {
    bool found = false;
    for (const Block& block : loop.blocks)
      each_call(graph, block, [&](CallId id) {
        const Call& call = graph[id];
        const FunctionId callee = called_part(cut, wholes, call.callee, Part::graph);
        found = found || call.form->talks || (callee.valid() && communicates[callee.index()]);
      });
    return found;
  };
  each_call(graph, graph.body, [&](CallId id) {
    const CallId loop = places[id.index()].loop;
    const Call& call = graph[id];
    if (call.form != Form::receive || call.type.is(Type::Kind::none) || !loop.valid() || talks(graph[loop])) return;
    if (!Feeding::of_loop(graph, loop).feeds(id)) return;
    add(advice,
        fmt::format("the graph waits for what it tests at {} in each turn of the loop at {}: {}",
                    line_text(cut.program, call.span), line_text(cut.program, graph[loop].span), into_a_graph),
        call.span);
  });
}

}  // namespace

std::vector<CutAdvice> advice_on(const CutProgram& cut, const CutReport& report) {
  std::vector<CutAdvice> advice;
  for (const ReportedChannel& channel : report.channels)
    if (!channel.to_host && !channel.items.empty() && channel.items[0].what == Carries::trips)
      advice.push_back({fmt::format("send at {} tells the graph how long the loop is: with constant bounds the graph "
                                    "counts by itself",
                                    line_text(cut.program, channel.items[0].span)),
                        channel.items[0].span});
  const std::vector<bool> communicates = communicating(cut, Part::graph);
  for (const ReportedFunction& function : report.functions) {
    if (function.parts.host.valid()) advise(cut, report, cut.program[function.parts.host], advice);
    if (function.parts.graph.valid()) advise_on_graph(cut, cut.program[function.parts.graph], communicates, advice);
  }
  return advice;
}

// ---- diagnostics ----------------------------------------------------------------------------------

Diags implicit_sends(const CutProgram& cut, Severity severity) {
  Diags diags;
  const std::vector<std::vector<ReportedItem>> items = items_of(cut);
  for (std::size_t i = 0; i < cut.channels.size(); ++i) {
    const Channel& channel = cut.channels[i];
    if (channel.to_host) continue;
    for (const ReportedItem& item : items[i]) {
      if (channel.carries_nothing()) continue;
      const std::string often = channel.loops > 0 ? " in each turn of its loop" : "";
      const std::string message =
          item.what == Carries::predicate
              ? fmt::format("the host decides '{}', which is sent to the graph{}", item.value, often)
          : item.what == Carries::trips ? fmt::format("the length of '{}' is sent to the graph{}", item.value, often)
                                        : fmt::format("'{}' is sent to the graph{}", item.value, often);
      Diag& diag = severity == Severity::error ? diags.error("E1304", item.span, message)
                                               : diags.warning("E1304", item.span, message);
      diag.help(item.what == Carries::value
                    ? "a constant, or what is computed from constants, needs no message; a tensor that the graph makes "
                      "itself neither"
                    : "constant bounds, or a test of a tensor inside a graph, need no message");
    }
  }
  return diags;
}

}  // namespace taskspec
