// Networks that PyTorch exports: tests/peers/onnx_torch.py imports and runs them here.
#include <doctest/doctest.h>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

TEST_CASE("networks that PyTorch exports give its outputs when they are imported [onnx] [peers]") {
  constexpr int no_torch = 77, no_python = 127;
  const std::string arguments =
      " '" + (source_root() / "tests/peers/onnx_torch.py").string() + "' '" + taskspec_binary().string() + "'";
  Outcome ran;
  // The interpreter of the distribution has its packages, another one that comes first may not.
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    ran = in_shell(python + arguments, TemporaryFolder(), 300);
    if (ran.code != no_torch && ran.code != no_python) break;
  }
  if (ran.code == no_torch || ran.code == no_python) {
    MESSAGE("skipped: there is no PyTorch (Debian: python3-torch, python3-onnx)");
    return;
  }
  CHECK_MESSAGE(ran.code == 0, ran.out << ran.err);
}
