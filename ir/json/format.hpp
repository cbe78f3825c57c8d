// Names and parts that the writer, the reader and the schema of graphs share. Internal to ir/json/.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph/chains.hpp"
#include "ir/json/defs.hpp"
#include "ir/json/text.hpp"
#include "ir/plan/plan.hpp"

namespace taskspec {

inline constexpr std::string_view graph_format = "taskspec-graph";
inline constexpr std::int64_t graph_version = 2;  // grows with every change that a reader must know

std::string_view stop_name(Stop stop);

// [file, line, column, length] of a span, or null where there is none; files in order of first use.
class SpanWriter {
 public:
  SpanWriter(JsonText& out, const Sources& sources) : out_(out), sources_(sources) {}
  void note(Span span);  // of all that will be put, before the first is
  std::vector<std::string> paths() const;
  void put(Span span);

 private:
  bool known(Span span) const { return span.valid() && span.source.index() < sources_.size(); }
  JsonText& out_;
  const Sources& sources_;
  std::vector<SourceId> files_;
  std::unordered_map<std::uint32_t, std::int64_t> numbers_;  // by source; only looked up
};

void put_plan(JsonText& out, const Plan& plan);
// The table of regions: their extents and fields, and the partitions below them with what is known of their pieces.
void put_regions(JsonText& out, const TaskGraph& graph);
// What a node is for all points of its domain: which pieces they take, by formula, and what is done with them.
void put_launch(JsonText& out, const TaskGraph& graph, const Launch& launch);
// Of a structured node: where its control stands in the body of its def ("call"; "cond", the call that decides), and
// "bodies", what happens inside as graphs.
void put_structure(JsonText& out, const Program& program, const Defs& defs, const Definition& definition);

// The same for a viewer, where each body stands once, however many nodes and calls have it, and its nodes know their
// places: "inside", the number of an entry of "insides".
class InsideTable {
 public:
  InsideTable(const Program& program, const Defs& defs) : program_(program), defs_(defs) {}
  std::size_t of(const Definition& definition) { return number(definition.function, definition.call); }
  std::optional<std::size_t> of(FunctionId function);  // nothing for what has no body in the program
  void put(JsonText& out);                             // with those that stand in them

 private:
  std::size_t number(FunctionId function, CallId call);
  const Program& program_;
  const Defs& defs_;
  std::vector<std::pair<FunctionId, CallId>> keys_;
  std::map<std::pair<FunctionId, CallId>, std::size_t> numbers_;
};

}  // namespace taskspec
