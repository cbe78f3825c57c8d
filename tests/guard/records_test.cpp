// Ops and builtins are known by their records, never by name: who needs to know something about one reads a field.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/guard/paths.hpp"

namespace taskspec::records_test {

namespace {

std::set<std::string> names_in(const std::string& table, const std::string& macro) {
  std::set<std::string> names;
  const std::string text = read_file(table);
  const std::regex line(macro + "\\((\\w+)\\)");
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it) names.insert((*it)[1]);
  return names;
}

// Words that are names of ops, and mean something else there.
const std::set<std::pair<std::string, std::string>> other_words = {
    {"ir/records/scalar.cpp", "min"},  // in messages of the host arithmetic that those ops share
    {"ir/records/scalar.cpp", "max"},
    {"frontend/dsl/make_ast.cpp", "fill"},         // the C++ interface makes a text
    {"interp/train/profile_builtins.cpp", "min"},  // milliseconds of an op in a profile
    {"interp/embed/training.cpp", "min"},
    {"interp/train/train_builtin.cpp", "sqrt"},  // of n values, what recompute keeps
    {"interp/quantize/builtins.cpp", "scale"},   // a field of the report
    {"ir/blocks/check.cpp", "shift"},            // an attribute of blocks
    {"ir/codes/blocks.cpp", "and"},              // words of programs in explanations
    {"ir/codes/blocks.cpp", "max"},
    {"ir/codes/blocks.cpp", "mean"},
    {"ir/codes/blocks.cpp", "or"},
    {"interp/embed/training.cpp", "min"},            // of a row in a profile
    {"interp/cli/options.cpp", "split"},             // a stage of the mapper
    {"interp/hw/neurons/neuron_tasks.cpp", "lif"},   // a task of the prelude's module nir
    {"interp/hw/neurons/linear_signal.cpp", "pad"},  // an operand
    {"interp/exact/approximate.cpp", "max"},         // metrics of approximate groups
    {"interp/exact/approximate.cpp", "mean"},
    {"interp/exact/approximate_rewrites.cpp", "shift"},  // an attribute of blocks
    {"frontend/parse_foreign.cpp", "and"},               // words of other languages
    {"frontend/parse_foreign.cpp", "or"},
    {"frontend/parse_foreign.cpp", "not"},
    {"frontend/check/block_lines.cpp", "sum"},          // how a nest reduces
    {"interp/quantize/block_builtins.cpp", "reverse"},  // a builtin that has the name of an op
    {"ir/json/schema_words.cpp", "minimum"},
    {"ir/json/validate.cpp", "minimum"},
    {"ir/records/operand.hpp", "max"},  // reduce(max): as it is written, and the ops that it is in a body
    {"ir/records/operand.hpp", "min"},
    {"ir/records/reduce_op.hpp", "max"},
    {"ir/records/reduce_op.hpp", "min"},
    {"ir/view_code/make_view_code.cpp", "add"},
    {"ir/view_code/make_view_code.cpp", "maximum"},
    {"ir/view_code/make_view_code.cpp", "minimum"},
    {"ir/view_code/make_view_code.cpp", "mul"},
    {"ir/view_code/view_code_points.cpp", "mean"},
    {"ir/view_code/view_code_points.cpp", "sum"},
    {"ir/view_code/view_code_tensors.cpp", "max"},
    {"ir/view_code/view_code_tensors.cpp", "mean"},
    {"ir/view_code/view_code_tensors.cpp", "min"},
    {"ir/view_code/view_code_tensors.cpp", "prod"},
    {"ir/view_code/view_code_tensors.cpp", "sum"},
    {"interp/host/view/lane_moves.cpp", "add"},
    {"interp/host/view/lane_moves.cpp", "sub"},
    {"interp/host/root_tree.cpp", "max"},
    {"interp/host/root_tree.cpp", "min"},
    {"interp/host/root_tree.cpp", "prod"},
    {"interp/host/root_tree.cpp", "sum"},
    {"interp/shards/control/call.cpp", "fill"},  // a kind of call
    {"ir/json/parts.cpp", "fill"},               // what a launch does
    {"ir/json/parts.cpp", "gather"},
    {"ir/json/schema.cpp", "fill"},
    {"ir/json/schema.cpp", "gather"},
    {"interp/control/record_launch.cpp", "fill"},  // what tasks are called that the runtime adds
    {"interp/control/record_launch.cpp", "gather"},
    {"interp/control/record_launch.cpp", "max"},
    {"interp/control/record_launch.cpp", "min"},
    {"interp/control/record_launch.cpp", "prod"},
    {"interp/control/record_launch.cpp", "sum"},
};

// Names of builtins that are told from others: of a type, of a key in JSON, of a backend.
const std::set<std::pair<std::string, std::string>> other_names = {{"frontend/check/types.cpp", "range"},
                                                                   {"ir/json/read_value.cpp", "range"},
                                                                   // a type, and words of dumps
                                                                   {"ir/cut_report/code_lines.cpp", "block"},
                                                                   {"ir/json/read_body.cpp", "blocks"},
                                                                   {"ir/json/types.cpp", "blocks"},
                                                                   // words that begin a statement elsewhere
                                                                   {"frontend/parse_foreign.cpp", "assert"},
                                                                   {"frontend/parse_foreign.cpp", "print"},
                                                                   // what a function of the colours becomes
                                                                   {"frontend/check/record_call.cpp", "colours"},
                                                                   {"frontend/check/record_call.cpp", "map"},
                                                                   // the type of an output of a launch
                                                                   {"ir/json/types.cpp", "map"},
                                                                   // x.rank of a tensor
                                                                   {"frontend/check/calls.cpp", "rank"},
                                                                   {"interp/control/interpreter_data.cpp", "rank"},
                                                                   {"ir/program/forms/data.cpp", "rank"}};

bool is_looked_at(const std::string& file) {
  // Rearrangements of edges have the names of the movement ops that do the same.
  const bool is_record = file.starts_with("interp/control/builtins/") || file.starts_with("interp/backends/") ||
                         file.starts_with("ir/blocks/rearrange_");
  // What comes from other formats, and goes to them, by the names that things have here.
  const bool writes_programs = file.starts_with("interp/import/") || file.starts_with("interp/control/nir/");
  return !is_record && !writes_programs &&
         (file.starts_with("ir/") || file.starts_with("frontend/") || file.starts_with("interp/"));
}

bool is_comment(const std::string& text, std::size_t at) {
  const std::size_t line = text.rfind('\n', at) + 1;
  return text.substr(line, at - line).find("//") != std::string::npos;
}

// Every whole string of a text that is one of `names`.
std::set<std::string> strings_of(const std::string& text, const std::set<std::string>& names) {
  static const std::regex written("\"(\\w+)\"");
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), written), end; it != end; ++it)
    if (names.contains((*it)[1]) && !is_comment(text, static_cast<std::size_t>(it->position()))) found.insert((*it)[1]);
  return found;
}

