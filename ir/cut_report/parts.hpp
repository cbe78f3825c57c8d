// Looking around in a program that was cut in two. Internal to ir/cut_report/.
#pragma once
#include <string>
#include <vector>

#include "ir/cut_report/report.hpp"

namespace taskspec {

// Which whole function a function of a cut program is or is a part of.
std::vector<FunctionId> wholes_of(const CutProgram& cut);

// By whole function: is it part of the host program, of the graph program?
struct Reached {
  std::vector<bool> host, graph;
};
Reached reached_of(const CutProgram& cut);

// What a call calls in the program of this side: a part, a whole function that was not cut, or nothing.
FunctionId called_part(const CutProgram& cut, const std::vector<FunctionId>& wholes, FunctionId callee, Part side);

// By function: does it put anything into a channel or take anything out, itself or in what it calls?
std::vector<bool> communicating(const CutProgram& cut, Part side);

// By function: does the host part send anything, itself or in what it calls?
std::vector<bool> sending(const CutProgram& cut);

// By function: does the host part send an order? Can the program end there: exit, a failed assert, an index out of a
// list?
std::vector<bool> ordering(const CutProgram& cut);
std::vector<bool> ending(const CutProgram& cut);

// By whole function: may it run more than once for one call of the text: it calls itself, is called in a loop, or by
// `map` and the like?
std::vector<bool> repeating(const CutProgram& cut, const Reached& reached);

// Does the host wait for something that the graph must have computed?
bool waits(Carries what);

// The values of a host part that decide or feed what it does later: a send, or the end of a loop. One walk from the end
// of the text to its beginning, in which loops are repeated until nothing is added: what comes before is what counts.
class Feeding {
 public:
  // `senders` as from sending(): what is handed to such a function counts like a send.
  static Feeding of_sends(const Function& host, const std::vector<bool>& senders);
  // What counts is a later order: a value may feed it, or decide whether the program goes on until then.
  static Feeding of_orders(const Program& program, const Function& host, const std::vector<bool>& orderers,
                           const std::vector<bool>& enders);
  static Feeding of_loop(const Function& part, CallId loop);  // its condition, and what leaves it
  bool feeds(CallId id) const { return needed_[id.index()]; }

 private:
  explicit Feeding(const Function& function, const std::vector<bool>* senders = nullptr);
  bool sends(const Call& call) const;
  bool ends(const Call& call) const;
  bool acts(CallId id) const;
  bool walk(const Block& block);
  bool visit(CallId id);
  bool control(CallId id);
  bool repeat(CallId id);
  void need(CallId id);

  const Function& function_;
  const std::vector<bool>* senders_;           // none: what counts is how a loop ends, not a send
  const std::vector<bool>* enders_ = nullptr;  // some: of the sends only orders count, and what prevents them
  const Program* program_ = nullptr;           // with enders_
  std::vector<bool> needed_, variables_, acted_;
  bool inner_ = false;  // inside a loop in that loop, whose own breaks do not count
  bool acts_ = false;   // something that counts is done later in the text, or in the same loop: a return prevents it
  bool acts_in_loop_ = false;  // in this loop: a break or continue prevents it
  std::size_t changes_ = 0;
};

// What a function's calls stand in.
struct CallPosition {
  std::uint32_t order = 0;  // in the text
  std::uint32_t loops = 0;
  CallId loop;  // innermost
};
std::vector<CallPosition> positions_of(const Function& function);

std::vector<GraphSegment> segments_of(const CutProgram& cut, FunctionId graph_part,
                                      const std::vector<bool>& communicates);
void count_messages(const CutProgram& cut, CutReport& report);
std::string position_text(const Program& program, Span span);  // "12:9", with the file where it is another
std::vector<CutAdvice> advice_on(const CutProgram& cut, const CutReport& report);
std::vector<CutRow> side_by_side(const std::vector<CodeLine>& host, const std::vector<CodeLine>& graph);
std::vector<std::vector<ReportedItem>> items_of(const CutProgram& cut);  // by channel

}  // namespace taskspec
