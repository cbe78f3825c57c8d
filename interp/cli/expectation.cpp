#include "interp/cli/expectation.hpp"

#include <algorithm>
#include <optional>

#include "ir/base/render.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

std::string without_blanks_after(const std::string& text) { return text.substr(0, text.find_last_not_of(" \r") + 1); }

std::string output_difference(const Expectation& e, const Observed& seen) {
  std::vector<std::string_view> got = lines_of(seen.output);
  for (std::size_t i = 0; i < std::max(got.size(), e.lines.size()); ++i) {
    std::string line = "line " + std::to_string(i + 1);
    if (i >= e.lines.size()) return line + " is more than expected: " + std::string(got[i]);
    if (i >= got.size()) return line + " is missing: " + e.lines[i];
    if (!fits_pattern(e.lines[i], got[i]))
      return line + "\n    expected: " + e.lines[i] + "\n    printed:  " + std::string(got[i]);
  }
  return "";
}

bool has_error(const Observed& seen, const std::string& code, std::uint32_t line) {
  return std::any_of(seen.diags.items().begin(), seen.diags.items().end(), [&](const Diag& diag) {
    Span span = diag.primary.span;
    std::uint32_t at = span.valid() ? seen.sources[span.source].position(span.begin).line : 0;
    return diag.code.text() == code && (line == 0 || at == line);
  });
}

std::string errors_difference(const Expectation& e, const Observed& seen) {
  for (const auto& [code, line] : e.errors)
    if (!has_error(seen, code, line))
      return "expected " + code + (line ? " at line " + std::to_string(line) : "") + "; got\n" +
             (seen.diags.empty() ? "no diagnostic" : render(seen.sources, seen.diags));
  std::size_t errors = 0;
  for (const Diag& diag : seen.diags.items()) errors += diag.severity == Severity::error;
  if (errors > e.errors.size()) return "more errors than expected:\n" + render(seen.sources, seen.diags);
  return "";
}

// From `//` to the end; not one inside a string, which ends with its line.
std::string_view comment_of(std::string_view line) {
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_string && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      in_string = !in_string;
    else if (!in_string && line.substr(i).starts_with("//"))
      return line.substr(i);
  }
  return {};
}

}  // namespace

Expectation read_expectation(std::string_view text) {
  Expectation e;
  for (std::string_view line : lines_of(text)) {
    const std::string_view comment = comment_of(line);
    auto after = [&](std::string_view mark) -> std::optional<std::string> {
      std::size_t at = comment.find(mark);
      if (at == std::string_view::npos) return std::nullopt;
      return std::string(comment.substr(at + mark.size()));
    };
    if (auto expected = after("// expect:")) {
      e.has_lines = true;
      e.lines.push_back(expected->starts_with(" ") ? expected->substr(1) : *expected);
    } else if (auto error = after("// error E")) {
      std::size_t at = error->find('@');
      int wanted = at == std::string::npos ? 0 : std::atoi(error->c_str() + at + 1);
      e.errors.emplace_back("E" + error->substr(0, 4), static_cast<std::uint32_t>(wanted));
    } else if (auto label = after("// label ")) {
      e.labels.push_back(without_blanks_after(*label));
    } else if (auto define = after("// define: ")) {
      std::size_t at = define->find('=');
      if (at != std::string::npos)
        e.defines.emplace_back(define->substr(0, at), without_blanks_after(define->substr(at + 1)));
    }
  }
  return e;
}

std::string difference(const Expectation& e, const Observed& seen) {
  std::string problem;
  if (!e.errors.empty())
    problem = errors_difference(e, seen);
  else if (seen.exit_code != 0)
    problem = "exit code " + std::to_string(seen.exit_code) + "\n" + render(seen.sources, seen.diags);
  return problem.empty() && e.has_lines ? output_difference(e, seen) : problem;
}

}  // namespace taskspec::cli
