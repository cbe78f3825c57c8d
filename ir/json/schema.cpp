#include "ir/json/schema.hpp"

#include "ir/json/body.hpp"
#include "ir/json/format.hpp"
#include "ir/json/item.hpp"
#include "ir/json/json.hpp"
#include "ir/json/read.hpp"
#include "ir/json/schema_words.hpp"

namespace taskspec {

namespace {

using namespace schema_words;

Schema element_schema() { return either({typed("number"), flag(), text()}); }

// ---- definitions ----------------------------------------------------------------------------------

Schema call_schema() {
  return object({{"id", number()},
                 {"op", text()},
                 {"in", list(or_null(number()))},
                 {"attrs", typed("object")},
                 {"type", text()},
                 {"blocks", list(reference("block")), false}});
}

Schema block_schema() { return object({{"body", list(reference("call"))}, {"result", number(), false}}); }

Schema parameter_schema() {
  return object({{"name", text()},
                 {"type", text()},
                 {"priv", names(privilege_name, 4)},
                 {"reduce", one_of({reduce_words.begin(), reduce_words.end()}), false},
                 {"role", names(role_name, 4), false},
                 {"variable", number(), false},
                 {"default", reference("block"), false},
                 {"slot", names(slot_kind_name, slot_kind_words.size()), false}});
}

Schema symbol_schema() {
  return object({{"name", text()}, {"as", text(), false}, {"rank", number()}, {"call", or_null(number()), false}});
}

Schema slot_schema() {
  return object({{"name", text()},
                 {"kind", names(slot_kind_name, slot_kind_words.size())},
                 {"type", text()},
                 {"initial", number(), false}});
}

// What a definition that stands in no text computes; values are numbered.
Schema list_constant_schema() {
  return object({{"type", text()},
                 {"data", list(element_schema()), false},
                 {"base64", text(), false},
                 {"value", anything(), false}});
}

Schema list_line_schema() {
  return object({{"op", text()},
                 {"in", list(number())},
                 {"out", list(number())},
                 {"attrs", list(anything())},
                 {"types", list(text())}});
}

Schema embedded_schema() { return object({{"def", number()}, {"call", number(), false}, {"backward", flag(), false}}); }

Schema def_schema() {
  Schema output =
      object({{"name", text()}, {"type", text()}, {"variable", number(), false}, {"version", flag(), false}});
  Schema variable = object({{"name", text()}, {"type", text()}, {"mutable", flag(), false}});
  return object({{"id", number()},
                 {"kind", one_of({"task", "graph", "fn", "op", "ir", "agent", "module", "fields"})},
                 {"name", text()},
                 {"agent", number(), false},
                 {"params", list(reference("parameter")), false},
                 {"fields", list(object({{"name", text()}, {"type", text()}})), false},
                 {"outputs", list(output), false},
                 {"result", text(), false},
                 {"slots", list(reference("slot")), false},
                 {"effects", list(one_of({"host", "graph", "local"})), false},
                 {"symbols", list(symbol_schema()), false},
                 {"dimensions", list(text()), false},
                 {"variables", list(variable), false},
                 {"extern", text(), false},
                 {"local", flag(), false},
                 {"body", list(reference("call")), false},
                 {"suffix", text(), false},
                 {"pass", one_of({"forward", "backward", "update"}), false},
                 {"constants", list(list_constant_schema()), false},
                 {"ops", list(list_line_schema()), false},
                 {"results", list(number()), false},
                 {"embedded", embedded_schema(), false}});
}

// ---- the graph ------------------------------------------------------------------------------------

Schema ref_schema() {
  Schema future =
      object({{"node", number()}, {"slot", text()}, {"place", text(), false}, {"version", number(), false}});
  return either({object({{"const", number()}}), object({{"input", number()}}), future,
                 object({{"region", number()}, {"view", text()}})});
}

Schema rect_schema() { return object({{"lo", list(typed("integer"))}, {"hi", list(typed("integer"))}}); }

Schema region_schema() {
  Schema of = object({{"region", number()}, {"partition", number(), false}, {"colour", list(typed("integer")), false}});
  Schema field = object({{"region", number()}, {"view", text()}});
  Schema made = object(
      {{"op", one_of({"blocks", "halo", "shrink", "cross", "&", "|", "-", "by_field", "image", "preimage", "pieces"})},
       {"of", list(number()), false},
       {"with", of, false},
       {"counts", list(number()), false},
       {"distance", number(), false},
       {"shape", one_of({"box", "star"}), false},
       {"wrap", flag(), false},
       {"fields", list(field), false},
       {"pieces", list(list(tuple(number(), 2))), false}});
  Schema partition = object({{"id", number()},
                             {"of", of},
                             {"made", made, false},
                             {"colours", rect_schema()},
                             {"disjoint", flag(), false},
                             {"complete", flag(), false}});
  return object({{"id", number()},
                 {"fields", text()},
                 {"name", text()},
                 {"points", rect_schema()},
                 {"types", list(object({{"name", text()}, {"type", text()}}))},
                 {"partitions", list(partition)}});
}

Schema launch_schema() {
  Schema projection = object({{"kind", one_of({"identity", "affine", "function"})},
                              {"factors", list(list(typed("integer"))), false},
                              {"offsets", list(typed("integer")), false},
                              {"hash", text(), false}});
  Schema use = object({{"name", text()},
                       {"region", number()},
                       {"partition", number(), false},
                       {"colour", list(typed("integer")), false},
                       {"projection", projection, false},
                       {"fields", list(text())},
                       {"priv", names(privilege_name, 4)},
                       {"reduce", one_of({reduce_words.begin(), reduce_words.end()}), false}});
  return object({{"work", one_of({"task", "native", "fill", "read", "total", "reduce", "gather", "element", "join", "files",
                                  "exchange", "share"})},
                 {"domain", rect_schema()},
                 {"single", flag(), false},
                 {"uses", list(use)},
                 {"op", text(), false},
                 {"position", number(), false},
                 {"numbers", list(object({{"argument", number()}, {"projection", projection}})), false}});
}

Schema node_schema() {
  return object({{"id", number()},
                 {"name", text()},
                 {"def", number()},
                 {"scope", number()},
                 {"agent", number(), false},
                 {"args", map(anything())},
                 {"launch", launch_schema(), false},
                 {"in", list(object({{"slot", text()}, {"ref", reference("ref")}}))},
                 {"out", list(object({{"slot", text()}, {"type", text()}}))},
                 {"chain", number()},
                 {"steps", number()},
                 {"call", number(), false},
                 {"cond", number(), false},
                 {"bodies", list(reference("body_graph")), false}});
}

// Inside a structured node: as the whole graph, without chains.
Schema body_graph_schema() {
  Schema input = object({{"name", text()}, {"type", text()}});
  Schema result = object({{"name", text()}, {"ref", reference("ref")}});
  Schema node = object({{"id", number()},
                        {"name", text()},
                        {"def", number()},
                        {"in", list(object({{"slot", text()}, {"ref", reference("ref")}}))},
                        {"out", list(object({{"slot", text()}, {"type", text()}}))},
                        {"bodies", list(reference("body_graph")), false}});
  Schema edge = object({{"from", number()}, {"to", number()}, {"slot_from", text()}, {"slot_to", text()}});
  return object({{"name", text()},
                 {"inputs", list(input)},
                 {"results", list(result)},
                 {"nodes", list(node)},
                 {"edges", list(edge)}});
}

Schema edge_schema() {
  return object({{"id", number()},
                 {"kind", one_of({"future", "order"})},
                 {"from", number()},
                 {"to", number()},
                 {"slot_from", text(), false},
                 {"slot_to", text(), false},
                 {"why", one_of({"RAW", "WAR", "WAW"}), false},
                 {"place", text(), false}});
}

Schema chain_schema() {
  Schema rule = names(stop_name, 6);
  return object({{"id", number()}, {"nodes", list(number())}, {"first", rule}, {"last", rule}});
}

Schema const_schema() {
  return object({{"id", number()},
                 {"type", text()},
                 {"data", list(element_schema()), false},
                 {"base64", text(), false},
                 {"value", anything(), false}});
}

Schema plan_schema() {
  Schema step = object({{"id", number()}, {"nodes", list(number())}, {"then", list(number())}});
  Schema buffer = object({{"id", number()},
                          {"type", text()},
                          {"bytes", number()},
                          {"home", one_of({"input", "constant", "result", "arena", "scratch"})},
                          {"offset", number(), false},
                          {"index", number(), false},
                          {"life", tuple(or_null(number()), 2)},
                          {"shares", number(), false}});
  return object({{"steps", list(step)},
                 {"buffers", list(buffer)},
                 {"results", list(number())},
                 {"arena", number()},
                 {"scratch", number()},
                 {"peak", number()},
                 {"peak_without_chains", number()},
                 {"transfers", list(anything())},
                 {"placement", list(anything())}});
}

Schema block_graph_schema() {
  Schema numbers = list(number());
  Schema port = object({{"block", number()}, {"cluster", text()}, {"position", numbers}, {"size", numbers}});
  Schema block = object({{"id", number()},
                         {"name", text()},
                         {"type", text()},
                         {"precision", text()},
                         {"shape", map(number())},
                         {"attributes", list(list(anything()))},
                         {"branches", number(), false},
                         {"number", number(), false},
                         {"bias", number(), false},
                         {"virtual", flag(), false},
                         {"major_task", number(), false},
                         {"pipeline", number(), false},
                         {"socket", number(), false},
                         {"data", anything(), false}});
  Schema edge = object({{"id", number()},
                        {"from", port},
                        {"to", port},
                        {"moves", list(object({{"name", text()}, {"numbers", list(typed("integer"))}}))},
                        {"delay", number(), false},
                        {"initial", anything(), false},
                        {"trigger", flag(), false},
                        {"number", number(), false}});
  Schema group =
      object({{"number", number()}, {"blocks", numbers}, {"approx", number(), false}, {"metric", text(), false}});
  Schema test = object({{"mode", number(), false}, {"seed", number(), false}, {"name", text(), false}});
  return object({{"name", text()},
                 {"blocks", list(block)},
                 {"edges", list(edge)},
                 {"groups", list(group), false},
                 {"test", test, false}});
}

Schema spans_schema() {
  Schema span = or_null(tuple(number(), 4));
  return object(
      {{"files", list(text())}, {"nodes", list(span)}, {"defs", list(object({{"at", span}, {"calls", list(span)}}))}});
}

Schema layout_schema() {
  return object({{"nodes", list(tuple(number(), 4))},
                 {"scopes", list(or_null(tuple(number(), 4))), false},
                 {"edges", list(list(tuple(number(), 2)))}});
}

}  // namespace

nlohmann::ordered_json graph_schema_tree() {
  Schema agent = object({{"id", number()},
                         {"def", number()},
                         {"name", text()},
                         {"args", map(anything())},
                         {"slots", list(reference("slot"))}});
  Schema scope =
      object({{"id", number()}, {"parent", or_null(number())}, {"name", text()}, {"def", or_null(number())}});
  Schema schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "a graph of taskspec"}};
  schema.update(
      object({{"format", exactly(graph_format)},
              {"version", exactly(graph_version)},
              {"name", text()},
              {"inputs", list(object({{"name", text()}, {"type", text()}, {"priv", names(privilege_name, 4)}}))},
              {"results", list(object({{"name", text()}, {"type", text()}, {"ref", reference("ref")}}))},
              {"defs", list(def_schema())},
              {"scopes", list(scope)},
              {"nodes", list(node_schema())},
              {"edges", list(edge_schema())},
              {"chains", list(chain_schema())},
              {"agents", list(agent)},
              {"consts", list(const_schema())},
              {"regions", list(region_schema())},
              {"blocks", list(object({{"nodes", list(number())}, {"graph", block_graph_schema()}}))},
              {"plan", plan_schema(), false},
              {"spans", spans_schema()},
              {"layout", layout_schema()}}));
  schema["definitions"] = {{"call", call_schema()}, {"block", block_schema()}, {"parameter", parameter_schema()},
                           {"slot", slot_schema()}, {"ref", ref_schema()},     {"body_graph", body_graph_schema()}};
  return schema;
}

std::string graph_schema() { return graph_schema_tree().dump(2) + "\n"; }

std::vector<std::string> validate_graph_json(std::string_view text) {
  try {
    JsonFile file("the text", text);
    std::vector<std::string> faults = schema_faults(graph_schema_tree(), file.json());
    if (faults.empty()) check_graph_part(file.root());
    return faults;
  } catch (const Error& error) {
    return {error.diags().items().front().message};
  }
}

}  // namespace taskspec
