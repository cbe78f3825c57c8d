// Random programs as text: tasks, graphs, agents, places, control flow, receives in between. Equal seeds give
// equal texts. Their values stay finite, and each program ends by printing all of them.
//
//   std::string text = random_program(seed, {.failures = true});
#pragma once
#include <cstdint>
#include <string>

struct RandomProgramOptions {
  int statements = 25;
  bool failures = false;  // some tasks may divide by zero
};

std::string random_program(std::uint64_t seed, const RandomProgramOptions& options = {});
