// Ops against numpy, an implementation that shares nothing with ours: tests/peers/ops.py writes one program with random
// shapes of every op, runs it with the tool and compares.
#include "stdlib/ops.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <set>

#include "tests/guard/paths.hpp"

namespace {

struct Said {
  int code = -1;
  std::string text;
};

Said run_script(const std::string& python, const std::string& script) {
  std::string command = "timeout 300 " + python + " '" + script + "' '" + taskspec_binary().string() + "' 2>&1";
  Said said;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 4096> buffer{};
  while (std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) said.text.append(buffer.data(), count);
  int status = pclose(pipe);
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

}  // namespace

TEST_CASE("ops: equal to numpy on random shapes [ops] [peers]") {
  constexpr int no_numpy = 77;
  const std::string script = (source_root() / "tests/peers/ops.py").string();
  Said said;
  // The interpreter of the distribution has its packages, another one that comes first may not.
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    said = run_script(python, script);
    if (said.code == 0 || said.code == 1) break;
  }
  if (said.code == no_numpy || said.code == 127) {
    MESSAGE("skipped: there is no numpy (Debian: python3-numpy)");
    return;
  }
  CHECK_MESSAGE(said.code == 0, said.text);
}

// A new op is compared as well, or it stands here with the reason.
TEST_CASE("ops: every op is compared with numpy, or cannot be [ops]") {
  const std::set<std::string_view> elsewhere{
      "avg_pool_grad",
      "conv2d_input_grad",
      "conv2d_weight_grad",
      "max_pool_grad",  // by differences, as gradients
      "scatter_add",    // likewise
      "fill",
      "graph_print",
      "iota",  // ops_shapes_test.cpp
      "dropout",
      "glorot_normal",
      "glorot_uniform",
      "kaiming_normal",  // ops_library_test.cpp
      "lif",
      "lookup",  // ops_neurons_test.cpp
  };
  const std::string script = read_file("tests/peers/ops.py");
  for (const taskspec::OpDef* op : taskspec::standard_ops().all()) {
    CAPTURE(op->name);
    const bool compared = script.find('"' + std::string(op->name) + '"') != std::string::npos;
    CHECK(compared != elsewhere.contains(op->name));
  }
}
