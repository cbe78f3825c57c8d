// One value of a JSON file. Whatever it is instead of what is asked for becomes E7003, which names its place as a JSON
// pointer. Internal to ir/json/ and ir/library/.
//
//   JsonFile file("x.json", text);
//   file.root()["defs"][3]["name"].text()      // or: 'x.json' at /defs/3/name: expected a string, found 7
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec {

using Json = nlohmann::json;

class Item;

// The whole text as a tree. Throws E7003 with line and column for what is no JSON, or is nested too deeply.
class JsonFile {
 public:
  // `kind` is what messages call it.
  JsonFile(std::string path, std::string_view text, std::string_view kind = "graph");
  ~JsonFile();
  Item root() const;
  const Json& json() const { return *json_; }
  const std::string& path() const { return path_; }
  std::string_view kind() const { return kind_; }
  std::string pointer_to(const Json& value) const;  // "/defs/3/name"; searches the tree

 private:
  std::string path_;
  std::string_view kind_;
  std::unique_ptr<const Json> json_;
};

class Item {
 public:
  Item(const Json& value, const JsonFile& file) : value_(&value), file_(&file) {}

  bool is_null() const;
  bool is_text() const;
  bool is_boolean() const;
  bool is_object() const;
  bool is_list() const;
  bool has(std::string_view key) const;

  Item operator[](std::string_view key) const;           // must be there
  Item operator[](std::size_t position) const;           // of a list, in range
  std::optional<Item> find(std::string_view key) const;  // of an object
  std::size_t size() const;                              // of a list

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
    unknown_word({names.begin(), names.end()});
  }

  [[noreturn]] void fail(const std::string& what, std::string help = "") const;
  [[noreturn]] void expected(std::string_view what) const;
  [[noreturn]] void unknown_word(const std::vector<std::string>& known) const;

 private:
  const Json& object() const;

  const Json* value_;
  const JsonFile* file_;
};

}  // namespace taskspec
