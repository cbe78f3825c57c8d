#include <nlohmann/json.hpp>

#include "ir/json/cut_format.hpp"
#include "ir/json/cut_program.hpp"
#include "ir/json/item.hpp"
#include "ir/json/schema.hpp"
#include "ir/json/schema_words.hpp"

namespace taskspec {

namespace {

using namespace schema_words;

Schema place_schema() { return or_null(tuple(number(), 4)); }

Schema line_schema() {
  return or_null(object({{"text", text()},
                         {"depth", number()},
                         {"mark", one_of({cut_words::marks.begin(), cut_words::marks.end()})},
                         {"channels", list(number())},
                         {"at", place_schema()}}));
}

Schema function_schema() {
  return object({{"id", number()},
                 {"name", text()},
                 {"kind", one_of({cut_words::kinds.begin(), cut_words::kinds.end()})},
                 {"extern", text(), false},
                 {"cut", flag()},
                 {"host", flag()},
                 {"graph", flag()},
                 {"at", place_schema()},
                 {"rows", list(tuple(line_schema(), 2))},
                 {"metrics", reference("metrics")}});
}

Schema channel_schema() {
  Schema item = object({{"kind", names<Carries>(name_of, cut_words::carries_count)},
                        {"type", text()},
                        {"value", text()},
                        {"why", text()},
                        {"at", place_schema()}});
  return object({{"id", number()},
                 {"name", text()},
                 {"function", number()},
                 {"to", one_of({"host", "graph"})},
                 {"loops", number()},
                 {"waits", flag()},
                 {"round_trip", flag()},
                 {"items", list(item)}});
}

Schema metrics_schema() {
  Schema pair = object({{"all", number()}, {"each_turn", number()}});
  Schema segment = object({{"operations", number()}, {"loops", number()}, {"at", place_schema()}});
  return object({{"segments", list(segment)},
                 {"operations", number()},
                 {"largest", number()},
                 {"sends", pair},
                 {"receives", pair},
                 {"waits", pair},
                 {"round_trips", pair}});
}

Schema cut_schema_tree() {
  Schema schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"title", "the host and the graph program of taskspec"}};
  schema.update(
      object({{"format", exactly(cut_words::format)},
              {"version", exactly(cut_words::version)},
              {"sessions", number()},
              {"nested", number()},
              {"sinks", number()},
              {"files", list(text())},
              {"functions", list(function_schema())},
              {"channels", list(channel_schema())},
              {"sink", list(object({{"text", text()}, {"channel", number(), false}, {"at", place_schema()}}))},
              {"metrics", reference("metrics")},
              {"advice", list(object({{"text", text()}, {"at", place_schema()}}))}}));
  schema["definitions"] = {{"metrics", metrics_schema()}};
  return schema;
}

}  // namespace

std::string cut_schema() { return cut_schema_tree().dump(2) + "\n"; }

std::vector<std::string> validate_cut_json(std::string_view text) {
  try {
    return schema_faults(cut_schema_tree(), JsonFile("the text", text).json());
  } catch (const Error& error) {
    return {error.diags().items().front().message};
  }
}

}  // namespace taskspec
