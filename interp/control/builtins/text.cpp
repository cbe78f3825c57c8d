// Text: print, note, format, split, join, parse_int, parse_float.
#include "ir/base/text.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <locale>

#include "interp/control/builtins/builtins.hpp"

namespace taskspec {

namespace {

using builtins::want;

Type nothing(RuleContext&) { return Type::Kind::none; }

Value run_print(HostContext& host, std::span<const Value> values) {
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) line += (i ? " " : "") + print(values[i]);
  host.output(line + "\n");
  return {};
}

Type note_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "a text");
  return Type::Kind::none;
}

Value run_note(HostContext& host, std::span<const Value> values) {
  const std::string& text = values[0].string();
  if (host.noted.insert(text).second) std::fputs(("note: " + text + "\n").c_str(), stderr);
  return {};
}

// ---- format ---------------------------------------------------------------------------------------

struct Piece {
  std::string text;   // written as it is, then
  bool hole = false;  // a value, by
  std::string spec;   // this specification
};

// Splits "a {} b {:8.3f}" into pieces; nothing when braces do not match.
std::optional<std::vector<Piece>> pieces_of(std::string_view pattern) {
  std::vector<Piece> pieces(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    bool doubled = i + 1 < pattern.size() && pattern[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      pieces.back().text += c;
      ++i;
    } else if (c == '{') {
      std::size_t end = pattern.find('}', i);
      if (end == std::string_view::npos) return std::nullopt;
      std::string_view inside = pattern.substr(i + 1, end - i - 1);
      if (!inside.empty() && inside[0] != ':') return std::nullopt;
      pieces.back().hole = true;
      pieces.back().spec = inside.empty() ? "" : std::string(inside.substr(1));
      pieces.emplace_back();
      i = end;
    } else if (c == '}') {
      return std::nullopt;
    } else {
      pieces.back().text += c;
    }
  }
  return pieces;
}

std::string misfit(std::size_t places, std::size_t values) {
  return fmt::format("the format string has {} for {}", plural(places, "place"), plural(values, "value"));
}

Type format_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "a format string");
  if (const Value* pattern = c.constant(0)) {
    auto pieces = pieces_of(pattern->string());
    if (!pieces)
      c.fail("E1003", "braces of the format string do not match", 0, "write {{ and }} for braces themselves");
    if (pieces->size() - 1 != c.count() - 1) c.fail("E1003", misfit(pieces->size() - 1, c.count() - 1), 0);
  }
  return Type::Kind::string;
}

// A width or precision of more digits than this is a slip, and would fill the memory with blanks.
constexpr std::size_t most_digits = 4;

bool is_too_wide(const std::string& spec) {
  std::size_t digits = 0;
  for (char c : spec) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > most_digits) return true;
  }
  return false;
}

std::string formatted(const Value& value, const std::string& spec) {
  if (spec.empty()) return print(value);
  if (is_too_wide(spec)) throw failure("E1003", {}, "'{:" + spec + "}' is wider than 9999 characters");
  // {:L} means the same everywhere.
  auto format = [pattern = "{:" + spec + "}"](const auto& v) {
    return fmt::format(std::locale::classic(), fmt::runtime(pattern), v);
  };
  try {
    if (value.is_bool()) return format(value.boolean());
    if (value.is_integer()) return format(value.integer());
    if (value.is_real()) return format(value.real());
    return format(value.is_string() ? value.string() : print(value));
  } catch (const fmt::format_error& error) {
    throw failure("E1003", {}, "'{:" + spec + "}' does not fit the value " + print(value));
  }
}

Value run_format(HostContext&, std::span<const Value> values) {
  auto pieces = pieces_of(values[0].string());
  if (!pieces) throw failure("E1003", {}, "braces of the format string do not match");
  if (pieces->size() != values.size()) throw failure("E1003", {}, misfit(pieces->size() - 1, values.size() - 1));
  std::string out;
  for (std::size_t i = 0; i < pieces->size(); ++i) {
    out += (*pieces)[i].text;
    if ((*pieces)[i].hole) out += formatted(values[i + 1], (*pieces)[i].spec);
  }
  return Value(std::move(out));
}

// ---- splitting and reading ------------------------------------------------------------------------

Type split_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "a string");
  want(c, 1, Type::Kind::string, "a separator");
  return Type::list(Type::Kind::string);
}

Value run_split(HostContext&, std::span<const Value> values) {
  const std::string &text = values[0].string(), &separator = values[1].string();
  if (separator.empty()) throw failure("E5003", {}, "split wants a separator that is not empty");
  List parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(separator, begin)) != std::string::npos; begin = at + separator.size())
    parts.push_back(Value(text.substr(begin, at - begin)));
  parts.push_back(Value(text.substr(begin)));
  return Value(std::move(parts));
}