// Builtins share their names with many things, so: one that a record is looked up by, or compared with.
std::set<std::string> known_by_name(const std::string& text, const std::set<std::string>& names) {
  static const std::regex asked("(?:find(?:_builtin)?\\([^;\"]*|name(?:\\(\\))?\\s*[!=]=\\s*)\"(\\w+)\"");
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), asked), end; it != end; ++it)
    if (names.contains((*it)[1])) found.insert((*it)[1]);
  return found;
}

}  // namespace

TEST_CASE("[records] no op is known by its name outside of its record") {
  const std::set<std::string> ops = names_in("stdlib/ops.def", "OP");
  REQUIRE(ops.size() > 90);
  std::size_t files = 0;
  for (const std::string& file : cpp_files()) {
    if (!is_looked_at(file)) continue;
    ++files;
    for (const std::string& name : strings_of(read_file(file), ops))
      CHECK_MESSAGE(other_words.contains({file, name}), file << " names the op '" << name << "'");
  }
  CHECK(files > 300);
  for (const auto& [file, name] : other_words)
    CHECK(strings_of(read_file(file), {name}) == std::set<std::string>{name});
  CHECK(strings_of("if (op == \"add\") // \"sub\"", ops) == std::set<std::string>{"add"});
}

TEST_CASE("[records] no builtin is looked up by its name or told by it") {
  std::set<std::string> builtins = names_in("interp/control/builtins/builtins.def", "BUILTIN");
  builtins.merge(names_in("interp/control/builtins/chip_builtins.def", "BUILTIN"));
  REQUIRE(builtins.size() > 30);
  for (const std::string& file : cpp_files()) {
    if (!is_looked_at(file)) continue;
    for (const std::string& name : known_by_name(read_file(file), builtins))
      CHECK_MESSAGE(other_names.contains({file, name}), file << " knows the builtin '" << name << "' by its name");
  }
  const std::string examples = "tools.builtins.find(\"print\"); call.builtin->name == \"exit\"; name() != \"len\"";
  CHECK(known_by_name(examples, builtins) == std::set<std::string>{"exit", "len", "print"});
}

}  // namespace taskspec::records_test
