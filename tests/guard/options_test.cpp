// Every option of every command is documented, and the documents name no option that does not exist.
#include <doctest/doctest.h>

#include <cctype>
#include <set>
#include <sstream>
#include <string>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::options_test {

namespace {

// Words such as --stage, and single letters such as -D, at the start of a word.
std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> options;
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '-' || (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '_'))) continue;
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string word = text.substr(at, end - at);
    const bool is_long = word.size() > 3 && word.starts_with("--") && std::isalpha(static_cast<unsigned char>(word[2]));
    const bool is_short = word.size() == 2 && std::isalpha(static_cast<unsigned char>(word[1]));
    if (is_long || is_short) options.insert(word);
    at = end;
  }
  return options;
}

// The first words of the indented lines of the overview.
std::set<std::string> commands() {
  std::set<std::string> names;
  std::istringstream overview(in_shell("taskspec").err);
  for (std::string line; std::getline(overview, line);)
    if (line.starts_with("  ") && line.size() > 2 && std::isalpha(static_cast<unsigned char>(line[2])))
      names.insert(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

std::set<std::string> options_of_the_tool() {
  std::set<std::string> options = options_in(in_shell("taskspec --help").out);
  for (const std::string& command : commands())
    options.merge(options_in(in_shell("taskspec " + command + " --help").out));
  return options;
}

std::set<std::string> documented() {
  std::string text = read_file("README.md");
  for (const std::string& file : files_below("docs", {".md"})) text += read_file(file);
  return options_in(text);
}

}  // namespace

TEST_CASE("the tool tells its commands and every command its options") {
  const std::set<std::string> names = commands();
  for (const char* name : {"run", "check", "fmt", "test", "graph", "explain"})
    CHECK_MESSAGE(names.contains(name), name);
  for (const std::string& name : names) {
    CAPTURE(name);
    ToolOutcome help = in_shell("taskspec " + name + " --help");
    CHECK(help.code == 0);
    CHECK_FALSE(help.out.empty());
    CHECK(help.err.empty());
  }
}

TEST_CASE("every option is documented") {
  const std::set<std::string> known = documented();
  for (const std::string& option : options_of_the_tool())
    CHECK_MESSAGE(known.contains(option), option << " stands in no document (README.md, docs/)");
}

TEST_CASE("every documented option exists") {
  std::set<std::string> real = options_of_the_tool();
  real.merge(options_in(read_file("dev")));
  for (const std::string& option : documented())
    CHECK_MESSAGE(real.contains(option), option << " is documented, but no command has it");
}

TEST_CASE("a wrong command line is told so and exits with 2") {
  for (const char* line :
       {"taskspec", "taskspec no-such-command", "taskspec run", "taskspec run --no-such-option x.task"}) {
    CAPTURE(line);
    ToolOutcome outcome = in_shell(line);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.err.empty());
  }
}

}  // namespace taskspec::options_test
