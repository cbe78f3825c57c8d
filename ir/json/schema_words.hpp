// The words that schemas of our JSON formats are written in. Internal to ir/json/.
//
//   object({{"id", number()}, {"name", text()}, {"extern", text(), false}})
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taskspec::schema_words {

using Schema = nlohmann::ordered_json;

// A key of an object; those that may be missing say so.
struct Key {
  const char* name;
  Schema value;
  bool required = true;
};

Schema typed(const char* type);
Schema text();
Schema flag();
Schema anything();
Schema number();
Schema list(Schema items);
Schema tuple(Schema items, int length);
Schema reference(const char* name);
Schema either(std::vector<Schema> choices);
Schema or_null(Schema schema);
Schema map(Schema values);
Schema exactly(Schema value);
Schema one_of(std::vector<std::string_view> words);
Schema object(std::vector<Key> keys);

template <class Enum>
Schema names(std::string_view (*name)(Enum), int count) {
  std::vector<std::string_view> words;
  for (int i = 0; i < count; ++i) words.push_back(name(static_cast<Enum>(i)));
  return one_of(std::move(words));
}

}  // namespace taskspec::schema_words
