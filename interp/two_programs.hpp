// Runs a program that was cut in two: the host program on one thread, the graph program on another, over one session
// that starts before any host code and ends when its last effect and its last message to the host are done.
//
//   Slices slices = slice(program);
//   RunResult result = run_two_programs(slices, tools, settings);
#pragma once
#include "interp/run_settings.hpp"
#include "interp/toolbox.hpp"
#include "ir/cut/slices.hpp"

namespace taskspec {

RunResult run_two_programs(const Slices& slices, const Toolbox& tools, const RunSettings& settings);

}  // namespace taskspec
