// A function as lines of the language: `slices` shows the two programs of a function in this form. Calls are not
// numbered; a value stands in the line that uses it, and gets a name of its own only where it is used twice or where
// something with an effect would else change its place.
//
//   while enqueue episode:0 (!game.over(s)) {
//     enqueue episode:1 (s)
//     move = dequeue episode:2
//
// `enqueue c (x)` that stands inside a line has the value x. For reading, not for parsing.
#pragma once
#include <string>
#include <vector>

#include "ir/cut/cut_program.hpp"

namespace taskspec {

struct CodeLine {
  enum class Mark : std::uint8_t { statement, opens, between, closes };
  std::string text;
  std::uint32_t depth = 0;
  Mark mark = Mark::statement;
  CallId call;                      // what the line does; of lines that open and close a block, the call with the block
  std::vector<ChannelId> channels;  // that it puts something into or takes something from, in order
  Span span;                        // of the call, in the text of the program
};

// How functions and channels are called.
struct CodeNames {
  std::vector<std::string> functions;  // by FunctionId: "episode", "policy.improve"
  std::vector<std::string> channels;   // by ChannelId: "episode:2"
  std::vector<std::string> hints;      // by ChannelId: a name for what comes out of it, or nothing
};

std::vector<CodeLine> code_lines(const Program& program, FunctionId function, const CodeNames& names);

}  // namespace taskspec
