#include "ir/base/render.hpp"

#include <algorithm>

#include "ir/base/snippet.hpp"
#include "ir/base/text.hpp"

namespace taskspec {
namespace {

// A phase may point just behind the last byte, never further; a wrong span must not take the message down with it.
Span inside(const Sources& sources, Span span) {
  if (!span.valid()) return span;
  const auto size = static_cast<std::uint32_t>(sources[span.source].text().size());
  return {span.source, std::min(span.begin, size), std::clamp(span.end, std::min(span.begin, size), size)};
}

// A diagnostic's places by file: that of the primary label first, the others in order of their first label.
struct FileMarks {
  SourceId source;
  std::vector<Mark> marks;
};

std::vector<FileMarks> marks_by_file(const Sources& sources, const Diag& diag) {
  std::vector<FileMarks> files;
  auto add = [&](const Label& label, bool primary) {
    if (!label.span.valid()) return;
    auto file =
        std::find_if(files.begin(), files.end(), [&](const FileMarks& f) { return f.source == label.span.source; });
    if (file == files.end()) file = files.insert(files.end(), {label.span.source, {}});
    file->marks.push_back({inside(sources, label.span), label.text, primary});
  };
  add(diag.primary, true);
  for (const Label& label : diag.labels) add(label, false);
  return files;
}

std::size_t gutter_width(const Sources& sources, const std::vector<FileMarks>& files) {
  std::uint32_t largest = 1;
  for (const FileMarks& file : files)
    for (const Mark& mark : file.marks) largest = std::max(largest, last_line(sources[file.source], mark.span));
  return std::to_string(largest).size();
}

// "  = note: first line" with the following lines of the note below the first one's text.
std::string remark(std::string_view kind, std::string_view text, const Canvas& canvas) {
  const std::string indent(canvas.gutter + 1, ' ');
  std::string out = indent + painted("= ", Style::accent, canvas.colour) +
                    painted(std::string(kind) + ":", Style::strong, canvas.colour);
  std::string before = " ";
  for (std::string_view line : lines_of(text)) {
    out.append(before).append(line).append("\n");
    before = indent + std::string(kind.size() + 4, ' ');
  }
  return out;
}

std::string places(const Sources& sources, const std::vector<FileMarks>& files, const Canvas& canvas) {
  const std::string indent(canvas.gutter, ' ');
  std::string out;
  for (const FileMarks& file : files) {
    const char* arrow = &file == &files.front() ? "--> " : "::: ";
    out += indent + painted(arrow, Style::accent, canvas.colour) + sources.place(file.marks.front().span) + "\n";
    out += painted(indent + " |", Style::accent, canvas.colour) + "\n";
    out += snippet(sources[file.source], file.marks, canvas);
  }
  return out;
}

std::string_view word(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

}  // namespace

std::string render(const Sources& sources, const Diag& diag, RenderOptions options) {
  const std::vector<FileMarks> files = marks_by_file(sources, diag);
  Canvas canvas;
  canvas.colour = options.colour;
  canvas.primary = diag.severity == Severity::error ? Style::error : Style::warning;
  canvas.gutter = gutter_width(sources, files);
  std::string out = painted(std::string(word(diag.severity)) + " " + diag.code.text(), canvas.primary, canvas.colour);
  out += painted(": " + diag.message, Style::strong, canvas.colour) + "\n";
  out += places(sources, files, canvas);
  for (const Label& label : diag.labels)
    if (!label.span.valid()) out += remark("note", label.text, canvas);
  for (const std::string& note : diag.notes) out += remark("note", note, canvas);
  if (!diag.help_text.empty()) out += remark("help", diag.help_text, canvas);
  return out;
}

std::string render(const Sources& sources, const Diags& diags, RenderOptions options) {
  std::string out;
  std::size_t errors = 0, warnings = 0;
  for (const Diag& diag : diags.sorted()) {
    std::size_t& count = diag.severity == Severity::error ? errors : warnings;
    if (++count > options.at_most) continue;
    out += (out.empty() ? "" : "\n") + render(sources, diag, options);
  }
  auto left_out = [&](std::size_t count, std::string_view what) {
    if (count > options.at_most)
      out += "\n" + plural(count, what) + ", " + std::to_string(options.at_most) + " shown\n";
  };
  left_out(errors, "error");
  left_out(warnings, "warning");
  return out;
}

std::vector<PlainDiag> plain(const Sources& sources, const Diags& diags) {
  auto label = [&](const Label& from) {
    PlainLabel to;
    to.text = from.text;
    if (!from.span.valid()) return to;
    const Span span = inside(sources, from.span);
    const Source& source = sources[span.source];
    to.path = source.path();
    to.begin = source.position(span.begin);
    to.end = source.position(span.end);
    return to;
  };
  std::vector<PlainDiag> out;
  for (const Diag& diag : diags.sorted()) {
    PlainDiag to{diag.code.text(), std::string(word(diag.severity)), diag.message, label(diag.primary), {}, diag.notes,
                 diag.help_text};
    for (const Label& from : diag.labels) to.labels.push_back(label(from));
    out.push_back(std::move(to));
  }
  return out;
}

}  // namespace taskspec
