#include "hwsim/noc/places.hpp"

#include <fmt/format.h>

namespace taskspec {

namespace {

constexpr std::string_view side_names[] = {"east", "west", "north", "south"};

// A router with one core goes by its name.
std::string router_text(const NocRoutes& routes, int column, int row) {
  if (routes.figures().cores_per_router == 1) return fmt::format("core {}", row * routes.routers_x() + column);
  return fmt::format("the router at {}, {}", column, row);
}

NocPlace of_link(const NocRoutes& routes, std::size_t link) {
  const NocFigures& figures = routes.figures();
  if (figures.shape == NocShape::bus) return {fmt::format("the bus of chip {}", link), -1};
  if (figures.shape == NocShape::fattree) {
    const std::size_t chips = static_cast<std::size_t>(figures.chips_x) * static_cast<std::size_t>(figures.chips_y);
    return {fmt::format("a link of the tree of chip {}", link / (routes.links() / chips)), -1};
  }
  const int router = static_cast<int>(link / 4), column = router % routes.routers_x(),
            row = router / routes.routers_x();
  const NocSide side = static_cast<NocSide>(link % 4);
  const int to_x = column + (side == NocSide::east) - (side == NocSide::west);
  const int to_y = row + (side == NocSide::south) - (side == NocSide::north);
  return {fmt::format("the link from {} {} to {}", router_text(routes, column, row), side_names[link % 4],
                      router_text(routes, to_x, to_y)),
          figures.cores_per_router == 1 ? router : -1};
}

NocPlace port(const NocRoutes& routes, int endpoint, std::string_view of_core, std::string_view of_host) {
  if (routes.is_host(endpoint)) return {fmt::format("the port {} row {}", of_host, endpoint - routes.cores()), -1};
  return {fmt::format("the port {} core {}", of_core, endpoint), endpoint};
}

}  // namespace

NocPlace place_of(const NocRoutes& routes, std::size_t server) {
  if (server < routes.links()) return of_link(routes, server);
  if (routes.is_border(server)) {
    const std::size_t border = server - routes.links();
    return {fmt::format("the border of chip {} to the {}", border / 4, side_names[border % 4]), -1};
  }
  return port(routes, static_cast<int>(server - routes.ejection(0)), "that takes packets into", "to the host at");
}

NocPlace injection_of(const NocRoutes& routes, int endpoint) {
  return port(routes, endpoint, "that sends the packets of", "from the host at");
}

}  // namespace taskspec
