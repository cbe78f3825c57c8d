// Training against PyTorch: tests/peers/train.py has five networks take three steps in both.
#include <doctest/doctest.h>

#include "tests/peers/script.hpp"

namespace taskspec::train_test {

TEST_CASE("[train] outputs, gradients and updates of networks are those of PyTorch [peers]") {
  if (const std::optional<Said> said = run_script("train.py", "PyTorch (Debian: python3-torch, python3-numpy)"))
    CHECK_MESSAGE(said->code == 0, said->text);
}

}  // namespace taskspec::train_test
