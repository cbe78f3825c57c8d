// Forms of calls: the records are whole, and one that the language does not have goes the whole way from its record
// and its step alone.
#include "ir/program/form.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "frontend/check.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/control/interpreter.hpp"
#include "ir/cut_report/report.hpp"
#include "ir/json/json.hpp"
#include "ir/program/form_check.hpp"
#include "ir/show/cut_text.hpp"
#include "ir/show/program_text.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::form_test {

namespace {

// unless c { ... }: runs its block when the condition is false.
constinit const FormRecord unless_record = {
    .word = "unless",
    .operands = {1, 1},
    .block_records = {FormBlock{.name = "body", .runs = FormBlock::Runs::maybe}},
    .block_count = 1,
    .gives = FormRecord::Gives::nothing,
    .text = "unless {0}",
    .to_run = FormRecord::ToRun::decision,
    .check = [](const FormCheck& c,
                const Call& call) { c.want(is_condition(c.type(call, 0)), "a condition is a bool"); },
};
constexpr Form unless{unless_record};

Flow run_unless(Interpreter& run, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  return frame[call.in[0]].boolean() ? Flow::next : run.block(frame, call.blocks[0]);
}

constexpr FormStep steps[] = {{unless, run_unless}};

const Toolbox& tools() {
  static const Toolbox with_unless = [] {
    Toolbox tools = standard_toolbox();
    tools.forms = steps;
    return tools;
  }();
  return with_unless;
}

// With `unless`: decided by the host alone, by the graph, and by the host for the graph.
const std::string text =
    "fn sum(n: int) -> int {\n  var s = 0\n  for i in 0..n {\n    if i % 3 == 0 { s = s + i }\n  }\n  return s\n}\n"
    "fn scaled(x: f32[2], n: int) -> f32[2] {\n  var y = x\n  for i in 0..n {\n    if i == 1 { y = y * 3.0 }\n  }\n"
    "  return y\n}\n"
    "fn grown(x: f32[1]) -> f32[1] {\n  var y = x\n  for i in 0..3 {\n"
    "    if y.sum(0).scalar > 1.5 { y = y + 1.0 }\n  }\n  return y\n}\n"
    "graph g(x: f32[2]) -> (y: f32[2]) { y = scaled(x, 3) }\n"
    "print(sum(6), g([1.0, 2.0] as f32[2]).array, grown([1.0] as f32[1]).array)\n";

// The program of the text, in which each `if` says `unless`.
Program with_unless() {
  Sources sources;
  const SourceId main = sources.add("test.task", text);
  Result<Program> program = check(sources, main, {.ops = tools().ops, .builtins = tools().builtins});
  REQUIRE(program);
  for (Function& function : program->functions)
    for (Call& call : function.calls)
      if (call.form == Form::if_) {
        call.form = unless;
        call.blocks.resize(1);
      }
  for (const std::string& wrong : verify(*program)) FAIL_CHECK(wrong);
  return std::move(*program);
}

std::string output_of(const Program& program, bool cut) {
  std::string output;
  RunSettings settings;
  settings.output = [&](std::string_view written) { output += written; };
  const RunResult result = cut ? run_program(program, tools(), settings) : run_directly(program, tools(), settings);
  CHECK(result.exit_code == 0);
  return output;
}

std::string exported(const Program& program) {
  std::string json;
  const FunctionId graph = find_graph(program, "g");
  with_graph(program, graph, tools().ops,
             [&](const GraphView& view) { json = graph_json(program, graph, view.graph, aggregate(view.graph)); });
  return json;
}

}  // namespace

TEST_CASE("[forms] every record is whole: its words, its blocks, what it needs") {
  std::set<std::string_view> words;
  for (Form form : all_forms()) {
    CAPTURE(form->word);
    CHECK(words.insert(form->word).second);
    CHECK(form->operands.least <= form->operands.most);
    CHECK((form->talks || form->check || form->leaves != FormRecord::Leaves::nothing));
    const bool runs = step_of(form, {}).run != nullptr;
    CHECK(runs);
    for (const FormBlock& block : form->blocks()) CHECK(!block.name.empty());
    if (form->is_control()) CHECK(!form->text.empty());
    if (form->to_run == FormRecord::ToRun::decision)
      CHECK((form->operands.least == 1 || std::ranges::any_of(form->blocks(), &FormBlock::decides)));
    CHECK((form->variable == FormRecord::Variable::none) == (form->payload != Payload::variable));
    CHECK((form->enters == FormRecord::Enters::nothing || form->gives != FormRecord::Gives::nothing));
  }
}

TEST_CASE("[forms] one that the language does not have is verified, printed and shown in reports by its record") {
  const Program program = with_unless();
  CHECK(program_text(program).find("    unless %") != std::string::npos);
  const CutProgram cut = cut_program(program);
  for (const std::string& wrong : verify(cut.program)) FAIL_CHECK(wrong);
  const std::string report = cut_text(cut.program, report_cut(cut), {.columns = 120, .function = ""});
  INFO(report);
  CHECK(report.find("unless i % 3 == 0 {") != std::string::npos);
  CHECK(report.find("unless sum(y, 0).scalar > 1.5 {") != std::string::npos);
}

TEST_CASE("[forms] it runs in both programs, in bodies, and after JSON; a wrong one is refused there") {
  const Program program = with_unless();
  CHECK(output_of(program, true) == "12 [9, 18] [2]\n");
  CHECK(output_of(program, false) == "12 [9, 18] [2]\n");

  const std::string json = exported(program);
  const Form forms[] = {Form::constant, unless};
  CHECK_FALSE(import_graph(json, "x.json", tools().ops, tools().builtins));
  CHECK_FALSE(import_graph(json, "x.json", tools().ops, tools().builtins, forms));  // these two alone
  std::vector<Form> all(all_forms().begin(), all_forms().end());
  all.push_back(unless);
  Result<ImportedGraph> again = import_graph(json, "x.json", tools().ops, tools().builtins, all);
  REQUIRE(again);
  CHECK(exported(again->program) == json);

  std::string wrong = json;  // a loop's counter where a bool is due
  const std::size_t at = wrong.find("\"op\":\"unless\",\"in\":[");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = wrong.find('[', at) + 1, end = wrong.find(']', at);
  wrong.replace(begin, end - begin, "0");
  const Result<ImportedGraph> refused = import_graph(wrong, "x.json", tools().ops, tools().builtins, all);
  REQUIRE_FALSE(refused);
  CHECK(refused.diags().items().front().message.find("(unless): a condition is a bool") != std::string::npos);
}

}  // namespace taskspec::form_test
