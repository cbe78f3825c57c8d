// Packets on the links of a chip's network: what they cost in hops, and how many each link of a mesh carries.
#pragma once
#include <vector>

#include "hwsim/noc/routes.hpp"
#include "hwsim/report/account.hpp"

namespace taskspec {

class LinkCounts {
 public:
  LinkCounts(const Chip& chip, ChipExtent chips);
  const NocRoutes& routes() const { return routes_; }
  // Packets from one endpoint to another: their hops and crossings of borders.
  PerEvent add(int from, int to, std::int64_t packets);
  std::vector<LinkRow> rows() const;  // that carry something
  std::vector<HostRow> hosts() const;

 private:
  const NocRoutes routes_;
  const bool is_mesh_;
  std::vector<std::int64_t> packets_;       // by link
  std::vector<std::int64_t> sent_, taken_;  // by row: of the host
};

}  // namespace taskspec
