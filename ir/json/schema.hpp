// The schema of exported graphs as a tree, and what about a value does not follow a schema. It understands the part of
// JSON Schema (draft 07) that ours uses: type, const, enum, properties, required, items, additionalProperties,
// minItems, maxItems, minimum, anyOf, $ref into definitions. Internal to ir/json/.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace taskspec {

nlohmann::ordered_json graph_schema_tree();

// One line each: "/nodes/3/def: expected an integer". At most `most`.
std::vector<std::string> schema_faults(const nlohmann::ordered_json& schema, const nlohmann::json& value,
                                       std::size_t most = 20);

}  // namespace taskspec
