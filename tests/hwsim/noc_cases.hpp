// Traffic for tests of the network, and what a slow reader of the rules says of it.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "hwsim/noc/noc.hpp"

// Flows, with the lists that their copies lie in.
struct NocTrafficCase {
  taskspec::NocFigures figures;
  std::vector<std::vector<int>> copies;
  std::vector<taskspec::NocFlow> flows;
};

// A mesh of one chip with the figures of the presets: one tick per link and hop, segments of 16, 4 channels of 8.
taskspec::NocFigures plain_mesh(int width, int height);

// Any shape and figures; packets from and to cores and hosts. `copies`: flows may have some.
NocTrafficCase random_traffic(std::mt19937_64& random, taskspec::NocShape shape, bool copies);

enum class NocPattern { uniform, transposed, hot_spot };
// At least so many packets in flows of `packets_per_flow`, whose begins lie evenly at random in a window in which the
// busiest link, or port, is held for `load_percent`.
NocTrafficCase patterned_traffic(std::mt19937_64& random, NocPattern pattern, int width, int height, int load_percent,
                                 int packets, int packets_per_flow);

// Counts out of the routes alone, walked router by router: of a mesh.
taskspec::NocTraffic walked_traffic(const taskspec::NocFigures& figures, const std::vector<taskspec::NocFlow>& flows);
