// The graph of a step of training as JSON: it stands in no text, so it comes back from its nodes.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "interp/control/export_graph.hpp"
#include "ir/files/files.hpp"
#include "ir/json/json.hpp"
#include "ir/show/graph_text.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::json_step_test {
using nlohmann::json;

namespace {

// States that a step writes, a weight of two tasks, numbers that come with each run.
constexpr const char* dense_program = R"(import nn
agent Net() {
  layer a = nn.Linear(4, 3, act: "relu", seed: 1)
  layer norm = nn.BatchNorm(3)
  weight w: f32[3, 3] = glorot_uniform(seed: 2)
  task mixed(in x: f32[B, 3]) -> (y: f32[B, 3]) { y = nn.dropout(x, rate: 0.25) @ w + x.sum(0) }
  graph forward(x: f32[B, 4]) -> (y: f32[B, 3]) { y = mixed(mixed(norm.forward(norm.forward(a.forward(x).y).y).y).y).y }
}
let m = train(Net(), loss: "sparse_categorical_crossentropy", optimizer: OPTIMIZER,
              metrics: ["accuracy", "rmse"], clip: 1.0RECOMPUTE)
m.step(fill(f32[2, 4], 1.0), fill(i64[2], 1))
m.step(fill(f32[2, 4], 2.0), fill(i64[2], 0))
)";

// A task and a loop about which tensors decide, which read a name of the top level.
constexpr const char* controlled_step = R"(let most = 10.0
agent Net() {
  weight w: f32[1, 1] = constant(3.0)
  task halved(in x: f32[B, 1]) -> (y: f32[B, 1]) {
    y = x @ w
    while y.max(0).max(1) > most { y = y * 0.5 }
  }
  graph forward(x: f32[B, 1]) -> (y: f32[B, 1]) {
    y = halved(x).y
    if y.sum(0).sum(0) > 1.0 { y = halved(y * 0.5).y }
  }
}
let m = train(Net(), loss: "mse_avg", optimizer: sgd(lr: 0.01, momentum: 0.9))
m.step([[7.0]] as f32[1, 1], [[1.0]] as f32[1, 1])
)";

std::string text_with(std::string text, const std::string& what, const std::string& by) {
  if (const std::size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
  return text;
}

struct StepFile {
  std::string json;
  std::string chains;  // as the program prints them
};

StepFile step_of(const std::string& program) {
  const auto folder = std::filesystem::temp_directory_path() / "taskspec_step_json";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "step.json").string();
  const Ran ran = run_text(program + "export(m, \"" + path + "\")\nfor line in why(m) { print(line) }\n");
  CHECK(ran.errors == "");
  REQUIRE(ran.code == 0);
  StepFile step{read_text(path, largest_graph), ran.output};
  std::filesystem::remove_all(folder);
  return step;
}

StepFile dense_step(const std::string& optimizer, const std::string& more = "") {
  return step_of(text_with(text_with(dense_program, "OPTIMIZER", optimizer), "RECOMPUTE", more));
}

Result<ImportedGraph> imported_step(const std::string& text) {
  return import_graph(text, "step.json", standard_toolbox().ops, standard_toolbox().builtins);
}

std::string written_step(const ImportedGraph& step) {
  return graph_json(step.program, {}, *step.recorded, aggregate(*step.recorded));
}

void step_comes_back(const StepFile& step) {
  CHECK(validate_graph_json(step.json) == std::vector<std::string>{});
  const Result<ImportedGraph> again = imported_step(step.json);
  INFO((again.diags().empty() ? "" : again.diags().items().front().message));
  REQUIRE(again);
  REQUIRE(again->recorded);
  CHECK(written_step(*again) == step.json);
  std::string lines;
  const Chains chains = aggregate(*again->recorded);
  for (std::size_t i = 0; i < chains.size(); ++i)
    lines += chain_text(*again->recorded, chains, ChainId(i)) + " " + first_text(*again->recorded, chains, ChainId(i)) +
             "; " + last_text(*again->recorded, chains, ChainId(i)) + "\n";
  CHECK(lines == step.chains);
}

