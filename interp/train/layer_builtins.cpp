// What a layer asks that works otherwise in a step of training.
#include "interp/control/builtins/builtins.hpp"
#include "interp/train/builtins.hpp"
#include "ir/base/hash.hpp"

namespace taskspec {

namespace {

Value run_in_training(HostContext& host, std::span<const Value>) { return Value(host.interpreter->step() != nullptr); }
Type boolean_type(RuleContext&) { return Type::Kind::boolean; }
Value run_step_number(HostContext& host, std::span<const Value>) {
  if (auto* step = host.interpreter->step()) return step->number;
  return count_tensor(host, 0);
}
Value run_step_stream(HostContext& host, std::span<const Value>) {
  auto* step = host.interpreter->step();
  return step ? Value(std::int64_t{fnv1a32(step->name + "#" + std::to_string(step->streams++))})
              : Value(std::int64_t{0});
}
Type integer_type(RuleContext&) { return Type::Kind::integer; }

}  // namespace

constinit const Builtin builtin_in_training =
    BuiltinFields{.name = "in_training",
                  .operands = {},
                  .doc = "Whether a body runs in a step of training: for layers that work otherwise there.",
                  .example = "print(in_training())\n// expect: false",
                  .type = boolean_type,
                  .run = run_in_training,
                  .runs_in = RunsIn::either};
constinit const Builtin builtin_step_number =
    BuiltinFields{.name = "step_number",
                  .operands = {},
                  .doc =
                      "The number of the step of training, from 0, as a tensor i64 of rank 0: the `call` of random "
                      "numbers. 0 elsewhere.",
                  .example = "print(step_number().array)\n// expect: 0",
                  .type = count_type,
                  .run = run_step_number,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_step_stream = BuiltinFields{
    .name = "step_stream",
    .operands = {},
    .doc =
        "A stream of random numbers for the task that asks in a step of training, another one each time. 0 elsewhere.",
    .example = "print(step_stream())\n// expect: 0",
    .type = integer_type,
    .run = run_step_stream,
    .runs_in = RunsIn::either};

}  // namespace taskspec
