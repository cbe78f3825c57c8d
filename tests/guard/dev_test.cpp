// The script `dev`, in a tree of its own that is built already: what stands for the build and the test programs are
// scripts that say and return what the real ones might.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::dev_test {

namespace fs = std::filesystem;

namespace {

const std::string unit_fine = "echo '[doctest] test cases: 2 | 2 passed | 0 failed | 2 skipped'";
const std::string tool_fine = "echo '[doctest] test cases: 1 | 1 passed | 0 failed | 3 skipped'";

struct Tree {
  TemporaryFolder folder;

  Tree() {
    fs::create_directories(folder.path() / "build/tests");
    fs::create_directories(folder.path() / "build/interp/cli");
    fs::create_directory(folder.path() / "bin");
    fs::copy_file(source_root() / "dev", folder.path() / "dev");
    folder.put("build/build.ninja", "");
    folder.put("build/packages", "");  // newer than dev: nothing is installed
    folder.put("build/more_packages", "");
    fs::create_directories(folder.path() / "tests/install");
    script("bin/ninja", "echo 'ninja: no work to do.'");
    script("tests/install/run", "echo '1 passed, 0 failed'");
  }
  void script(const std::string& name, const std::string& text) {
    folder.put(name, "#!/bin/bash\n" + text + "\n");
    fs::permissions(folder.path() / name, fs::perms::owner_all);
  }
  // The C++ tests run in two parts, at one time: what lies inside, and of the tool.
  void programs(const std::string& inside, const std::string& language, const std::string& of_the_tool = tool_fine) {
    script("build/tests/unit_tests",
           "if [[ \"$*\" == *--source-file=* ]]; then " + of_the_tool + "; exit; fi\n" + inside);
    script("build/interp/cli/taskspec", language);
  }
  ToolOutcome dev(const std::string& words) {
    return in_shell("PATH=\"$PWD/bin:$PATH\"; unset TSAN_OPTIONS; ./dev " + words, folder);
  }
};

const std::string nothing = "echo '[doctest] test cases: 0 | 0 passed | 0 failed | 4 skipped'";
const std::string language_fine = "echo '2 passed, 0 failed'";

}  // namespace

TEST_CASE("dev test adds up what the test programs say") {
  Tree tree;
  tree.programs(unit_fine, language_fine);
  ToolOutcome fine = tree.dev("test");
  CHECK(fine.code == 0);
  CHECK(fine.out.ends_with("\n6 passed, 0 failed\n"));
  tree.programs("echo '[doctest] test cases: 3 | 1 passed | 2 failed | 1 skipped'; exit 1", language_fine);
  ToolOutcome bad = tree.dev("test");
  CHECK(bad.code == 4);
  CHECK(bad.out.ends_with("\n5 passed, 2 failed\n"));
  tree.programs(unit_fine, language_fine, "echo '[doctest] test cases: 4 | 3 passed | 1 failed | 0 skipped'; exit 1");
  ToolOutcome other = tree.dev("test");
  CHECK(other.code == 4);
  CHECK(other.out.ends_with("\n8 passed, 1 failed\n"));
}

TEST_CASE("dev test fails when a test program ends badly after a good summary") {
  Tree tree;
  tree.programs(unit_fine + "; seq 100; echo 'ThreadSanitizer: reported 1 warnings'; exit 66", language_fine);
  ToolOutcome race = tree.dev("test");
  CHECK(race.code == 4);
  CHECK(race.out.ends_with("\n6 passed, 1 failed\n"));
  CHECK(race.err.find("exit status 66") != std::string::npos);
  tree.programs(unit_fine, language_fine + "; exit 23");
  CHECK(tree.dev("test").code == 4);
  CHECK(tree.dev("test x.task").code == 4);
}

TEST_CASE("dev test fails when a test program says nothing at all") {
  Tree tree;
  tree.programs("kill -SEGV $$", language_fine);
  ToolOutcome crash = tree.dev("test");
  CHECK(crash.code == 4);
  CHECK(crash.out.ends_with("\n4 passed, 1 failed\n"));
  tree.programs(unit_fine, language_fine, "kill -SEGV $$");
  CHECK(tree.dev("test").out.ends_with("\n5 passed, 1 failed\n"));
  tree.programs(unit_fine, "exit 2");
  CHECK(tree.dev("test").code == 4);
}

