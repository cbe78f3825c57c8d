#include "interp/import/nir/options.hpp"

#include <algorithm>
#include <charconv>

#include "ir/base/diag.hpp"
#include "ir/base/text.hpp"

namespace taskspec::nir {

namespace {

struct LikeRow {
  std::string_view name;
  Like like;
  double dt;
  std::string_view integrator, reset;
};
constexpr LikeRow likes[] = {
    {"norse", Like::norse, 1e-3, "euler", "file"},      {"snntorch", Like::snntorch, 1e-4, "euler", "zero"},
    {"lava", Like::lava, 1e-4, "euler", "zero"},        {"nengo", Like::nengo, 1e-3, "exact", "zero"},
    {"sinabs", Like::sinabs, 1.0, "exact", "subtract"},
};

[[noreturn]] void wrong(const std::string& name, const std::string& value, const std::string& wanted) {
  throw failure("E1003", {}, "'" + name + "' is " + wanted + ", not '" + value + "'");
}

double positive(const std::string& name, const std::string& value) {
  double number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool fine = problem == std::errc() && end == value.data() + value.size() && number > 0 && number < 1e30;
  if (!fine) wrong(name, value, "a time above 0");
  return number;
}

std::string one_of(const std::string& name, const std::string& value, std::vector<std::string> words) {
  if (std::ranges::find(words, value) == words.end()) wrong(name, value, joined(words, ", "));
  return value;
}

void imitate(Choices& choices, const std::string& value) {
  std::vector<std::string> names;
  for (const LikeRow& row : likes) {
    names.emplace_back(row.name);
    if (row.name != value) continue;
    choices.like = row.like;
    choices.like_name = row.name;
    choices.dt = row.dt;
    choices.integrator = row.integrator;
    choices.reset = row.reset;
  }
  if (choices.like == Like::nobody) wrong("like", value, joined(names, ", "));
}

void set(Choices& choices, const std::string& name, const std::string& value) {
  if (name == "like") return;  // was first
  if (name == "dt")
    choices.dt = positive(name, value);
  else if (name == "integrator")
    choices.integrator = one_of(name, value, {"euler", "exact"});
  else if (name == "reset")
    choices.reset = one_of(name, value, {"file", "zero", "subtract"});
  else if (name == "precision")
    choices.f64 = one_of(name, value, {"f32", "f64"}) == "f64";
  else if (name == "record")
    choices.watched = one_of(name, value, {"outputs", "all"}) == "all";
  else if (name == "feedback")
    choices.feedback = static_cast<std::int64_t>(positive(name, value));
  else
    throw failure(
        "E1003", {},
        "a NIR model has no option '" + name + "'; options: dt, integrator, reset, feedback, precision, like, record");
  constexpr std::int64_t most_steps = 1'000'000;
  if (choices.feedback < 1 || choices.feedback > most_steps) wrong(name, value, "a number of steps from 1 to 1000000");
}

}  // namespace

Choices choices_of(const ImportOptions& options) {
  Choices choices;
  for (const auto& [name, value] : options.set)
    if (name == "like") imitate(choices, value);
  for (const auto& [name, value] : options.set) set(choices, name, value);
  return choices;
}

}  // namespace taskspec::nir
