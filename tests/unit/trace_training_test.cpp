// The order of a step, as `--trace` shows it: forward tasks, the loss, their reverses from the last to the first,
// updates.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/json_programs.hpp"

namespace taskspec::trace_training_test {

using nlohmann::json;

namespace {

// All tasks in the order in which they began. One thread: bars do not overlap.
std::vector<std::string> traced_tasks(const std::string& file, const TemporaryFolder& folder) {
  const ToolOutcome run = in_shell("taskspec run '" + file + "' --threads 1 --trace t.json >log && cat t.json", folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  std::vector<std::pair<double, json>> bars;
  const json trace = json::parse(run.out);
  for (const json& event : trace["traceEvents"])
    if (event.value("cat", "") == "chain") bars.emplace_back(event["ts"].get<double>(), event["args"]["tasks"]);
  std::ranges::stable_sort(bars, {}, [](const auto& bar) { return bar.first; });
  std::vector<std::string> tasks;
  for (const auto& [begin, of_bar] : bars)
    for (const json& task : of_bar) tasks.push_back(task.get<std::string>());
  return tasks;
}

enum class Part { forward, loss, reverse, update };

struct InStep {
  Part part;
  std::string name;  // without its number and `.backward`: "Net.first"
};

// Those of steps, whose names are known; the others made data.
std::vector<InStep> in_steps(const std::vector<std::string>& tasks, const std::string& net, const std::string& loss,
                             const std::string& optimizer) {
  std::vector<InStep> found;
  for (const std::string& task : tasks) {
    const std::string name = task.substr(0, task.find('#'));
    if (task.find('/') != std::string::npos) continue;
    const bool is_reverse = task.ends_with(".backward");
    if (name.starts_with(net + "."))
      found.push_back({is_reverse ? Part::reverse : Part::forward, name});
    else if (name == loss)
      found.push_back({is_reverse ? Part::reverse : Part::loss, name});
    else if (name == optimizer)
      found.push_back({Part::update, name});
  }
  while (!found.empty() && found.back().part != Part::update) found.pop_back();  // the net as it is then
  return found;
}

// Each step: forward, loss, reverse, update, and the reverses of forward and loss tasks from the last to the first.
std::size_t checked_steps(const std::vector<InStep>& tasks) {
  std::size_t steps = 0;
  for (std::size_t i = 0; i < tasks.size();) {
    std::vector<std::string> forward, reverse;
    std::size_t losses = 0, updates = 0;
    auto take = [&](Part part, auto&& use) {
      for (; i < tasks.size() && tasks[i].part == part; ++i) use(tasks[i].name);
    };
    take(Part::forward, [&](const std::string& name) { forward.push_back(name); });
    take(Part::loss, [&](const std::string& name) { forward.push_back(name), ++losses; });
    take(Part::reverse, [&](const std::string& name) { reverse.push_back(name); });
    take(Part::update, [&](const std::string&) { ++updates; });
    std::ranges::reverse(reverse);
    CHECK(forward.size() > 1);
    CHECK(losses == 1);
    CHECK(reverse == forward);
    CHECK(updates > 0);
    if (reverse != forward || losses != 1 || updates == 0) return steps;
    ++steps;
  }
  return steps;
}

}  // namespace

TEST_CASE("a trace shows a step: forward in order, loss, reverse in reverse order, updates [L4]") {
  TemporaryFolder folder;
  const std::string lesson = (source_root() / "examples" / "15_training.task").string();
  const std::vector<InStep> tasks =
      in_steps(traced_tasks(lesson, folder), "MLP", "sparse_categorical_crossentropy", "sgd");
  CHECK(checked_steps(tasks) > 100);
}

TEST_CASE("a step of a net that branches keeps that order [L4]") {
  TemporaryFolder folder;
  folder.put("branches.task", R"(agent Net() {
  weight a: f32[4, 4] = glorot_uniform(seed: 1)
  weight b: f32[4, 4] = glorot_uniform(seed: 2)
  weight c: f32[4, 4] = glorot_uniform(seed: 3)
  task first(in x: f32[B, 4]) -> (y: f32[B, 4]) { y = relu(x @ a) }
  task left(in x: f32[B, 4]) -> (y: f32[B, 4]) { y = tanh(x @ b) }
  task right(in x: f32[B, 4]) -> (y: f32[B, 4]) { y = x @ c }
  task join(in l: f32[B, 4], in r: f32[B, 4]) -> (y: f32[B, 4]) { y = l + r }
  graph forward(x: f32[B, 4]) -> (y: f32[B, 4]) {
    let s = first(x)
    y = join(left(s.y).y, right(s.y).y).y
  }
}
let m = train(Net(), loss: "mse_avg", optimizer: sgd(lr: 0.1, momentum: 0.5))
let x = normal(f32[8, 4], seed: 3)
for k in 0..5 { m.step(x, x * 0.5) }
print(m.loss.scalar < 10.0)
)");
  const std::vector<InStep> tasks = in_steps(traced_tasks("branches.task", folder), "Net", "mse_avg", "sgd");
  CHECK(checked_steps(tasks) == 5);
}

}  // namespace taskspec::trace_training_test