TEST_CASE("dev test counts the install test, alone under its label") {
  Tree tree;
  tree.programs(unit_fine, language_fine);
  tree.script("tests/install/run", "echo '4 passed, 2 failed'; exit 1");
  CHECK(tree.dev("test").out.ends_with("\n9 passed, 2 failed\n"));
  const std::string none = "echo \"taskspec: no test carries the label $3\" >&2; exit 2";
  tree.programs(nothing, none, nothing);
  ToolOutcome alone = tree.dev("test --label install");
  CHECK(alone.code == 4);
  CHECK(alone.out.ends_with("\n4 passed, 2 failed\n"));
}

TEST_CASE("dev test --label needs one test of either kind, and tells when there is none") {
  Tree tree;
  const std::string none = "echo \"taskspec: no test carries the label $3\" >&2; exit 2";
  tree.programs(unit_fine, none);
  ToolOutcome some = tree.dev("test --label A1");
  CHECK(some.code == 0);
  CHECK(some.out.ends_with("\n3 passed, 0 failed\n"));
  tree.programs(nothing, none, nothing);
  CHECK(tree.dev("test --label A1").code == 2);
}

TEST_CASE("dev test --update hands over to the language tests") {
  Tree tree;
  tree.programs("exit 1", "echo \"called: $*\"; " + language_fine);
  ToolOutcome all = tree.dev("test --update");
  CHECK(all.code == 0);
  CHECK(all.out.find("called: test --update\n") != std::string::npos);
  CHECK(tree.dev("test --update x.task").out.find("called: test --update x.task\n") != std::string::npos);
}

TEST_CASE("a race ends the tests under the thread sanitizer") {
  Tree tree;
  tree.programs(unit_fine, "echo \"$TSAN_OPTIONS\"; " + language_fine);
  CHECK(tree.dev("test").out.find("halt_on_error=1") != std::string::npos);
}

TEST_CASE("dev format takes the folders that exist") {
  Tree tree;
  tree.script("bin/clang-format", "echo \"$@\" >formatted");
  fs::create_directory(tree.folder.path() / "ir");
  tree.folder.put("ir/a.cpp", "");
  tree.folder.put("ir/b.hpp", "");
  ToolOutcome outcome = tree.dev("format");
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(read_file(tree.folder.path() / "formatted") == "-i ir/a.cpp ir/b.hpp\n");
}

TEST_CASE("dev builds the reader of models for programs that import one, and only then") {
  Tree tree;
  tree.folder.put("build/model_packages", "");
  tree.script("bin/ninja", "echo \"$*\" >>asked; echo 'ninja: no work to do.'");
  tree.programs(unit_fine, "true");
  tree.folder.put("plain.task", "import nn\nprint(\"import\")\n");
  tree.folder.put("with.task", "import nn\nimport \"net.onnx\" as net\n");
  CHECK(tree.dev("run plain.task").code == 0);
  CHECK(read_file(tree.folder.path() / "asked").find("taskspec-models") == std::string::npos);
  for (const char* words : {"run with.task", "import net.onnx -o net.task"}) {
    tree.folder.put("asked", "");
    CHECK(tree.dev(words).code == 0);
    CHECK(read_file(tree.folder.path() / "asked").find("interp/import/taskspec-models") != std::string::npos);
  }
}

TEST_CASE("dev builds the module of ranks for programs that ask for ranks, and only then") {
  Tree tree;
  tree.folder.put("build/mpi_packages", "");
  tree.script("bin/ninja", "echo \"$*\" >>asked; echo 'ninja: no work to do.'");
  tree.programs(unit_fine, "true");
  tree.folder.put("plain.task", "print(\"--ranks\")\n");
  CHECK(tree.dev("run plain.task").code == 0);
  CHECK(read_file(tree.folder.path() / "asked").find("taskspec-mpi") == std::string::npos);
  for (const char* words : {"run plain.task --ranks 2", "run --ranks=2 plain.task"}) {
    tree.folder.put("asked", "");
    CHECK(tree.dev(words).code == 0);
    CHECK(read_file(tree.folder.path() / "asked").find("interp/shards/taskspec-mpi.so") != std::string::npos);
  }
}

}  // namespace taskspec::dev_test
