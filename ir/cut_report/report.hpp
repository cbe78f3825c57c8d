// What there is to say about a program that was cut in two (ir/cut/cut_program.hpp): the two programs side by side,
// what goes through channels and why, how much the graph program does between two communications, and what a small edit
// would save. The data of `taskspec slices`; show/cut_text.hpp and json/cut_program.hpp show it.
//
//   CutReport report = report_cut(cut_program(program));
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/cut/cut_program.hpp"
#include "ir/cut_report/code_lines.hpp"

namespace taskspec {

// A line of the host part beside one of the graph part: of the same call, or the two ends of a channel.
struct CutRow {
  std::optional<CodeLine> host, graph;
};

// Tensor operations of a graph part without a communication in between. An operation is an op on tensors, the call of a
// task, or the call of a fn whose graph part does not communicate; the call of a graph stands for the operations in it.
// Branches and loops without communication belong to the segment around them, and what they hold counts once, as it is
// written; one with a communication inside ends the segment before it, and so does the call of a fn that communicates.
struct GraphSegment {
  std::uint32_t operations = 0;
  std::uint32_t loops = 0;  // of its function that it stands in; one more where the function itself is repeated
  Span span;                // of the first operation
};

// Static counts; what stands in a loop is counted once, and again in the number after it.
struct CutMetrics {
  std::vector<GraphSegment> segments;
  std::uint32_t sends = 0, sends_each_turn = 0;        // messages to the graph
  std::uint32_t receives = 0, receives_each_turn = 0;  // messages to the host
  std::uint32_t waits = 0, waits_each_turn = 0;        // receives of something that the graph must have computed
  // Receives whose value decides or feeds a later send of the same function, in the same turn of a loop or, through a
  // variable, in the next one: there the graph waits for the host, which waits for the graph. A later order is decided
  // by what may end the program, too.
  std::uint32_t round_trips = 0, round_trips_each_turn = 0;

  std::uint32_t operations() const;
  std::uint32_t largest() const;  // operations of the largest segment
  void add(const CutMetrics& other);
};

struct ReportedFunction {
  FunctionId whole;
  FunctionParts parts;
  std::string name;               // "policy.improve"; of a top level the file: "game.task"
  bool in_host = false;           // the host program reaches it
  bool in_graph = false;          // the graph program does
  std::vector<CutRow> rows = {};  // none of those that are not cut
  CutMetrics metrics = {};
  bool is_cut() const { return parts.host.valid() || parts.graph.valid(); }
};

struct ReportedItem {
  Carries what = Carries::value;
  std::string type;   // "[float]"
  std::string value;  // as written: "s"
  std::string why;    // "'s' is made by the host at 11:11 and needed by the graph at 12:20"
  Span span;
};

struct ReportedChannel {
  ChannelId id;
  std::string name;  // "episode:2"
  FunctionId function;
  bool to_host = false;
  std::uint32_t loops = 0;  // around it in its function; one more where the function itself is repeated
  bool waits = false;       // the host waits for the graph here
  bool round_trip = false;  // and the graph for what the host makes of it
  bool may_end = false;     // only for whether the program goes on at all; a round trip then
  std::vector<ReportedItem> items;
};

// What the sink of the session collects: sends to the host, and effects that nobody consumes.
struct SinkItem {
  std::string text;
  ChannelId channel;  // invalid: an effect
  Span span;
};

struct CutAdvice {
  std::string text;
  Span span;
};

struct CutReport {
  std::uint32_t nested_sessions = 0;  // places with `run e on B`, which open a session each time
  std::vector<ReportedFunction> functions;
  std::vector<ReportedChannel> channels;
  std::vector<SinkItem> sink;
  CutMetrics total;
  std::vector<CutAdvice> advice;

  std::vector<std::string> host_functions() const;   // names of what the host program reaches
  std::vector<std::string> graph_functions() const;  // likewise
};

CutReport report_cut(const CutProgram& cut);

// Null if neither program has one of this name.
const ReportedFunction* find_function(const CutReport& report, std::string_view name);
// Has the main module functions, none of which is part of one of the two programs?
bool calls_nothing(const Program& program, const CutReport& report);

// How functions of a program are called where several modules are in sight: "episode", "policy.improve".
std::vector<std::string> function_names(const Program& program);
std::string_view arrow(bool to_host);  // "<--" or "-->", with the host at the left

// One warning or error E1304 for each value that goes to the graph without the text saying so.
Diags implicit_sends(const CutProgram& cut, Severity severity);

}  // namespace taskspec
