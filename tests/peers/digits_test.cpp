// The digits of data.digits before learners written in numpy: tests/peers/digits.py.
#include <doctest/doctest.h>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

TEST_CASE("[data] digits: too hard for a linear classifier, not for a network [peers]") {
  constexpr int no_numpy = 77, no_python = 127;
  const std::string arguments =
      " '" + (source_root() / "tests/peers/digits.py").string() + "' '" + taskspec_binary().string() + "'";
  Outcome ran;
  // The interpreter of the distribution has its packages, another one that comes first may not.
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
