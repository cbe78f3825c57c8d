// Graphs looked at and exported; nothing runs.
//
//   auto pipeline = graph("pipeline").in("x", f32["N"]).out("e", f32[1]).body([](Tensor x) { ... });
//   chains(pipeline)                    // {{"Scale.apply", "Moments.apply", "energy"}}
//   to_json(pipeline, "pipeline.json");
#pragma once
#include "taskspec/agent.hpp"

namespace taskspec::dsl {

// What the task graph looks like; nothing runs.
std::vector<std::vector<std::string>> chains(const Graph& g, detail::At at = detail::At::current());
std::vector<std::string> edges(const Graph& g, const std::string& kind = "", detail::At at = detail::At::current());
std::vector<std::string> why(const Graph& g,
                             detail::At at = detail::At::current());  // per chain: why it begins and ends

// The exchange form (schema: share/taskspec/graph.schema.json), the same as of a text that says the same.
std::string to_json(const Graph& g, detail::At at = detail::At::current());
void to_json(const Graph& g, const std::string& path, detail::At at = detail::At::current());
void to_dot(const Graph& g, const std::string& path, detail::At at = detail::At::current());

}  // namespace taskspec::dsl
