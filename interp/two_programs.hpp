// Runs a program that was cut in two: the host program on one thread, the graph program on another, over one session
// that starts before any host code and ends when its last effect and its last message to the host are done.
//
//   CutProgram cut = cut_program(program);
//   RunResult result = run_two_programs(cut, tools, settings);
#pragma once
#include "interp/run_settings.hpp"
#include "interp/toolbox.hpp"
#include "ir/cut/cut_program.hpp"

namespace taskspec {

// Whether a run of it may open a session that runs it several times, once for each shard.
bool may_have_shards(const Program& program, const RunSettings& settings);

RunResult run_two_programs(const CutProgram& cut, const Toolbox& tools, const RunSettings& settings);

}  // namespace taskspec
