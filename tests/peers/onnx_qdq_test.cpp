// Networks that were quantised elsewhere: tests/peers/onnx_qdq.py writes them, imports and runs them here.
#include <doctest/doctest.h>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

TEST_CASE("networks quantised elsewhere give what they should when they are imported, and as blocks [onnx] [peers]") {
  constexpr int no_numpy = 77, no_python = 127;
  const std::string arguments =
      " '" + (source_root() / "tests/peers/onnx_qdq.py").string() + "' '" + taskspec_binary().string() + "'";
  Outcome ran;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    ran = in_shell(python + arguments, TemporaryFolder(), 300);
    if (ran.code != no_numpy && ran.code != no_python) break;
  }
  if (ran.code == no_numpy || ran.code == no_python) {
    MESSAGE("skipped: there is no numpy (Debian: python3-numpy)");
    return;
  }
  CHECK_MESSAGE(ran.code == 0, ran.out << ran.err);
}
