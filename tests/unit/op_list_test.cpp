// Op lists of tasks: what they hold, how far they stay symbolic, and why a task has none.
#include "ir/graph/op_list.hpp"

#include <doctest/doctest.h>

#include "frontend/check.hpp"
#include "interp/control/op_lists.hpp"
#include "ir/base/text.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::op_list_test {

namespace {

Program checked_program(const std::string& text) {
  Sources sources;
  const SourceId main = sources.add("test.task", text);
  return check(sources, main, {.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins})
      .value_or_throw();
}

FunctionId task_named(const Program& program, const std::string& name) {
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    if (program.display_name(FunctionId(i)) == name) return FunctionId(i);
  throw failure("E1001", {}, "no task " + name);
}

// Its only task `t`, or the one that is named.
Result<OpList> list_of(const std::string& text, const std::string& name = "t") {
  const Program program = checked_program(text);
  return op_list(program, task_named(program, name), standard_toolbox().ops);
}

std::string lines_of(const OpList& list) {
  std::string text;
  for (const OpList::Line& line : list.lines) text += (text.empty() ? "" : " ") + std::string(line.op->name);
  return text;
}

// "E3005 3: message", the line of its span.
std::string refusal(const std::string& text, const std::string& name = "t") {
  const Program program = checked_program(text);
  const Result<OpList> list = op_list(program, task_named(program, name), standard_toolbox().ops);
  if (list) return "none";
  const Diag& diag = list.diags().items().front();
  if (!diag.primary.span.valid()) return diag.code.text() + " -: " + diag.message;
  const Position at = program.sources[diag.primary.span.source].position(diag.primary.span.begin);
  return diag.code.text() + " " + std::to_string(at.line) + ": " + diag.message;
}

}  // namespace

TEST_CASE("[op list] host control is carried out, fns are inlined, and each line knows its call") {
  const std::string text =
      "fn half(x: f32[N]) -> f32[N] { return x * 0.5 }\n"
      "task t(in x: f32[N]) -> (y: f32[N]) {\n  y = x\n  for i in 0..3 { y = half(y) }\n  y = relu(y)\n}\n";
  const Program program = checked_program(text);
  const FunctionId task = task_named(program, "t"), half = task_named(program, "half");
  const Result<OpList> list = op_list(program, task, standard_toolbox().ops);
  REQUIRE(bool(list));
  CHECK(lines_of(*list) == "mul mul mul relu");
  CHECK(verify_op_list(*list).empty());
  for (std::size_t i = 0; i < 4; ++i) {
    const OpList::Line& line = list->lines[i];
    CHECK(line.function == (i < 3 ? half : task));
    CHECK(program[line.function][line.call].op == line.op);
    CHECK(program[line.function][line.call].span == line.span);
    CHECK(list->type(line.out[0]).text() == "f32[N]");
  }
  CHECK(list->lines[1].in[0] == list->lines[0].out[0]);
  REQUIRE(list->outputs.size() == 1);
  CHECK(list->outputs[0].name == "y");
  CHECK(list->outputs[0].value == list->lines[3].out[0]);
}

TEST_CASE("[op list] slots and places are inputs by name, their new versions outputs") {
  const Result<OpList> list = list_of(
      "agent A(n: int) {\n  weight w: f32[n] = constant(1.0)\n  state s: f32[n] = constant(0.0)\n"
      "  task step(in x: f32[n], inout log: f32[n]) -> (y: f32[n]) {\n"
      "    y = x * w\n    s = s + y\n    log = log - y\n  }\n}\n",
      "A.step");
  REQUIRE(bool(list));
  std::string inputs;
  for (const OpList::Input& input : list->inputs)
    inputs += input.name + (input.slot == SlotKind::weight  ? " weight, "
                            : input.slot == SlotKind::state ? " state, "
                                                            : ", ");
  CHECK(inputs == "w weight, s state, x, log, ");
  std::string outputs;
  for (const OpList::Output& output : list->outputs) outputs += output.name + (output.version ? "' " : " ");
  CHECK(outputs == "y s' log' ");
  for (const Type& type : list->types) CHECK(type.text() == "f32[n]");
}

