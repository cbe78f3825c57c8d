// null(time_steps:): counts only.
#include "interp/backends/backends.hpp"
#include "interp/backends/time_steps.hpp"
#include "interp/host/null_backend.hpp"

namespace taskspec {

namespace {

Type null_type(RuleContext& c) { return backend_type("null", time_steps(c, 0)); }

Value run_null(HostContext& host, std::span<const Value> options) {
  check_time_steps(options[0]);
  return choose<builtin_null>(host, options);
}

std::unique_ptr<Backend> open_null(std::span<const Value>) { return make_null_backend(); }

constexpr Operand null_options[] = {{time_steps_option, OperandKind::integer, Default::absent()}};
constexpr BackendRecord null_record{.open = open_null};

}  // namespace

constinit const Builtin builtin_null = BuiltinFields{
    .name = "null",
    .operands = null_options,
    .doc =
        "The backend that runs no task and counts everything: what tasks would give is zeros, the report is real. "
        "What is known before the program runs is computed nevertheless. For run .. on. time_steps: as of host.",
    .example =
        "graph g(x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\nprint((run g(fill(f32[2], 1.0)) on null).report.tasks)\n// "
        "expect: 1",
    .type = null_type,
    .run = run_null,
    .runs_in = RunsIn::either,
    .backend = &null_record};

}  // namespace taskspec
