// Mistakes as one makes them coming from Python, C++, Julia or PyTorch: each message names the way that works here.
// The table is tests/errors/foreign.txt, a line each: what is typed ==> the code, and words of the message or its help.
// A '\n' in it is a line break.
#include <doctest/doctest.h>

#include <sstream>

#include "tests/guard/paths.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::foreign_test {

namespace {

std::string with_breaks(std::string text) {
  for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) text.replace(at, 2, "\n");
  return text;
}

}  // namespace

TEST_CASE("[errors] mistakes brought along from other languages lead to the way that works here") {
  std::istringstream lines(read_file("tests/errors/foreign.txt"));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" ==> ");
    if (line.empty() || arrow == std::string::npos) continue;
    ++rows;
    CAPTURE(line);
    const std::string code = line.substr(arrow + 5, 5), words = line.substr(arrow + 11);
    const Ran ran = run_text(with_breaks(line.substr(0, arrow)) + "\n");
    REQUIRE(!ran.diags.empty());
    bool found = false;
    for (const taskspec::Diag& diag : ran.diags.items()) {
      const bool says =
          diag.message.find(words) != std::string::npos || diag.help_text.find(words) != std::string::npos;
      found = found || (diag.code.text() == code && says);
    }
    CHECK_MESSAGE(found, ran.errors);
    CHECK_MESSAGE(words.size() > 8, "a message leads on in more than a word");
  }
  CHECK(rows >= 150);
}

}  // namespace taskspec::foreign_test
