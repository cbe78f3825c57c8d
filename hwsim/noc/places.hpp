// Where a server of the network stands, in words for people: who is told what limits a step wants to find it.
//
//   place_of(routes, routes.ejection(3)).text      "the port that takes packets into core 3"
#pragma once
#include <string>

#include "hwsim/noc/routes.hpp"

namespace taskspec {

struct NocPlace {
  std::string text;
  std::int32_t core = -1;  // at it, numbered over all chips; none: it is at no core, or at several
};

NocPlace place_of(const NocRoutes& routes, std::size_t server);
// The port by which packets of a core, or of the host at a row, come into the network.
NocPlace injection_of(const NocRoutes& routes, int endpoint);

}  // namespace taskspec
