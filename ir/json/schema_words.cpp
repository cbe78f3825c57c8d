#include "ir/json/schema_words.hpp"

namespace taskspec::schema_words {

Schema typed(const char* type) { return {{"type", type}}; }

Schema text() { return typed("string"); }

Schema flag() { return typed("boolean"); }

Schema anything() { return Schema::object(); }

Schema number() { return {{"type", "integer"}, {"minimum", 0}}; }

Schema list(Schema items) { return {{"type", "array"}, {"items", std::move(items)}}; }

Schema tuple(Schema items, int length) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", length}, {"maxItems", length}};
}

Schema reference(const char* name) { return {{"$ref", std::string("#/definitions/") + name}}; }

Schema either(std::vector<Schema> choices) { return {{"anyOf", std::move(choices)}}; }

Schema or_null(Schema schema) { return either({std::move(schema), typed("null")}); }

Schema map(Schema values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }

Schema exactly(Schema value) { return {{"const", std::move(value)}}; }

Schema one_of(std::vector<std::string_view> words) { return {{"enum", std::move(words)}}; }

Schema object(std::vector<Key> keys) {
  Schema properties = Schema::object(), required = Schema::array();
  for (Key& key : keys) {
    if (key.required) required.push_back(key.name);
    properties[key.name] = std::move(key.value);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

}  // namespace taskspec::schema_words
