// A new statement or expression touches the grammar and the syntax tree, its record, its checker and its interpreter.
// So whoever else needs to know something about it reads the record, asks a node of the tree for its parts, or the
// grammar for its words: elsewhere only those forms, nodes and words are named that everything else is made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/parse.hpp"
#include "ir/base/ascii.hpp"
#include "ir/program/form.hpp"
#include "tests/guard/paths.hpp"

namespace taskspec::forms_test {

using taskspec::Form;

namespace {

// Names, values and calls: what a program consists of, whatever its statements are.
const std::set<std::string> common = {"constant", "parameter", "variable", "global",  "loop",     "type",   "op",
                                      "builtin",  "tuple",     "list",     "element", "field",    "item",   "receive",
                                      "agent",    "self",      "member",   "closure", "function", "output", "call",
                                      "invoke",   "apply",     "write",    "enqueue", "dequeue"};

// The other one that runs calls: it makes code of the bodies of tasks over views.
bool knows_bodies(const std::string& file) { return file.starts_with("ir/view_code/"); }

bool knows_all_forms(const std::string& file) {
  return file.starts_with("ir/program/form") || file.starts_with("frontend/check/") || file.starts_with("tests/") ||
         file == "interp/control/form_steps.cpp" || knows_bodies(file);
}

// The names behind each `prefix` in a text.
std::set<std::string> names_behind(const std::string& prefix, const std::string& text) {
  std::set<std::string> found;
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    if (at > 0 && taskspec::is_word(text[at - 1])) continue;
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at + prefix.size());
    found.emplace(begin, std::find_if_not(begin, text.end(), taskspec::is_word));
  }
  return found;
}

// ---- the syntax tree ----

// What kinds a node of the tree may have: the parts of the variant in its struct.
std::set<std::string> kinds_of(const std::string& node, const std::string& header) {
  const std::string text = read_file(header);
  const std::size_t begin = text.find("std::variant<", text.find("struct " + node + " {")) + 13;
  std::set<std::string> kinds;
  std::string kind;
  for (const char c : text.substr(begin, text.find('>', begin) + 1 - begin)) {
    if (taskspec::is_word(c))
      kind += c;
    else if (!kind.empty())
      kinds.insert(std::exchange(kind, ""));
  }
  return kinds;
}

std::set<std::string> all_nodes() {
  std::set<std::string> nodes = kinds_of("Expr", "frontend/ast_expr.hpp");
  nodes.merge(kinds_of("TypeExpr", "frontend/ast_expr.hpp"));
  nodes.merge(kinds_of("Stmt", "frontend/ast.hpp"));
  return nodes;
}

// What a prompt asks about the entries that it keeps: does one define a name, has it a value, does it mean the last
// one?
const std::set<std::string> nodes_of_entries = {"Let", "ExprStmt", "NameExpr", "Index", "Call", "Run"};

// They are the nodes, make them, or give one its meaning. Who walks over whole trees is none of them, in the checker
// neither.
bool knows_all_nodes(const std::string& file) {
  const bool walks = file.starts_with("frontend/check/mentions.") || file.starts_with("frontend/check/free_names.");
  const bool makes = file.starts_with("frontend/parse_tree") || file.starts_with("frontend/dsl/") ||
                     file == "interp/embed/host_program.cpp";
  return makes || file == "frontend/ast_expr.hpp" || file == "frontend/ast_parts.hpp" || file.starts_with("tests/") ||
         (file.starts_with("frontend/check/") && !walks);
}

// ---- words ----

// Of those the texts of errors, the layout and the depth of a program speak by themselves.
const std::set<std::string> told_words = {"as",     "break",  "continue", "else",  "false", "fields", "fn",  "for",
                                          "if",     "import", "in",       "inout", "ir",    "launch", "let", "out",
                                          "reduce", "return", "task",     "true",  "var",   "while"};

}  // namespace

TEST_CASE("[forms] statements are named by the checker, the interpreter and their records alone") {
  std::size_t files = 0;
  for (const std::string& file : cpp_files()) {
    if (knows_all_forms(file)) continue;
    ++files;
    for (const std::string& form : names_behind("Form::", read_file(file)))
      CHECK_MESSAGE(common.contains(form),
                    file << " names the form '" << form << "': its record can say what is asked");
  }
  CHECK(files > 300);
  CHECK(names_behind("Form::", "x == Form::if_ || Form::run)") == std::set<std::string>{"if_", "run"});
}

