// Looking around in a program that was cut in two. Internal to ir/slices_*.cpp.
#pragma once
#include <string>
#include <vector>

#include "ir/slices_report.hpp"

namespace taskspec {

// Which whole function a function of a cut program is or is a part of.
std::vector<FunctionId> wholes_of(const Slices& slices);

// By whole function: is it part of the host program, of the graph program?
struct Reached {
  std::vector<bool> host, graph;
};
Reached reached_of(const Slices& slices);

// What a call calls in the program of this side: a part, a whole function that was not cut, or nothing.
FunctionId called_part(const Slices& slices, const std::vector<FunctionId>& wholes, FunctionId callee, Part side);

// By function: does it put anything into a channel or take anything out, itself or in what it calls?
std::vector<bool> communicating(const Slices& slices, Part side);

// Does the host wait for something that the graph must have computed?
bool waits(Carries what);

// The values of a part that depend on a call of it, with what that decides.
class Influence {
 public:
  Influence(const Function& function, CallId source);
  bool on(CallId id) const { return calls_[id.index()]; }
  bool on_variable(VariableId id) const { return variables_[id.index()]; }
  // A break, continue or return that it decides: then it decides the loop, too.
  bool leaves() const { return leaves_; }

 private:
  void walk(const Block& block, bool decided);
  void visit(CallId id, bool decided);
  const Function& function_;
  std::vector<bool> calls_, variables_;
  bool changed_ = false, leaves_ = false;
};

// What a function's calls stand in.
struct CallPlace {
  std::uint32_t order = 0;  // in the text
  std::uint32_t loops = 0;
  CallId loop;  // innermost
};
std::vector<CallPlace> places_of(const Function& function);

std::vector<GraphSegment> segments_of(const Slices& slices, FunctionId graph_part,
                                      const std::vector<bool>& communicates);
void count_messages(const Slices& slices, SlicesReport& report);
std::vector<SliceAdvice> advice_on(const Slices& slices, const SlicesReport& report);
std::vector<SliceRow> side_by_side(const std::vector<CodeLine>& host, const std::vector<CodeLine>& graph);
std::vector<SlicedItem> items_of(const Slices& slices, ChannelId id);
std::string position_text(const Program& program, Span span);  // "12:9", with the file where it is another

}  // namespace taskspec
