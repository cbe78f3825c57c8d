#include "interp/embed/extern_bodies.hpp"

namespace taskspec::dsl::detail {

Natives& extern_bodies() {
  static Natives bodies;
  return bodies;
}

}  // namespace taskspec::dsl::detail
