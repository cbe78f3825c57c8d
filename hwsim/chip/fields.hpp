// How a chip file is read: each field by its name, all faults in one go. Internal to hwsim/chip.
//
//   ChipFields fields(reading, json["clock"], "/clock");
//   hz = fields.figure("hz", {"Hz", 1, 1e12});       a fault is noted, and reading goes on with the least value
//   fields.finish();                                 what nobody asked for is a fault as well
#pragma once
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hwsim/chip/chip.hpp"

namespace taskspec {

using Json = nlohmann::json;

// The tree of a text of at most so many bytes. Throws E7003, with line and column for what is no JSON.
Json parsed_json(const std::string& file, std::string_view kind, std::string_view text, std::size_t largest);

// What a number must be. Without a unit it is no figure.
struct WantedNumber {
  std::string_view unit;
  double least = 0, most = 0;
  bool whole = true;
};

// The file as a whole, and what has been found in it.
class ChipReading {
 public:
  // `kind` is what messages call it.
  ChipReading(std::string file, std::string_view kind, const Json& root)
      : root_(root), file_(std::move(file)), kind_(kind) {}

  void fault(const std::string& pointer, const std::string& what, std::string help = "");
  void expected(const std::string& pointer, const std::string& what, const Json& found);
  bool is_full() const { return faults_ >= most_faults; }

  // {"v": ..., "unit": ..., "src": ...}; with `plain`, the number alone as well. Not a number: a fault was noted.
  double number(const Json& value, const std::string& pointer, const WantedNumber& wanted, bool plain);
  // A word of a list, or {"v": word, "src": ...}. Its position; -1: a fault was noted.
  int word(const Json& value, const std::string& pointer, const std::vector<std::string>& words);
  std::optional<bool> truth(const Json& value, const std::string& pointer);

  std::vector<ChipSource> sources;
  std::vector<ChipFigure> figures;
  Diags diags;

 private:
  bool source(const Json& figure, const std::string& pointer);
  bool derived(const std::string& source, const std::string& pointer, double value);
  std::optional<double> stated(std::string_view pointer) const;
  // The value of {"v": ..., "src": ...}, or the value itself; null: neither.
  const Json* worded(const Json& value, const std::string& pointer, const std::string& expects);

  static constexpr std::size_t most_faults = 100;  // nobody reads more; a hostile file may have millions

  const Json& root_;
  std::string file_;
  std::string_view kind_;
  std::size_t faults_ = 0;
};

// An object of the file.
class ChipFields {
 public:
  // What is no object is a fault; then it has no fields, and none is missed.
  ChipFields(ChipReading& reading, const Json* value, std::string pointer);

  bool is_there() const { return object_ != nullptr; }
  const std::string& pointer() const { return pointer_; }
  std::string pointer(std::string_view key) const;
  const Json* find(std::string_view key);   // null: absent
  const Json* need(std::string_view key);   // absent: a fault
  ChipFields fields(std::string_view key);  // of an object that must be there
  std::string text(std::string_view key);   // one line, not empty
  std::int64_t figure(std::string_view key, const WantedNumber& wanted);
  std::int64_t plain(std::string_view key, const WantedNumber& wanted);
  std::optional<std::int64_t> optional_figure(std::string_view key, const WantedNumber& wanted);
  template <class Enum>
  Enum word(std::string_view key, const std::vector<std::string>& words) {
    const Json* value = need(key);
    return static_cast<Enum>(std::max(0, value ? reading_.word(*value, pointer(key), words) : 0));
  }
  bool truth(std::string_view key);
  // Of a list of numbers; with `one_for_all` a single figure stands for both.
  ChipExtent pair(std::string_view key, const WantedNumber& wanted, bool plain, bool one_for_all);
  void refuse(std::string_view key, const std::string& why);  // it may not be there
  void finish();                                              // what is left is unknown

  ChipReading& reading() { return reading_; }

 private:
  std::int64_t read(const Json* value, std::string_view key, const WantedNumber& wanted, bool plain);

  ChipReading& reading_;
  const Json* object_;
  std::string pointer_;
  std::set<std::string, std::less<>> asked_;
};

// A value as it may stand in a message: short, on one line.
std::string shown_in_message(const Json& value);

}  // namespace taskspec
