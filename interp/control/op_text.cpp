#include "interp/control/op_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace taskspec {

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 3) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string place_text(const Sources& sources, Span span) {
  if (!span.valid() || span.source.index() >= sources.size()) return "-";
  const std::string place = sources.place(span);
  return place[0] == '/' ? place.substr(place.rfind('/') + 1) : place;
}

std::vector<std::string> op_texts(const std::vector<OpRow>& rows, const Sources& sources) {
  using Columns = std::array<std::string, 5>;
  std::vector<Columns> lines{{"pass", "op", "makes", "task", "line"}};
  for (const OpRow& row : rows) {
    const std::string_view pass = text(row.pass);
    lines.push_back({std::string(pass.empty() ? "-" : pass), row.op, row.type.empty() ? "-" : row.type, row.task,
                     place_text(sources, row.span)});
  }
  std::array<std::size_t, 4> widths{};
  for (const Columns& line : lines)
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::vector<std::string> texts;
  for (const Columns& line : lines) {
    std::string& text = texts.emplace_back();
    for (std::size_t c = 0; c < widths.size(); ++c) text += fmt::format("{:<{}}  ", line[c], widths[c]);
    text += line.back();
  }
  return texts;
}

}  // namespace taskspec
