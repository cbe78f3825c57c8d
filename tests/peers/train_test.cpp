// Training against PyTorch: tests/peers/train.py has five networks take three steps in both.
#include <doctest/doctest.h>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

TEST_CASE("[train] outputs, gradients and updates of networks are those of PyTorch [peers]") {
  constexpr int no_torch = 77, no_python = 127;
  const std::string arguments =
      " '" + (source_root() / "tests/peers/train.py").string() + "' '" + taskspec_binary().string() + "'";
  Outcome ran;
  // The interpreter of the distribution has its packages, another one that comes first may not.
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    ran = in_shell(python + arguments, TemporaryFolder(), 300);
    if (ran.code != no_torch && ran.code != no_python) break;
  }
  if (ran.code == no_torch || ran.code == no_python) {
    MESSAGE("skipped: there is no PyTorch (Debian: python3-torch, python3-numpy)");
    return;
  }
  CHECK_MESSAGE(ran.code == 0, ran.out << ran.err);
}
