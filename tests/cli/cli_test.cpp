// The command line, case by case. A case is a set of files beside this one:
//
//   NAME.cmd    the arguments of taskspec, one call per line; "quotes" keep blanks together (\" inside), > FILE sends
//   the
//               output into a file, # begins a comment; all calls but the last must succeed
//   NAME.in     its standard input (none: empty)
//   NAME.out    what it must print; ... stands for any text (none: nothing)
//   NAME.err    lines that must occur on standard error (none: nothing may be there)
//   NAME.code   the exit code (none: 0)
//   NAME.task   and the files of given/ and examples/ are there when it runs, those of tests/*.task in labelled/
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "ir/base/text.hpp"
#include "tests/cli/process.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::cli_test {

namespace fs = std::filesystem;

namespace {

// What one line of NAME.cmd asks for.
struct CommandLine {
  std::vector<std::string> words;
  std::string output;  // after >
};

CommandLine read_line(const std::string& line) {
  CommandLine command;
  std::string word;
  bool quoted = false, started = false, escaped = false;
  auto finish = [&] {
    if (started) command.words.push_back(word);
    word.clear();
    started = false;
  };
  for (char c : line) {
    if (c == '\\' && quoted && !escaped) {
      escaped = true;
      continue;
    }
    if (c == '"' && !escaped) {
      quoted = !quoted;
      started = true;
    } else if (c == ' ' && !quoted) {
      finish();
    } else {
      word += c;
      started = true;
    }
    escaped = false;
  }
  finish();
  if (command.words.size() >= 2 && command.words[command.words.size() - 2] == ">") {
    command.output = command.words.back();
    command.words.resize(command.words.size() - 2);
  }
  return command;
}

std::vector<CommandLine> commands_of(const std::string& text) {
  std::vector<CommandLine> commands;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') commands.push_back(read_line(line));
  return commands;
}

// A folder with everything that a case may name.
void furnish(const TemporaryFolder& folder, const std::string& name) {
  fs::create_directory_symlink(source_root() / "examples", folder.path() / "examples");
  for (const fs::directory_entry& entry : fs::directory_iterator(source_root() / "tests/cli/given"))
    fs::copy_file(entry.path(), folder.path() / entry.path().filename());
  fs::create_directory(folder.path() / "labelled");
  for (const fs::directory_entry& entry : fs::directory_iterator(source_root() / "tests"))
    if (entry.path().extension() == ".task")
      fs::copy_file(entry.path(), folder.path() / "labelled" / entry.path().filename());
  const fs::path own = source_root() / "tests/cli" / (name + ".task");
  if (fs::exists(own)) fs::copy_file(own, folder.path() / own.filename());
}

void check_errors(const std::string& wanted, const std::string& err) {
  if (wanted.empty()) CHECK(err == "");
  std::istringstream lines(wanted);
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE(err.find(line) != std::string::npos, "'" << line << "' is not on standard error:\n" << err);
}

}  // namespace

TEST_CASE("the command line does what its cases say") {
  const std::vector<std::string> cases = files_below("tests/cli", {".cmd"});
  CHECK(cases.size() > 20);
  for (const std::string& path : cases) {
    const std::string name = fs::path(path).stem();
    const std::string base = "tests/cli/" + name;
    CAPTURE(name);
    TemporaryFolder folder;
    furnish(folder, name);
    const bool has_input = fs::exists(source_root() / (base + ".in"));
    const std::string input = has_input ? (source_root() / (base + ".in")).string() : "/dev/null";
    const std::string code = read_file(base + ".code");
    std::string out, err;
    const std::vector<CommandLine> commands = commands_of(read_file(path));
    CHECK(!commands.empty());
    for (const CommandLine& command : commands) {
      const bool last = &command == &commands.back();
      const std::string output =
          command.output.starts_with("/") || command.output.empty() ? command.output : folder / command.output;
      Process tool({.arguments = command.words, .folder = folder.path(), .input = input, .output = output});
      const int ended_with = tool.wait();
      if (output.empty()) out += tool.out();
      err += tool.err();
      CHECK_MESSAGE(ended_with == (last && !code.empty() ? std::stoi(code) : 0), err);
    }
    const std::string wanted = read_file(base + ".out");
    CHECK_MESSAGE(taskspec::fits_pattern(wanted, out), "expected:\n" << wanted << "printed:\n" << out);
    check_errors(read_file(base + ".err"), err);
  }
}

TEST_CASE("lines of commands are read as meant") {
  const CommandLine plain = read_line("run \"a b.task\" -D x=\"1 2\" > out.txt");
  CHECK(plain.words == std::vector<std::string>{"run", "a b.task", "-D", "x=1 2"});
  CHECK(plain.output == "out.txt");
  CHECK(read_line("run \"a \\\"b\\\"\"").words == std::vector<std::string>{"run", "a \"b\""});
  CHECK(read_line("run \"\"").words == std::vector<std::string>{"run", ""});
  CHECK(commands_of("# nothing\n\nrun a\n").size() == 1);
}

}  // namespace taskspec::cli_test
