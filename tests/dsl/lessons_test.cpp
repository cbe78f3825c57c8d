// Lessons that are also written in C++ print what their texts print.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "tests/guard/paths.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::lessons_test {

namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 4096> part;
  for (std::size_t n; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), n);
  CHECK(pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("lessons in C++ print what the texts print [dsl]") {
  const std::filesystem::path built = taskspec_binary().parent_path().parent_path().parent_path() / "examples";
  for (const std::string lesson :
       {"02_composition", "07_state", "13_slices", "14_layers", "16_learning", "20_stencil"}) {
    CAPTURE(lesson);
    TemporaryFolder folder;  // for what it writes
    const std::string wanted = expected_output(read_file("examples/" + lesson + ".task"));
    CHECK(wanted != "");
    CHECK(output_of("cd '" + folder.path().string() + "' && '" + (built / lesson).string() + "'") == wanted);
  }
}

}  // namespace taskspec::lessons_test
