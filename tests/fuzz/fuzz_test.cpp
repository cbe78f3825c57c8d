// A few changed samples into every reader; `./dev fuzz` does it for as long as one likes, under the sanitizers.
#include <doctest/doctest.h>

#include <chrono>
#include <set>

#include "tests/fuzz/readers.hpp"
#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::fuzz_test {

using namespace taskspec::fuzz;
using fuzz::Trial;  // and not the one of the interpreter

TEST_CASE("every reader ends well or with a diagnostic, whatever it is given [hostile] [fuzz]") {
  constexpr std::uint64_t seed = 1, count = 400;
  for (const ReaderName& reader : all_readers()) {
    CAPTURE(reader.name);
    const Trial trial(*reader.reader);
    CHECK(trial.samples() > 2);
    for (std::uint64_t number = 0; number < trial.samples() + count; ++number) {
      CAPTURE(number);
      const auto begin = std::chrono::steady_clock::now();
      CHECK(trial.run(trial.input(seed, number)).wrong == "");
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    }
  }
}

TEST_CASE("a case of the fuzzer can be made again, and no two are alike") {
  const Trial trial(*find_reader("csv")->reader), again(*find_reader("csv")->reader);
  std::set<std::string> seen;
  for (std::uint64_t number = 100; number < 300; ++number) {
    CHECK(trial.input(7, number) == again.input(7, number));
    seen.insert(trial.input(7, number));
    seen.insert(trial.input(8, number));
  }
  CHECK(seen.size() > 300);
  CHECK(find_reader("no such reader") == nullptr);
}

TEST_CASE("tokens know what their brackets hold") {
  const std::string text = "f(a, [1.5, \"x)\"]) }";
  const std::vector<Piece> pieces = pieces_of(text);
  CHECK(pieces.size() == 11);
  CHECK(text.substr(pieces[5].begin, pieces[5].end - pieces[5].begin) == "1.5");
  CHECK(pieces[1].partner == 9);
  CHECK(pieces[8].partner == 4);
  CHECK(pieces[10].partner == SIZE_MAX);
}

TEST_CASE("dev fuzz lists the readers") {
  const std::string listed = in_shell("'" + (source_root() / "dev").string() + "' fuzz", TemporaryFolder()).out;
  for (const ReaderName& reader : all_readers())
    CHECK(listed.find(std::string(reader.name) + " ") != std::string::npos);
  CHECK(listed.find("json      exported graphs: import, build, export again, run\n") != std::string::npos);
}

}  // namespace taskspec::fuzz_test