TEST_CASE("[op list] host values that nobody gave are symbols, as operands and in extents") {
  const Result<OpList> list = list_of(
      "task t(in x: f32[N], in k: float, in n: int) -> (y: f32[N], z: f32[n + 1]) {\n"
      "  y = x * k\n  z = fill(f32[n + 1], 2.0)\n}\n");
  REQUIRE(bool(list));
  CHECK(lines_of(*list) == "mul fill");
  REQUIRE(list->constants.size() == 1);
  CHECK(print(list->constants[0]) == "k");
  CHECK(list->types[2].text() == "f32");
  REQUIRE(list->inputs.size() == 2);  // n decides an extent
  CHECK(list->inputs[1].name == "k");
  CHECK(list->types[1].text() == "f64");
  CHECK(list->type(list->outputs[1].value).text() == "f32[n + 1]");
}

TEST_CASE("[op list] what comes with each run is an input of its op") {
  const Result<OpList> list =
      list_of("task t(in x: f32[N], in turn: int) -> (y: f32[N]) { y = dropout(x, 0.5, call: turn) }\n");
  REQUIRE(bool(list));
  REQUIRE(list->lines.size() == 1);
  REQUIRE(list->lines[0].in.size() == 5);  // x, seed, stream, call, first
  CHECK(list->type(list->lines[0].in[3]).text() == "i64");
  CHECK(print(list->constants[list->lines[0].in[3].index() - list->inputs.size()]) == "turn");
  CHECK(list->lines[0].attributes[4].is_none());
  const Result<OpList> noise = list_of("task t(in x: f32[4]) -> (y: f32[4]) { y = x + uniform(f32[4], seed: 1) }\n");
  REQUIRE(bool(noise));
  CHECK(lines_of(*noise) == "uniform add");  // no constant, however large
}

TEST_CASE("[op list] numbers that decide nothing are inputs, and what is done to them stands before the ops") {
  const Result<OpList> list = list_of(
      "fn half(r: float) -> float { return r / 2 }\n"
      "task t(in x: f32[N], in rate: float, in step: int, in train: bool) -> (y: f32[N]) {\n"
      "  let scaled = rate * (1.0 - pow(0.9, step))\n"
      "  y = where(train, x * scaled, x) + half(step) - scaled\n}\n");
  REQUIRE(bool(list));
  CHECK(verify_op_list(*list).empty());
  std::string inputs;
  for (std::size_t i = 0; i < list->inputs.size(); ++i)
    inputs += list->inputs[i].name + ": " + list->types[i].text() + ", ";
  CHECK(inputs == "x: f32[N], rate: f64, step: i64, train: bool[], ");
  std::string numbers;
  for (std::size_t i = 0; i < list->constants.size(); ++i)
    numbers += print(list->constants[i]) + " " + list->types[list->inputs.size() + i].text() + ", ";
  CHECK(numbers == "mul(rate, sub(1, pow(0.9, step))) f32, train f32, div(cast(step, float), 2) f32, ");
}

TEST_CASE("[op list] a number worked out later is what host code makes of it") {
  const Result<OpList> list = list_of(
      "fn half(r: float) -> float { return r / 2 }\n"
      "task t(in x: f32[4], in step: int) -> (y: f32[4]) { y = x * half(step) + x * (step / 2) }\n");
  REQUIRE(bool(list));
  REQUIRE(list->constants.size() == 2);
  auto seven = [](std::uint32_t input) {
    CHECK(input == 1);
    return Value(std::int64_t{7});
  };
  const Value halves = list->constants[0].as<GraphScalar>()->value(seven);
  CHECK(identical(halves, Value(3.5)));
  CHECK(identical(list->constants[1].as<GraphScalar>()->value(seven), Value(std::int64_t{3})));
  auto zero = [](std::uint32_t) { return Value(std::int64_t{0}); };
  const Result<OpList> divided = list_of("task t(in x: f32[4], in n: int) -> (y: f32[4]) { y = x * (10 / n) }\n");
  REQUIRE(bool(divided));
  CHECK_THROWS_AS(divided->constants[0].as<GraphScalar>()->value(zero), Error);
}

TEST_CASE("[op list] a body that does very much to a number has no list without it") {
  CHECK(refusal("task t(in x: f32[4], in r: float) -> (y: f32[4]) {\n"
                "  var s = r\n  for i in 0..300 { s = s + r }\n  y = x * s\n}\n")
            .starts_with("E3005 3: the body of 't' is not a straight list of ops: what runs depends on a host value"));
  CHECK(refusal("task t(in x: f32[4], in r: float) -> (y: f32[4]) {\n"
                "  y = x\n  if [r] == [0.5] { y = -x }\n}\n")
            .starts_with("E3005 3"));
}

