// The words that schemas of our JSON formats are written in. Internal to ir/json_*.cpp.
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

inline Schema typed(const char* type) { return {{"type", type}}; }
inline Schema text() { return typed("string"); }
inline Schema flag() { return typed("boolean"); }
inline Schema anything() { return Schema::object(); }
inline Schema number() { return {{"type", "integer"}, {"minimum", 0}}; }
inline Schema list(Schema items) { return {{"type", "array"}, {"items", std::move(items)}}; }
inline Schema tuple(Schema items, int length) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", length}, {"maxItems", length}};
}
inline Schema reference(const char* name) { return {{"$ref", std::string("#/definitions/") + name}}; }
inline Schema either(std::vector<Schema> choices) { return {{"anyOf", std::move(choices)}}; }
inline Schema or_null(Schema schema) { return either({std::move(schema), typed("null")}); }
inline Schema map(Schema values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }
inline Schema exactly(Schema value) { return {{"const", std::move(value)}}; }
inline Schema one_of(std::vector<std::string_view> words) { return {{"enum", std::move(words)}}; }

template <class Enum>
inline Schema names(std::string_view (*name)(Enum), int count) {
  std::vector<std::string_view> words;
  for (int i = 0; i < count; ++i) words.push_back(name(static_cast<Enum>(i)));
  return one_of(std::move(words));
}

inline Schema object(std::vector<Key> keys) {
  Schema properties = Schema::object(), required = Schema::array();
  for (Key& key : keys) {
    if (key.required) required.push_back(key.name);
    properties[key.name] = std::move(key.value);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

}  // namespace taskspec::schema_words
