// A program cut in two, for people: what `taskspec slices` prints.
//
//   fmt::print("{}", cut_text(cut.program, report_cut(cut), {.columns = 160}));
//
//   fn episode
//     host                                       |   graph
//     while enqueue episode:0 (!game.over(s)) {  --> while dequeue episode:0 {
#pragma once
#include <string>

#include "ir/cut_report/report.hpp"

namespace taskspec {

struct CutTextOptions {
  std::size_t columns = 80;  // from 100 on the two parts stand side by side, else one below the other
  bool metrics = false;      // segments and round trips, too
  std::string function;      // only this one, by its name in the report; empty: all
};
std::string cut_text(const Program& program, const CutReport& report, const CutTextOptions& options = {});

std::string_view name_of(FunctionKind kind);   // "fn"
std::string summary(const CutReport& report);  // "1 session, 1 sink, 9 functions, 4 channels (3 sends, 1 receive)"

}  // namespace taskspec