TEST_CASE("[op list] what is computed of constants alone is one") {
  const Result<OpList> list =
      list_of("let table = [1.0, 2.0] as f32[2]\ntask t(in x: f32[2]) -> (y: f32[2]) { y = x + table * 3.0 }\n");
  REQUIRE(bool(list));
  CHECK(lines_of(*list) == "add");
  REQUIRE(list->constants.size() == 1);
  CHECK(list->constants[0].array().number(1) == 6);
}

TEST_CASE("[op list] why a task has none, and where") {
  const std::string not_straight = ": the body of 't' is not a straight list of ops: ";
  CHECK(refusal("task t(in x: f32[4]) -> (y: f32[4]) {\n  y = x\n  if x.max(0) > 1.0 { y = -x }\n}\n") ==
        "E3005 3" + not_straight + "which ops run depends on data here");
  CHECK(refusal("task t(in x: f32[4]) -> (y: f32[4]) {\n  y = x\n  while y.max(0) > 1.0 { y = y / 2.0 }\n}\n") ==
        "E3005 3" + not_straight + "which ops run depends on data here");
  CHECK(refusal("task t(in x: f32[4], in deep: bool) -> (y: f32[4]) {\n  y = x\n  if deep { y = -x }\n}\n") ==
        "E3005 3" + not_straight + "which ops run depends on deep, which is not known yet");
  CHECK(refusal("task t(in x: f32[4], in n: int) -> (y: f32[4]) {\n  y = x\n\n  for i in 0..n { y = -y }\n}\n") ==
        "E3005 4" + not_straight + "which ops run depends on 0..n, which is not known yet");
  CHECK(refusal("task t(in x: f32[4]) -> (y: f32[4]) {\n  y = x\n  for i in 0..5000 { y = -y }\n}\n") ==
        "E3005 3" + not_straight + "the list of its ops gets longer than 4096");
}

TEST_CASE("[op list] an error of the body comes as its diagnostic") {
  CHECK(refusal("fn gone(n: int) -> int { return 1 / (n - 1) }\n"
                "task t(in x: f32[4]) -> (y: f32[4]) { y = x + gone(1) }\n") == "E5002 1: division by zero: 1 / 0");
}

TEST_CASE("[op list] the verifier sees faults") {
  const Result<OpList> made = list_of("task t(in x: f32[4]) -> (y: f32[4]) { y = relu(x + 1.0) }\n");
  REQUIRE(bool(made));
  const OpList& list = *made;
  CHECK(verify_op_list(list).empty());
  OpList wrong = list;
  wrong.lines[0].in[0] = wrong.lines[1].out[0];
  CHECK(verify_op_list(wrong) == "line 0 of t reads a value that is not there yet");
  wrong = list;
  std::swap(wrong.lines[0].out, wrong.lines[1].out);
  CHECK(verify_op_list(wrong) == "line 0 of t makes values out of order");
  wrong = list;
  wrong.lines[1].call = CallId();
  CHECK(verify_op_list(wrong) == "line 1 of t stands nowhere");
  wrong = list;
  wrong.types.push_back(wrong.types[0]);
  CHECK(verify_op_list(wrong) == "t has values that nobody makes");
  wrong = list;
  wrong.outputs[0].value = ValueId();
  CHECK(verify_op_list(wrong) == "output y of t is nothing");
}

// What a backend runs is made for the shapes that came: control that counts to an extent is carried out then.
TEST_CASE("[op list] a body that loops over an extent has one when the extent is known") {
  const std::string text =
      "task t(in x: f32[N]) -> (y: f32[1]) {\n  y = x[0..1]\n  for i in 1..x.shape[0] { y = y + x[i..i + 1] }\n}\n";
  CHECK(refusal(text).starts_with("E3005 3"));
  const Ran ran = run_text(text + "print(t([1.0, 2.0, 3.0] as f32[3]).y.scalar, t([4.0, 5.0] as f32[2]).y.scalar)\n");
  CHECK(ran.output == "6 9\n");
}

}  // namespace taskspec::op_list_test
