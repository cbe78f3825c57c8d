// Control flow that is known at import: the branch that is taken, the turns that there are.
#include <fmt/format.h>

#include <array>

#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

constexpr std::int64_t most_turns = 1024;

const Graph& graph_of(Call& call, std::string_view name) {
  const Attribute* found = call.node.attribute(name);
  if (!found || !found->graph) call.fail(fmt::format("it has no graph '{}'", name));
  return *found->graph;
}

void branch(Call& call) {
  const bool taken = call.numbers(0).at(0) != 0;
  const std::vector<Term> results = call.all.inside(graph_of(call, taken ? "then_branch" : "else_branch"));
  for (std::size_t i = 0; i < results.size(); ++i) call.give(i, results[i]);
}

// Written out turn by turn. What a turn adds to (scan outputs) is joined at the end.
void loop(Call& call) {
  const Graph& body = graph_of(call, "body");
  const std::int64_t turns = call.has(0) ? call.numbers(0).at(0) : most_turns + 1;
  if (call.has(1) && call.numbers(1).at(0) == 0) call.fail("it has no turn");
  if (turns > most_turns) call.fail(fmt::format("it has more than {} turns", most_turns));
  const std::size_t carried = call.inputs() - 2;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1) call.fail("its body does not fit it");
  std::vector<Term> values;
  for (std::size_t i = 0; i < carried; ++i) values.push_back(call.at(i + 2));
  std::vector<std::vector<Term>> rows(body.outputs.size() - 1 - carried);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    Term number;
    number.precision = Precision::i64;
    number.extents = Dims{Dim(turn)};
    call.all.define(body.inputs[0].name, number);
    Term goes_on;
    goes_on.precision = Precision::boolean;
    goes_on.constant = Array::make({Precision::boolean, {}});
    goes_on.constant->set_integer(0, 1);
    call.all.define(body.inputs[1].name, goes_on);
    for (std::size_t i = 0; i < carried; ++i) call.all.define(body.inputs[i + 2].name, values[i]);
    const std::vector<Term> results = call.all.inside(body);
    for (std::size_t i = 0; i < carried; ++i) values[i] = results[i + 1];
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].push_back(lifted(call.all.written(results[carried + 1 + i], "row"), {0}));
    const Term& condition = results[0];
    if (!condition.constant || condition.constant->integer(0) == 0) {
      if (condition.constant) break;
      call.open("the condition of its turns");
    }
  }
  for (std::size_t i = 0; i < carried; ++i) call.give(i, values[i]);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].empty()) call.fail("it has no turn");
    call.give(carried + i, joined(rows[i], 0));
  }
}

constexpr std::array control_rows{
    Operator{"If", 1, any, branch},
    Operator{"Loop", 1, any, loop},
};

}  // namespace

std::span<const Operator> control_operators() { return control_rows; }

}  // namespace taskspec::onnx
