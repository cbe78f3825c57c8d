// Graphs made ready for training against central differences, on random graphs: fan-out, inputs read by several tasks,
// chains, results that are read again.
#include "ir/gradient/training_step.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "ir/gradient/parts.hpp"
#include "ir/records/scalar.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/op_list_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::training_step_test {

namespace {

// Each line of the list as a node.
TaskGraph graph_of(const OpList& list) {
  TaskGraph graph;
  std::vector<Ref> refs;
  for (std::size_t i = 0; i < list.inputs.size(); ++i)
    refs.push_back(Ref::input(graph.add_input({list.inputs[i].name, list.types[i]})));
  for (const Value& constant : list.constants)
    refs.push_back(Ref::constant(graph.add_constant(list.types[refs.size()], constant)));
  for (const OpList::Line& line : list.lines) {
    Definition definition;
    definition.name = line.op->name;
    definition.op = line.op;
    std::vector<Ref> in;
    for (ValueId value : line.in) in.push_back(refs[value.index()]);
    std::vector<TypeId> out;
    for (ValueId value : line.out) out.push_back(graph.intern(list.type(value)));
    const NodeId node = graph.add(graph.define(definition), {.in = in, .out = out, .arguments = line.attributes});
    for (std::size_t slot = 0; slot < out.size(); ++slot) refs.push_back(Ref::future(node, slot));
  }
  for (const OpList::Output& output : list.outputs)
    graph.add_result({output.name, list.type(output.value), refs[output.value.index()]});
  return graph;
}

struct Ran {
  std::vector<Array> results;
  std::vector<std::optional<Array>> gradients;  // by input
};

// As a backend would: one task after the other.
Ran run_step(const TaskGraph& graph, const TrainingStep& step, const std::vector<Array>& inputs,
             const std::vector<Array>& upstream) {
  std::vector<std::vector<Array>> made;
  auto value = [&](const StepRef& ref) {
    if (ref.kind == StepRef::Kind::input) return inputs[ref.id];
    if (ref.kind == StepRef::Kind::number) return scalar_array(Value(step.numbers[ref.id]), Precision::i64);
    if (ref.kind == StepRef::Kind::constant) return graph.constant(ref.id).array();
    return ref.kind == StepRef::Kind::upstream ? upstream[ref.id] : made.at(ref.id).at(ref.slot);
  };
  for (const auto* tasks : {&step.tasks, &step.reverses})
    for (const StepTask& task : *tasks) {
      CHECK(verify_op_list(*task.list) == "");
      std::vector<Array> in, out;
      for (const StepRef& ref : task.in) in.push_back(value(ref));
      const std::vector<Array> values = run_list(*task.list, in);
      for (const OpList::Output& output : task.list->outputs) out.push_back(values[output.value.index()]);
      made.push_back(std::move(out));
    }
  Ran ran;
  for (const StepRef& ref : step.results) ran.results.push_back(value(ref));
  for (const std::vector<StepRef>& parts : step.gradients) {
    std::optional<Array>& sum = ran.gradients.emplace_back();
    for (const StepRef& part : parts) sum = sum ? call_op("add", {*sum, value(part)}) : value(part);
  }
  return ran;
}

// The largest difference, relative to what is larger than one.
double distance(const Array& a, const Array& b) {
  REQUIRE(a.type() == b.type());
  double worst = 0;
  for (std::int64_t e = 0; e < a.elements(); ++e)
    worst = std::max(worst, std::abs(a.number(e) - b.number(e)) / std::max(1.0, std::abs(a.number(e))));
  return worst;
}

TrainingStep step_of(const TaskGraph& graph) {
  const StepOptions all{std::vector<bool>(graph.inputs().size(), true),
                        std::vector<bool>(graph.results().size(), true)};
  const std::shared_ptr<const TaskGraph> shared(std::shared_ptr<void>(), &graph);
  return training_step(
             shared, all, [](NodeId) -> Result<OpList> { return failure("E3005", {}, "no task").diags(); },
             standard_ops())
      .value_or_throw();
}

}  // namespace

