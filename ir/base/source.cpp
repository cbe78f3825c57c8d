#include "ir/base/source.hpp"

#include <algorithm>

namespace taskspec {

Span join(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid() || a.source != b.source) return a;
  return {a.source, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

Source::Source(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  starts_.reserve(static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1);
  starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') starts_.push_back(static_cast<std::uint32_t>(i + 1));
}

Position Source::position(std::uint32_t offset) const {
  auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  auto line = static_cast<std::uint32_t>(after - starts_.begin());
  return {line, offset - starts_[line - 1] + 1};
}

std::uint32_t Source::line_start(std::uint32_t number) const {
  return starts_[std::min<std::size_t>(number, starts_.size()) - 1];
}

std::string_view Source::line(std::uint32_t number) const {
  std::size_t begin = line_start(number);
  std::size_t end = number < starts_.size() ? starts_[number] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return std::string_view(text_).substr(begin, end - begin);
}

SourceId Sources::add(std::string path, std::string text) {
  items_.push_back(std::make_shared<const Source>(std::move(path), std::move(text)));
  return SourceId(items_.size() - 1);
}

std::string_view Sources::text(Span span) const {
  if (!span.valid()) return {};
  return (*this)[span.source].text().substr(span.begin, span.end - span.begin);
}

std::string Sources::place(Span span) const {
  if (!span.valid()) return "<no place>";
  const Source& source = (*this)[span.source];
  Position at = source.position(span.begin);
  return source.path() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

}  // namespace taskspec
