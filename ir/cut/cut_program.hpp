// Phase 3: a program cut in two. Every fn that does something on both sides becomes a function of the host program
// and one of the graph program with the same call structure; what one side needs of the other goes through channels.
//
//   while !over(s) {                    host part: while { c = !over(s); enqueue 0 (c); c } { enqueue 1 (s); ...
//     let a = act(p, tensor(s)).a         m = dequeue 2; s = step(s, m) }
//     s = step(s, a.argmax(0).scalar)   graph part: while dequeue 0 { v = dequeue 1; a = act(p, tensor(v)).a;
//   }                                     m = a.argmax(0); enqueue 2 (m.scalar) }
//
// Both parts stand beside the whole function in one Program, with the CallIds of the whole: call k of a part does
// there what is left of call k. `task` and `graph` functions have no host part and are not cut.
#pragma once
#include <string>
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

struct ChannelTag;
using ChannelId = Id<ChannelTag>;  // in CutProgram::channels; Call::index of enqueue and dequeue

// Why a value goes through a channel, and in which form.
enum class Carries : std::uint8_t {
  value,      // to the graph: a host value in an expression of tensors
  predicate,  // to the graph: the bool of an if or while
  trips,      // to the graph: a range as long as the list that a loop runs over
  order,      // to the graph: nothing but that the host has come here; then what the graph shows may be seen
  passed,     // to the graph: nothing but that the host did not exit here
  scalar,     // to the host: .scalar
  array,      // to the host: .array
  iter,       // to the host: .iter
  contents,   // to the host: an array for save, show
  handle,     // to the host: names of futures, for print; no data
  shape,      // to the host: extents and lengths, known without running anything
  result,     // to the host: what was computed beside the graph: the report of `run`, what chains(g) found
};
std::string_view name_of(Carries what);
inline bool carries_nothing(Carries what) { return what == Carries::order || what == Carries::passed; }

struct ChannelItem {
  Carries what = Carries::value;
  Type type;
  CallId call;  // of the whole function: whose value it is
  Span span;
};

// A bounded queue. Its two ends are the enqueue and the dequeue of one site; messages are in program order. One that
// carries `order` has an enqueue in the graph part as well, behind what is shown: it tells that this is done.
struct Channel {
  FunctionId function;     // the whole function it stands in
  std::uint32_t site = 0;  // counts the channels of its function, in program order
  bool to_host = false;
  std::uint32_t loops = 0;         // loops of its function that it stands in
  std::vector<ChannelItem> items;  // of one message; several where communications were merged
  bool orders() const { return !items.empty() && items[0].what == Carries::order; }
  bool carries_nothing() const { return !items.empty() && taskspec::carries_nothing(items[0].what); }
};

// Where a whole function went.
struct FunctionParts {
  FunctionId host;   // invalid: nothing is left for the host
  FunctionId graph;  // likewise
};

// Passes over the two programs. Without any, every host value that the graph needs is sent where it is made.
struct CutOptions {
  bool fold = true;       // constants and cheap host arithmetic on them are computed again in the graph program
  bool hoist = true;      // a send of what a loop does not change stands before the loop
  bool sink = true;       // a receive stands where its value is first needed
  bool merge = true;      // neighbouring messages of one direction are one message
  bool dead_code = true;  // receives that nobody looks at, pure tensor operations without use
  static CutOptions none() { return {false, false, false, false, false}; }
};

struct CutProgram {
  Program program;                   // with the parts after all whole functions
  std::vector<FunctionParts> parts;  // by whole function; both invalid for those that are not cut or not reached
  std::vector<Channel> channels;     // by function, then site

  const Channel& operator[](ChannelId id) const { return channels[id.index()]; }
  FunctionId part(FunctionId whole, Part side) const {
    return side == Part::host ? parts[whole.index()].host : parts[whole.index()].graph;
  }
};

// The program must have passed the checker: then it cannot fail.
CutProgram cut_program(const Program& program, const CutOptions& options = {});

}  // namespace taskspec
