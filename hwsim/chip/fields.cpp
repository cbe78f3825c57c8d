#include "hwsim/chip/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "hwsim/chip/formula.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::string_view derived_mark = "derived:";

std::string number_text(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  const double number = value.get<double>();
  return std::abs(number) < 1e15 && number == std::trunc(number) ? fmt::format("{:.0f}", number)
                                                                 : fmt::format("{}", number);
}

std::string wanted_text(const WantedNumber& wanted) {
  return fmt::format("{} from {} to {}", wanted.whole ? "a whole number" : "a number", wanted.least, wanted.most);
}

std::string words_text(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back('"' + word + '"');
  return (words.size() > 1 ? "one of " : "") + joined(quoted, ", ");
}

// Of a key that somebody may have made to be looked at: no control characters, not too long.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  return text.size() > 240 ? text.substr(0, 237) + "..." : text;
}

std::string escaped_key(std::string_view key) {
  std::string out;
  for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

}  // namespace

std::string shown_in_message(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

// ---- the text -------------------------------------------------------------------------------------

Json parsed_json(const std::string& file, std::string_view kind, std::string_view text, std::size_t largest) {
  constexpr int deepest = 16;  // levels of brackets
  const auto no_such = [&](const std::string& what) {
    return failure("E7003", {}, fmt::format("'{}' is no {} that can be read: {}", file, kind, what));
  };
  struct TooDeepFile {};
  struct TwiceInFile {
    std::string key;
  };
  if (text.size() > largest) throw no_such(fmt::format("it has more than {} bytes", largest));
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto guard = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > deepest) throw TooDeepFile();
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw TwiceInFile{value.get<std::string>()};
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), guard);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(error.byte > 0 ? error.byte - 1 : 0, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw no_such(
        fmt::format("{} at line {}, column {}", error.byte > text.size() ? "cut off" : "not JSON", line, column));
  } catch (const Json::exception&) {
    throw no_such("not JSON: a number is beyond all ranges");
  } catch (const TwiceInFile& twice) {
    throw no_such(fmt::format("an object has '{}' twice", one_line(twice.key)));
  } catch (const TooDeepFile&) {
    throw no_such(fmt::format("nested too deeply: more than {} levels", deepest));
  }
}

// ---- the file -------------------------------------------------------------------------------------

void ChipReading::fault(const std::string& pointer, const std::string& what, std::string help) {
  if (++faults_ > most_faults) return;
  Diag diag;
  diag.code = "E7003";
  diag.message = fmt::format("'{}' is no {} that can be read: {}{}{}", file_, kind_, pointer.empty() ? "" : "at ",
                             one_line(pointer), pointer.empty() ? what : ": " + what);
  diag.help_text = std::move(help);
  diags.add(std::move(diag));
}

void ChipReading::expected(const std::string& pointer, const std::string& what, const Json& found) {
  fault(pointer, fmt::format("expected {}, found {}", what, shown_in_message(found)));
}

double ChipReading::number(const Json& value, const std::string& pointer, const WantedNumber& wanted, bool plain) {
  const bool is_figure = value.is_object() && !wanted.unit.empty();
  if (!is_figure && !(plain && value.is_number())) {
    const std::string figure = fmt::format("a figure {{\"v\": ..., \"unit\": \"{}\", \"src\": ...}}", wanted.unit);
    expected(pointer, wanted.unit.empty() ? wanted_text(wanted) : plain ? figure + " or a number" : figure, value);
    return NAN;
  }
  const std::size_t before = faults_;
  const Json* number = &value;
  std::string at = pointer;
  if (is_figure) {
    ChipFields fields(*this, &value, pointer);
    number = fields.need("v");
    at = fields.pointer("v");
    if (const Json* unit = fields.need("unit"); unit && *unit != std::string(wanted.unit))
      expected(fields.pointer("unit"), fmt::format("the unit \"{}\"", wanted.unit), *unit);
    fields.find("src");
    fields.finish();
    if (!number) return NAN;
  }
  const double read = number->is_number() ? number->get<double>() : NAN;
  if (!(read >= wanted.least && read <= wanted.most) || (wanted.whole && read != std::trunc(read))) {
    expected(at, wanted_text(wanted), *number);
    return NAN;
  }
  if (!is_figure) return read;
  if (source(value, pointer)) {
    const std::string& src = value["src"].get_ref<const std::string&>();
    if (src.starts_with(derived_mark)) derived(src, pointer, read);
    figures.push_back({pointer, number_text(*number), std::string(wanted.unit), src});
  }
  return faults_ == before ? read : NAN;
}

