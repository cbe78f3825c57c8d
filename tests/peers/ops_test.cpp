// Ops against numpy, an implementation that shares nothing with ours: tests/peers/ops.py writes one program with random
// shapes of every op, runs it with the tool and compares.
#include "stdlib/ops.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/peers/script.hpp"

namespace taskspec::ops_test {

TEST_CASE("ops: equal to numpy on random shapes [ops] [ops-fwd] [peers]") {
  if (std::optional<Said> said = run_numpy_script("ops.py")) CHECK_MESSAGE(said->code == 0, said->text);
}

// A new op is compared as well, or it stands here with the reason.
TEST_CASE("ops: every op is compared with numpy, or cannot be [ops]") {
  const std::set<std::string_view> elsewhere{
      "avg_pool_grad",
      "batchnorm_input_grad",
      "conv2d_input_grad",
      "conv2d_weight_grad",
      "layernorm_input_grad",
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

}  // namespace taskspec::ops_test
