// One value of a JSON file together with the way to it, so that every complaint names its place as a JSON pointer.
// Whatever a file holds instead of what is asked for becomes E7003. Internal to ir/json_*.cpp.
//
//   Item item(root, file);
//   item["defs"][3]["name"].text()      // or: 'x.json' at /defs/3/name: expected a string, found 7
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ir/base/diag.hpp"

namespace taskspec {

using Json = nlohmann::json;

class Item {
 public:
  Item(const Json& value, const std::string& file) : value_(&value), file_(&file) {}

  const Json& json() const { return *value_; }
  const std::string& path() const { return path_; }
  bool is_null() const { return value_->is_null(); }
  bool has(std::string_view key) const { return object().contains(key); }

  Item operator[](std::string_view key) const;          // must be there
  Item operator[](std::size_t position) const;      // of a list, in range
  std::optional<Item> find(std::string_view key) const; // of an object
  std::size_t size() const;                         // of a list

  const std::string& text() const;
  std::int64_t integer() const;
  double real() const;  // also of "inf", "-inf" and "nan"
  bool boolean() const;
  std::size_t id(std::size_t count, std::string_view what) const;  // an integer from 0 to count - 1
  // The position of a text in a list of names.
  template <class Names>
  std::size_t one_of(const Names& names) const {
    const std::string& word = text();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == word) return i;
    std::vector<std::string> all(names.begin(), names.end());
    unknown_word(all);
  }

  [[noreturn]] void fail(const std::string& what, std::string help = "") const;
  [[noreturn]] void expected(std::string_view what) const;
  [[noreturn]] void unknown_word(const std::vector<std::string>& known) const;

 private:
  Item(const Json& value, std::string path, const std::string* file) : value_(&value), path_(std::move(path)), file_(file) {}
  const Json& object() const;

  const Json* value_;
  std::string path_;  // "/defs/3"
  const std::string* file_;
};

// The whole text as a tree. Throws Error E7003 with line and column for what is no JSON, or is nested too deeply.
Json parse_json(std::string_view text, const std::string& file);

}  // namespace taskspec
