// Why one user of a thing that changes in place must come after another one: read after write, write after write,
// write after read. Of several reasons the first one of the enum is told.
#pragma once
#include <cstdint>

namespace taskspec {

enum class Hazard : std::uint8_t { none, raw, waw, war };

}  // namespace taskspec
