// The snippets of README.md run: a ```sh block must succeed, and a ```text block right after it is exactly what it
// prints ("..." stands for any text); a ```task block must run, and its // expect lines must hold.
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "ir/base/text.hpp"
#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::readme_test {

namespace fs = std::filesystem;

namespace {

struct Snippet {
  std::string kind, text;
  int line = 0;             // of README.md
  bool follows_on = false;  // only blank lines between it and the snippet before
};

std::vector<Snippet> snippets(const std::string& document) {
  std::vector<Snippet> found;
  std::istringstream lines(document);
  bool inside = false, blank_since = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      if (!inside) found.push_back({line.substr(3), "", number, blank_since});
      inside = !inside;
      blank_since = true;
    } else if (inside) {
      found.back().text += line + "\n";
    } else if (!line.empty()) {
      blank_since = false;
    }
  }
  return found;
}

// A folder that is as a clone after its first build: with the tree's own `dev` and examples, and the build that these
// tests are part of. The tool is not on the PATH there.
void furnish(const TemporaryFolder& folder) {
  for (const char* name : {"examples", "tests"})
    fs::create_directory_symlink(source_root() / name, folder.path() / name);
  fs::create_directory_symlink(taskspec_binary().parent_path().parent_path().parent_path(), folder.path() / "build");
  fs::copy_file(source_root() / "dev", folder.path() / "dev");
  fs::last_write_time(folder.path() / "dev", fs::last_write_time(source_root() / "dev"));
}

// What a newcomer types, in a shell that knows nothing of us.
ToolOutcome typed(const std::string& commands, const TemporaryFolder& folder) {
  return in_shell("PATH=${PATH#*:}\nset -e\n" + commands, folder, 300);
}

}  // namespace

TEST_CASE("the picture in the README is what the tool draws") {
  const std::string drawn =
      in_shell("taskspec graph '" + (source_root() / "examples/images/diamond.task").string() + "' --format svg").out;
  CHECK(drawn.size() > 1000);
  CHECK(drawn == read_file("examples/images/diamond.svg"));  // a new one: taskspec graph ... --format svg
}

TEST_CASE("the README runs") {
  const std::vector<Snippet> all = snippets(read_file("README.md"));
  std::size_t run = 0;
  TemporaryFolder folder;
  furnish(folder);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Snippet& snippet = all[i];
    CAPTURE(snippet.line);
    if (snippet.kind == "sh") {
      ++run;
      ToolOutcome outcome = typed(snippet.text, folder);
      CAPTURE(outcome.err);
      CHECK(outcome.code == 0);
      const bool has_output = i + 1 < all.size() && all[i + 1].kind == "text" && all[i + 1].follows_on;
      if (has_output)
        CHECK_MESSAGE(taskspec::fits_pattern(all[i + 1].text, outcome.out), "it printed:\n" << outcome.out);
    } else if (snippet.kind == "task") {
      ++run;
      folder.put("snippet.task", snippet.text);
      ToolOutcome outcome = typed("./dev test snippet.task", folder);
      CAPTURE(outcome.out);
      CAPTURE(outcome.err);
      CHECK(outcome.code == 0);
    }
  }
  CHECK(run >= 2);
}

TEST_CASE("the README calls the tool by a name that a fresh clone knows") {
  TemporaryFolder folder;
  CHECK(typed("taskspec --version", folder).code == 127);
  for (const Snippet& snippet : snippets(read_file("README.md")))
    if (snippet.kind == "sh")
      CHECK_MESSAGE(("\n" + snippet.text).find("\ntaskspec") == std::string::npos, snippet.text);
}

TEST_CASE("the README says how to start") {
  const std::string readme = read_file("README.md");
  CHECK(readme.find("./dev run examples/01_hello.task") != std::string::npos);
  CHECK(readme.find("./dev test") != std::string::npos);
}

TEST_CASE("snippets and patterns are read as meant") {
  const std::vector<Snippet> found = snippets("a\n```sh\necho x\n```\n\n```text\nx\n```\nb\n```task\nprint(1)\n```\n");
  REQUIRE(found.size() == 3);
  CHECK(found[0].text == "echo x\n");
  CHECK(found[1].kind == "text");
  CHECK(found[1].follows_on);
  CHECK_FALSE(found[2].follows_on);
  CHECK(taskspec::fits_pattern("abc", "abc"));
  CHECK(taskspec::fits_pattern("a ... c", "a 123 c"));
  CHECK(taskspec::fits_pattern("...", "abc"));
  CHECK_FALSE(taskspec::fits_pattern("a...d", "abc"));
  CHECK_FALSE(taskspec::fits_pattern("abc", "abcd"));
}

}  // namespace taskspec::readme_test
