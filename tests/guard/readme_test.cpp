// The snippets of README.md run: a ```sh block must succeed, and a ```text block right after it is exactly what it
// prints ("..." stands for any text); a ```task block must run, and its // expect lines must hold.
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

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

// Text against a pattern in which "..." stands for any text.
bool matches(std::string_view text, std::string_view pattern) {
  const std::size_t gap = pattern.find("...");
  if (gap == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, gap))) return false;
  const std::string_view rest = pattern.substr(gap + 3);
  for (std::size_t at = gap; at <= text.size(); ++at)
    if (matches(text.substr(at), rest)) return true;
  return false;
}

// A folder in which the commands of the README work as in a clone. Its `dev` hands over to the tool that is under test;
// its own words, which would build and test the whole tree again from inside a test, only have to exist.
void furnish(const TemporaryFolder& folder) {
  fs::create_directory_symlink(source_root() / "examples", folder.path() / "examples");
  folder.put("dev", "#!/bin/bash\ncase $1 in\n  build|test|format) grep -q \"^\\./dev $1\" <<<\"$(" +
                        (source_root() / "dev").string() + " help)\" ;;\n  *) exec taskspec \"$@\" ;;\nesac\n");
  fs::permissions(folder.path() / "dev", fs::perms::owner_all);
}

}  // namespace

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
      Outcome outcome = in_shell("set -e\n" + snippet.text, folder);
      CAPTURE(outcome.err);
      CHECK(outcome.code == 0);
      const bool has_output = i + 1 < all.size() && all[i + 1].kind == "text" && all[i + 1].follows_on;
      if (has_output) CHECK_MESSAGE(matches(outcome.out, all[i + 1].text), "it printed:\n" << outcome.out);
    } else if (snippet.kind == "task") {
      ++run;
      folder.put("snippet.task", snippet.text);
      Outcome outcome = in_shell("taskspec test snippet.task", folder);
      CAPTURE(outcome.out);
      CAPTURE(outcome.err);
      CHECK(outcome.code == 0);
    }
  }
  CHECK(run >= 2);
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
  CHECK(matches("abc", "abc"));
  CHECK(matches("a 123 c", "a ... c"));
  CHECK(matches("abc", "..."));
  CHECK_FALSE(matches("abc", "a...d"));
  CHECK_FALSE(matches("abcd", "abc"));
}
