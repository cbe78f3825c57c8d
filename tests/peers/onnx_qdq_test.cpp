// Networks that were quantised elsewhere: tests/peers/onnx_qdq.py writes them, imports and runs them here.
#include <doctest/doctest.h>

#include "tests/peers/script.hpp"

namespace taskspec::onnx_qdq_test {

TEST_CASE("networks quantised elsewhere give what they should when they are imported, and as blocks [onnx] [peers]") {
  if (const std::optional<Said> said = run_numpy_script("onnx_qdq.py")) CHECK_MESSAGE(said->code == 0, said->text);
}

}  // namespace taskspec::onnx_qdq_test
