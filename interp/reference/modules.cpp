#include "interp/reference/modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "frontend/parse.hpp"

namespace taskspec {

namespace {

// The comment lines that end just above line `number` (1-based), as one paragraph.
std::string comment_above(const Source& source, std::uint32_t number) {
  std::vector<std::string_view> lines;
  while (number > 1) {
    std::string_view line = source.line(--number);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    if (!line.starts_with("//") || line.starts_with("// ----")) break;
    lines.push_back(line.substr(line.starts_with("// ") ? 3 : 2));
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) text += (text.empty() ? "" : " ") + std::string(*line);
  return text;
}

// The comment that a file begins with, line by line: there are examples in it.
std::string comment_of_file(const Source& source) {
  std::string text;
  for (std::uint32_t number = 1; number <= source.line_count(); ++number) {
    std::string_view line = source.line(number);
    if (!line.starts_with("//")) break;
    line.remove_prefix(line.starts_with("// ") ? 3 : 2);
    text += (text.empty() ? "" : "\n") + std::string(line);
  }
  return text;
}

// A declaration up to its body, in one line.
std::string head_of(std::string_view text) {
  text = text.substr(0, text.find('{'));
  std::string head;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank || (!head.empty() && head.back() != ' ')) head += blank ? ' ' : c;
  }
  while (head.ends_with(' ')) head.pop_back();
  return head;
}

class ModuleReader {
 public:
  explicit ModuleReader(const ModuleSource& module)
      : name_(module.name), id_(sources_.add(name_, std::string(module.text))) {}

  void read(std::vector<ModuleRecord>& records) {
    Result<Ast> ast = parse(sources_, id_);
    if (!ast) return;
    records.push_back({name_, "import " + name_, comment_of_file(sources_[id_])});
    for (const ast::Item& item : ast->items)
      std::visit([&](const auto& node) { add(node, item.span, records); }, item.node);
  }

 private:
  void add(const ast::FnDecl& fn, Span span, std::vector<ModuleRecord>& to) { add(fn.name.text, head(span), span, to); }
  void add(const ast::TaskDecl& task, Span span, std::vector<ModuleRecord>& to) {
    add(task.name.text, head(span), span, to);
  }
  void add(const ast::AgentDecl& agent, Span span, std::vector<ModuleRecord>& to) {
    std::string form = head(span);
    for (const ast::AgentMember& member : agent.members)
      if (!std::holds_alternative<ast::Slot>(member.node)) form += "\n  " + head(member.span);
    add(agent.name.text, std::move(form), span, to);
  }
  template <class Node>
  void add(const Node&, Span, std::vector<ModuleRecord>&) {}

  void add(const std::string& name, std::string form, Span span, std::vector<ModuleRecord>& to) {
    if (name.starts_with('_')) return;
    const Source& source = sources_[id_];
    to.push_back({name_ + "." + name, std::move(form), comment_above(source, source.position(span.begin).line)});
  }

  std::string head(Span span) const { return head_of(sources_.text(span)); }

  std::string name_;
  Sources sources_;
  SourceId id_;
};

}  // namespace

std::span<const ModuleRecord> module_records() {
  static const std::vector<ModuleRecord> all = [] {
    std::vector<ModuleRecord> records;
    for (const ModuleSource& module : module_sources()) ModuleReader(module).read(records);
    return records;
  }();
  return all;
}

std::string module_text(const ModuleRecord& record) {
  return record.doc.empty() ? record.form : record.form + "\n\n" + record.doc;
}

}  // namespace taskspec
