// What a program records, looked at without running it: its tensor operations on a backend that computes nothing, so
// that all it receives is zeros. Nothing is printed, written or asserted, and all of `run .. on` is one graph with the
// rest. It may take other ways than a run does, where it decides by what it receives.
//
//   RecordedProgram recorded = record_program(program, tools, settings, [](const TaskGraph& graph, auto received) {
//     std::cout << chains_text(graph, aggregate(graph, {.received = received}));
//   });
#pragma once
#include <span>

#include "interp/run_settings.hpp"
#include "interp/toolbox.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

struct RecordedProgram {
  Diags ended;            // what ended it before its end; nothing: it came there
  bool too_long = false;  // it was still recording after some seconds: what it had is shown
};

RecordedProgram record_program(const Program& program, const Toolbox& tools, RunSettings settings,
                               FunctionRef<void(const TaskGraph&, std::span<const Ref> received)> use);

}  // namespace taskspec
