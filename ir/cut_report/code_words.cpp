#include "ir/cut_report/code_words.hpp"

#include <algorithm>

#include "ir/base/ascii.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

Precedence precedence_of(std::string_view symbol) {
  if (symbol == "*" || symbol == "/" || symbol == "%" || symbol == "@") return Precedence::product;
  if (symbol == "+" || symbol == "-") return Precedence::sum;
  if (symbol == "&" || symbol == "|") return Precedence::bits;
  if (symbol == "..") return Precedence::range;
  if (symbol == "&&") return Precedence::both;
  if (symbol == "||") return Precedence::either;
  if (symbol == ">>") return Precedence::compose;
  return Precedence::compare;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string text_at(const Sources& sources, Span span) {
  const bool known = span.valid() && span.source.index() < sources.size();
  return known ? std::string(sources.text(span)) : "";
}

bool is_pattern(std::string_view text) { return text.starts_with("(") && text.ends_with(")"); }

// {"a", "b"} for `(a, b)`, {"a"} for `a`; none for what is no pattern.
std::vector<std::string> pattern_names(std::string_view text) {
  if (is_pattern(text)) text = text.substr(1, text.size() - 2);
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.emplace_back(without_blanks(text.substr(begin, end - begin)));
    if (!is_name(names.back())) return {};
    begin = end + 1;
  }
  return names;
}

Precedence after(Precedence precedence) { return static_cast<Precedence>(static_cast<int>(precedence) + 1); }

}  // namespace

Words infix(std::string_view symbol, const Words& left, const Words& right) {
  const Precedence precedence = precedence_of(symbol);
  // a < b < c is no expression, a - (b - c) is not a - b - c.
  const Precedence first =
      precedence == Precedence::compare || precedence == Precedence::range || precedence == Precedence::bits
          ? after(precedence)
          : precedence;
  std::string between = symbol == ".." ? ".." : " " + std::string(symbol) + " ";
  return {left.within(first) + between + right.within(after(precedence)), precedence};
}

Words prefix(std::string_view symbol, const Words& operand) {
  return {std::string(symbol) + operand.within(Precedence::prefix), Precedence::prefix};
}

Words constant_words(const Value& value) {
  const std::string text = value.is_string() ? in_quotes(value.string()) : print(value);
  const bool signed_number = value.is_number() && text.starts_with("-");
  const Precedence precedence = value.is_range() ? Precedence::range
                                : signed_number  ? Precedence::prefix
                                                 : Precedence::tight;
  return {one_line(text, 48), precedence};
}

std::string global_words(const Program& program, ModuleId from, const Call& global) {
  const Module& module = program.modules[global.module.index()];
  const std::string& name = program[module.top_level].variables[global.variable.index()].name;
  return global.module == from ? name : module.name + "." + name;
}

std::string loop_words(const Sources& sources, const Call& loop) {
  if (const std::vector<std::string> names = loop_names(sources, loop); !names.empty())
    return "(" + joined(names, ", ") + ")";
  const std::string written = text_at(sources, loop.span);
  return is_name(written) ? written : "i";
}

std::vector<std::string> loop_names(const Sources& sources, const Call& loop) {
  const std::string written = text_at(sources, loop.span);
  if (loop.form != Form::loop || !loop.type.is(Type::Kind::tuple) || !is_pattern(written)) return {};
  std::vector<std::string> names = pattern_names(written);
  return names.size() == loop.type.parts.size() ? names : std::vector<std::string>();
}

bool is_default(const Call& argument, const Operand& operand) {
  if (argument.form != Form::constant || operand.standard.kind == Default::Kind::none) return false;
  return identical(argument.value, operand.standard.value());
}

std::string one_line(std::string_view text, std::size_t letters) {
  std::string out;
  std::size_t count = 0;
  bool blank = false;
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    const std::string_view letter = text.substr(0, bytes);
    text.remove_prefix(bytes);
    if (letter == " " || letter == "\n" || letter == "\t" || letter == "\r") {
      blank = !out.empty();
      continue;
    }
    if (blank) out += " ", ++count;
    blank = false;
    if (count >= letters) return out + "...";
    out += letter;
    ++count;
  }
  return out;
}

bool is_name(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), is_word);
}

std::vector<std::string> let_names(const Sources& sources, Span value) {
  if (!value.valid() || value.source.index() >= sources.size()) return {};
  const Source& source = sources[value.source];
  const std::uint32_t start = source.line_start(source.position(value.begin).line);
  std::string_view before = without_blanks(source.text().substr(start, value.begin - start));
  before = without_blanks(before.substr(before.find_last_of(";{") + 1));  // find_last_of gives npos, which is -1
  if (!before.starts_with("let ") || !before.ends_with("=")) return {};
  before = without_blanks(before.substr(4, before.size() - 5));
  if (!is_pattern(before)) before = without_blanks(before.substr(0, before.find(':')));
  return pattern_names(before);
}

}  // namespace taskspec
