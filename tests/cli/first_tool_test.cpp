// taskspec-first, which `./dev run` builds for a first program.
#include <doctest/doctest.h>

#include <string>

#include "tests/cli/process.hpp"

namespace taskspec::first_tool_test {

namespace {

struct Said {
  int code = -1;
  std::string out, err;
};

Said first(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  Process tool({.arguments = std::move(arguments), .folder = folder.path(), .program = "taskspec-first"});
  const int code = tool.wait();
  return {code, tool.out(), tool.err()};
}

}  // namespace

TEST_CASE("[cli] the tool of a first program runs it, and says what a run says") {
  TemporaryFolder folder;
  folder.put("x.task", "print(linear([[1.0, 2.0]] as f32[1, 2], [[3.0, 4.0]] as f32[1, 2], [0.5] as f32[1]).array)\n");
  CHECK(first(folder, {"able", "run", "x.task"}).code == 0);
  const Said ran = first(folder, {"run", "x.task", "--profile"});
  CHECK(ran.code == 0);
  CHECK_MESSAGE(ran.out.starts_with("[[11.5]]\n"), ran.out);
  folder.put("failing.task", "print(1)\nlet k = parse_int(\"2\")\nprint([1][k])\n");
  CHECK(first(folder, {"able", "run", "failing.task"}).code == 0);
  const Said failed = first(folder, {"run", "failing.task"});
  CHECK(failed.code == 3);
  CHECK(failed.out == "1\n");
  CHECK_MESSAGE(failed.err.find("E5003") != std::string::npos, failed.err);
}

TEST_CASE("[cli] the tool of a first program says nothing of one that wants more, or is wrong") {
  TemporaryFolder folder;
  folder.put("chip.task",
             "graph g(x: i8[4]) -> (y: i8[4]) { y = x }\nprint((run g([1, 2, 3, 4] as i8[4]) on hw).y.array)\n");
  folder.put("layers.task", "import nn\nprint(nn.relu([1.0] as f32[1]).array)\n");
  folder.put("neurons.task", "print(([[0.0]] as f32[1, 1]).max_pool(1).array)\n");
  folder.put("views.task", "fields C { a: f64 }\ntask t(inout c: C[_].{a}) { for i in c { c[i].a = 1.0 } }\n");
  folder.put("wrong.task", "print(nothing)\n");
  folder.put("fine.task", "print(1)\n");
  for (const std::vector<std::string>& asked : std::vector<std::vector<std::string>>{{"run", "chip.task"},
                                                                                     {"run", "layers.task"},
                                                                                     {"run", "neurons.task"},
                                                                                     {"run", "views.task"},
                                                                                     {"run", "wrong.task"},
                                                                                     {"run", "not_there.task"},
                                                                                     {"run", "fine.task", "--on", "hw"},
                                                                                     {"run", "fine.task", "--nonsense"},
                                                                                     {"check", "fine.task"},
                                                                                     {}}) {
    std::vector<std::string> arguments{"able"};
    arguments.insert(arguments.end(), asked.begin(), asked.end());
    const Said said = first(folder, arguments);
    CHECK(said.code == 1);
    CHECK(said.out == "");
    CHECK_MESSAGE(said.err == "", said.err);
  }
}

}  // namespace taskspec::first_tool_test
