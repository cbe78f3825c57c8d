// What is tracked: the leftovers of test runs once stood at the root for a day, and others beside the language tests.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::tree_test {

namespace {

// Each is named by a README or read by a tool. A new one is a decision.
const std::set<std::string> at_the_root = {
    ".ci",         ".clang-format",     ".gitignore", "LICENSE", "README.md", "bench",  "dev",
    "examples",    "frontend",          "grammar",    "hwsim",   "include",   "interp", "ir",
    "meson.build", "meson_options.txt", "packaging",  "stdlib",  "tests"};

// Files below the root, by what their names end in; those of golden files are listed where they lie.
const std::set<std::string> suffixes = {".build", ".cmake", ".cpp", ".css", ".def",  ".g4",  ".h5",      ".hpp",
                                        ".html",  ".in",    ".jpg", ".js",  ".json", ".md",  ".npy",     ".nir",
                                        ".png",   ".proto", ".py",  ".svg", ".task", ".txt", ".tasklib", ""};
const std::set<std::string> of_tests = {".ast", ".blocks", ".chains", ".cmd",  ".code",    ".err",   ".graph",
                                        ".in",  ".ops",    ".out",    ".plan", ".program", ".slices"};

// Empty, with a message, where there is nothing to ask.
std::vector<std::filesystem::path> tracked() {
  TemporaryFolder anywhere;
  const ToolOutcome listed = in_shell("git -C '" + source_root().string() + "' ls-tree -r --name-only HEAD", anywhere);
  if (listed.code != 0) MESSAGE("skipped: this tree is no clone, or git is not installed");
  std::vector<std::filesystem::path> files;
  std::istringstream lines(listed.code == 0 ? listed.out : "");
  for (std::string line; std::getline(lines, line);) files.emplace_back(line);
  return files;
}

}  // namespace

TEST_CASE("nothing is tracked at the root but what belongs there") {
  const std::vector<std::filesystem::path> files = tracked();
  std::set<std::string> found;
  for (const std::filesystem::path& file : files) found.insert(file.begin()->string());
  for (const std::string& name : found)
    CHECK_MESSAGE(at_the_root.count(name) == 1, "'" << name << "' is tracked at the root");
  CHECK((files.empty() || found.size() > 10));
}

TEST_CASE("nothing is tracked that a test run left behind") {
  for (const std::filesystem::path& file : tracked()) {
    const std::string suffix = file.extension().string();
    const bool is_test = *file.begin() == "tests" && *std::next(file.begin()) != "lang" && of_tests.count(suffix) == 1;
    const bool is_root = std::next(file.begin()) == file.end();
    CHECK_MESSAGE((is_root || is_test || suffixes.count(suffix) == 1), file.string() << " is tracked");
  }
}

}  // namespace taskspec::tree_test
