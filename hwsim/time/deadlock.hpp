// Cores of which none goes on: who waits for whom, in a circle.
#pragma once
#include <functional>
#include <optional>

#include "hwsim/program/program.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

struct CoreWait {
  std::int32_t core = 0;        // position, that waits
  std::int32_t on = host_core;  // for which one; the host: for nobody on the chip
  std::string why;              // "core 3, phase 0: waits for packets of core 1"
};

// E5012. `wait_of`: none for a core that waits for nothing. From a core that waits to the one that it waits for, and so
// on: that ends in a circle, or with one who waits for nobody. Notes are the waits of the circle, else of the way.
Diag deadlock(std::size_t cores, const std::function<std::optional<CoreWait>(std::int32_t)>& wait_of,
              const std::function<std::string(std::int32_t)>& name);

}  // namespace taskspec