TEST_CASE("gradients of random graphs equal central differences [ops-grad]") {
  for (std::uint64_t seed : random_seeds(150, 1000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const OpList list = RandomList(random).list();
    const TaskGraph graph = graph_of(list);
    const TrainingStep step = step_of(graph);
    std::vector<Array> inputs, upstream;
    for (std::size_t i = 0; i < list.inputs.size(); ++i)
      inputs.push_back(random_array(concrete(list.types[i]), seed + i));
    for (const GraphResult& result : graph.results())
      upstream.push_back(random_array(concrete(result.type), seed + 50 + upstream.size()));
    auto compute = [&](const std::vector<Array>& at) {
      const std::vector<Array> values = run_list(list, at);
      std::vector<Array> outputs;
      for (const OpList::Output& output : list.outputs) outputs.push_back(values[output.value.index()]);
      return weighted_sum(outputs, upstream);
    };
    const Ran ran = run_step(graph, step, inputs, upstream);
    CHECK(worst_difference(compute, inputs, ran.gradients) < 1e-6);
  }
}

// Every input that has an axis of so many first is cut along it, whatever is done to it then.
TEST_CASE("a step in parts has the results and gradients of the whole [L19] [ops-grad]") {
  for (std::uint64_t seed : random_seeds(60, 1000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const OpList list = RandomList(random).list();
    const TaskGraph graph = graph_of(list);
    const TrainingStep step = step_of(graph);
    std::vector<Array> inputs, upstream;
    for (std::size_t i = 0; i < list.inputs.size(); ++i)
      inputs.push_back(random_array(concrete(list.types[i]), seed + i));
    for (const GraphResult& result : graph.results())
      upstream.push_back(random_array(concrete(result.type), seed + 50 + upstream.size()));
    const Ran wanted = run_step(graph, step, inputs, upstream);
    if (list.types[0].rank() == 0) continue;
    const std::int64_t rows = *list.types[0].dims[0].constant();
    for (const std::int64_t parts : {2, 3, 5}) {
      PartsOptions options{BatchParts::of(rows, parts), {}, {}, {}, {}};
      if (!options.batch.is_cut()) continue;
      for (std::size_t i = 0; i < list.inputs.size(); ++i)
        options.cut.push_back(list.types[i].rank() > 0 && list.types[i].dims[0] == list.types[0].dims[0]);
      const Ran ran = run_step(graph, in_parts(step, options, standard_ops()), inputs, upstream);
      for (std::size_t k = 0; k < wanted.results.size(); ++k) CHECK(distance(wanted.results[k], ran.results[k]) < 1e-9);
      for (std::size_t i = 0; i < wanted.gradients.size(); ++i) {
        REQUIRE(wanted.gradients[i].has_value() == ran.gradients[i].has_value());
        if (wanted.gradients[i]) CHECK(distance(*wanted.gradients[i], *ran.gradients[i]) < 1e-9);
      }
    }
  }
}

TEST_CASE("parts add up along a tree whose shape depends on their number alone [L19]") {
  auto text = [](std::int64_t rows, std::int64_t places) {
    const BatchParts batch = BatchParts::of(rows, places);
    std::vector<std::string> leaves;
    for (const BatchParts::Part& part : batch.parts) leaves.push_back(std::to_string(part.place));
    return batch.sum(leaves, [](const std::string& a, const std::string& b) { return "(" + a + " " + b + ")"; });
  };
  CHECK(text(9, 1) == "0");
  CHECK(text(9, 3) == "((0 1) 2)");
  CHECK(text(9, 5) == "(((0 1) (2 3)) 4)");
  CHECK(text(9, 6) == "(((0 1) (2 3)) (4 5))");
  CHECK(text(2, 5) == "(2 4)");
  CHECK(text(3, 8) == "(2 (5 7))");
  const BatchParts uneven = BatchParts::of(7, 3);
  CHECK(uneven.parts[0].rows() == 2);
  CHECK(uneven.parts[2].begin == 4);
  CHECK(uneven.parts[2].rows() == 3);
}

TEST_CASE("a chain is one task, and its reverse is one") {
  OpListBuilder made;
  const ValueId x = made.input({"x", Privilege::in, {}}, f64_type({2, 3}));
  const ValueId w = made.input({"w", Privilege::in, {}}, f64_type({3, 4}));
  const ValueId h = emit(made, "tanh", {emit(made, "matmul", {x, w})});
  const TaskGraph line = graph_of(std::move(made).finish(FunctionId(0), "net", {{"y", emit(made, "sigmoid", {h})}}));
  const TrainingStep step = step_of(line);
  CHECK(step.tasks.size() == 1);
  CHECK(step.reverses.size() == 1);
  CHECK(step.tasks[0].members.size() == 3);
  CHECK(step.tasks[0].list->outputs.size() > 1);  // what the reverse reads
}

TEST_CASE("a value that branches ends the chain, and its gradient is the sum over the branches") {
  OpListBuilder made;
  const ValueId x = made.input({"x", Privilege::in, {}}, f64_type({4}));
  const ValueId h = emit(made, "sin", {x});
  const ValueId a = emit(made, "tanh", {h}), b = emit(made, "cos", {h});
  const ValueId y = emit(made, "mul", {a, b});
  const TrainingStep step = step_of(graph_of(std::move(made).finish(FunctionId(0), "net", {{"y", y}})));
  CHECK(step.tasks.size() == 4);
  CHECK(step.reverses.size() == 4);
  CHECK(step.reverses.back().in.size() == 3);  // two parts of the gradient of sin, and x
}

}  // namespace taskspec::training_step_test
