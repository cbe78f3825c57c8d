// Files: imports, what they may hold, values given by -D; and the verifier of programs.
#include <doctest/doctest.h>

#include <filesystem>

#include "ir/program/top_level.hpp"
#include "ir/show/program_text.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/checking.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::check_modules_test {

using testing::CheckCase;
using testing::checked;
using testing::details_of;
using testing::dump_of;
using testing::error_of;

namespace {

class Folder {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.put(name, text);
  }
  CheckCase main() const { return {.path = (folder_.path() / "main.task").string()}; }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("check: an imported file's names are members of its name") {
  Folder folder;
  folder.write("game.task",
               "let size = 4\nlet _hidden = 1\nfn start(n: int) -> [int] { return [n, size] }\n"
               "agent A(k: float) { task t(in x: f32[size]) -> (y: f32[size]) { y = k * x } }\n");
  folder.write("models/policy.task", "import game\ngraph act(x: f32[game.size]) -> (a: f32[4]) { a = x + 1.0 }\n");
  // `import game` in models/policy.task looks beside that file, then along the search path.
  CheckCase both = folder.main();
  both.search_path = {folder.path()};
  CHECK(error_of("import game\nimport models.policy as policy\nprint(game.start(game.size))\n"
                 "let y = policy.act(game.A(2.0).t(fill(f32[4], 0.0)).y).a",
                 both) == "");
  CHECK(error_of("import game\nprint(game._hidden)", folder.main()) ==
        "E1001 2:12 '_hidden' is private to module 'game'");
  CHECK(details_of("import game\nprint(game.stat(1))", folder.main()) ==
        "E1001 2:12 module 'game' has no 'stat'\n  help: did you mean 'start'?\n");
  CHECK(error_of("import game\nprint(game)", folder.main()) == "E1004 2:7 'game' is a module, not a value");
  CHECK(dump_of("import game\nprint(game.size)", "<module>", folder.main()).find("global game.size : int") !=
        std::string::npos);
}

TEST_CASE("check: modules are searched beside the file, then in the search path") {
  Folder folder, library;
  library.write("a/b.task", "let x = 1\n");
  CheckCase options = folder.main();
  CHECK(error_of("import a.b\nprint(b.x)", options) == "E7001 1:8 module 'a.b' is not found");
  options.search_path = {library.path()};
  CHECK(error_of("import a.b\nprint(b.x)", options) == "");
  CHECK(error_of("import data.none", options) == "E7001 1:8 module 'data.none' is not found");
  // One that is there but cannot be read hides those further along: an error, not another file.
  std::filesystem::create_directories(folder.path() + "/a/b.task");
  CHECK(error_of("import a.b\nprint(b.x)", options).starts_with("E7003 1:8 "));
}

TEST_CASE("check: an imported file only declares") {
  Folder folder;
  folder.write("loud.task", "let x = 1\nprint(x)\n");
  folder.write("open.task", "var x = 1\n");
  folder.write("deep.task", "fn f() -> int { print(1); return 2 }\nlet x = f()\n");
  CHECK(
      error_of("import loud", folder.main()).find("E7005 2:1 an imported file holds declarations and pure lets only") ==
      0);
  CHECK(error_of("import open", folder.main()) == "E7005 1:1 an imported file holds declarations and pure lets only");
  CHECK(error_of("import deep", folder.main()) == "E1302 2:9 module 'deep' has host effects: f at 2:9");
}

TEST_CASE("check: import cycles") {
  Folder folder;
  folder.write("a.task", "import b\nlet x = 1\n");
  folder.write("b.task", "import a\nlet y = 1\n");
  CHECK(error_of("import a\nprint(a.x)", folder.main()) == "E7002 1:1 import cycle: a -> b -> a");
}

TEST_CASE("check: errors of an imported file are shown once") {
  Folder folder;
  folder.write("bad.task", "fn f() -> int { return nope }\n");
  folder.write("broken.task", "fn f( {\n");
  CHECK(error_of("import bad\nimport bad as again\nprint(bad.f(), again.f())", folder.main()) ==
        "E1001 1:24 unknown name 'nope'");
  CHECK(error_of("import broken\nprint(broken.f())", folder.main()).find("E0") == 0);
}

TEST_CASE("check: -D replaces a top-level let, or a default of main") {
  CheckCase five{.defines = {{"n", "2 + 3"}, {"name", "a b"}, {"f", "other"}, {"m", "7"}}};
  CHECK(dump_of("let n = 1\nlet name = \"x\"", "<module>", five) ==
        "module test\n  %0 = constant 5 : int\n  write n = %0\n  %2 = constant \"a b\" : string\n  write name = %2\n");
  CHECK(error_of(
            "fn other(x: int) -> int { return x }\nfn main(f: fn(int) -> int = other, m: int) { print(f(m)) }\nmain()",
            five) == "");
  CHECK(error_of("let n: string = \"s\"\nprint(n + \"t\")", five) == "");
  CHECK(error_of("let n = 1\nlet k: string = n", five).substr(0, 10) == "E1004 2:17");
  CHECK(error_of("let n = 1", {.defines = {{"n", "1 +"}}}).substr(0, 5) == "E0001");
  // A name of a pattern is replaced as well; the rest of the tuple stays.
  CHECK(dump_of("let (n, k) = (1, 2)", "<module>", five).find("constant 5 : int\n  write n = ") != std::string::npos);
  CHECK(error_of("let (name, k) = (\"x\", 2)\nprint(name + \"t\")", five) == "");
  Program program = *checked("let n = 1\nvar v = 2\nfn main(m: int) { print(m) }").program;
  CHECK(takes_define(program, "n"));
  CHECK(takes_define(program, "m"));
  CHECK_FALSE(takes_define(program, "v"));
  program = *checked("let x: f32[4] = load(f32[_], \"x.npy\")").program;
  CHECK(takes_define(program, "x"));
  CHECK_FALSE(takes_define(program, "_"));
}

TEST_CASE("check: the top level that a graph needs holds what changes its values") {
  const std::string text =
      "var l = [0.0]\nvar w = 1.0\nfor i in 0..2 { l[0] = 5.0; w = w + 1.0 }\nlet k = w\nprint(k)\n"
      "graph g(x: f32[2]) -> (y: f32[2]) { y = x * k }\n";
  const Program program = *checked(text).program;
  std::string top = function_text(with_needed_top_level(program, FunctionId(1)), program.main().top_level);
  CHECK(top.find("write l = ") != std::string::npos);  // for the store in the loop
  CHECK(top.find("print") == std::string::npos);
  // A guard goes with the value whose shape it looks at.
  const Program guarded =
      *checked("let k: f32[2] = load(f32[_], \"k.npy\")\ngraph g(x: f32[2]) -> (y: f32[2]) { y = x * k }\n").program;
  top = function_text(with_needed_top_level(guarded, FunctionId(1)), guarded.main().top_level);
  CHECK(top.find("guard _ == 2") != std::string::npos);
  CHECK(top.find("field shape of") != std::string::npos);
}

TEST_CASE("verify: what is not well formed is named") {
  const std::string text = "graph g(x: f32[N]) -> (y: f32[N]) {\n  y = x + 1.0\n  if true { y = y * 2.0 }\n}";
  const Program right = *checked(text).program;
  REQUIRE(verify(right).empty());
  FunctionId g(1);
  auto wrong = [&](auto&& change) {
    Program program = right;
    change(program[g]);
    std::vector<std::string> found = verify(program);
    REQUIRE_FALSE(found.empty());
    return found[0];
  };
  CHECK(wrong([](Function& f) { std::swap(f.body.calls[1], f.body.calls[2]); }) ==
        "g: %2 op: %1 is not made before it");
  CHECK(wrong([](Function& f) { f.calls[2].type = Type::Kind::error; }) == "g: %2 op: its type is an error");
  CHECK(wrong([](Function& f) { f.calls[2].op = nullptr; }) == "g: %2 op: it has no op");
  CHECK(wrong([](Function& f) { f.calls[3].variable = VariableId(7); }) == "g: %3 write: no variable");
  CHECK(wrong([](Function& f) { f.calls[1].value = {}; }) == "g: %1 constant: it has no value");
  CHECK(wrong([](Function& f) { f.body.calls.push_back(CallId(99)); }) == "g: a block lists a call that is not there");
  CHECK(wrong([](Function& f) { f.calls.back().blocks.pop_back(); }) == "g: %9 if: 1 blocks");
}

}  // namespace taskspec::check_modules_test
