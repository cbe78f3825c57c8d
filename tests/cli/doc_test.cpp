// The reference in all its forms: complete, well formed, and safe from what stands in the records.
#include <doctest/doctest.h>

#include <filesystem>

#include "ir/codes/codes.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::doc_test {

using taskspec::all_codes;
using taskspec::Builtin;
using taskspec::CodeInfo;
using taskspec::OpDef;
using taskspec::Toolbox;

namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string doc(const std::string& format) {
  const ToolOutcome outcome = in_shell("taskspec doc --format " + format);
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  return outcome.out;
}

// Ends of nested brackets outside of strings meet their beginnings: enough to tell broken JSON.
bool is_balanced(const std::string& json) {
  std::string open;
  bool text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (text) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        text = false;
    } else if (c == '"') {
      text = true;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) return false;
      open.pop_back();
    }
  }
  return open.empty() && !text;
}

std::string in_html(std::string_view name) {
  std::string text(name);
  if (const std::size_t at = text.find('&'); at != std::string::npos) text.replace(at, 1, "&#38;");
  return text;
}

}  // namespace

TEST_CASE("[doc] what is asked of a value is found by its own name [L14] [L15]") {
  for (const char* name : {"profile", "cost", "grad"}) {
    const ToolOutcome outcome = in_shell(std::string("taskspec doc ") + name);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.starts_with(std::string("training.") + name + "(m"));
  }
}

TEST_CASE("[doc] the manual holds every record") {
  const Toolbox& tools = standard_toolbox();
  const std::string html = doc("html"), markdown = doc("markdown"), editor = doc("textmate");
  for (const OpDef* op : tools.ops.all()) {
    CHECK_MESSAGE(holds(html, ">" + std::string(op->name) + "</a>"), op->name);
    CHECK_MESSAGE(holds(editor, std::string(op->name)), op->name);
  }
  for (const Builtin* builtin : tools.builtins.all())
    CHECK_MESSAGE(holds(html, ">" + in_html(builtin->name) + "</a>"), builtin->name);
  for (const CodeInfo* info : all_codes()) {
    CHECK_MESSAGE(holds(html, ">" + info->code.text() + "</a>"), info->code.text());
    CHECK_MESSAGE(holds(markdown, "### " + info->code.text()), info->code.text());
  }
  CHECK(holds(html, "i9"));
  CHECK_FALSE(holds(html, "http:"));  // no network
  CHECK_FALSE(holds(html, "https:"));
  CHECK_FALSE(holds(html, "src="));
  CHECK(holds(html, "&#60;"));  // the records hold such signs
  CHECK(is_balanced(editor));
  for (const char* word : {"agent", "while", "graph", "f32", "i28", "conv2d"}) CHECK(holds(editor, word));
}

TEST_CASE("[doc] the manual page and the completions hold every command and option") {
  const std::string man = doc("man"), bash = doc("bash"), zsh = doc("zsh"), fish = doc("fish");
  for (const char* command : {"run", "check", "fmt", "test", "graph", "explain", "doc", "repl", "bench"})
    for (const std::string* page : {&man, &bash, &zsh, &fish}) CHECK_MESSAGE(holds(*page, command), command);
  CHECK(holds(man, "\\-\\-schedule push|pull|eager"));
  CHECK(holds(bash, "run:--schedule) words='push pull eager'"));
  CHECK(holds(zsh, "'--schedule["));
  CHECK(holds(fish, "-l schedule -x -a 'push pull eager'"));
  CHECK(in_shell("taskspec doc --format bash | bash -n").code == 0);
  const ToolOutcome completed = in_shell(
      "taskspec doc --format bash > c.sh && . ./c.sh && COMP_WORDS=(taskspec run --sch) COMP_CWORD=2 && _taskspec && "
      "echo ${COMPREPLY[@]}");
  CHECK(completed.out == "--schedule\n");
  for (const char* command : {"run", "check", "fmt", "graph", "slices", "build", "repl"})
    CHECK_MESSAGE(holds(bash, std::string(command) + ":--diagnostics) words='text json'"), command);
}

TEST_CASE("[doc] one name, and names that are not there") {
  CHECK(holds(in_shell("taskspec doc sum").out, "sum(x, axis?)"));
  CHECK(holds(in_shell("taskspec doc i9").out, "-256 to 255"));
  CHECK(holds(in_shell("taskspec doc E2001").out, "E2001"));
  CHECK(holds(in_shell("taskspec doc").out, "conv2d("));
  CHECK(in_shell("taskspec doc smu").code == 2);
  CHECK(holds(in_shell("taskspec doc smu").err, "did you mean 'sum'?"));
  CHECK(in_shell("taskspec doc sum --format html").code == 2);
  CHECK(in_shell("taskspec doc --format pdf").code == 2);
}

}  // namespace taskspec::doc_test
