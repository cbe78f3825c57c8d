// Libraries as a user meets them: where `build --lib` puts one, and what is said of one that does not fit.
#include <doctest/doctest.h>

#include "tests/guard/tool.hpp"

namespace taskspec::libraries_test {

namespace {

// A program in proj/ and its module in proj/sub/.
const std::string project =
    "mkdir -p proj/sub && echo 'fn more(x: f32[N]) -> f32[N] { return x + 1.0 }' > proj/sub/tools.task && "
    "printf 'import sub.tools\\nprint(tools.more([1.0] as f32[1]).array)\\n' > proj/main.task && ";

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("[library] the module of a folder is packaged where its import finds it") {
  const ToolOutcome built = in_shell(project +
                                     "cd proj && taskspec build --lib sub.tools && rm sub/tools.task && ls . sub && "
                                     "taskspec run main.task && cd .. && taskspec run proj/main.task");
  CHECK_MESSAGE(built.code == 0, built.err);
  CHECK_MESSAGE(holds(built.out, "wrote sub/tools.tasklib"), built.out);
  CHECK_MESSAGE(holds(built.out, ".:\nmain.task\nsub\n\nsub:\ntools.tasklib\n[2]\n[2]\n"), built.out);
  // One that is found elsewhere comes to where we are, with its folder.
  const ToolOutcome elsewhere = in_shell(project + "TASKSPEC_PATH=proj taskspec build --lib sub.tools && ls sub");
  CHECK_MESSAGE(elsewhere.code == 0, elsewhere.err);
  CHECK_MESSAGE(holds(elsewhere.out, "bytes\ntools.tasklib\n"), elsewhere.out);
}

TEST_CASE("[library] what E7006 says to type makes it fit again") {
  const std::string changed =
      project +
      "cd proj && taskspec build --lib sub.tools > /dev/null && mv sub/tools.task kept && sed -i "
      "'s/\"more\"/\"less\"/' sub/tools.tasklib && ";
  const ToolOutcome here = in_shell(changed + "taskspec run main.task");
  CHECK(here.code == 1);
  CHECK_MESSAGE(holds(here.err, "error E7006"), here.err);
  CHECK_MESSAGE(holds(here.err, "help: build it again: taskspec build --lib sub.tools\n"), here.err);
  const ToolOutcome below = in_shell(changed + "cd .. && taskspec run proj/main.task");
  CHECK_MESSAGE(holds(below.err, "help: build it again in the folder 'proj': taskspec build --lib sub.tools\n"),
                below.err);
  const ToolOutcome again = in_shell(changed +
                                     "mv kept sub/tools.task && taskspec build --lib sub.tools > /dev/null && rm "
                                     "sub/tools.task && taskspec run main.task");
  CHECK_MESSAGE(again.out == "[2]\n", again.err);
}

TEST_CASE("[library] a module that is not found: all places are told, those that come with taskspec too") {
  const ToolOutcome missing = in_shell("echo 'import nowhere.nn' | TASKSPEC_PATH=/none/a:/none/b taskspec check -");
  CHECK(missing.code == 1);
  CHECK_MESSAGE(holds(missing.err, "note: no file nowhere/nn.task or .tasklib\n"), missing.err);
  CHECK_MESSAGE(holds(missing.err, "note: no file /none/a/nowhere/nn.task or .tasklib\n"), missing.err);
  CHECK_MESSAGE(holds(missing.err, "note: no file /none/b/nowhere/nn.task or .tasklib\n"), missing.err);
  CHECK_MESSAGE(holds(missing.err, "/prelude/nowhere/nn.task or .tasklib\n"), missing.err);
}

TEST_CASE("[library] builtins of one name stay apart: load of a tensor, load of an agent") {
  const TemporaryFolder folder;
  folder.put(
      "kept.task",
      "agent Kept {\n  state s: f32[2] = zero()\n  task add(in x: f32[2]) -> (y: f32[2]) { s = s + x; y = s }\n}\n"
      "fn restored(path: string) -> f32[2] {\n  let k = Kept()\n  load(k, path)\n"
      "  return k.add(load(f32[2], path, name: \"s\")).y\n}\n");
  folder.put("main.task",
             "import kept\nsave([1.0, 2.0] as f32[2], \"x.npz\", name: \"s\")\n"
             "print(kept.restored(\"x.npz\").array)\n");
  const ToolOutcome ran = in_shell(
      "taskspec run main.task && taskspec build --lib kept > /dev/null && rm kept.task && taskspec run main.task",
      folder);
  CHECK_MESSAGE(ran.out == "[2, 4]\n[2, 4]\n", ran.err);
}

// Rule G13 of the two programs: what comes from a library is as good as what stands in the file.
TEST_CASE("[library] chains go through a function of a library, and its extents are those of the caller [G13]") {
  const TemporaryFolder folder;
  folder.put("steps.task",
             "task double(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }\n"
             "fn scaled(x: f32[N]) -> f32[N] { return double(x).y + 1.0 }\n"
             "graph inner(x: f32[N]) -> (y: f32[N]) { y = double(x).y + 1.0 }\n");
  folder.put("main.task",
             "import steps\n"
             "task before(in x: f32[N]) -> (y: f32[N]) { y = x - 1.0 }\n"
             "task after(in x: f32[N]) -> (y: f32[N]) { y = x * x }\n"
             "graph whole(x: f32[4]) -> (y: f32[4]) { y = after(steps.inner(before(x).y).y).y }\n"
             "let x = [1.0, 2.0, 3.0, 4.0] as f32[4]\n"
             "print(whole(x).y.array)\n"
             "print(after(steps.scaled(before(x).y)).y.array)\n");
  auto tool = [&](const std::string& words) {
    const ToolOutcome outcome = in_shell("taskspec " + words, folder);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    return outcome.out;
  };
  tool("build --lib steps && rm steps.task");
  const std::string chains = tool("graph --stage chains --name whole main.task");
  CHECK_MESSAGE(holds(chains, "whole: 4 tasks in 1 chain\n\n[before, double, add, after]\n"), chains);
  // One plan for this caller: every buffer has a type without N.
  const std::string json = tool("graph --stage plan --format json --name whole main.task");
  const std::size_t begin = json.find("\"plan\":{"), end = json.find("\"spans\"", begin);
  REQUIRE(end != std::string::npos);
  const std::string plan = json.substr(begin, end - begin);
  CHECK_MESSAGE(holds(plan, "{\"id\":0,\"nodes\":[0,1,2,3],\"then\":[]}],"), plan);
  CHECK_MESSAGE(holds(plan, "\"type\":\"f32[4]\",\"bytes\":16"), plan);
  CHECK_MESSAGE(!holds(plan, "[N]"), plan);
  // As a graph and as a fn of the host program: the same chain, called twice.
  const std::string profile = tool("run --profile main.task");
  CHECK_MESSAGE(profile.starts_with("[1, 9, 25, 49]\n[1, 9, 25, 49]\n"), profile);
  const std::size_t row = profile.find("chain\n") + 6;
  CHECK_MESSAGE(profile.substr(row, profile.find('\n', row) - row).starts_with("       2 "), profile);
  CHECK_MESSAGE(holds(profile, " 128 B "), profile);
  CHECK_MESSAGE(holds(profile, "  [before, double, add, after]\n   calls "), profile);
  CHECK_MESSAGE(holds(profile, "  double  steps.task:1:48\n"), profile);
}

TEST_CASE("[library] lists of tensors of different shapes go in and out of a library") {
  const TemporaryFolder folder;
  folder.put("shapes.task",
             "let dims = [1, 2, 3]\n"
             "let fixed = map(0..2, i => fill(f32[dims[i], dims[i + 1]], 1.0))\n"
             "fn pick(l: [f32[_, _]], r: range) -> [f32[_, _]] { return l[r] }\n"
             "fn many(n: int) -> [f32[_, _]] {\n"
             "  var all: [f32[_, _]] = []\n"
             "  for i in 1..n { all += [fill(f32[i, i + 1], 1.0)] }\n"
             "  return all\n"
             "}\n");
  folder.put("main.task",
             "import shapes\n"
             "let l = shapes.many(4)\n"
             "print((l[0] @ l[1] @ l[2]).array, map(shapes.pick(l, 1..3), x => x.shape))\n"
             "fn inside() -> [int] { return (shapes.fixed[0] @ shapes.fixed[1]).shape }\n"
             "print(inside())\n");
  const std::string output = "[[6, 6, 6, 6]] [[2, 3], [3, 4]]\n[1, 3]\n";
  const ToolOutcome text = in_shell("taskspec run main.task", folder);
  CHECK_MESSAGE(text.out == output, text.err);
  const ToolOutcome library =
      in_shell("taskspec build --lib shapes > /dev/null && rm shapes.task && taskspec run main.task", folder);
  CHECK_MESSAGE(library.out == output, library.err);
}

}  // namespace taskspec::libraries_test
