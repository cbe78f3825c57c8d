#include "frontend/dsl/errors.hpp"

#include <fstream>
#include <sstream>

#include "ir/base/render.hpp"

namespace taskspec::dsl::detail {

Span Places::line(At at) {
  if (at.line() == 0) return {};
  auto known = files_.find(at.file_name());
  if (known == files_.end() || sources_[known->second].line_count() < at.line()) {
    std::ostringstream text;
    if (known == files_.end()) text << std::ifstream(at.file_name()).rdbuf();
    std::string whole = known == files_.end() ? text.str() : std::string(sources_[known->second].text());
    Source so_far(at.file_name(), whole);
    if (so_far.line_count() < at.line()) whole.append(at.line() - so_far.line_count(), '\n');
    known = files_.insert_or_assign(at.file_name(), sources_.add(at.file_name(), std::move(whole))).first;
  }
  const Source& source = sources_[known->second];
  std::string_view line = source.line(at.line());
  std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) first = line.size();
  std::uint32_t begin = source.line_start(at.line());
  return {known->second, begin + static_cast<std::uint32_t>(first), begin + static_cast<std::uint32_t>(line.size())};
}

dsl::Error error_of(const Sources& sources, const Diags& diags) {
  std::vector<Diagnostic> list;
  for (const PlainDiag& diag : plain(sources, diags))
    list.push_back({diag.code, diag.severity, diag.message, diag.primary.path, diag.primary.begin.line,
                    diag.primary.begin.column, diag.notes, diag.help});
  return {std::move(list), render(sources, diags)};
}

void fail(Code code, At at, std::string message, std::string help) {
  Sources sources;
  Places places(sources);
  Diags diags;
  diags.error(code, places.line(at), std::move(message)).help(std::move(help));
  throw error_of(sources, diags);
}

}  // namespace taskspec::dsl::detail
