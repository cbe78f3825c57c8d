// Networks that PyTorch exports: tests/peers/onnx_torch.py imports and runs them here.
#include <doctest/doctest.h>

#include "tests/peers/script.hpp"

namespace taskspec::onnx_torch_test {

TEST_CASE("networks that PyTorch exports give its outputs when they are imported [onnx] [peers]") {
  if (const std::optional<Said> said = run_script("onnx_torch.py", "PyTorch (Debian: python3-torch, python3-onnx)"))
    CHECK_MESSAGE(said->code == 0, said->text);
}

}  // namespace taskspec::onnx_torch_test
