// Checkpoints and numpy: what one of them writes the other one reads (tests/peers/checkpoints.py).
#include "tests/peers/script.hpp"

namespace taskspec::checkpoints_test {

TEST_CASE("checkpoints: numpy reads ours, and we read those of numpy [checkpoints] [peers]") {
  if (std::optional<Said> said = run_numpy_script("checkpoints.py")) CHECK_MESSAGE(said->code == 0, said->text);
}

}  // namespace taskspec::checkpoints_test