std::string step_refusal(const json& tree) {
  return error_of([&] { imported_step(tree.dump()).value_or_throw(); });
}

}  // namespace

TEST_CASE("[training] the graph of a step comes back from its JSON, byte by byte") {
  for (const char* optimizer : {"adam(lr: 0.01)", "sgd(lr: s => 0.1 / (1.0 + s as float))",
                                "sgd(lr: 0.1, momentum: 0.9, nesterov: true)", "adamw(lr: 0.01, weight_decay: 0.1)"})
    step_comes_back(dense_step(optimizer));
  step_comes_back(dense_step("adam()", ", recompute: \"sqrt\""));
}

TEST_CASE("[training] tasks with control stand in a step's JSON by their definitions") {
  const StepFile step = step_of(controlled_step);
  step_comes_back(step);
  int embedded = 0, reverses = 0;
  const json tree = json::parse(step.json);
  for (const json& def : tree["defs"])
    if (def.contains("embedded")) {
      ++embedded;
      reverses += def["embedded"].value("backward", false);
      CHECK(tree["defs"][def["embedded"]["def"].get<std::size_t>()].contains("body"));
    }
  CHECK(embedded == 4);
  CHECK(reverses == 2);
}

TEST_CASE("[training] what a step holds: passes, versions of states, no contents of weights") {
  const json tree = json::parse(dense_step("adam()").json);
  std::map<std::string, int> passes;
  int versions = 0, slots = 0;
  for (const json& def : tree["defs"]) {
    if (def.contains("pass")) ++passes[def["pass"]];
    for (const json& output : def.value("outputs", json::array())) versions += output.value("version", false);
    for (const json& input : def.value("params", json::array())) slots += input.contains("slot");
  }
  CHECK(passes["forward"] > 0);
  CHECK(passes["backward"] > 1);
  CHECK(passes["update"] > 1);
  CHECK(versions > 4);  // mean, variance, weights and their moments
  CHECK(slots > 4);
  CHECK(tree["results"][0]["name"] == "loss");
  for (const json& constant : tree["consts"])
    if (constant["type"] == "f32[3, 4]") CHECK(constant["value"].is_null());
}

TEST_CASE("[training] a step's JSON that is broken is refused") {
  const json good = json::parse(dense_step("adam()").json);
  auto changed = [&](const std::string& at, const json& value) {
    json tree = good;
    tree[json::json_pointer(at)] = value;
    return step_refusal(tree);
  };
  CHECK(changed("/nodes/0/def", 10'000).find("there is no definition 10000") != std::string::npos);
  CHECK(changed("/nodes/0/name", "other#0").find("at /nodes/0/name: expected") != std::string::npos);
  CHECK(changed("/nodes/0/in", json::array()).find("0 entries for") != std::string::npos);
  CHECK(changed("/defs/0/ops/0/op", "ad").find("\"ad\" means nothing here") != std::string::npos);
  CHECK(changed("/defs/0/ops/0/in/0", 9999).find("there is no value 9999") != std::string::npos);
  CHECK(changed("/defs/0/ops/0/out/0", 0).find("makes values out of order") != std::string::npos);
  CHECK(changed("/defs/0/params/0/type", "f32[N]").find("expected the type of a tensor") != std::string::npos);
  CHECK(changed("/defs/0/suffix", ".other").find("no end of the name") != std::string::npos);
  CHECK(changed("/spans/nodes", json::array()).find("0 entries for") != std::string::npos);
  CHECK(changed("/spans/defs/0/calls", json::array()).find("0 places for") != std::string::npos);
  CHECK(changed("/results/0/ref", {{"node", 0}, {"slot", "none"}}).find("means nothing here") != std::string::npos);
  CHECK(changed("/scopes", json::array({good["scopes"][0], good["scopes"][0]})).find("one scope") != std::string::npos);
  json no_ops = good;
  no_ops["defs"][0].erase("ops");
  CHECK(step_refusal(no_ops).find("is made of op lists") != std::string::npos);
}

}  // namespace taskspec::json_step_test
