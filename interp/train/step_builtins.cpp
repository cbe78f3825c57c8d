// What is asked of a training: the parts of a step, and what came of them.
#include "interp/control/builtins/builtins.hpp"
#include "interp/train/builtins.hpp"

namespace taskspec {

using namespace builtins;

namespace {

Value run_agent(HostContext&, std::span<const Value> v) {
  auto training = std::static_pointer_cast<Training>(v[0].object());
  auto called = std::make_shared<Agent>(*training->agent());
  called->training = training;
  return Value(std::static_pointer_cast<Object>(std::move(called)));
}
Value run_eval(HostContext&, std::span<const Value> v) {
  return Value(std::static_pointer_cast<Object>(training_of(v[0]).agent()));
}
Type agent_type(RuleContext& c) {
  Type type(Type::Kind::agent);
  type.agent = c.type(0).agent;
  return type;
}

Value run_backward(HostContext& host, std::span<const Value> v) {
  training_of(v[0]).backward(*host.interpreter, v[1], step_site(host));
  return {};
}
Type backward_type(RuleContext& c) {
  const Type& goal = c.type(1);
  const bool output = goal.is(Type::Kind::invocation);
  if (!goal.is_tensor() && !output && !goal.is(Type::Kind::error))
    wrong_type(c, 1, "what the prediction should have been, a tensor");
  return Type::Kind::none;
}
Value run_update(HostContext& host, std::span<const Value> v) {
  training_of(v[0]).update(*host.interpreter, step_site(host));
  return {};
}
Value run_reset(HostContext&, std::span<const Value> v) {
  training_of(v[0]).reset_metrics();
  return {};
}
Value run_steps(HostContext& host, std::span<const Value> v) { return count_tensor(host, training_of(v[0]).steps()); }
Value run_epochs(HostContext& host, std::span<const Value> v) { return count_tensor(host, training_of(v[0]).epochs()); }
Type nothing_type(RuleContext&) { return Type::Kind::none; }

Value run_loss(HostContext& host, std::span<const Value> v) { return training_of(v[0]).loss(host.span); }
Type loss_type(RuleContext&) { return Type::tensor(Precision::f32, {}); }
Value run_metric(HostContext& host, std::span<const Value> v) {
  return training_of(v[0]).metric(*host.interpreter, v[1].string(), step_site(host));
}
Type metric_type(RuleContext&) { return Type::tensor(Precision::f64, {}); }

Value run_gradient(HostContext& host, std::span<const Value> v) {
  return training_of(v[0]).gradient(*host.interpreter, v[1].string(), host.span);
}

Value run_weight(HostContext& host, std::span<const Value> v) {
  return training_of(v[0]).weight(v[1].string(), host.span);
}

constexpr Operand training_operand[] = {{"m", OperandKind::value}};
constexpr Operand backward_operands[] = {{"m", OperandKind::value}, {"y", OperandKind::value}};
constexpr Operand named_operands[] = {{"m", OperandKind::value}, {"name", OperandKind::string}};

}  // namespace

constinit const Builtin builtin_training_agent = BuiltinFields{.name = "training.agent",
                                                               .operands = training_operand,
                                                               .doc = "The net as m.forward(x) calls it.",
                                                               .example = training_example,
                                                               .type = agent_type,
                                                               .run = run_agent,
                                                               .runs_in = RunsIn::either};
constinit const Builtin builtin_training_eval =
    BuiltinFields{.name = "training.eval",
                  .operands = training_operand,
                  .doc = "m.eval() is the trained net: its tasks work as outside of training.",
                  .example = training_example,
                  .type = agent_type,
                  .run = run_eval,
                  .runs_in = RunsIn::either};
constinit const Builtin builtin_training_backward = BuiltinFields{
    .name = "training.backward",
    .operands = backward_operands,
    .doc =
        "m.backward(y): the loss against y, then gradients in reverse order; without an update in between they add up.",
    .example = training_example,
    .type = backward_type,
    .run = run_backward,
    .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_update =
    BuiltinFields{.name = "training.update",
                  .operands = training_operand,
                  .doc = "m.update() changes the weights by the optimizer, and forgets the gradients.",
                  .example = training_example,
                  .type = nothing_type,
                  .run = run_update,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_reset_metrics =
    BuiltinFields{.name = "training.reset_metrics",
                  .operands = training_operand,
                  .doc = "m.reset_metrics() lets metrics begin anew.",
                  .example = training_example,
                  .type = nothing_type,
                  .run = run_reset,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_loss =
    BuiltinFields{.name = "training.loss",
                  .operands = training_operand,
                  .doc = "m.loss is the loss of the last backward, a tensor of rank 0.",
                  .example = training_example,
                  .type = loss_type,
                  .run = run_loss,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_steps =
    BuiltinFields{.name = "training.steps",
                  .operands = training_operand,
                  .doc = "m.steps is the number of updates so far, a tensor i64 of rank 0.",
                  .example = training_example,
                  .type = count_type,
                  .run = run_steps,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_epochs =
    BuiltinFields{.name = "training.epochs",
                  .operands = training_operand,
                  .doc = "m.epochs is the number of epochs of fit so far, a tensor i64 of rank 0.",
                  .example = training_example,
                  .type = count_type,
                  .run = run_epochs,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_metric =
    BuiltinFields{.name = "training.metric",
                  .operands = named_operands,
                  .doc = "m.metrics.NAME is the mean over all rows since the metrics began, f64 of rank 0.",
                  .example = training_example,
                  .type = metric_type,
                  .run = run_metric,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_grad = BuiltinFields{
    .name = "training.grad",
    .operands = named_operands,
    .doc = "m.grad(\"w\"), of a layer m.grad(\"c1.w\"): the gradient of a weight since the last update, of its shape.",
    .example = training_example,
    .type = loss_type,
    .run = run_gradient,
    .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_weight =
    BuiltinFields{.name = "training.weight",
                  .operands = named_operands,
                  .doc = "m.weight(\"w\"), of a layer m.weight(\"c1.w\"): a weight as it is now, of its shape.",
                  .example = training_example,
                  .type = loss_type,
                  .run = run_weight,
                  .runs_in = RunsIn::graph};

}  // namespace taskspec
