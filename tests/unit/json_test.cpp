// Exported graphs: what they hold, that they come back, and that broken ones are refused.
#include "ir/json/json.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "frontend/check.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/pipeline.hpp"
#include "ir/json/text.hpp"
#include "ir/json/types.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/json_programs.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/sample_graphs.hpp"

namespace taskspec::json_test {
using nlohmann::json;

namespace {

const Toolbox& tools() { return standard_toolbox(); }

Program checked(const std::string& text) {
  Sources sources;
  SourceId main = sources.add("test.task", text);
  Result<Program> program = check(sources, main, {.ops = tools().ops, .builtins = tools().builtins});
  INFO(render(sources, program.diags()));
  REQUIRE(program);
  return std::move(*program);
}

std::string exported(const Program& program, const std::string& name) {
  FunctionId graph = find_graph(program, name);
  REQUIRE(graph.valid());
  std::string text;
  with_graph(program, graph, tools().ops,
             [&](const GraphView& view) { text = graph_json(program, graph, view.graph, aggregate(view.graph)); });
  return text;
}

Result<ImportedGraph> imported(const std::string& text) {
  return import_graph(text, "x.json", tools().ops, tools().builtins);
}

// Exported, read back and exported again.
std::string round_trip(const std::string& text) {
  Result<ImportedGraph> again = imported(text);
  INFO(text);
  REQUIRE_MESSAGE(again, (again ? "" : again.diags().items().front().message));
  return exported(again->program, again->name);
}

std::string import_error(const std::string& text) {
  return error_of([&] { imported(text).value_or_throw(); });
}

std::string sample() { return exported(checked(json_programs::pipeline), "pipeline"); }

// The sample with one change, as a tree.
std::string changed(const std::string& pointer, const json& value) {
  json tree = json::parse(sample());
  tree[json::json_pointer(pointer)] = value;
  return tree.dump();
}

}  // namespace

// ---- what is in it --------------------------------------------------------------------------------

TEST_CASE("the node of sample 1 is written as the language says [S4]") {
  std::string text = sample();
  CHECK(
      text.find(
          R"({"id":1,"name":"Moments.apply#0","def":1,"scope":0,"agent":1,"args":{},"in":[{"slot":"x","ref":{"node":0,"slot":"y"}}],"out":[{"slot":"mean","type":"f32[1]"},{"slot":"dev","type":"f32[N]"}],"chain":0,"steps":2})") !=
      std::string::npos);
  CHECK(text.find(R"("args":{"k":2})") != std::string::npos);
  CHECK(text.find(R"({"id":0,"nodes":[0,1,2],"first":"input","last":"result"})") != std::string::npos);
}

TEST_CASE("two agents of one kind that a graph uses are two in its JSON") {
  const std::string text =
      "agent Scale(k: float) { task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x } }\n"
      "let a = Scale(2.0)\nlet b = Scale(3.0)\n"
      "graph g(x: f32[N]) -> (y: f32[N]) { y = b.apply(a.apply(x).y).y }\n";
  const json tree = json::parse(exported(checked(text), "g"));
  REQUIRE(tree["agents"].size() == 2);
  CHECK(tree["agents"][0]["args"]["k"] == 2);
  CHECK(tree["agents"][1]["args"]["k"] == 3);
  CHECK(tree["nodes"][1]["agent"] == 1);
}

TEST_CASE("keys stand in the order of the table, ids are positions, equal graphs give equal bytes [S4]") {
  std::string text = sample();
  nlohmann::ordered_json tree = nlohmann::ordered_json::parse(text);
  std::vector<std::string> keys;
  for (const auto& item : tree.items()) keys.push_back(item.key());
  CHECK(keys == std::vector<std::string>{"format", "version", "name", "inputs", "results", "defs", "scopes", "nodes",
                                         "edges", "chains", "agents", "consts", "regions", "blocks", "spans",
                                         "layout"});
  for (const char* table : {"defs", "scopes", "nodes", "edges", "chains", "agents"})
    for (std::size_t i = 0; i < tree[table].size(); ++i) CHECK(tree[table][i]["id"] == i);
  CHECK(text == sample());
}

TEST_CASE("spans are 1-based and in bytes") {
  json tree = json::parse(sample());
  std::string program = json_programs::pipeline;
  CHECK(tree["spans"]["files"] == json({"test.task"}));
  json span = tree["spans"]["nodes"][2];
  std::size_t begin = 0;
  for (int line = 1; line < span[1].get<int>(); ++line) begin = program.find('\n', begin) + 1;
  CHECK(program.substr(begin + span[2].get<std::size_t>() - 1, span[3].get<std::size_t>()) == "energy(m.dev, m.mean)");
}

TEST_CASE("places: references by name and version, order edges with their reason") {
  Sketch s = hazard();
  json tree = json::parse(graph_json(Program(), FunctionId(), *s.graph, aggregate(*s.graph)));
  CHECK(tree["nodes"][0]["in"][0]["ref"] == json({{"input", 0}}));
  CHECK(tree["nodes"][1]["in"][0]["ref"] == json({{"place", "r"}, {"version", 1}, {"node", 0}, {"slot", "r"}}));
  CHECK(tree["nodes"][2]["in"][0]["ref"]["version"] == 1);
  CHECK(tree["edges"][1] ==
        json({{"id", 1}, {"kind", "future"}, {"from", 0}, {"to", 2}, {"slot_from", "t"}, {"slot_to", "d"}}));
  std::string text = tree["edges"].dump();
  CHECK(text.find(R"("why":"WAR")") != std::string::npos);
  CHECK(tree["chains"].size() == 4);
  CHECK(validate_graph_json(tree.dump()) == std::vector<std::string>{});
}

TEST_CASE("constants: element by element up to 1,024, else base64") {
  for (std::int64_t count : {3, 1024, 1025}) {
    CAPTURE(count);
    TaskGraph graph;
    Array array = Array::make({Precision::f32, {count}});
    for (std::int64_t i = 0; i < count; ++i) array.set_number(i, 0.5 * static_cast<double>(i));
    graph.add_constant(array.type().type(), Value(array));
    json constant = json::parse(graph_json(Program(), FunctionId(), graph, aggregate(graph)))["consts"][0];
    CHECK(constant["type"] == "f32[" + std::to_string(count) + "]");
    CHECK(constant.contains("base64") == (count > 1024));
    if (count > 1024)
      CHECK(constant["base64"].get<std::string>().starts_with("AAAAAAAAAD8AAIA/"));
    else
      CHECK(constant["data"][2] == 1.0);
  }
}

TEST_CASE("floats are written as the language prints them") {
  JsonText out;
  out.open('[')
      .real(45)
      .real(0.1)
      .real(1e-6)
      .real(2.5e20)
      .real(-0.0)
      .real(HUGE_VAL)
      .real(-HUGE_VAL)
      .real(std::nan(""))
      .close(']');
  CHECK(out.take() == R"([45,0.1,1e-06,2.5e+20,-0.0,"inf","-inf","nan"])");
}

TEST_CASE("strings are legal JSON whatever is in them [hostile]") {
  for (std::string text : {std::string("a\"b\\c\n\t\x01\x7f"), std::string("\xff\xc3("),
                           std::string("gr\xc3\xb6\xc3\x9f"
                                       "e \xf0\x9f\x99\x82"),
                           std::string(3, '\0')}) {
    json value = json::parse(json_quoted(text));
    CHECK(json::parse(json_quoted(value.get<std::string>())) == value);
  }
  CHECK(json::parse(json_quoted("gr\xc3\xb6\xc3\x9f")) == "gr\xc3\xb6\xc3\x9f");
}

TEST_CASE("base64 there and back") {
  for (std::string bytes : {"", "a", "ab", "abc", "abcd"}) {
    std::string back;
    CHECK(from_base64(base64(bytes), back));
    CHECK(back == bytes);
  }
  CHECK(base64("light w") == "bGlnaHQgdw==");
  std::string back;
  for (const char* wrong : {"a", "ab=c", "a===", "ab*=", "====", "\xff\xff\xff\xff"})
    CHECK_FALSE(from_base64(wrong, back));
}

TEST_CASE("types are read as they are written") {
  auto symbol = [](const char* name, std::uint32_t id) {
    return std::make_shared<const SymbolInfo>(SymbolInfo{name, id});
  };
  Symbol n = symbol("N", 1), odd = symbol("(2*N) / 3", 2);
  Dim N(n), O(odd);
  SymbolNames names;
  names.add(Dim(N + O));
  names.choose();
  auto agent_number = [](AgentId id) { return id.index() + 10; };
  auto fields_number = [](FieldsId id) { return id.index(); };
  const DefNumbers number{agent_number, fields_number};
  TypeNames reader{[&](std::string_view name) {
                     return name == "N" ? std::optional(n) : name == "$1" ? std::optional(odd) : std::nullopt;
                   },
                   [](std::size_t id) { return std::optional(AgentId(id - 10)); }};
  Type agent(Type::Kind::agent), task(Type::Kind::task), record(Type::Kind::record);
  agent.agent = AgentId(3);
  task.parts = {f32({N}), Type::Kind::integer, f32({N * N * Dim(2) - O + Dim(7)})};
  task.names = {"x", "T1.k", "y"};
  task.inputs = 2;
  record.parts = {Type::Kind::boolean, Type::Kind::real};
  record.names = {"acyclic", "seconds"};
  for (const Type& type :
       {Type(Type::Kind::integer), Type(Type::Kind::none), Type(Type::Kind::range), Type(Type::Kind::backend),
        Type::tensor(Precision::boolean, {}), Type::tensor(Precision::tern, {}), f32({N, 3, Dim(0) - N}),
        Type::list(Type::list(Type::Kind::string)), Type::tuple({Type::Kind::boolean, f32({})}),
        Type::function({Type::function({}, Type::Kind::none)}, Type::list(Type::Kind::real)), Type::of(f32({O})), agent,
        task, record}) {
    std::string text = type_text(type, names, number);
    CAPTURE(text);
    std::optional<Type> back = parse_type(text, reader);
    REQUIRE(back);
    CHECK(*back == type);
  }
  for (std::string wrong : {"", "f33", "f32[", "f32[M]", "f32[N", "f32[N]]", "f32[9999999999999999999]", "[int", "fn(",
                            "agent#", "task(int)", "int int"})
    CHECK_MESSAGE(!parse_type(wrong, reader), wrong);
  CHECK_FALSE(parse_type(std::string(100'000, '['), reader));
}

// ---- there and back -------------------------------------------------------------------------------

TEST_CASE("every program comes back as it was [S4]") {
  for (const auto& [name, text] : json_programs::all) {
    CAPTURE(text);
    std::string one = exported(checked(text), name);
    CHECK(round_trip(one) == one);
    CHECK(validate_graph_json(one) == std::vector<std::string>{});
  }
}

TEST_CASE("an imported graph computes what the text computes [S4]") {
  for (const json_programs::Case& item : json_programs::runs) {
    CAPTURE(item.text);
    Program program = checked(item.text);
    Result<ImportedGraph> again = imported(exported(program, item.name));
    REQUIRE_MESSAGE(again, (again ? "" : again.diags().items().front().message));
    std::vector<Value> inputs;
    for (const std::vector<double>& list : item.inputs) {
      Array array = Array::make({Precision::f32, {static_cast<std::int64_t>(list.size())}});
      for (std::size_t i = 0; i < list.size(); ++i) array.set_number(static_cast<std::int64_t>(i), list[i]);
      inputs.emplace_back(array);
    }
    GraphRun first = run_graph(program, find_graph(program, item.name), inputs, tools(), {});
    GraphRun second = run_graph(again->program, find_graph(again->program, item.name), inputs, tools(), {});
    INFO(render(program.sources, first.diags) << render(again->program.sources, second.diags));
    REQUIRE(first.exit_code == 0);
    REQUIRE(second.exit_code == 0);
    REQUIRE(first.results.size() == second.results.size());
    for (std::size_t i = 0; i < first.results.size(); ++i)
      CHECK(print(Value(first.results[i].second)) == print(Value(second.results[i].second)));
    if (!item.expected.empty()) CHECK(print(Value(first.results[0].second)) == item.expected);
  }
}

TEST_CASE("the top level that a graph reads comes along, and nothing else of the program") {
  std::string text = exported(checked("let k = 3\nprint(\"not me\")\nlet unused = 4\nlet w = fill(f32[k], 2.0)\n"
                                      "graph g(x: f32[3]) -> (y: f32[3]) { y = x * w }"),
                              "g");
  CHECK(text.find("not me") == std::string::npos);
  CHECK(text.find("unused") == std::string::npos);
  CHECK(text.find(R"("kind":"module")") != std::string::npos);
}

// ---- broken files ---------------------------------------------------------------------------------

TEST_CASE("what is no graph is refused with its place [S8] [hostile]") {
  std::string text = sample();
  CHECK(import_error("").starts_with("E7003 'x.json' is cut off at line 1, column 1"));
  CHECK(import_error(text.substr(0, text.size() / 2)).starts_with("E7003 'x.json' is cut off"));
  CHECK(import_error("{\n  \"format\": nonsense }").starts_with("E7003 'x.json' is not JSON at line 2, column"));
  CHECK(import_error("[]").find("expected an object, found a list") != std::string::npos);
  CHECK(import_error("{}").find("there is no 'format'") != std::string::npos);
  CHECK(import_error(R"({"format":"other","version":1})").find("at /format") != std::string::npos);
  CHECK(import_error(changed("/version", 3)).find("version 3 is newer than this program") != std::string::npos);
  CHECK(import_error(changed("/name", "no such")).find("no graph 'no such' is defined") != std::string::npos);
}

TEST_CASE("each broken part is named by its pointer [S8] [hostile]") {
  struct Fault {
    const char* pointer;
    json value;
    const char* message;
  };
  for (const Fault& fault : {
           Fault{"/defs", 3, "at /defs: expected a list, found 3"},
           Fault{"/defs/0/id", 7, "at /defs/0/id: expected 0"},
           Fault{"/defs/0/kind", "tusk", "did you mean 'task'"},
           Fault{"/defs/0/name", "apply", "at /defs/0/name"},
           Fault{"/defs/0/agent", 0, "definition 0 is no agent"},
           Fault{"/defs/0/agent", 99, "there is no definition 99"},
           Fault{"/defs/0/params/0/type", "flot", "'flot' is no type"},
           Fault{"/defs/0/params/0/priv", "inn", "at /defs/0/params/0/priv"},
           Fault{"/defs/0/body/2/op", "mull", "did you mean 'mul'"},
           Fault{"/defs/0/body/2/id", 5, "at /defs/0/body/2/id: expected 2"},
           Fault{"/defs/0/body/2/in", json({0, 77}), "at /defs/0/body/2/in/1: there is no call 77"},
           Fault{"/defs/0/body/2/in", json({0, -1}), "at /defs/0/body/2/in/1"},
           Fault{"/defs/0/body/2/in", json({0, 3}), "is not made before it"},
           Fault{"/defs/0/body/2/in", json({0}), "another number of operands"},
           Fault{"/defs/0/body/2/in", json({0, nullptr}), "an operand is missing"},
           Fault{"/defs/0/body/2/type", "i8[N]", "its result is"},
           Fault{"/defs/0/body/2/type", "int", "its result is"},
           Fault{"/defs/0/body/3/attrs/variable", 4, "at /defs/0/body/3/attrs/variable"},
           Fault{"/defs/0/body/1/attrs/index", 9, "there is no such parameter"},
           Fault{"/defs/1/body/1/attrs/value", "zero", "a value of another type"},
           Fault{"/defs/3/body/3/attrs/def", 4, "definition 4 is no task, graph or fn"},
           Fault{"/defs/3/body/3/type", "invocation (y: i32[N])", "a result of another type"},
           Fault{"/defs/3/body/5/attrs/index", 1, "there is no such output"},
           Fault{"/defs/3/body/5/in", json::array({nullptr}), "an operand is missing"},
           Fault{"/nodes/1/in/0/ref", json({{"node", 2}, {"slot", "e"}}), "a cycle"},
           Fault{"/nodes/1/in/0/ref", json({{"node", 9}, {"slot", "e"}}), "there is no node 9"},
           Fault{"/nodes/1/def", 17, "at /nodes/1/def"},
           Fault{"/edges/0/from", 1, "closes a cycle"},
           Fault{"/chains/0/nodes/0", 12, "at /chains/0/nodes/0"},
           Fault{"/spans/defs/0/calls/0", json({0, 1'000'000'000, 1, 1}), "at /spans/defs/0/calls/0"},
           Fault{"/spans/defs/0/calls/0", json({4, 1, 1, 1}), "there is no file 4"},
       }) {
    CAPTURE(fault.pointer);
    std::string error = import_error(changed(fault.pointer, fault.value));
    CHECK_MESSAGE(error.starts_with("E7003 "), error);
    CHECK_MESSAGE(error.find(fault.message) != std::string::npos, error);
  }
}

TEST_CASE("operands of a call are of the kinds that the op's record says [S8] [hostile]") {
  std::string text =
      exported(checked("graph g(x: f32[4]) -> (y: f32[2]) { let t = x.topk(2, 0)\n y = t.values }"), "g");
  const std::string call = "\"op\":\"topk\",\"in\":[0,";
  const std::size_t at = text.find(call);
  REQUIRE(at != std::string::npos);
  text[at + call.size()] = '0';  // how many: the tensor itself
  CHECK(import_error(text).find("its operand 'k' cannot be f32[4]") != std::string::npos);
}

TEST_CASE("what a default makes is not seen by the body, which may run without it [S8] [hostile]") {
  json tree = json::parse(exported(checked("task t(in x: f32[2], in k: float = 0.5) -> (y: f32[2]) { y = x * k }\n"
                                           "graph g(x: f32[2]) -> (y: f32[2]) { y = t(x, 2.0).y }"),
                                   "g"));
  json& task = tree["defs"][0];
  REQUIRE(task["params"][1]["default"]["body"][0]["id"] == 0);
  REQUIRE(task["body"][2]["op"] == "mul");
  task["body"][2]["in"][1] = 0;
  CHECK(import_error(tree.dump()).find("%0 is not made before it") != std::string::npos);
  task["body"][2]["in"][1] = 2;
  CHECK(imported(tree.dump()));
  task["params"][1]["default"]["result"] = 2;
  CHECK(import_error(tree.dump()).find("there is no call 2") != std::string::npos);
}

TEST_CASE("what is known before the run is worked out, not believed [S8] [hostile]") {
  const std::string text = exported(checked("task t(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 + fill(f32[1], 1.0) }\n"
                                            "let w = fill(f32[1], 3.0)\n"
                                            "graph g(x: f32[2]) -> (y: f32[2]) { y = t(x).y + w * w }"),
                                    "g");
  auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    for (std::size_t at = 0; (at = changed.find(from, at)) != std::string::npos; at += to.size())
      changed.replace(at, from.size(), to);
    CHECK(changed != text);
    return changed;
  };
  Array two = array_of(List{Value(1.0), Value(2.0)}, Precision::f32);
  for (const std::string& lie :
       {replaced("\"attrs\":{}", "\"attrs\":{\"folded\":true}"), replaced("\"folded\":true", "\"folded\":false")}) {
    Result<ImportedGraph> graph = imported(lie);
    REQUIRE(graph);
    CHECK(exported(graph->program, "g") == text);
    GraphRun run = run_graph(graph->program, find_graph(graph->program, "g"), {Value(two)}, tools(), {});
    REQUIRE(run.exit_code == 0);
    CHECK(print(Value(run.results[0].second)) == "[12, 14]");
  }
}

TEST_CASE("places in the text take no more memory than a text may have [S8] [hostile]") {
  json tree = json::parse(sample());
  for (int i = 0; i < 40; ++i) tree["spans"]["files"].push_back("more.task");
  tree["spans"]["defs"][0]["calls"][0] = json({0, 1'000'000, 1, 1});
  CHECK(imported(tree.dump()));
  for (int i = 0; i < 2; ++i) tree["spans"]["defs"][0]["calls"][i] = json({i, 60'000'000, 1, 1});
  CHECK(import_error(tree.dump()).find("at /spans/defs/0/calls/1: a place beyond every text") != std::string::npos);
  tree["spans"]["defs"][0]["calls"][0] = json({0, 1, 1, 60'000'000});
  CHECK(import_error(tree.dump()).find("at /spans/defs/0/calls/1: a place beyond every text") != std::string::npos);
}

TEST_CASE("a call goes on from the newest version of the places that it changes [S8] [hostile]") {
  const std::string text = exported(checked(R"(
    task bump(inout r: f64[1], in d: f64[1]) -> (t: f64[1]) { r = r * 10.0 + d; t = r }
    graph g(inout r: f64[1], inout q: f64[1], d: f64[1]) -> (t: f64[1]) { let a = bump(r, d).t
 t = bump(q, a).t })"),
                                    "g");
  const std::string second = R"("in":[4,3],"attrs":{"def":0,"places":[{"operand":0,"variable":1}]})";
  REQUIRE(text.find(second) != std::string::npos);
  auto error = [&](const std::string& other) {
    std::string changed = text;
    return import_error(changed.replace(text.find(second), second.size(), other));
  };
  CHECK(error(R"("in":[4,3],"attrs":{"def":0,"places":[{"operand":0,"variable":0}]})").find("not what it reads") !=
        std::string::npos);
  CHECK(error(R"("in":[1,3],"attrs":{"def":0,"places":[{"operand":0,"variable":0}]})").find("not read as it is now") !=
        std::string::npos);
}

TEST_CASE("nesting without end is an error, not a crash [S8] [hostile]") {
  CHECK(import_error(std::string(100'000, '[')).find("nested too deeply") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  CHECK(import_error(deep).find("nested too deeply") != std::string::npos);
  // Deeper than the language allows, not deeper than JSON may be.
  std::string body = "[]";
  for (int i = 0; i < 1220; ++i)
    body =
        R"([{"id":0,"op":"if","in":[],"attrs":{},"type":"nothing","blocks":[{"body":)" + body + R"(},{"body":[]}]}])";
  std::string text = changed("/defs/2/body", "BODY");
  CHECK(import_error(text.replace(text.find("\"BODY\""), 6, body)).starts_with("E7003"));
}

TEST_CASE("random changes of a good file give a graph or an error, never a crash [S8] [fuzz]") {
  std::vector<std::string> good;
  for (const auto& [name, text] : json_programs::all) good.push_back(exported(checked(text), name));
  std::size_t accepted = 0, refused = 0;
  for (std::uint64_t seed : random_seeds(300, 20'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::string text = good[seed % good.size()];
    for (std::int64_t i = between(random, 1, 4); i > 0; --i) {
      auto at = static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(text.size()) - 1));
      static constexpr std::string_view digits = "0123456789-\"[]{},:aN*";
      if (between(random, 0, 9) == 0)
        text.erase(at, static_cast<std::size_t>(between(random, 1, 40)));
      else
        text[at] = digits[static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(digits.size()) - 1))];
    }
    Result<ImportedGraph> graph = imported(text);
    if (!graph) {
      ++refused;
      REQUIRE(graph.diags().items().front().code == Code("E7003"));
      continue;
    }
    ++accepted;
    // What was accepted can be looked at and run, or says why not.
    FunctionId id = find_graph(graph->program, graph->name);
    try {
      with_graph(graph->program, id, tools().ops, [&](const GraphView& view) {
        CHECK(graph_json(graph->program, id, view.graph, aggregate(view.graph)).size() > 100);
      });
    } catch (const Error& error) {
      REQUIRE(error.diags().has_errors());
    }
  }
  CHECK(refused > 0);
  CHECK(accepted > 0);
}

TEST_CASE("random trees of values are refused [S8] [fuzz]") {
  for (std::uint64_t seed : random_seeds(300, 20'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    json tree = json::parse(sample());
    // Some value anywhere in the file becomes another one.
    std::vector<json*> all;
    std::vector<json*> todo{&tree};
    while (!todo.empty()) {
      json* item = todo.back();
      todo.pop_back();
      for (json& inner : *item) {
        all.push_back(&inner);
        if (inner.is_structured()) todo.push_back(&inner);
      }
    }
    const json odd[] = {nullptr,
                        true,
                        -1,
                        0,
                        1,
                        2'000'000'000,
                        1e300,
                        "",
                        "f32[N]",
                        "x",
                        json::array(),
                        json::object(),
                        json::array({1, 2})};
    *all[static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(all.size()) - 1))] =
        odd[static_cast<std::size_t>(between(random, 0, 12))];
    std::string text = tree.dump();
    if (Result<ImportedGraph> graph = imported(text); !graph)
      REQUIRE(graph.diags().items().front().code == Code("E7003"));
    CHECK(validate_graph_json(text).size() <= 20);
  }
}

// ---- schema and diagnostics -----------------------------------------------------------------------

TEST_CASE("the schema is JSON, knows every key that is written, and refuses what it must [S4]") {
  json schema = json::parse(graph_schema());
  CHECK(schema["$schema"] == "http://json-schema.org/draft-07/schema#");
  json graph = json::parse(sample());
  for (const auto& item : graph.items()) CHECK_MESSAGE(schema["properties"].contains(item.key()), item.key());
  for (const auto& item : graph["nodes"][0].items())
    CHECK_MESSAGE(schema["properties"]["nodes"]["items"]["properties"].contains(item.key()), item.key());
  for (const json& def : graph["defs"])
    for (const auto& item : def.items())
      CHECK_MESSAGE(schema["properties"]["defs"]["items"]["properties"].contains(item.key()), item.key());
  CHECK(validate_graph_json(changed("/nodes/0/chain", "first")) ==
        std::vector<std::string>{"/nodes/0/chain: expected integer, found string"});
  CHECK(validate_graph_json(changed("/chains/0/last", "end"))[0].starts_with("/chains/0/last: expected one of"));
  CHECK(validate_graph_json(changed("/nodes/1/in/0/ref", json({{"nude", 0}}))).size() == 1);
  CHECK(validate_graph_json(changed("/edges/0/from", 1))[0].find("closes a cycle") != std::string::npos);
  CHECK(validate_graph_json("{").size() == 1);
  json more = graph;
  more["from_the_future"] = {1, 2, 3};
  CHECK(validate_graph_json(more.dump()).empty());
}

TEST_CASE("diagnostics as JSON") {
  Sources sources;
  SourceId id = sources.add("a.task", "let x = 1\nprint(y)\n");
  Diags diags;
  diags.error("E1001", {id, 16, 17}, "unknown name 'y'")
      .at("here")
      .label({id, 4, 5}, "\"x\"")
      .note("a note")
      .help("did you mean 'x'?");
  diags.warning("E1008", {}, "no place");
  json tree = json::parse(diagnostics_json(plain(sources, diags)));
  json first = tree["diagnostics"][0];
  CHECK(first["code"] == "E1001");
  CHECK(first["severity"] == "error");
  CHECK(first["file"] == "a.task");
  CHECK(first["line"] == 2);
  CHECK(first["column"] == 7);
  CHECK(first["end_column"] == 8);
  CHECK(first["label"] == "here");
  CHECK(first["labels"][0]["text"] == "\"x\"");
  CHECK(first["notes"] == json({"a note"}));
  CHECK(first["help"] == "did you mean 'x'?");
  CHECK(tree["diagnostics"][1]["file"].is_null());
  CHECK(json::parse(diagnostics_json({})) == json({{"diagnostics", json::array()}}));
}

}  // namespace taskspec::json_test
