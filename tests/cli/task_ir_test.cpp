// Task IR files from the command line: `export` of an `ir` declaration, `import` of the file, `import "x.task.txt"`.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/files/files.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::task_ir_test {

namespace {

const std::string program = R"(ir front {
  x    : SIC i8 [y: 3, x: 3, r: 2] (group: 1)
  w    : SW i8 [f: 2, r: 2, ky: 2, kx: 2] = (iota(16) % 5 - 2).reshape(2, 2, 2, 2) as i8[2, 2, 2, 2]
  b    : SB i32 [f: 2] = [100, -100] as i32[2]
  conv : CC i32 [y: 2, x: 2, f: 2, r: 2, ky: 2, kx: 2] (pad_up: 0, group: 1)
  h    : SI i32 [y: 2, x: 2, f: 2]
  t    : SI tern [f: 3] = [1, -1, 0] as tern[3]
  z    : SO i32 [f: 8]
  sign : SO tern [f: 3]
  x -> conv.input | reflect(axis: "x")
  w -> conv.weight; b -> conv.bias
  conv -> h
  h[.., 0..1, ..] -> z[0..4] | reshape("f", "x", "y")
  h[.., 1..2, ..] -> z[4..8] | reshape()
  t -> sign
}
let image = (iota(18) % 11 - 5).reshape(3, 3, 2) as i8[3, 3, 2]
print(front(image).z.array)
)";

}  // namespace

TEST_CASE("blocks go to a Task IR file and come back as the same file and the same numbers [task-ir]") {
  const TemporaryFolder folder;
  folder.put("front.task", program);
  REQUIRE(in_shell("taskspec export front.task -o front.task.txt", folder).err == "");
  REQUIRE(in_shell("taskspec export front.task --name front -o front.task.pb", folder).code == 0);
  const std::string text = taskspec::read_text(folder / "front.task.txt");
  CHECK(text.find("type: CC\n") != std::string::npos);

  const ToolOutcome read = in_shell("taskspec import front.task.txt -o back.task", folder);
  CHECK(read.err == "note: 8 blocks, 7 edges\n");
  CHECK(read.code == 0);
  for (const std::string name : {"again.task.txt", "again.task.pb"}) {
    CHECK(in_shell("taskspec export back.task -o " + name, folder).err == "");
    const std::string first = "front" + name.substr(5);
    CHECK(taskspec::read_text(folder / name) == taskspec::read_text(folder / first));
  }
  REQUIRE(in_shell("taskspec import front.task.pb -o bytes.task", folder).code == 0);
  CHECK(in_shell("taskspec export bytes.task -o bytes.task.txt && cmp bytes.task.txt front.task.txt", folder).code ==
        0);

  const ToolOutcome there = in_shell("taskspec run front.task", folder);
  folder.put("use.task",
             "import \"front.task.txt\" as net\n"
             "let image = (iota(18) % 11 - 5).reshape(3, 3, 2) as i8[3, 3, 2]\n"
             "let y = net.front(image)\n"
             "print(y.b6.array)\n"
             "print(y.b7.array)\n");
  const ToolOutcome here = in_shell("taskspec run use.task", folder);
  CHECK(here.err == "");
  CHECK(here.out == there.out + "[1, -1, 0]\n");
}

TEST_CASE("what has no blocks, or another suffix, is not exported [task-ir]") {
  const TemporaryFolder folder;
  folder.put("front.task", program);
  folder.put("none.task", "print(1)\n");
  CHECK(in_shell("taskspec export none.task -o x.task.txt", folder).code == 2);
  CHECK(in_shell("taskspec export front.task --name back -o x.task.txt", folder).code == 2);
  CHECK(in_shell("taskspec export front.task -o x.pdf", folder).err.find("E7003") != std::string::npos);
  folder.put(
      "late.task",
      "ir late {\n  x : SI i8 [f: 2]\n  y : SI i8 [f: 2]\n  z : SO i8 [f: 2]\n  x -> y | delay(1)\n  y -> z\n}\n");
  CHECK(in_shell("taskspec export late.task -o late.task.txt", folder).err.find("E4008") != std::string::npos);
  folder.put("b.task.txt", "blocks { id: 0 type: SI\n");
  folder.put("use.task", "import \"b.task.txt\" as b\n");
  CHECK(in_shell("taskspec check use.task", folder).err.find("b.task.txt:2:1") != std::string::npos);
}

TEST_CASE(
    "a file that says what no chip does goes through a program, and is cut as a chip does [task-ir] [golden-blocks]") {
  const TemporaryFolder folder;
  folder.put("narrow.task", R"(ir net {
  a : SI i32 [f: 4] (number: 0)
  b : SI i32 [f: 4] (number: 1)
  sum : CADD i32 [f: 4] (number: 2)
  h : SI i8 [f: 4] (number: 3)
  z : SO i8 [f: 4] (number: 4)
  a -> sum.input | number(0)
  b -> sum.input2 | number(1)
  sum -> h | number(2)
  h -> z | number(3)
}
)");
  REQUIRE(in_shell("taskspec export narrow.task -o narrow.task.txt", folder).err == "");
  CHECK(in_shell("taskspec import narrow.task.txt -o back.task", folder).code == 0);
  CHECK(in_shell("taskspec export back.task -o back.task.txt", folder).err == "");
  CHECK(taskspec::read_text(folder / "back.task.txt") == taskspec::read_text(folder / "narrow.task.txt"));
  folder.put("run.task", "import back\nlet a = [1, 2, 3, 400] as i32[4]\nprint(back.back(a, a).b4.array)\n");
  const ToolOutcome ran = in_shell("taskspec run run.task", folder);
  CHECK(ran.err == "");
  CHECK(ran.out == "[2, 4, 6, 127]\n");
}

}  // namespace taskspec::task_ir_test