TEST_CASE("[forms] each has its line in forms.def and its record in ir/program/forms") {
  std::string records;
  for (const std::string& file : files_below("ir/program/forms", {".cpp"})) records += read_file(file);
  std::size_t lines = 0;
  for (const std::string table = read_file("ir/program/forms.def"); const std::string& name : common) {
    CHECK_MESSAGE(table.find("TASKSPEC_FORM(" + name + ")") != std::string::npos, name);
    CHECK_MESSAGE(records.find("FormRecord " + name + " = ") != std::string::npos, name);
    ++lines;
  }
  CHECK(taskspec::all_forms().size() > lines);
}

TEST_CASE("[forms] who walks over a syntax tree asks its nodes for their parts and names none of them") {
  const std::set<std::string> nodes = all_nodes();
  for (const char* node : {"NameExpr", "Given", "NamedType", "FnType", "Let", "ExprStmt"}) CHECK(nodes.contains(node));
  std::size_t walkers = 0;
  for (const std::string& file : cpp_files()) {
    if (knows_all_nodes(file)) continue;
    const std::string text = read_file(file);
    CHECK_MESSAGE(text.find("using namespace ast;") == std::string::npos, file);
    const std::set<std::string> named = names_behind("ast::", text);
    walkers += named.contains("Parts") ? 1 : 0;
    for (const std::string& node : named)
      CHECK_MESSAGE((!nodes.contains(node) || (file.starts_with("interp/") && nodes_of_entries.contains(node))),
                    file << " names the node '" << node << "': its parts can say what is asked");
  }
  CHECK(walkers == 3);  // ast_print, mentions, free_names
}

TEST_CASE("[forms] what its words are and where they may stand the grammar says alone") {
  const std::vector<std::string> words = taskspec::keywords();
  std::size_t files = 0;
  for (const std::string& file : files_below("frontend", {".cpp", ".hpp"})) {
    const bool in_folder = file.find('/') != file.rfind('/');  // check/, dsl/
    const bool of_tree = file.starts_with("frontend/parse_tree") || file.starts_with("frontend/ast");
    const bool of_others = file == "frontend/parse_foreign.cpp";  // tells words of other languages from those of ours
    if (in_folder || of_tree || of_others || file == "frontend/check.hpp") continue;
    ++files;
    const std::string text = read_file(file);
    for (const std::string& word : words)
      CHECK_MESSAGE((told_words.contains(word) || text.find('"' + word + '"') == std::string::npos),
                    file << " names the word '" << word << "'");
  }
  CHECK(files > 15);
}

// The count of the READMEs: a plain statement and a plain expression, without what C++ has of them.
TEST_CASE("[forms] one stands in eight files: grammar, tree, parser, checker, record, interpreter") {
  auto files_with = [](const std::string& word, const std::string& node, const std::string& form) {
    std::set<std::string> files;
    std::vector<std::string> all = files_below("ir/program", {".def"});
    all.emplace_back("grammar/Task.g4");
    for (const std::string& file : cpp_files()) all.push_back(file);
    for (const std::string& file : all) {
      const std::string text = read_file(file);
      const bool named = names_behind("ast::", text).contains(node) || names_behind("Form::", text).contains(form) ||
                         text.find("struct " + node + " {") != std::string::npos ||
                         text.find("TASKSPEC_FORM(" + form + ")") != std::string::npos ||
                         text.find("FormRecord " + form + " = ") != std::string::npos ||
                         (file.ends_with(".g4") && text.find("'" + word + "'") != std::string::npos);
      const bool counts = !file.starts_with("tests/") && !file.starts_with("frontend/dsl/") && !knows_bodies(file);
      if (named && counts) files.insert(file);
    }
    return files;
  };
  CHECK(files_with("for", "For", "for_") ==
        std::set<std::string>{"grammar/Task.g4", "frontend/ast.hpp", "frontend/parse_tree_decl.cpp",
                              "frontend/check/statements.hpp", "frontend/check/control.cpp", "ir/program/forms.def",
                              "ir/program/forms/control.cpp", "interp/control/form_steps.cpp"});
  CHECK(files_with("..", "RangeExpr", "range") ==
        std::set<std::string>{"grammar/Task.g4", "frontend/ast_expr.hpp", "frontend/parse_tree_expr.cpp",
                              "frontend/check/expressions.cpp", "frontend/check/indexing.cpp", "ir/program/forms.def",
                              "ir/program/forms/data.cpp", "interp/control/form_steps.cpp"});
}

}  // namespace taskspec::forms_test
