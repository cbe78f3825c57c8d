// How much the graph program does between two communications, and how often the two programs wait for one another.
#include <algorithm>

#include "ir/cut_report/parts.hpp"
#include "ir/program/top_level.hpp"

namespace taskspec {

namespace {

// The segments of one graph part: see GraphSegment in cut_report/report.hpp.
class Segments {
 public:
  Segments(const CutProgram& cut, const std::vector<bool>& communicates)
      : cut_(cut), program_(cut.program), communicates_(communicates), wholes_(wholes_of(cut)) {}

  std::vector<GraphSegment> of(const Function& function) {
    function_ = &function;
    block(function.body, 0);
    end();
    return std::move(found_);
  }

 private:
  void end() {
    if (now_.operations > 0) found_.push_back(now_);
    now_ = {};
  }

  void operations(std::uint32_t count, const Call& call, std::uint32_t loops) {
    if (count == 0) return;
    if (now_.operations == 0) now_ = {0, loops, call.span};
    now_.operations += count;
  }

  void block(const Block& block, std::uint32_t loops) {
    for (CallId id : block.calls) visit((*function_)[id], loops);
  }

  void visit(const Call& call, std::uint32_t loops) {
    if (parts(call)) return end();
    if (call.blocks.empty()) {
      const FunctionId callee = called_part(cut_, wholes_, call.callee, Part::graph);
      if (callee.valid() && communicates_[callee.index()]) return end();
      return operations(operations_of(call, 0), call, loops);
    }
    const bool apart = talks(*function_, call);
    const bool turns = call.form->repeats();
    if (apart) end();
    for (const Block& inner : call.blocks) {
      block(inner, loops + (turns ? 1 : 0));
      if (apart) end();
    }
  }

  // Does a branch or loop communicate inside?
  // What follows is another stretch: a message, or a session of its own.
  static bool parts(const Call& call) { return call.form->talks || call.form->to_run == FormRecord::ToRun::session; }

  bool talks(const Function& function, const Call& call) const {
    for (const Block& block : call.blocks)
      for (CallId id : block.calls) {
        const Call& inner = function[id];
        if (parts(inner)) return true;
        const FunctionId callee = called_part(cut_, wholes_, inner.callee, Part::graph);
        if ((callee.valid() && communicates_[callee.index()]) || talks(function, inner)) return true;
      }
    return false;
  }

  std::uint32_t operations_of(const Call& call, int depth) const {
    if (call.op) return call.folded || !(call.type.is_tensor() || call.type.is(Type::Kind::invocation)) ? 0 : 1;
    const FormRecord::Enters enters = call.form->enters;
    if (enters == FormRecord::Enters::value)
      return call.type.is_tensor() || call.type.is(Type::Kind::invocation) ? 1 : 0;
    if (enters != FormRecord::Enters::callee) return 0;
    const Function& callee = program_[call.callee];
    if (call.form == Form::call) return callee.effects.graph ? 1 : 0;
    return callee.kind == FunctionKind::graph ? inside_graph(callee, depth) : 1;
  }

  // Graphs that call themselves count as one operation where they do so.
  std::uint32_t inside_graph(const Function& graph, int depth) const {
    constexpr int deepest = 50;
    if (depth == deepest) return 1;
    std::uint32_t count = 0;
    count_in(graph, graph.body, depth + 1, count);
    return std::max(count, 1U);
  }
  void count_in(const Function& function, const Block& block, int depth, std::uint32_t& count) const {
    constexpr std::uint32_t enough = 1'000'000;
    for (CallId id : block.calls) {
      if (count > enough) return;
      count += operations_of(function[id], depth);
      for (const Block& inner : function[id].blocks) count_in(function, inner, depth, count);
    }
  }

  const CutProgram& cut_;
  const Program& program_;
  const std::vector<bool>& communicates_;
  std::vector<FunctionId> wholes_;
  const Function* function_ = nullptr;
  std::vector<GraphSegment> found_;
  GraphSegment now_;
};

// By channel: is it received by the host in a value that decides or feeds a later send? In one that decides whether the
// program goes on to a later order?
struct RoundTrips {
  std::vector<bool> sent, ordered;
};

RoundTrips round_trips(const CutProgram& cut) {
  const std::size_t count = cut.channels.size();
  RoundTrips found{std::vector<bool>(count, false), std::vector<bool>(count, false)};
  const std::vector<bool> senders = sending(cut), orderers = ordering(cut), enders = ending(cut);
  for (const FunctionParts& parts : cut.parts) {
    if (!parts.host.valid()) continue;
    const Function& host = cut.program[parts.host];
    const Feeding sends = Feeding::of_sends(host, senders);
    const Feeding orders = Feeding::of_orders(cut.program, host, orderers, enders);
    each_call(host, host.body, [&](CallId id) {
      if (host[id].form != Form::dequeue) return;
      found.sent[host[id].index] = sends.feeds(id);
      found.ordered[host[id].index] = orders.feeds(id);
    });
  }
  return found;
}

void count(std::uint32_t& all, std::uint32_t& each_turn, bool in_loop) {
  ++all;
  if (in_loop) ++each_turn;
}

}  // namespace

std::vector<GraphSegment> segments_of(const CutProgram& cut, FunctionId graph_part,
                                      const std::vector<bool>& communicates) {
  if (!graph_part.valid()) return {};
  return Segments(cut, communicates).of(cut.program[graph_part]);
}

void count_messages(const CutProgram& cut, CutReport& report) {
  const RoundTrips trips = round_trips(cut);
  std::vector<CutMetrics> counts(cut.parts.size());
  for (ReportedChannel& channel : report.channels) {
    CutMetrics& metrics = counts[channel.function.index()];
    const bool in_loop = channel.loops > 0;
    if (!channel.to_host) {
      count(metrics.sends, metrics.sends_each_turn, in_loop);
      continue;
    }
    count(metrics.receives, metrics.receives_each_turn, in_loop);
    if (!channel.waits) continue;
    count(metrics.waits, metrics.waits_each_turn, in_loop);
    const std::size_t id = channel.id.index();
    channel.may_end = trips.ordered[id] && !trips.sent[id];
    channel.round_trip = trips.ordered[id] || trips.sent[id];
    if (channel.round_trip) count(metrics.round_trips, metrics.round_trips_each_turn, in_loop);
  }
  for (ReportedFunction& function : report.functions) function.metrics.add(counts[function.whole.index()]);
}

std::uint32_t CutMetrics::operations() const {
  std::uint32_t sum = 0;
  for (const GraphSegment& segment : segments) sum += segment.operations;
  return sum;
}

std::uint32_t CutMetrics::largest() const {
  std::uint32_t most = 0;
  for (const GraphSegment& segment : segments) most = std::max(most, segment.operations);
  return most;
}

void CutMetrics::add(const CutMetrics& other) {
  segments.insert(segments.end(), other.segments.begin(), other.segments.end());
  sends += other.sends;
  sends_each_turn += other.sends_each_turn;
  receives += other.receives;
  receives_each_turn += other.receives_each_turn;
  waits += other.waits;
  waits_each_turn += other.waits_each_turn;
  round_trips += other.round_trips;
  round_trips_each_turn += other.round_trips_each_turn;
}

}  // namespace taskspec
