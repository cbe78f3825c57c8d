// `taskspec test` as a harness: what it leaves behind, which files are tests, and golden files.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/cli/process.hpp"
#include "tests/guard/paths.hpp"

namespace taskspec::harness_test {

namespace fs = std::filesystem;

namespace {

struct Tested {
  int code = -1;
  std::string out, err;
};

Tested run_tests(const TemporaryFolder& folder, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), "test");
  Process tool({.arguments = std::move(arguments), .folder = folder.path()});
  const int code = tool.wait();
  return {code, tool.out(), tool.err()};
}

std::size_t files_in(const TemporaryFolder& folder) {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path()))
    count += entry.is_regular_file();
  return count;
}

}  // namespace

TEST_CASE("a program under test writes into a folder of its own that goes away") {
  TemporaryFolder folder;
  folder.put("a.task", "write(\"note.txt\", \"one\")\nprint(read(\"note.txt\"))\n// expect: one\n");
  // The note of the other program is not there.
  folder.put("b.task", "print(read(\"note.txt\"))\n// error E7001 @1\n");
  Tested tested = run_tests(folder, {"a.task", "b.task"});
  CHECK_MESSAGE(tested.out == "2 passed, 0 failed\n", tested.out);
  CHECK(files_in(folder) == 2);
}

TEST_CASE("a program under test reads and imports what stands beside it") {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "tests/data");
  folder.put("tests/data/numbers.csv", "1,2\n");
  folder.put("tests/units.task", "let two = 2\n");
  folder.put("tests/a.task",
             "import units\nprint(load(f64[_, _], \"data/numbers.csv\").array, units.two)\n// expect: [[1, 2]] 2\n");
  for (const std::vector<std::string>& files :
       {std::vector<std::string>{}, {"tests/a.task"}, {folder / "tests/a.task"}}) {
    Tested tested = run_tests(folder, files);
    CHECK_MESSAGE(tested.out == "1 passed, 0 failed\n", tested.out);
  }
}

TEST_CASE("a failure names the file as it was given") {
  TemporaryFolder folder;
  fs::create_directory(folder.path() / "tests");
  folder.put("tests/a.task", "print(enrgy)\n");
  Tested tested = run_tests(folder, {"tests/a.task"});
  CHECK(tested.code == 4);
  CHECK(tested.out.find("--> tests/a.task:1:7") != std::string::npos);
  CHECK(tested.out.find(folder.path().string()) == std::string::npos);
}

TEST_CASE("what is expected stands in comments, not in strings") {
  TemporaryFolder folder;
  folder.put("a.task",
             "print(\"// expect: no\", \"\\\"// error E1001 @1\")\n"
             "// expect: // expect: no \"// error E1001 @1\n"
             "print(1)  // expect: 1\n");
  Tested tested = run_tests(folder, {"a.task"});
  CHECK_MESSAGE(tested.out == "1 passed, 0 failed\n", tested.out);
}

TEST_CASE("no test at all is said and is wrong usage") {
  TemporaryFolder folder;
  Tested none = run_tests(folder);
  CHECK(none.code == 2);
  CHECK(none.out == "");
  CHECK(none.err == "taskspec: no test is below examples and tests here\n");
  folder.put("a.task", "print(1)\n// expect: 1\n");
  Tested label = run_tests(folder, {"--label", "A99", "a.task"});
  CHECK(label.code == 2);
  CHECK(label.err == "taskspec: no test carries the label A99\n");
}

TEST_CASE("a golden file that differs fails, --update rewrites it, and nothing else") {
  const std::string program =
      "task inc(in x: f32[4]) -> (y: f32[4]) { y = x + 1.0 }\n"
      "graph g(x: f32[4]) -> (y: f32[4]) { y = inc(inc(x).y).y }\n";
  for (const std::string ending : {"ast", "program", "graph", "chains", "plan", "json"}) {
    CAPTURE(ending);
    TemporaryFolder folder;
    fs::create_directory(folder.path() / "tests");
    folder.put("tests/g.task", program);
    folder.put("tests/g." + ending, "");
    Tested tested = run_tests(folder);  // a golden beside it makes it a test
    CHECK(tested.code == 4);
    CHECK(tested.out.find("tests/g." + ending + " differs at line 1") != std::string::npos);
    CHECK(run_tests(folder, {"--update"}).code == 0);
    const std::string golden = read_file(folder / ("tests/g." + ending));
    CHECK(golden.size() > 10);
    CHECK(golden.find(folder.path().string()) == std::string::npos);
    CHECK(run_tests(folder).out == "1 passed, 0 failed\n");
    folder.put("tests/g." + ending, golden + "more\n");
    CHECK(run_tests(folder).code == 4);
    CHECK(files_in(folder) == 2);
  }
}

TEST_CASE("the whole text of the diagnostics is compared with x.err") {
  TemporaryFolder folder;
  folder.put("a.task", "// error E1001 @3\nlet energy = 45\nprint(enrgy)\n");
  folder.put("a.err", "");
  CHECK(run_tests(folder, {"a.task"}).code == 4);
  CHECK(run_tests(folder, {"--update", "a.task"}).code == 0);
  const std::string golden = read_file(folder / "a.err");
  CHECK(golden.find(" --> a.task:3:7\n") != std::string::npos);
  CHECK(golden.find("^^^^^") != std::string::npos);
  CHECK(golden.find('\x1b') == std::string::npos);
  CHECK(run_tests(folder, {folder / "a.task"}).code == 0);  // wherever it is called from
  // A number that depends on the machine is left open, and stays so.
  folder.put("a.err", "error E1001: unknown name ...\n" + golden.substr(golden.find('\n') + 1));
  CHECK(run_tests(folder, {"--update", "a.task"}).code == 0);
  CHECK(read_file(folder / "a.err").find("...") != std::string::npos);
  folder.put("a.err", "error E1002 ...\n" + golden.substr(golden.find('\n') + 1));
  CHECK(run_tests(folder, {"a.task"}).code == 4);
}

}  // namespace taskspec::harness_test
