// The language as records: nothing that one can write is without one, and what they show runs.
#include "interp/reference/language.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "frontend/parse.hpp"
#include "include/taskspec/workspace.hpp"
#include "interp/reference/modules.hpp"
#include "interp/reference/reference.hpp"
#include "ir/base/text.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::language_test {

namespace {

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void check_shown_program(std::string_view name, std::string_view program) {
  CAPTURE(name);
  const std::string wanted = expected_output(program);
  CHECK_MESSAGE(wanted != "", "a program that expects nothing shows nothing");
  RunSettings settings;
  settings.threads = 2;
  const Ran ran = run_text(std::string(program), settings);
  CHECK_MESSAGE(ran.errors == "", ran.errors);
  CHECK(ran.code == 0);
  CHECK_MESSAGE(fits_pattern(wanted, ran.output), "expected:\n" << wanted << "printed:\n" << ran.output);
}

// What completion offers behind the dot of such a value, without what has a record of its own.
std::set<std::string> members_of(Workspace& work, const std::string& value) {
  const std::string line = value + ".";
  std::set<std::string> members;
  for (const std::string& word : work.complete(line, line.size()).words) {
    const bool op = standard_toolbox().ops.find(word) || !standard_toolbox().builtins.named(word).empty();
    if (!op && word.size() > 1) members.insert(word);  // x and y: inputs and outputs have names of one letter
  }
  return members;
}

}  // namespace

TEST_CASE("[reference] every keyword of the grammar has a record") {
  CHECK(keywords().size() >= 30);
  for (const std::string& word : keywords()) CHECK_MESSAGE(language_record(word), word);
}

TEST_CASE("[reference] every operator of an op and every sign of the grammar has a record") {
  for (const OpDef* op : standard_toolbox().ops.all())
    if (!op->symbol.empty() && op->symbol != "[]") CHECK_MESSAGE(language_record(op->symbol), op->symbol);
  for (const char* sign : {"&&", "||", ">>", "..", "=>", ".", "as"}) CHECK_MESSAGE(language_record(sign), sign);
}

TEST_CASE("[reference] every kind of slot, and every type that can be written, has a record") {
  for (std::string_view kind : slot_kind_words) CHECK_MESSAGE(language_record(kind), kind);
  for (const char* type : {"int", "float", "bool", "string", "range", "sharding"})
    CHECK_MESSAGE(record_text(standard_toolbox(), type), type);
  for (const PrecisionInfo& precision : all_precisions())
    CHECK_MESSAGE(record_text(standard_toolbox(), precision.name), precision.name);
  for (const char* constant : {"pi", "inf", "nan"}) CHECK_MESSAGE(language_record(constant), constant);
}

TEST_CASE("[reference] every member that completion offers has a record") {
  Workspace work;
  work.enter("task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }");
  work.enter(
      "agent Net() { weight w: f32[1, 1] = zero()\n"
      "task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w } }");
  work.enter("let t = fill(f32[2], 0.0)");
  work.enter("let l = [1, 2]");
  work.enter("let s = \"abc\"");
  for (const char* value : {"t", "inc", "l", "s"})
    for (const std::string& member : members_of(work, value)) {
      CAPTURE(value);
      CHECK_MESSAGE(language_record("." + member), member);
    }
  CHECK(members_of(work, "t").contains("scalar"));  // the guard looks at something
  CHECK(members_of(work, "inc").contains("inputs"));
  for (std::string_view word : receive_words) CHECK_MESSAGE(language_record("." + std::string(word)), word);
}

TEST_CASE("[reference] what can be looked up is found by the words that one tries") {
  const Toolbox& tools = standard_toolbox();
  for (const char* name : {"task",    "agent",    "graph",     "state",     "for",
                           "let",     "import",   "inout",     ".scalar",   "scalar",
                           "array",   ".report",  "run",       "@",         "extents",
                           "shape",   "nn",       "nn.linear", "nn.Linear", "data.digits.batches",
                           "mse_avg", "seconds",  "operators", "gradients", "e1004",
                           "E1004",   "indexing", "=>",        "&&",        "initialisers"}) {
    CHECK_MESSAGE(record_text(tools, name), name);
  }
  CHECK(mentions(*record_text(tools, "nn.linear"), "fn linear(x: f32[B, I]"));
  CHECK(mentions(*record_text(tools, "nn.linear"), "sum over i"));
  CHECK(mentions(*record_text(tools, "nn"), "agent LayerNorm"));
  CHECK(mentions(*record_text(tools, "@"), "matmul"));
  CHECK_FALSE(record_text(tools, "nothing of this name"));
  CHECK_FALSE(record_text(tools, ""));
}

TEST_CASE("[reference] names are told once, and what is built has an example") {
  std::set<std::string_view> names;
  for (const LanguageChapter& chapter : language_chapters())
    for (const LanguageRecord& record : chapter.records) {
      CHECK_MESSAGE(names.insert(record.name).second, record.name);
      CHECK_MESSAGE((record.part.empty() || record.example.empty()), record.name);
      CHECK_MESSAGE((!record.part.empty() || !record.example.empty()), record.name);
      CHECK_MESSAGE(record.doc.ends_with('.'), record.name);
    }
}

TEST_CASE("[reference] the example of every record of the language runs as it says") {
  for (const LanguageChapter& chapter : language_chapters())
    for (const LanguageRecord& record : chapter.records)
      if (!record.example.empty()) check_shown_program(record.name, record.example);
}

TEST_CASE("[reference] every program of the tour runs as it says") {
  CHECK(tour().size() >= 12);
  for (const TourStop& stop : tour()) check_shown_program(stop.title, stop.program);
}

TEST_CASE("[reference] the manual begins with the language") {
  const std::string markdown = manual_markdown(standard_toolbox());
  const std::size_t language = markdown.find("## Language"), ops = markdown.find("## Element-wise ops");
  CHECK(language < markdown.find("## Declarations"));
  CHECK(markdown.find("## Declarations") < ops);
  CHECK(ops != std::string::npos);
  CHECK(mentions(manual_html(standard_toolbox()), "id=\"Language-Tasks\""));
}

}  // namespace taskspec::language_test
