#include "interp/import/task_ir/text_reader.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "ir/base/text.hpp"

namespace taskspec::task_ir {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

bool is_message(const google::protobuf::FieldDescriptor& field) {
  return field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE;
}

bool is_tiny(std::string_view number) {
  return number.find("e-") != std::string_view::npos || number.starts_with('.') || number.starts_with("0.");
}

// Digits to a number; nothing where there are others than the base has, or too many.
bool parse_magnitude(std::string_view digits, std::uint64_t& value) {
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
    base = 16, digits.remove_prefix(2);
  else if (digits.size() > 1 && digits[0] == '0')
    base = 8, digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

void UnknownFields::add(std::string_view message, std::string_view field, const std::string& path, Span span) {
  Entry& entry = entries_[std::string(message) + "." + std::string(field)];
  if (entry.count++ == 0) entry = {path, std::string(field), span, 1};
}

void UnknownFields::tell(Diags& diags) const {
  for (const auto& [key, entry] : entries_) {
    const std::string where = entry.path.empty() ? "the graph" : entry.path;
    Diag& diag =
        diags.warning("E7003", entry.span, "no field '" + entry.field + "' is known in " + where + ": it is skipped");
    if (entry.count > 1) diag.note(plural(entry.count - 1, "more field") + " of this name in such messages");
  }
}

// ---- tokens ----------------------------------------------------------------------------------------

void TextReader::skip_space() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_]))
      ++at_;
    else if (text_[at_] == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else
      return;
  }
}

