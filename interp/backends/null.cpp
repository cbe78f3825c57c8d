// null: counts only.
#include "interp/backends/backends.hpp"
#include "interp/host/null_backend.hpp"

namespace taskspec {

namespace {

Type null_type(RuleContext&) { return backend_type("null"); }

std::unique_ptr<Backend> open_null(std::span<const Value>) { return make_null_backend(); }

constexpr BackendRecord null_record{.open = open_null};

}  // namespace

constinit const Builtin builtin_null = BuiltinFields{
    .name = "null",
    .operands = {},
    .doc =
        "The backend that runs no task and counts everything: what tasks would give is zeros, the report is real. "
        "What is known before the program runs is computed nevertheless. For run .. on.",
    .example =
        "graph g(x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\nprint((run g(fill(f32[2], 1.0)) on null).report.tasks)\n// "
        "expect: 1",
    .type = null_type,
    .run = choose<builtin_null>,
    .runs_in = RunsIn::either,
    .backend = &null_record};

}  // namespace taskspec
