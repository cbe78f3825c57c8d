#include "interp/workspace/saved_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/mentions.hpp"
#include "frontend/parse.hpp"
#include "interp/workspace/definitions.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

namespace {

constexpr std::string_view session_head = "// a session of taskspec repl; enter it again with :load\n";
constexpr std::string_view entry_end = "// ----\n";
constexpr std::string_view as_entered = "// entered as\n";
constexpr std::string_view entered_line = "// ";

void close_line(std::string& text) {
  while (text.ends_with('\n')) text.pop_back();
  text += '\n';
}

// What stands below the last mark, if there is one: the entry as it was.
std::string original(std::string_view entry) {
  std::string closed(entry);
  close_line(closed);
  const std::size_t mark = ("\n" + closed).rfind("\n" + std::string(as_entered));
  if (mark == std::string::npos) return std::string(entry);
  std::string text;
  for (std::size_t at = mark + as_entered.size(); at < closed.size();) {
    const std::size_t end = closed.find('\n', at) + 1;
    if (end - at > entered_line.size())
      text += closed.substr(at + entered_line.size(), end - at - entered_line.size());
    else
      text += '\n';
    at = end;
  }
  return text;
}

// The names `_` in a statement that mean the last value: not the extents of a written type, fill(f32[_], 0.0).
std::vector<Span> last_values(const ast::Stmt& statement) {
  std::vector<Span> names;
  checking::each_expression({&statement}, [&](const ast::Expr& expr) {
    if (auto* name = std::get_if<ast::NameExpr>(&expr.node); name && name->name.text == "_") names.push_back(expr.span);
    auto* index = std::get_if<ast::Index>(&expr.node);
    auto* base = index ? std::get_if<ast::NameExpr>(&index->base->node) : nullptr;
    if (base && precision_of(base->name.text))
      std::erase_if(names, [&](Span span) { return span.begin >= index->brackets.begin; });
  });
  return names;
}

class SessionText {
 public:
  explicit SessionText(const std::vector<SavedEntry>& entries) : entries_(entries) {
    auto is_taken = [&](const SavedEntry& entry) { return entry.text.find(prefix_) != std::string::npos; };
    while (std::ranges::any_of(entries, is_taken)) prefix_ += "_";
    for (const SavedEntry& entry : entries) trees_.push_back(parse(sources_, sources_.add("entry", entry.text)));
    define_once();
    for (std::size_t i = 0; i < entries.size(); ++i) read(i);
    for (std::size_t k = 0; k < values_.size(); ++k) name_or_print(k);
  }

  std::string text() {
    std::string text(session_head);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::string runs = edited(entries_[i].text, edits_[i]), was = entries_[i].text;
      close_line(runs);
      runs += behind_[i];
      close_line(was);
      text += runs;
      if (runs != was || was.find(as_entered) != std::string::npos) append_original(was, text);
      text += entry_end;
    }
    return text;
  }

 private:
  // A statement that is an expression with a value.
  struct Shown {
    std::size_t entry;
    Span span;
    bool acts;          // a file takes it as it is
    bool hidden;        // by a `;` behind it, or what comes after it
    bool used = false;  // `_` means it somewhere
  };

  static void append_original(std::string_view was, std::string& text) {
    text += as_entered;
    for (std::size_t at = 0; at < was.size();) {
      const std::size_t end = was.find('\n', at) + 1;
      (text += entered_line) += was.substr(at, end - at);
      at = end;
    }
  }

  void define_once() {
    std::vector<EntryDefinitions> definitions;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      definitions.push_back(
          {trees_[i] ? &*trees_[i] : nullptr, entries_[i].text, entries_[i].broken, entries_[i].stands});
    DefinedOnce once = defined_once(definitions);
    edits_ = std::move(once.edits);
    behind_ = std::move(once.behind);
  }

  void read(std::size_t entry) {
    const Result<Ast>& ast = trees_[entry];
    if (!ast) return;
    for (std::size_t i = 0; i < ast->items.size(); ++i) {
      auto* statement = std::get_if<ast::Stmt>(&ast->items[i].node);
      if (!statement) continue;
      if (last_ != none) name_last(entry, last_values(*statement));
      auto* expression = std::get_if<ast::ExprStmt>(&statement->node);
      if (!expression) continue;
      const auto& value = expression->value->node;
      const bool acts = std::holds_alternative<ast::Call>(value) || std::holds_alternative<ast::Run>(value);
      // The prompt shows the value of the last statement, and of no other it is known whether a call gave one.
      const bool last = i + 1 == ast->items.size();
      const bool has_value = !acts || (last && entries_[entry].has_value);
      if (!has_value) continue;
      const std::string_view rest = std::string_view(entries_[entry].text).substr(statement->span.end);
      const bool ended = rest.substr(std::min(rest.size(), rest.find_first_not_of(" \t\r\n"))).starts_with(';');
      if (entries_[entry].stands) last_ = values_.size();
      values_.push_back({entry, statement->span, acts, !last || ended});
    }
  }

  void name_last(std::size_t entry, const std::vector<Span>& names) {
    if (names.empty()) return;
    values_[last_].used = true;
    for (Span span : names) edits_[entry].push_back({span.begin, span.end - span.begin, name(last_)});
  }

  std::string name(std::size_t value) const { return fmt::format("{}{}", prefix_, value + 1); }

  void name_or_print(std::size_t k) {
    const Shown& shown = values_[k];
    std::vector<TextEdit>& edits = edits_[shown.entry];
    const bool named = shown.used || (shown.hidden && !shown.acts);
    if (named) edits.push_back({shown.span.begin, 0, fmt::format("let {} = ", name(k))});
    if (named && !shown.hidden) edits.push_back({shown.span.end, 0, fmt::format("; print({})", name(k))});
    if (named || shown.hidden) return;
    edits.push_back({shown.span.begin, 0, "print("});
    edits.push_back({shown.span.end, 0, ")"});
  }

  const std::vector<SavedEntry>& entries_;
  std::string prefix_ = "_v";  // of names that no entry has
  Sources sources_;
  std::vector<Result<Ast>> trees_;  // by entry, as are these:
  std::vector<std::vector<TextEdit>> edits_;
  std::vector<std::string> behind_;
  static constexpr std::size_t none = SIZE_MAX;
  std::vector<Shown> values_;
  std::size_t last_ = none;  // in values_: what `_` means
};

}  // namespace

std::string session_text(const std::vector<SavedEntry>& entries) { return SessionText(entries).text(); }

bool is_session(std::string_view text) { return text.starts_with(session_head); }

std::vector<std::string> entries_of(std::string_view text) {
  std::vector<std::string> entries;
  text.remove_prefix(session_head.size());
  while (!text.empty()) {
    std::size_t end = text.starts_with(entry_end) ? 0 : text.find("\n" + std::string(entry_end));
    if (end == std::string_view::npos) end = text.size();
    if (end > 0) entries.push_back(original(text.substr(0, end)));
    text.remove_prefix(std::min(text.size(), end + (end > 0 ? 1 : 0) + entry_end.size()));
  }
  return entries;
}

}  // namespace taskspec
