// Host code against CPython, which shares nothing with ours: tests/peers/host_code.py writes random programs in both
// languages, runs them and compares what they print and where they fail.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/guard/paths.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::host_code_test {

TEST_CASE("host code: equal to CPython on random programs [compact] [peers]") {
  const std::vector<std::uint64_t> seeds = random_seeds(100, 5'000);
  const std::string command = "timeout 3000 python3 '" + (source_root() / "tests/peers/host_code.py").string() + "' '" +
                              taskspec_binary().string() + "' " + std::to_string(seeds.front()) + " " +
                              std::to_string(seeds.size()) + " 2>&1";
  std::string said;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 4096> buffer{};
  while (std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) said.append(buffer.data(), count);
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    MESSAGE("skipped: there is no python3");
    return;
  }
  CHECK_MESSAGE((WIFEXITED(status) && WEXITSTATUS(status) == 0), said);
}

}  // namespace taskspec::host_code_test