char TextReader::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextReader::take(char c) {
  if (peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

std::string_view TextReader::word() {
  skip_space();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view TextReader::number_token() {
  const std::size_t begin = at_;
  while (at_ < text_.size() &&
         (is_word(text_[at_]) || text_[at_] == '.' ||
          ((text_[at_] == '+' || text_[at_] == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))))
    ++at_;
  return text_.substr(begin, at_ - begin);
}

Span TextReader::span_from(std::size_t begin) const {
  return {source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
}

// Of what comes next, for an error about it.
Span TextReader::next_token() {
  skip_space();
  const std::size_t begin = at_;
  std::size_t end = begin;
  while (end < text_.size() && is_word(text_[end])) ++end;
  if (end == begin && end < text_.size()) end += first_character(text_.substr(end)).bytes;
  return {source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

void TextReader::stop(Span span, std::string message) {
  diags_.error("E7003", span, std::move(message));
  throw Stop();
}

std::string TextReader::path() const {
  std::string text;
  for (const auto& [field, index] : steps_) {
    if (!text.empty()) text += '.';
    text += field->name();
    if (index >= 0) text += "[" + std::to_string(index) + "]";
  }
  return text;
}

// ---- messages --------------------------------------------------------------------------------------

bool TextReader::read(Message& message) {
  try {
    fields(message, '\0');
  } catch (const Stop&) {
  }
  unknown_.tell(diags_);
  return !diags_.has_errors();
}

char TextReader::opening() {
  if (take('{')) return '}';
  if (take('<')) return '>';
  stop(next_token(), "expected a message in { }");
}

void TextReader::enter(Span at) {
  if (++depth_ > deepest_nesting) stop(at, "messages are nested deeper than " + std::to_string(deepest_nesting));
}

void TextReader::fields(Message& message, char close) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  const Field* last = nullptr;
  for (;;) {
    const char next = peek();
    if (close == '\0' ? at_ == text_.size() : next == close) break;
    if (at_ == text_.size()) stop(next_token(), std::string("expected '") + close + "' at the end of this message");
    const std::size_t begin = at_;
    std::string_view name = word();
    if (name.empty() && next == '[') {  // of an extension
      at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
      name = text_.substr(begin, at_ - begin);
    }
    const Span span = span_from(begin);
    if (name.empty()) stop(next_token(), "expected the name of a field");
    if (!last || last->name() != name) last = type.FindFieldByName(std::string(name));
    if (last)
      known_field(message, *last, span);
    else
      unknown_field(message, name, span);
    if (!take(',')) take(';');
  }
  if (close != '\0') ++at_;
}

void TextReader::known_field(Message& message, const Field& field, Span name) {
  const bool has_colon = take(':');
  if (!has_colon && !is_message(field)) stop(next_token(), "expected ':' behind '" + field.name() + "'");
  if (!field.is_repeated()) {
    if (message.GetReflection()->HasField(message, &field)) stop(name, "'" + field.name() + "' is given twice");
    return one_value(message, field, name);
  }
  if (!take('[')) return one_value(message, field, name);
  if (take(']')) return;
  do one_value(message, field, name);
  while (take(','));
  if (!take(']')) stop(next_token(), "expected ',' or ']' in the list of '" + field.name() + "'");
}

void TextReader::one_value(Message& message, const Field& field, Span name) {
  if (is_message(field)) return sub_message(message, field, name);
  if (field.is_repeated() && field.cpp_type() == Field::CPPTYPE_INT32)
    return integers(message.GetReflection()->GetMutableRepeatedFieldRef<std::int32_t>(&message, &field), field.name());
  scalar(message, field);
}

void TextReader::sub_message(Message& message, const Field& field, Span name) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  steps_.push_back({&field, field.is_repeated() ? reflection.FieldSize(message, &field) : -1});
  enter(name);
  Message& part =
      field.is_repeated() ? *reflection.AddMessage(&message, &field) : *reflection.MutableMessage(&message, &field);
  const char close = opening();
  places_[&part] = {name, at_};
  fields(part, close);
  --depth_;
  steps_.pop_back();
}

// The weights: nearly all of a file. One number, and those that follow it in lines of the same name.
void TextReader::integers(const Integers& into, std::string_view name) {
  for (;;) {
    into.Add(integer<std::int32_t>("int32"));
    std::size_t at = at_;
    while (at < text_.size() && is_space(text_[at])) ++at;
    const std::size_t colon = at + name.size();
    if (colon >= text_.size() || text_[colon] != ':' || text_.compare(at, name.size(), name) != 0) return;
    at_ = colon + 1;
    if (peek() == '[') {  // a list: back to where its name is
      at_ = at;
      return;
    }
  }
}

void TextReader::scalar(Message& message, const Field& field) {
  const google::protobuf::Reflection& to = *message.GetReflection();
  const bool adds = field.is_repeated();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT32:
      return to.SetInt32(&message, &field, integer<std::int32_t>("int32"));
    case Field::CPPTYPE_INT64:
      return to.SetInt64(&message, &field, integer<std::int64_t>("int64"));
    case Field::CPPTYPE_UINT32: {
      const auto value = integer<std::uint32_t>("uint32");
      return adds ? to.AddUInt32(&message, &field, value) : to.SetUInt32(&message, &field, value);
    }
    case Field::CPPTYPE_FLOAT: {
      const auto value = static_cast<float>(real());
      return adds ? to.AddFloat(&message, &field, value) : to.SetFloat(&message, &field, value);
    }
    case Field::CPPTYPE_BOOL:
      return to.SetBool(&message, &field, boolean());
    case Field::CPPTYPE_STRING:
      return to.SetString(&message, &field, string());
    case Field::CPPTYPE_ENUM:
      return to.SetEnumValue(&message, &field, enumerator(*field.enum_type()));
    default:
      bug("a field of a type that the schema does not use: " + field.full_name());
  }
}

// ---- values ----------------------------------------------------------------------------------------

template <class T>
T TextReader::integer(std::string_view type) {
  skip_space();
  const std::size_t begin = at_;
  const bool negative = take('-');
  if (negative) skip_space();
  // Plain digits, and few enough, are nearly all there is.
  std::uint64_t magnitude = 0;
  const std::size_t digits = at_;
  while (at_ < text_.size() && at_ - digits < 9 && is_digit(text_[at_]))
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
  const bool is_plain = at_ > digits && (at_ == text_.size() || !(is_word(text_[at_]) || text_[at_] == '.')) &&
                        (text_[digits] != '0' || at_ == digits + 1);
  if (!is_plain) {
    at_ = digits;
    const std::string_view token = number_token();
    if (token.empty() || !parse_magnitude(token, magnitude)) {
      const Span span = token.empty() ? next_token() : span_from(begin);
      const bool too_many = !token.empty() && std::all_of(token.begin(), token.end(), is_digit);
      stop(span, too_many ? "this is outside " + std::string(type)
                          : "expected an integer, not '" +
                                std::string(text_.substr(span.begin, span.end - span.begin)) + "'");
    }
  }
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const std::uint64_t least = std::numeric_limits<T>::is_signed ? most + 1 : 0;
  if (magnitude > (negative ? least : most))
    stop(span_from(begin), std::string(text_.substr(begin, at_ - begin)) + " is outside " + std::string(type));
  return static_cast<T>(negative ? 0 - magnitude : magnitude);
}

double TextReader::real() {
  skip_space();
  const std::size_t begin = at_;
  const bool negative = take('-');
  if (negative) skip_space();
  std::string token(number_token());
  const Span span = token.empty() ? next_token() : span_from(begin);
  std::transform(token.begin(), token.end(), token.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  double value = 0;
  std::uint64_t whole = 0;
  if (token == "inf" || token == "infinity" || token == "inff") {
    value = std::numeric_limits<double>::infinity();
  } else if (token == "nan" || token == "nanf") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (token.starts_with("0x") && parse_magnitude(token, whole)) {
    value = static_cast<double>(whole);
  } else {
    if (token.size() > 1 && token.back() == 'f') token.pop_back();
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    const bool is_outside = error == std::errc::result_out_of_range;
    if (token.empty() || !(is_digit(token[0]) || token[0] == '.') || end != token.data() + token.size() ||
        (error != std::errc() && !is_outside))
      stop(span, "expected a number, not '" + std::string(text_.substr(span.begin, span.end - span.begin)) + "'");
    // Out of range of a double, either way.
    if (is_outside) value = is_tiny(token) ? 0 : std::numeric_limits<double>::infinity();
  }
  return negative ? -value : value;
}

bool TextReader::boolean() {
  const Span span = next_token();
  const std::string_view token = word();
  if (token == "true" || token == "True" || token == "t" || token == "1") return true;
  if (token == "false" || token == "False" || token == "f" || token == "0") return false;
  stop(span, "expected true or false");
}

namespace {

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Behind a backslash; moves on. Up to `most` digits of a base.
char escaped_number(std::string_view text, std::size_t& at, int base, std::size_t most) {
  int value = 0;
  for (std::size_t n = 0; n < most && at < text.size() && digit_value(text[at]) < base; ++n)
    value = value * base + digit_value(text[at++]);
  return static_cast<char>(value);
}

}  // namespace

// One or several in a row, which are one.
std::string TextReader::string() {
  std::string value;
  if (peek() != '"' && peek() != '\'') stop(next_token(), "expected a string");
  while (peek() == '"' || peek() == '\'') {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    for (;;) {
      if (at_ >= text_.size() || text_[at_] == '\n')
        stop({source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)}, "this string has no end");
      const char c = text_[at_++];
      if (c == quote) break;
      if (c != '\\' || at_ >= text_.size()) {
        value += c;
        continue;
      }
      constexpr std::string_view letters = "abfnrtv", meanings = "\a\b\f\n\r\t\v";
      const char kind = text_[at_];
      const std::size_t letter = letters.find(kind);
      if (kind >= '0' && kind <= '7')
        value += escaped_number(text_, at_, 8, 3);
      else if (kind == 'x')
        value += escaped_number(text_, ++at_, 16, 2);
      else
        value += letter == std::string_view::npos ? kind : meanings[letter], ++at_;
    }
  }
  return value;
}

int TextReader::enumerator(const google::protobuf::EnumDescriptor& type) {
  const char next = peek();
  if (is_digit(next) || next == '-') {
    const std::size_t begin = at_;
    const auto number = integer<std::int32_t>("int32");
    if (type.FindValueByNumber(number)) return number;
    stop(span_from(begin), std::to_string(number) + " is no " + type.name());
  }
  const Span span = next_token();
  const std::string name(word());
  if (const auto* value = type.FindValueByName(name)) return value->number();
  std::vector<std::string> names;
  for (int k = 0; k < type.value_count(); ++k) names.push_back(type.value(k)->name());
  Diag& diag = diags_.error("E7003", span, "'" + name + "' is no " + type.name());
  if (const auto meant = nearest(name, names))
    diag.help("did you mean " + *meant + "?");
  else
    diag.note("it is one of " + joined(names, ", "));
  throw Stop();
}

// ---- what nobody knows -----------------------------------------------------------------------------

void TextReader::unknown_field(const Message& message, std::string_view name, Span span) {
  unknown_.add(message.GetDescriptor()->name(), name, path(), span);
  take(':');
  if (!take('[')) return skip_value();
  if (take(']')) return;
  do skip_value();
  while (take(','));
  if (!take(']')) stop(next_token(), "expected ',' or ']'");
}

void TextReader::skip_value() {
  const char next = peek();
  if (next == '{' || next == '<') return skip_message(opening());
  if (next == '"' || next == '\'') return static_cast<void>(string());
  take('-');
  skip_space();
  if (number_token().empty()) stop(next_token(), "expected a value");
}

void TextReader::skip_message(char close) {
  enter(next_token());
  while (!take(close)) {
    if (at_ == text_.size()) stop(next_token(), std::string("expected '") + close + "' at the end of this message");
    if (peek() == '[')
      at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
    else if (word().empty())
      stop(next_token(), "expected the name of a field");
    take(':');
    if (take('[')) {
      if (!take(']')) {
        do skip_value();
        while (take(','));
        if (!take(']')) stop(next_token(), "expected ',' or ']'");
      }
    } else {
      skip_value();
    }
    if (!take(',')) take(';');
  }
  --depth_;
}

// ---- places ----------------------------------------------------------------------------------------

Span TextReader::place(const Message& message) const {
  const auto found = places_.find(&message);
  return found == places_.end() ? Span{source_, 0, 0} : found->second.name;
}

// It was read before, so it makes sense.
Span TextReader::place(const Message& message, std::string_view field, std::size_t index) {
  const auto found = places_.find(&message);
  if (found == places_.end()) return {source_, 0, 0};
  const std::size_t before = std::exchange(at_, found->second.body);
  Span span = found->second.name;
  auto see = [&](bool wanted) {
    const std::size_t begin = (skip_space(), at_);
    skip_value();
    if (wanted && index-- == 0) span = span_from(begin);
    return !wanted || index != SIZE_MAX;
  };
  bool goes_on = true;
  while (goes_on && at_ < text_.size() && peek() != '}' && peek() != '>') {
    const bool wanted = word() == field;
    take(':');
    if (take('[')) {
      if (!take(']')) {
        do goes_on = see(wanted);
        while (goes_on && take(','));
        take(']');
      }
    } else {
      goes_on = see(wanted);
    }
    if (!take(',')) take(';');
  }
  at_ = before;
  return span;
}

}  // namespace taskspec::task_ir