Type join_type(RuleContext& c) {
  Type element = builtins::element_of(c, 0, "a list of strings");
  if (!element.is(Type::Kind::string) && !element.is(Type::Kind::error))
    builtins::wrong_type(c, 0, "a list of strings");
  want(c, 1, Type::Kind::string, "a separator");
  return Type::Kind::string;
}

Value run_join(HostContext&, std::span<const Value> values) {
  std::string out;
  for (const Value& item : values[0].list())
    out += (&item == &values[0].list()[0] ? "" : values[1].string()) + item.string();
  return Value(std::move(out));
}

template <Type::Kind kind>
Type parse_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "a string");
  return kind;
}

template <class T>
Value run_parse(HostContext&, std::span<const Value> values) {
  const std::string& text = values[0].string();
  T number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw failure("E5003", {}, in_quotes(text) + (std::is_same_v<T, double> ? " is not a float" : " is not an int"));
  return Value(number);
}

constexpr Operand note_operands[] = {{"text", OperandKind::string}};
constexpr Operand print_operands[] = {{"values", OperandKind::value, {}, true}};
constexpr Operand format_operands[] = {{"pattern", OperandKind::string}, {"values", OperandKind::value, {}, true}};
constexpr Operand split_operands[] = {{"text", OperandKind::string}, {"separator", OperandKind::string}};
constexpr Operand join_operands[] = {{"parts", OperandKind::value}, {"separator", OperandKind::string}};
constexpr Operand text_operand[] = {{"text", OperandKind::string}};

}  // namespace

constinit const Builtin builtin_print = BuiltinFields{
    .name = "print",
    .operands = print_operands,
    .doc =
        "Writes the values with one space between them and a line end. A tensor shows its name and type, never its "
        "contents; receive them with .scalar or .array.",
    .example = "print(1, \"two\", [3.0])\n// expect: 1 two [3]",
    .type = nothing,
    .effect = Effect::host,
    .run = run_print,
    .runs_in = RunsIn::names,
    .serves = Serves::shows};

constinit const Builtin builtin_note = BuiltinFields{
    .name = "note",
    .operands = note_operands,
    .doc = "Writes `note: text` for the reader to the standard error output, once however often a run says the same.",
    .example = "for i in 0..3 { note(\"this is said once\") }\nprint(\"done\")\n// expect: done",
    .type = note_type,
    .effect = Effect::host,
    .run = run_note};

constinit const Builtin builtin_format = BuiltinFields{
    .name = "format",
    .operands = format_operands,
    .doc =
        "The pattern with each {} replaced by a value as print writes it; {:8.3f} and the like set width and "
        "precision of ints, floats, strings and bools; {{ and }} are braces.",
    .example = "print(format(\"{} is {:.2f}\", \"pi\", pi))\n// expect: pi is 3.14",
    .type = format_type,
    .run = run_format,
    .runs_in = RunsIn::names,
    .fails = BuiltinFails::by_first};

constinit const Builtin builtin_split =
    BuiltinFields{.name = "split",
                  .operands = split_operands,
                  .doc = "The parts of a text between separators; a text without one is a list of itself.",
                  .example = "print(split(\"a,b,,c\", \",\"))\n// expect: [\"a\", \"b\", \"\", \"c\"]",
                  .type = split_type,
                  .run = run_split,
                  .method = true};

constinit const Builtin builtin_join =
    BuiltinFields{.name = "join",
                  .operands = join_operands,
                  .doc = "The strings of a list as one, with the separator between them.",
                  .example = "print(join([\"a\", \"b\"], \"-\"))\n// expect: a-b",
                  .type = join_type,
                  .run = run_join,
                  .method = true};

constinit const Builtin builtin_parse_int =
    BuiltinFields{.name = "parse_int",
                  .operands = text_operand,
                  .doc = "The int that a text consists of, nothing else around it; E5003 if it is none.",
                  .example = "print(parse_int(\"-12\") + 1)\n// expect: -11",
                  .type = parse_type<Type::Kind::integer>,
                  .run = run_parse<std::int64_t>};

constinit const Builtin builtin_parse_float =
    BuiltinFields{.name = "parse_float",
                  .operands = text_operand,
                  .doc = "The float that a text consists of, nothing else around it; E5003 if it is none.",
                  .example = "print(parse_float(\"1e3\"))\n// expect: 1000",
                  .type = parse_type<Type::Kind::real>,
                  .run = run_parse<double>};

}  // namespace taskspec
