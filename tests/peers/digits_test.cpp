// The digits of data.digits before learners written in numpy: tests/peers/digits.py.
#include <doctest/doctest.h>

#include "tests/peers/script.hpp"

namespace taskspec::digits_test {

TEST_CASE("[data] digits: too hard for a linear classifier, not for a network [peers]") {
  if (const std::optional<Said> said = run_numpy_script("digits.py")) CHECK_MESSAGE(said->code == 0, said->text);
}

}  // namespace taskspec::digits_test