bool ChipReading::source(const Json& figure, const std::string& pointer) {
  const std::string known = "a key of sources, \"assumed\", or \"derived: <formula>\"";
  const auto found = figure.find("src");
  if (found == figure.end()) {
    fault(pointer, "there is no 'src': a figure needs a source, expected " + known);
    return false;
  }
  const std::string* src = found->is_string() ? &found->get_ref<const std::string&>() : nullptr;
  const bool is_known = src && (*src == "assumed" || src->starts_with(derived_mark) ||
                                std::ranges::find(sources, *src, &ChipSource::key) != sources.end());
  if (!is_known) expected(pointer + "/src", known, *found);
  return is_known;
}

bool ChipReading::derived(const std::string& source, const std::string& pointer, double value) {
  const auto look_up = [&](std::string_view other) { return other == pointer ? std::nullopt : stated(other); };
  const std::string formula = source.substr(derived_mark.size());
  const FormulaValue made = evaluate(formula, look_up);
  if (!made.value) {
    fault(pointer + "/src", fmt::format("expected a formula of numbers and figures, found '{}': {}",
                                        shown_in_message(Json(formula)), made.fault));
    return false;
  }
  const bool agrees = std::abs(*made.value - value) <= 1e-9 * std::max(std::abs(value), std::abs(*made.value));
  if (!agrees)
    fault(pointer + "/v", fmt::format("expected {:.10g}, which its formula gives, found {:.10g}", *made.value, value));
  return agrees;
}

