// The optimizers: sgd, adam, adamw.
#include "interp/control/builtins/builtins.hpp"
#include "interp/train/builtins.hpp"
#include "interp/train/optimizer.hpp"

namespace taskspec {

using namespace builtins;

namespace {

// A schedule is a function of the number of the step.
Type optimizer_type(RuleContext& c) {
  Type rate = c.type(0);
  if (rate.is(Type::Kind::function)) rate = c.closure(0, {Type::Kind::integer});
  if (!rate.is_number() && !rate.is(Type::Kind::error)) wrong_type(c, 0, "a float, or a fn(step) -> float");
  return Type::Kind::optimizer;
}

Value optimizer(std::string name, std::string rule, const Value& lr,
                std::vector<std::pair<std::string, Value>> options) {
  auto made = std::make_shared<Optimizer>();
  made->name = std::move(name);
  made->rule = std::move(rule);
  made->lr = lr.is_integer() ? Value(lr.real()) : lr;
  made->options = std::move(options);
  return Value(std::static_pointer_cast<Object>(std::move(made)));
}

Value run_sgd(HostContext&, std::span<const Value> v) {
  const bool plain = v[1].real() == 0.0;
  return optimizer("sgd", plain ? "sgd" : "sgd_momentum", v[0],
                   {{"momentum", v[1]}, {"nesterov", v[2]}, {"weight_decay", v[3]}});
}

template <bool apart>
Value run_adam(HostContext&, std::span<const Value> v) {
  const char* name = apart ? "adamw" : "adam";
  return optimizer(name, name, v[0], {{"beta1", v[1]}, {"beta2", v[2]}, {"eps", v[3]}, {"weight_decay", v[4]}});
}

constexpr Operand sgd_operands[] = {{"lr", OperandKind::value},
                                    {"momentum", OperandKind::real, 0.0},
                                    {"nesterov", OperandKind::boolean, false},
                                    {"weight_decay", OperandKind::real, 0.0}};
constexpr Operand adam_operands[] = {{"lr", OperandKind::value, 1e-3},
                                     {"beta1", OperandKind::real, 0.9},
                                     {"beta2", OperandKind::real, 0.999},
                                     {"eps", OperandKind::real, 1e-8},
                                     {"weight_decay", OperandKind::real, 0.0}};

}  // namespace

constinit const Builtin builtin_sgd = BuiltinFields{
    .name = "sgd",
    .operands = sgd_operands,
    .doc =
        "Stochastic gradient descent. With momentum mu: v = mu * v + g, and w = w - lr * v; with nesterov "
        "w = w - lr * (g + mu * v). weight_decay * w is added to the gradient. lr is a float or a fn(step) -> float of "
        "the number of the step, from 1.",
    .example = training_example,
    .type = optimizer_type,
    .run = run_sgd,
    .runs_in = RunsIn::either};
constinit const Builtin builtin_adam = BuiltinFields{
    .name = "adam",
    .operands = adam_operands,
    .doc = "Adam, both moments without their bias. weight_decay * w is added to the gradient. lr as in sgd.",
    .example = training_example,
    .type = optimizer_type,
    .run = run_adam<false>,
    .runs_in = RunsIn::either};
constinit const Builtin builtin_adamw =
    BuiltinFields{.name = "adamw",
                  .operands = adam_operands,
                  .doc = "Adam with a decay apart from the gradient: w = w * (1 - lr * weight_decay) - ...",
                  .example = training_example,
                  .type = optimizer_type,
                  .run = run_adam<true>,
                  .runs_in = RunsIn::either};

}  // namespace taskspec
