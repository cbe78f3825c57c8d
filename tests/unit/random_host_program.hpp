// Random programs as text that mix host control with tensors: variables, lists, loops, branches, breaks, recursion,
// function values, agents, receives in conditions, sends, nested sessions. Equal seeds give equal texts; all of them
// end, and print what they computed on the way.
//
//   std::string text = random_host_program(seed, {.failures = true});
#pragma once
#include <cstdint>
#include <string>

struct RandomHostProgramOptions {
  int statements = 12;
  bool failures = false;  // some divide by zero, on either side, or leave a list
  bool shows = false;     // the graph prints, lines that begin with "graph"; some end early, by exit or assert
};

std::string random_host_program(std::uint64_t seed, const RandomHostProgramOptions& options = {});
