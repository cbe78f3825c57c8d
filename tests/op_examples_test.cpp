// The example of every op, builtin and block is a program: it runs, and prints what its // expect lines say.
#include <doctest/doctest.h>

#include <filesystem>

#include "ir/base/text.hpp"
#include "stdlib/blocks.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::op_examples_test {

namespace {

// Examples write and read files; they do it in a folder of their own.
class WorkingFolder {
 public:
  WorkingFolder() { std::filesystem::current_path(folder_.path()); }
  ~WorkingFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryFolder folder_;
};

void check_example(std::string_view name, std::string_view example) {
  CAPTURE(name);
  const std::string wanted = expected_output(example);
  CHECK_MESSAGE(wanted != "", "an example that expects nothing shows nothing");
  for (const Schedule schedule : {Schedule::push, Schedule::eager}) {
    WorkingFolder folder;
    RunSettings settings;
    settings.threads = 2;
    settings.schedule = schedule;
    const Ran ran = run_text(std::string(example) + "\n", settings);
    CHECK_MESSAGE(ran.errors == "", ran.errors);
    CHECK(ran.code == 0);
    // `show` draws: its lines are more than the one that stands for any text.
    CHECK_MESSAGE(taskspec::fits_pattern(wanted, ran.output), "expected:\n" << wanted << "printed:\n" << ran.output);
  }
}

}  // namespace

TEST_CASE("the example of every op runs as it says [ops-fwd]") {
  const Toolbox& tools = standard_toolbox();
  CHECK(tools.ops.all().size() > 50);
  for (const OpDef* op : tools.ops.all()) check_example(op->name, op->example);
}

TEST_CASE("the example of every builtin runs as it says") {
  const Toolbox& tools = standard_toolbox();
  CHECK(tools.builtins.all().size() > 20);
  for (const Builtin* builtin : tools.builtins.all()) check_example(builtin->name, builtin->example);
}

TEST_CASE("the example of every block runs as it says [ir-blocks]") {
  const BlockTable blocks = standard_blocks();
  CHECK(blocks.all().size() > 20);
  for (const BlockDef* block : blocks.all()) check_example(block->name, block->example);
}

}  // namespace taskspec::op_examples_test