// A number or a figure that is not derived itself, so that no formula goes in a circle.
std::optional<double> ChipReading::stated(std::string_view pointer) const {
  try {
    const Json& there = root_.at(Json::json_pointer(std::string(pointer)));
    if (there.is_number()) return there.get<double>();
    if (!there.is_object() || !there.contains("v") || !there["v"].is_number()) return std::nullopt;
    if (!there.contains("src") || !there["src"].is_string()) return std::nullopt;
    if (there["src"].get_ref<const std::string&>().starts_with(derived_mark)) return std::nullopt;
    return there["v"].get<double>();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

const Json* ChipReading::worded(const Json& value, const std::string& pointer, const std::string& expects) {
  if (!value.is_object()) return &value;
  ChipFields fields(*this, &value, pointer);
  const Json* word = fields.find("v");
  fields.find("src");
  if (const Json* unit = fields.find("unit"); unit && *unit != "")
    expected(fields.pointer("unit"), "\"\": a word has no unit", *unit);
  fields.finish();
  if (!word) expected(pointer, expects, value);
  if (!source(value, pointer) || !word) return nullptr;
  const std::string& src = value["src"].get_ref<const std::string&>();
  if (src.starts_with(derived_mark)) {
    expected(pointer + "/src", "a key of sources or \"assumed\"", value["src"]);
    return nullptr;
  }
  figures.push_back({pointer, word->is_string() ? word->get<std::string>() : shown_in_message(*word), "", src});
  return word;
}

int ChipReading::word(const Json& value, const std::string& pointer, const std::vector<std::string>& words) {
  const Json* word = worded(value, pointer, words_text(words));
  if (!word) return -1;
  const auto found = word->is_string() ? std::ranges::find(words, word->get_ref<const std::string&>()) : words.end();
  if (found != words.end()) return static_cast<int>(found - words.begin());
  std::string help;
  if (word->is_string())
    if (const auto near = nearest(word->get_ref<const std::string&>(), words))
      help = fmt::format("did you mean '{}'?", *near);
  fault(word == &value ? pointer : pointer + "/v",
        fmt::format("expected {}, found {}", words_text(words), shown_in_message(*word)), std::move(help));
  return -1;
}

std::optional<bool> ChipReading::truth(const Json& value, const std::string& pointer) {
  const Json* word = worded(value, pointer, "true or false");
  if (!word) return std::nullopt;
  if (word->is_boolean()) return word->get<bool>();
  expected(word == &value ? pointer : pointer + "/v", "true or false", *word);
  return std::nullopt;
}

// ---- an object ------------------------------------------------------------------------------------

ChipFields::ChipFields(ChipReading& reading, const Json* value, std::string pointer)
    : reading_(reading), object_(value), pointer_(std::move(pointer)) {
  if (!object_ || object_->is_object()) return;
  reading_.expected(pointer_, "an object", *object_);
  object_ = nullptr;
}

std::string ChipFields::pointer(std::string_view key) const { return pointer_ + "/" + escaped_key(key); }

const Json* ChipFields::find(std::string_view key) {
  asked_.emplace(key);
  if (!object_) return nullptr;
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

const Json* ChipFields::need(std::string_view key) {
  const Json* found = find(key);
  if (!found && object_) reading_.fault(pointer_, fmt::format("there is no '{}'", key));
  return found;
}

ChipFields ChipFields::fields(std::string_view key) { return ChipFields(reading_, need(key), pointer(key)); }

std::string ChipFields::text(std::string_view key) {
  const Json* value = need(key);
  if (!value) return "";
  const bool is_line = value->is_string() && !value->get_ref<const std::string&>().empty() &&
                       value->get_ref<const std::string&>().find('\n') == std::string::npos;
  if (is_line) return value->get<std::string>();
  reading_.expected(pointer(key), "a text of one line", *value);
  return "";
}

std::int64_t ChipFields::read(const Json* value, std::string_view key, const WantedNumber& wanted, bool plain) {
  const double number = value ? reading_.number(*value, pointer(key), wanted, plain) : NAN;
  return static_cast<std::int64_t>(std::isnan(number) ? wanted.least : number);
}

std::int64_t ChipFields::figure(std::string_view key, const WantedNumber& wanted) {
  return read(need(key), key, wanted, false);
}
std::int64_t ChipFields::plain(std::string_view key, const WantedNumber& wanted) {
  return read(need(key), key, wanted, true);
}
std::optional<std::int64_t> ChipFields::optional_figure(std::string_view key, const WantedNumber& wanted) {
  const Json* value = find(key);
  return value ? std::optional(read(value, key, wanted, false)) : std::nullopt;
}

bool ChipFields::truth(std::string_view key) {
  const Json* value = need(key);
  return value && reading_.truth(*value, pointer(key)).value_or(false);
}

ChipExtent ChipFields::pair(std::string_view key, const WantedNumber& wanted, bool plain, bool one_for_all) {
  const auto least = static_cast<std::int64_t>(wanted.least);
  const Json* value = need(key);
  if (!value) return {least, least};
  if (one_for_all && !value->is_array()) {
    const std::int64_t both = read(value, key, wanted, plain);
    return {both, both};
  }
  if (!value->is_array() || value->size() != 2) {
    reading_.expected(pointer(key), fmt::format("{}a list of two, for x and y", one_for_all ? "a figure, or " : ""),
                      *value);
    return {least, least};
  }
  const auto part = [&](std::size_t i) {
    const double number = reading_.number((*value)[i], pointer(key) + "/" + std::to_string(i), wanted, plain);
    return std::isnan(number) ? least : static_cast<std::int64_t>(number);
  };
  const std::int64_t x = part(0);
  return {x, part(1)};
}

void ChipFields::refuse(std::string_view key, const std::string& why) {
  if (find(key)) reading_.fault(pointer(key), why);
}

void ChipFields::finish() {
  if (!object_) return;
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& [key, value] : object_->items()) {
    if (asked_.contains(key) || reading_.is_full()) continue;
    std::string help;
    if (const auto near = key.size() < 40 ? nearest(key, known) : std::nullopt)
      help = fmt::format("did you mean '{}'?", *near);
    reading_.fault(pointer(key), fmt::format("unknown field, expected one of {}", joined(known, ", ")),
                   std::move(help));
  }
}

}  // namespace taskspec
