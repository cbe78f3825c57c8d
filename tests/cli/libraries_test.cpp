// Libraries as a user meets them: where `build --lib` puts one, and what is said of one that does not fit.
#include <doctest/doctest.h>

#include "tests/guard/tool.hpp"

namespace {

// A program in proj/ and its module in proj/sub/.
const std::string project =
    "mkdir -p proj/sub && echo 'fn more(x: f32[N]) -> f32[N] { return x + 1.0 }' > proj/sub/tools.task && "
    "printf 'import sub.tools\\nprint(tools.more([1.0] as f32[1]).array)\\n' > proj/main.task && ";

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("[library] the module of a folder is packaged where its import finds it") {
  const Outcome built = in_shell(project +
                                 "cd proj && taskspec build --lib sub.tools && rm sub/tools.task && ls . sub && "
                                 "taskspec run main.task && cd .. && taskspec run proj/main.task");
  CHECK_MESSAGE(built.code == 0, built.err);
  CHECK_MESSAGE(holds(built.out, "wrote sub/tools.tasklib"), built.out);
  CHECK_MESSAGE(holds(built.out, ".:\nmain.task\nsub\n\nsub:\ntools.tasklib\n[2]\n[2]\n"), built.out);
  // One that is found elsewhere comes to where we are, with its folder.
  const Outcome elsewhere = in_shell(project + "TASKSPEC_PATH=proj taskspec build --lib sub.tools && ls sub");
  CHECK_MESSAGE(elsewhere.code == 0, elsewhere.err);
  CHECK_MESSAGE(holds(elsewhere.out, "bytes\ntools.tasklib\n"), elsewhere.out);
}

TEST_CASE("[library] what E7006 says to type makes it fit again") {
  const std::string changed =
      project +
      "cd proj && taskspec build --lib sub.tools > /dev/null && mv sub/tools.task kept && sed -i "
      "'s/\"more\"/\"less\"/' sub/tools.tasklib && ";
  const Outcome here = in_shell(changed + "taskspec run main.task");
  CHECK(here.code == 1);
  CHECK_MESSAGE(holds(here.err, "error E7006"), here.err);
  CHECK_MESSAGE(holds(here.err, "help: build it again: taskspec build --lib sub.tools\n"), here.err);
  const Outcome below = in_shell(changed + "cd .. && taskspec run proj/main.task");
  CHECK_MESSAGE(holds(below.err, "help: build it again in the folder 'proj': taskspec build --lib sub.tools\n"),
                below.err);
  const Outcome again = in_shell(changed +
                                 "mv kept sub/tools.task && taskspec build --lib sub.tools > /dev/null && rm "
                                 "sub/tools.task && taskspec run main.task");
  CHECK_MESSAGE(again.out == "[2]\n", again.err);
}

TEST_CASE("[library] a module that is not found: all places are told, those that come with taskspec too") {
  const Outcome missing = in_shell("echo 'import nowhere.nn' | TASKSPEC_PATH=/none/a:/none/b taskspec check -");
  CHECK(missing.code == 1);
  CHECK_MESSAGE(holds(missing.err, "note: no file nowhere/nn.task or .tasklib\n"), missing.err);
  CHECK_MESSAGE(holds(missing.err, "note: no file /none/a/nowhere/nn.task or .tasklib\n"), missing.err);
  CHECK_MESSAGE(holds(missing.err, "note: no file /none/b/nowhere/nn.task or .tasklib\n"), missing.err);
  CHECK_MESSAGE(holds(missing.err, "/prelude/nowhere/nn.task or .tasklib\n"), missing.err);
}
