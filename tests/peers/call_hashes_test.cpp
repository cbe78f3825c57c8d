// Hashes of calls: those that a script found which knows the format of calls alone (tests/peers/call_hashes.py), and
// the same whatever is replayed.
#include <fmt/format.h>

#include <fstream>
#include <regex>
#include <vector>

#include "tests/guard/tool.hpp"
#include "tests/peers/script.hpp"

namespace taskspec::call_hashes_test {

namespace {

std::vector<std::string> recorded() {
  std::ifstream file(source_root() / "tests/peers/call_hashes.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> hashes(const std::string& options) {
  TemporaryFolder folder;
  const ToolOutcome run = in_shell(fmt::format("taskspec run '{}' {} --report r.html >/dev/null && cat r.html",
                                               (source_root() / "tests/peers/call_hashes.task").string(), options),
                                   folder, 120);
  CHECK_MESSAGE(run.code == 0, run.err);
  static const std::regex hash("\"hash\":\"([0-9a-f]{32})\"");
  std::vector<std::string> found;
  for (std::sregex_iterator at(run.out.begin(), run.out.end(), hash), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

}  // namespace

TEST_CASE("the first calls of a stencil have the hashes that their format gives them [hashes][D17]") {
  const std::vector<std::string> wanted = recorded();
  REQUIRE(wanted.size() == 20);
  for (const char* options : {"", "--trace-auto off"}) {
    std::vector<std::string> found = hashes(options);
    REQUIRE(found.size() > wanted.size());
    found.resize(wanted.size());
    CHECK(found == wanted);
  }
  // How many shards there are, and how often they compare, is said by the first call.
  for (const char* options : {"--shards 3", "--safe every"}) CHECK(hashes(options).front() != wanted.front());
  CHECK(hashes("--safe off").empty());
}

TEST_CASE("a script that shares nothing with ours comes to the same hashes [hashes][peers]") {
  if (const std::optional<Said> said = run_script("call_hashes.py", "libxxhash (Debian: libxxhash0)"))
    CHECK_MESSAGE(said->code == 0, said->text);
}

}  // namespace taskspec::call_hashes_test
