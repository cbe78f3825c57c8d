// Programs cut in two and what is said of them, for tests.
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "frontend/check.hpp"
#include "ir/show/cut_text.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::testing {

inline Program checked_program(const std::string& text) {
  Sources sources;
  const SourceId main = sources.add("test.task", text);
  Result<Program> program =
      check(sources, main, {.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  REQUIRE(program);
  return std::move(*program);
}

struct Reported {
  CutProgram cut;
  CutReport report;

  explicit Reported(const std::string& text, const CutOptions& options = {})
      : cut(cut_program(checked_program(text), options)), report(report_cut(cut)) {}

  std::string text(std::size_t columns, bool metrics = false) const {
    return cut_text(cut.program, report, {.columns = columns, .metrics = metrics, .function = ""});
  }
  const ReportedFunction& function(const std::string& name) const {
    for (const ReportedFunction& function : report.functions)
      if (function.name == name) return function;
    FAIL("no function " << name);
    return report.functions.front();
  }
  std::string host(const std::string& name) const { return side(function(name), &CutRow::host); }
  std::string graph(const std::string& name) const { return side(function(name), &CutRow::graph); }

  // The lines of one side.
  static std::string side(const ReportedFunction& function, std::optional<CodeLine> CutRow::*line) {
    std::string text;
    for (const CutRow& row : function.rows)
      if (row.*line) text += std::string(2 * (row.*line)->depth, ' ') + (row.*line)->text + "\n";
    return text;
  }
};

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace taskspec::testing
