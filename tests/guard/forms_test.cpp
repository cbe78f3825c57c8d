// A new statement or expression touches the grammar, its record, its checker and its interpreter. So whoever else needs
// to know something about it reads the record: elsewhere only those forms are named that everything else is made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "ir/program/form.hpp"
#include "tests/guard/paths.hpp"

using taskspec::Form;

namespace {

// Names, values and calls: what a program consists of, whatever its statements are.
const std::set<std::string> common = {"constant", "parameter", "variable", "global",  "loop",     "type",   "op",
                                      "builtin",  "tuple",     "list",     "element", "field",    "item",   "receive",
                                      "agent",    "self",      "member",   "closure", "function", "output", "call",
                                      "invoke",   "apply",     "write",    "enqueue", "dequeue"};

bool knows_all_forms(const std::string& file) {
  return file.starts_with("ir/program/form") || file.starts_with("frontend/check/") || file.starts_with("tests/") ||
         file == "interp/control/form_steps.cpp";
}

// What stands behind `Form::` in a text, in order.
std::set<std::string> forms_in(const std::string& text) {
  std::set<std::string> found;
  for (std::size_t at = text.find("Form::"); at != std::string::npos; at = text.find("Form::", at + 1)) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at) + 6;
    const auto end = std::find_if_not(begin, text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    found.emplace(begin, end);
  }
  return found;
}

}  // namespace

TEST_CASE("[forms] statements are named by the checker, the interpreter and their records alone") {
  std::size_t files = 0;
  for (const std::string& file : cpp_files()) {
    if (knows_all_forms(file)) continue;
    ++files;
    for (const std::string& form : forms_in(read_file(file)))
      CHECK_MESSAGE(common.contains(form),
                    file << " names the form '" << form << "': its record can say what is asked");
  }
  CHECK(files > 300);
  CHECK(forms_in("x == Form::if_ || Form::run)") == std::set<std::string>{"if_", "run"});
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
