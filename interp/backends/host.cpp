// host(threads:, schedule:, time_steps:, poison:): the cores of this machine.
#include "interp/backends/backends.hpp"
#include "interp/backends/threads.hpp"
#include "interp/backends/time_steps.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/host/host_backend.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

using namespace builtins;

namespace {

constexpr const char* wrong_threads = "a host has between 1 and 1024 threads (0: one per core)";

Type host_type(RuleContext& c) {
  want(c, 0, Type::Kind::integer, "a number of threads");
  want(c, 1, Type::Kind::string, "a schedule");
  want(c, 3, Type::Kind::boolean, "true or false");
  if (const Value* schedule = c.constant(1))
    if (const std::string& s = schedule->string(); !s.empty() && s != "push" && s != "pull" && s != "eager")
      c.fail("E1003", "no schedule " + in_quotes(s), 1, "push, pull or eager");
  if (const Value* threads = c.constant(0); threads && !is_number_of_threads(*threads))
    c.fail("E1003", wrong_threads, 0);
  return backend_type("host", time_steps(c, 2));
}

Value run_host(HostContext& host, std::span<const Value> options) {
  if (!is_number_of_threads(options[0])) throw failure("E5003", {}, wrong_threads);
  check_time_steps(options[2]);
  return choose<builtin_host>(host, options);
}

std::unique_ptr<Backend> open_host(std::span<const Value> options) {
  return make_host_backend(
      {.threads = static_cast<std::uint32_t>(options[0].integer()), .poison = options[3].boolean()});
}

constexpr Operand host_options[] = {{"threads", OperandKind::integer, 0},
                                    {"schedule", OperandKind::string, ""},
                                    {time_steps_option, OperandKind::integer, Default::absent()},
                                    {"poison", OperandKind::boolean, false}};
constexpr BackendRecord host_record{.open = open_host};

}  // namespace

constinit const Builtin builtin_host = BuiltinFields{
    .name = "host",
    .operands = host_options,
    .doc =
        "The backend that runs on this machine: threads (0: one per core) and schedule push, pull or eager. For run .. "
        "on. time_steps: T runs a graph, task or agent's member T times, with states carried over: an input with an "
        "extra leading extent T gives one slice per step, any other is repeated; an output is that of the last step, "
        ".steps.y all of them on a new first axis. What does not depend on the step or on a state runs once, so random "
        "numbers are the same in each step, unless their `call` is an input that gives the number of the step: "
        "iota(T). poison: true fills memory that holds nothing (new, lent or given back) with patterns, so that a "
        "mistake "
        "which reads it shows; the results of a program do not change by it.",
    .example =
        "graph g() -> (y: i64[2]) { y = iota(2) }\nprint((run g() on host(threads: 1)).y.array)\n// expect: [0, 1]",
    .type = host_type,
    .run = run_host,
    .runs_in = RunsIn::either,
    .backend = &host_record};

}  // namespace taskspec
