#include "ir/json/item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr int deepest = 5000;  // levels of brackets; an if in an if takes four of them

// A value as it may stand in a message: short, on one line.
std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

std::string escaped(std::string_view key) {
  std::string out;
  for (char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace

bool Item::is_null() const { return value_->is_null(); }
bool Item::is_text() const { return value_->is_string(); }
bool Item::is_boolean() const { return value_->is_boolean(); }
bool Item::is_object() const { return value_->is_object(); }
bool Item::is_list() const { return value_->is_array(); }
bool Item::has(std::string_view key) const { return object().contains(key); }

Item Item::operator[](std::size_t position) const { return Item((*value_)[position], *file_); }

Item Item::operator[](std::string_view key) const {
  if (std::optional<Item> found = find(key)) return *found;
  fail(fmt::format("there is no '{}'", key));
}

std::optional<Item> Item::find(std::string_view key) const {
  auto found = object().find(key);
  return found == value_->end() ? std::nullopt : std::optional(Item(*found, *file_));
}

std::size_t Item::size() const {
  if (!value_->is_array()) expected("a list");
  return value_->size();
}

const Json& Item::object() const {
  if (!value_->is_object()) expected("an object");
  return *value_;
}

const std::string& Item::text() const {
  if (!value_->is_string()) expected("a string");
  return value_->get_ref<const std::string&>();
}

std::int64_t Item::integer() const {
  bool fits =
      value_->is_number_integer() && (!value_->is_number_unsigned() || value_->get<std::uint64_t>() <= INT64_MAX);
  if (!fits) expected("an integer");
  return value_->get<std::int64_t>();
}

double Item::real() const {
  if (value_->is_number()) return value_->get<double>();
  if (value_->is_string()) {
    if (text() == "inf") return HUGE_VAL;
    if (text() == "-inf") return -HUGE_VAL;
    if (text() == "nan") return std::nan("");
  }
  expected("a number");
}

bool Item::boolean() const {
  if (!value_->is_boolean()) expected("true or false");
  return value_->get<bool>();
}

std::size_t Item::id(std::size_t count, std::string_view what) const {
  std::int64_t number = integer();
  if (number < 0 || static_cast<std::uint64_t>(number) >= count)
    fail(fmt::format("there is no {} {}; there {} {}", what, number, count == 1 ? "is" : "are", count));
  return static_cast<std::size_t>(number);
}

void Item::fail(const std::string& what, std::string help) const {
  Diag diag;
  diag.code = "E7003";
  std::string place = file_->pointer_to(*value_);
  diag.message = fmt::format("'{}' is no {} that can be read: {}{}{}", file_->path(), file_->kind(),
                             place.empty() ? "" : "at " + place, place.empty() ? "" : ": ", what);
  diag.help_text = std::move(help);
  throw Error(std::move(diag));
}

void Item::expected(std::string_view what) const { fail(fmt::format("expected {}, found {}", what, shown(*value_))); }

void Item::unknown_word(const std::vector<std::string>& known) const {
  std::string help;
  if (auto near = nearest(text(), known)) help = fmt::format("did you mean '{}'?", *near);
  fail(fmt::format("{} means nothing here", shown(*value_)), help);
}

// ---- the file -------------------------------------------------------------------------------------

namespace {

Error no_json(const std::string& file, std::string_view text, std::size_t byte, std::string_view what) {
  std::string_view before = text.substr(0, std::min(byte, text.size()));
  std::size_t line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  std::size_t start = before.rfind('\n');
  std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return failure("E7003", {}, fmt::format("'{}' is {} at line {}, column {}", file, what, line, column));
}

struct TooDeep {};

Json parsed(const std::string& file, std::string_view text) {
  auto guard = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest) throw TooDeep();
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), guard);
  } catch (const Json::parse_error& error) {
    bool ended = error.byte > text.size();
    throw no_json(file, text, error.byte > 0 ? error.byte - 1 : 0, ended ? "cut off" : "not JSON");
  } catch (const Json::exception&) {
    throw no_json(file, text, 0, "not JSON");  // a number beyond all ranges
  } catch (const TooDeep&) {
    throw failure("E7003", {}, fmt::format("'{}' is nested too deeply: more than {} levels", file, deepest));
  }
}

}  // namespace

JsonFile::JsonFile(std::string path, std::string_view text, std::string_view kind)
    : path_(std::move(path)), kind_(kind), json_(std::make_unique<const Json>(parsed(path_, text))) {}

JsonFile::~JsonFile() = default;

Item JsonFile::root() const { return Item(*json_, *this); }

// Only asked for by an error, so nobody has to carry the way along.
std::string JsonFile::pointer_to(const Json& value) const {
  struct Step {
    const Json* container;
    Json::const_iterator at;
  };
  std::vector<Step> way;
  const Json* here = json_.get();
  while (here != &value) {
    if (here->is_structured() && !here->empty()) {
      way.push_back({here, here->begin()});
    } else {
      while (!way.empty() && ++way.back().at == way.back().container->end()) way.pop_back();
      if (way.empty()) return "";
    }
    here = &*way.back().at;
  }
  std::string pointer;
  for (const Step& step : way)
    pointer += "/" + (step.container->is_object() ? escaped(step.at.key())
                                                  : std::to_string(step.at - step.container->begin()));
  return pointer;
}

}  // namespace taskspec
