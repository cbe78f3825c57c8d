// Why something goes through a channel, and what an edit of the text would save.
#include <fmt/format.h>

#include <set>

#include "ir/base/text.hpp"
#include "ir/code_words.hpp"
#include "ir/slices_parts.hpp"

namespace taskspec {

namespace {

std::string written(const Program& program, Span span) {
  if (!span.valid() || span.source.index() >= program.sources.size()) return "";
  return one_line(program.sources.text(span), 40);
}

// What the host puts into a channel, operand by operand; nothing if it does not.
const Call* sent_value(const Slices& slices, const Channel& channel, ChannelId id, std::size_t item) {
  const FunctionId part = slices.part(channel.function, Part::host);
  if (channel.to_host || !part.valid()) return nullptr;
  const Function& host = slices.program[part];
  for (const Call& call : host.calls)
    if (call.form == Form::enqueue && call.index == id.value && item < call.in.size()) return &host[call.in[item]];
  return nullptr;
}

// A variable goes by its name and by the place that makes it, everything else by itself.
Span made_at(const Function& whole, const Call& call) {
  if (call.form == Form::variable) return whole.variables[call.variable.index()].span;
  if (call.form == Form::parameter) return whole.parameters[call.index].span;
  return call.span;
}

std::string to_graph(const Slices& slices, const Function& whole, const ChannelItem& item, const Call* call,
                     const std::string& value) {
  const Program& program = slices.program;
  const Span made = call ? made_at(whole, *call) : item.span;
  const std::string place = position_text(program, made.valid() ? made : item.span);
  if (item.what == Carries::predicate)
    return fmt::format("the host decides '{}' at {}, and the graph has to take the same way", value,
                       position_text(program, item.span));
  if (item.what == Carries::trips)
    return fmt::format("how many turns the loop over '{}' at {} has", value, position_text(program, item.span));
  const bool elsewhere = item.span.valid() && made.valid() && item.span.begin != made.begin;
  return fmt::format("'{}' is made by the host at {} and used in a tensor expression{}", value, place,
                     elsewhere ? " at " + position_text(program, item.span) : "");
}

std::string to_host(const Slices& slices, const ChannelItem& item, const std::string& value) {
  const std::string place = position_text(slices.program, item.span);
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

struct Receive {
  const SlicedChannel& channel;
  const Function& part;  // of the host
  CallId call, loop;     // the innermost loop around it
};

bool decides(const Receive& receive) {
  const Influence influence(receive.part, receive.call);
  const Call& loop = receive.part[receive.loop];
  const bool condition =
      loop.form == Form::while_ && loop.blocks[0].result.valid() && influence.on(loop.blocks[0].result);
  return condition || influence.leaves();
}

std::string advice_text(const Program& program, const Receive& receive) {
  const std::string where = line_text(program, receive.channel.items[0].span);
  const std::string loop = line_text(program, receive.part[receive.loop].span);
  const std::string forces = fmt::format("receive at {} forces the loop at {} to synchronise each step: ", where, loop);
  if (decides(receive))
    return forces +
           "it decides when the loop ends; move the loop into a graph, where `while` and `if` test a bool tensor, and "
           "receive after it";
  if (receive.channel.round_trip)
    return forces +
           "what the host makes of it is sent back; do that with tensor operations, and receive after the loop";
  return forces + "nothing in the graph depends on it; gather the values in a tensor, and receive once after the loop";
}

}  // namespace

std::vector<SlicedItem> items_of(const Slices& slices, ChannelId id) {
  std::vector<SlicedItem> items;
  const Channel& channel = slices[id];
  const Function& whole = slices.program[channel.function];
  for (const ChannelItem& item : channel.items) {
    const Call* sent = sent_value(slices, channel, id, items.size());
    std::string value = sent && sent->form == Form::variable ? whole.variables[sent->variable.index()].name
                                                             : written(slices.program, item.span);
    if (value.empty()) value = "a value";
    std::string why = channel.to_host ? to_host(slices, item, value) : to_graph(slices, whole, item, sent, value);
    items.push_back({item.what, item.type.text(), std::move(value), std::move(why), item.span});
  }
  return items;
}

std::vector<SliceAdvice> advice_on(const Slices& slices, const SlicesReport& report) {
  std::vector<SliceAdvice> advice;
  for (const SlicedChannel& channel : report.channels) {
    if (channel.loops == 0 || channel.items.empty()) continue;
    const Span span = channel.items[0].span;
    if (!channel.to_host && channel.items[0].what == Carries::trips)
      advice.push_back({fmt::format("send at {} tells the graph the length of the loop: with constant bounds the graph "
                                    "counts by itself",
                                    line_text(slices.program, span)),
                        span});
    const FunctionId host = slices.part(channel.function, Part::host);
    if (!channel.waits || !host.valid()) continue;
    const Function& part = slices.program[host];
    const std::vector<CallPlace> places = places_of(part);
    for (std::size_t i = 0; i < part.calls.size(); ++i) {
      const bool receives = part.calls[i].form == Form::dequeue && part.calls[i].index == channel.id.value;
      if (receives && places[i].order > 0 && places[i].loop.valid())
        advice.push_back({advice_text(slices.program, {channel, part, CallId(i), places[i].loop}), span});
    }
  }
  return advice;
}

// ---- diagnostics ----------------------------------------------------------------------------------

Diags implicit_sends(const Slices& slices, Severity severity) {
  Diags diags;
  for (std::size_t i = 0; i < slices.channels.size(); ++i) {
    const Channel& channel = slices.channels[i];
    if (channel.to_host) continue;
    const std::vector<SlicedItem> items = items_of(slices, ChannelId(i));
    for (const SlicedItem& item : items) {
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
