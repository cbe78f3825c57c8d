// Every Task IR file of the recorded outputs, where these are at hand, run in rabbit mode: the values of all its
// blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "interp/exact/engine.hpp"
#include "interp/import/task_ir/task_ir.hpp"
#include "ir/blocks/cost.hpp"
#include "stdlib/blocks.hpp"
#include "tests/peers/golden_folder.hpp"
#include "tests/unit/block_cases.hpp"

namespace taskspec::golden_blocks_test {

namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<std::int64_t>;

std::string contents_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Numbers numbers_in(const fs::path& path) {
  std::ifstream file(path);
  Numbers numbers;
  for (double x; file >> x;) numbers.push_back(static_cast<std::int64_t>(x));
  return numbers;
}

// The folders of cases: one graph each, with what its blocks were.
std::vector<fs::path> golden_cases() {
  std::vector<fs::path> found;
  const fs::path folder = golden_folder() / "task-ir";
  if (!fs::is_directory(folder)) return found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "all_block_values.json")) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::shared_ptr<const BlockGraph> golden_graph(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().ends_with(".task.txt")) continue;
    const std::string text = contents_of(entry.path());
    Sources sources;
    const SourceId source = sources.add(entry.path().string(), text);
    TaskIrFile file = read_task_ir(text, source, folder.filename().string(), standard_blocks()).value_or_throw();
    return std::make_shared<BlockGraph>(std::move(file.graph));
  }
  return nullptr;
}

// Inputs lie beside a graph that has some.
std::vector<Array> golden_inputs(const fs::path& folder, const BlockGraph& graph) {
  std::vector<Array> inputs;
  for (BlockId id : graph.inputs()) {
    const ArrayType type = value_type(graph[id]);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().filename().string().ends_with(".dat.txt"))
        inputs.push_back(make_array(type.precision, type.extents, numbers_in(entry.path())));
  }
  return inputs;
}

}  // namespace

TEST_CASE("every block of recorded graphs has the recorded values [golden-blocks]") {
  const std::vector<fs::path> folders = golden_cases();
  if (folders.empty()) MESSAGE("skipped: no task-ir folder in " << golden_folder().string());
  for (const fs::path& folder : folders) {
    CAPTURE(folder.filename().string());
    const std::shared_ptr<const BlockGraph> graph = golden_graph(folder);
    REQUIRE(graph);
    ExactEngine engine = ExactEngine::make(graph, {.mode = BlockMode::rabbit}).value_or_throw();
    engine.run(golden_inputs(folder, *graph));
    std::map<int, BlockId> by_number;
    for (std::size_t i = 0; i < graph->blocks.size(); ++i) by_number[graph->blocks[i].number] = BlockId(i);
    const nlohmann::json recorded = nlohmann::json::parse(contents_of(folder / "all_block_values.json"));
    std::size_t passed = 0;
    for (const auto& [number, values] : recorded.items()) {
      CAPTURE(number);
      REQUIRE(by_number.count(std::stoi(number)) == 1);
      const bool is_same = integers_of(engine.value(by_number[std::stoi(number)])) == values.get<Numbers>();
      CHECK(is_same);
      passed += is_same ? 1 : 0;
    }
    MESSAGE(folder.filename().string() << ": " << passed << " of " << recorded.size() << " blocks");
    if (const fs::path logits = folder / "repo_expected_output.txt"; fs::exists(logits))
      CHECK(integers_of(engine.value(graph->outputs().at(0))) == numbers_in(logits));
  }
}

TEST_CASE("bytes of recorded graphs on a chip [ir-blocks]") {
  const std::map<std::string, std::int64_t> bytes{{"lenet", 190'928}, {"cc", 19'584}};
  for (const fs::path& folder : golden_cases()) {
    auto known = bytes.find(folder.filename().string());
    if (known == bytes.end()) continue;
    CAPTURE(known->first);
    const std::shared_ptr<const BlockGraph> graph = golden_graph(folder);
    std::int64_t total = 0;
    for (const TaskBlock& block : graph->blocks) total += stored_bytes(block);
    CHECK(total == known->second);
  }
}

}  // namespace taskspec::golden_blocks_test
