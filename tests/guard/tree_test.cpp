// What is tracked at the root: the leftovers of a test run once stood there for a day.
#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace {

// Each is named by a README or read by a tool. A new one is a decision.
const std::set<std::string> at_the_root = {
    ".ci",         ".clang-format",     ".gitignore", "LICENSE", "README.md", "bench",  "dev",
    "examples",    "frontend",          "grammar",    "hwsim",   "include",   "interp", "ir",
    "meson.build", "meson_options.txt", "packaging",  "stdlib",  "tests"};

}  // namespace

TEST_CASE("nothing is tracked at the root but what belongs there") {
  TemporaryFolder anywhere;
  const Outcome listed = in_shell("git -C '" + source_root().string() + "' ls-tree --name-only HEAD", anywhere);
  if (listed.code != 0) {
    MESSAGE("skipped: this tree is no clone, or git is not installed");
    return;
  }
  std::set<std::string> found;
  std::istringstream lines(listed.out);
  for (std::string line; std::getline(lines, line);) {
    CHECK_MESSAGE(at_the_root.count(line) == 1, "'" << line << "' is tracked at the root");
    found.insert(line);
  }
  CHECK_MESSAGE(found.size() > 10, "git listed too little: " << listed.out);
}
