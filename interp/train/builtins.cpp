// train, the optimizers, and what is asked of a training. Those with a point in their name are its methods and members.
#include "interp/control/builtins/builtins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/control/frame.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/train/fit_progress.hpp"
#include "interp/train/training.hpp"
#include "ir/base/hash.hpp"
#include "ir/base/text.hpp"
#include "ir/program/trained_member.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

using namespace builtins;

namespace {

constexpr std::string_view module_name = "training";

// ---- optimizers -----------------------------------------------------------------------------------

bool is_rate(const Type& type) {
  const bool schedule = type.is(Type::Kind::function) && type.parts.size() == 2 &&
                        type.parts[0].is(Type::Kind::integer) && type.parts[1].is_number();
  return type.is_number() || schedule || type.is(Type::Kind::error);
}

Type optimizer_type(RuleContext& c) {
  Type rate = c.type(0);
  if (rate.is(Type::Kind::none)) rate = c.closure(0, {Type::Kind::integer});
  if (!is_rate(rate)) wrong_type(c, 0, "a float, or a fn(step) -> float");
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

// ---- train ----------------------------------------------------------------------------------------

constexpr std::string_view recompute_names[] = {"none", "sqrt"};  // as in Recompute

bool is_number_of_parts(std::int64_t parts) { return parts >= 1 && parts <= BatchParts::most_parts; }
std::string parts_misfit(std::int64_t parts) {
  return fmt::format("a batch is cut into 1 to {} parts, not {}", BatchParts::most_parts, parts);
}

Type train_type(RuleContext& c) {
  const Type& agent = c.type(0);
  if (!agent.is(Type::Kind::agent) && !agent.is(Type::Kind::error)) wrong_type(c, 0, "an agent");
  if (const Type& loss = c.type(1);
      !loss.is(Type::Kind::string) && !loss.is(Type::Kind::function) && !loss.is(Type::Kind::error))
    wrong_type(c, 1, "the name of a loss, or a function");
  want(c, 2, Type::Kind::optimizer, "an optimizer, such as sgd(lr: 0.1)");
  const Type& metrics = c.type(3);
  const bool names = metrics.is(Type::Kind::list) &&
                     (metrics.parts[0].is(Type::Kind::string) || metrics.parts[0].is(Type::Kind::error));
  if (!names && !metrics.is(Type::Kind::none) && !metrics.is(Type::Kind::error))
    wrong_type(c, 3, "a list of names of metrics");
  if (const Value* clip = c.constant(4); clip && clip->real() < 0)
    c.fail("E1003", "a norm to clip at is not negative", 4);
  const Value* recompute = c.constant(5);
  if (!recompute) c.fail("E1003", "what is computed again must be a constant", 5);
  if (std::ranges::find(recompute_names, recompute->string()) == std::end(recompute_names))
    c.fail("E1001", fmt::format("recompute is no '{}'", recompute->string()), 5, "there are none, sqrt");
  if (const Value* parts = c.constant(6); parts && !is_number_of_parts(parts->integer()))
    c.fail("E1003", parts_misfit(parts->integer()), 6);
  Type training(Type::Kind::training);
  training.agent = agent.agent;
  return training;
}

// The functions that the checker linked for this.
std::map<std::string, Value> module_functions(const Program& program) {
  std::map<std::string, Value> found;
  const auto module = std::ranges::find(program.served, module_name, &std::pair<std::string, ModuleId>::first);
  if (module == program.served.end()) bug("a program that trains has no module of that name");
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    if (function.module != module->second || function.agent.valid() || function.part != Part::whole) continue;
    if (function.kind == FunctionKind::module) continue;
    found[function.name] = Value(std::static_pointer_cast<Object>(std::make_shared<Callable>(program, FunctionId(i))));
  }
  return found;
}

Value named(const std::map<std::string, Value>& module, std::span<const std::string_view> names, const Value& name,
            const std::string& kind) {
  std::vector<std::string> all(names.begin(), names.end());
  if (std::ranges::find(all, name.string()) == all.end())
    throw failure("E5003", {},
                  fmt::format("no {} is called '{}'; there are {}", kind, name.string(), joined(all, ", ")));
  return module.at(name.string());
}

constexpr std::string_view loss_names[] = {"categorical_crossentropy", "sparse_categorical_crossentropy", "mse_avg",
                                           "mse_sum", "identity"};
constexpr std::string_view metric_names[] = {
    "accuracy", "categorical_crossentropy", "sparse_categorical_crossentropy", "mse", "rmse", "mae"};

Value run_train(HostContext& host, std::span<const Value> v) {
  TrainOptions options;
  options.agent = std::static_pointer_cast<Agent>(v[0].object());
  const AgentDef& agent = host.program[options.agent->definition];
  const std::optional<FunctionId> forward = trained_member(host.program, agent.members);
  if (!forward) throw failure("E1004", {}, fmt::format("agent '{}' has no task 'forward' to train", agent.name));
  options.forward = *forward;
  options.optimizer = std::static_pointer_cast<const Optimizer>(v[2].object());
  options.module = module_functions(host.program);
  const auto& module = options.module;
  const bool is_named = v[1].is_string();
  options.functions.loss = is_named ? named(module, loss_names, v[1], "loss") : v[1];
  options.functions.loss_name = is_named ? v[1].string() : "loss";
  if (v[3].is_list())
    for (const Value& metric : v[3].list())
      options.functions.metrics.emplace_back(metric.string(), named(module, metric_names, metric, "metric"));
  options.functions.labels_f32 = module.at("labels_f32");
  options.functions.labels_f64 = module.at("labels_f64");
  options.functions.added = module.at("added");
  options.clip = v[4].real();
  options.recompute = v[5].string() == "sqrt" ? Recompute::sqrt : Recompute::none;
  options.parts = v[6].integer();
  if (!is_number_of_parts(options.parts)) throw failure("E1003", host.span, parts_misfit(options.parts));
  auto training = std::make_shared<Training>(host.program, host.ops, std::move(options));
  return Value(std::static_pointer_cast<Object>(std::move(training)));
}

constexpr Operand train_operands[] = {
    {"agent", OperandKind::value},     {"loss", OperandKind::value},
    {"optimizer", OperandKind::value}, {"metrics", OperandKind::value, Default::absent()},
    {"clip", OperandKind::real, 0.0},  {"recompute", OperandKind::string, "none"},
    {"parts", OperandKind::integer, 1}};

// ---- what is asked of a training ------------------------------------------------------------------

Training& training_of(const Value& value) { return *std::static_pointer_cast<Training>(value.object()); }

StepSite site_of(const HostContext& host) { return {host.frame->scope, host.span}; }

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
  training_of(v[0]).backward(*host.interpreter, v[1], site_of(host));
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
  training_of(v[0]).update(*host.interpreter, site_of(host));
  return {};
}
Value run_reset(HostContext&, std::span<const Value> v) {
  training_of(v[0]).reset_metrics();
  return {};
}
Value count(HostContext& host, std::int64_t number) {
  return host.interpreter->target().constant(scalar_array(Value(number), Precision::i64));
}
Value run_steps(HostContext& host, std::span<const Value> v) { return count(host, training_of(v[0]).steps()); }
Value run_epochs(HostContext& host, std::span<const Value> v) { return count(host, training_of(v[0]).epochs()); }
Type count_type(RuleContext&) { return Type::tensor(Precision::i64, {}); }
Type nothing_type(RuleContext&) { return Type::Kind::none; }

Value run_loss(HostContext& host, std::span<const Value> v) { return training_of(v[0]).loss(host.span); }
Type loss_type(RuleContext&) { return Type::tensor(Precision::f32, {}); }
Value run_metric(HostContext& host, std::span<const Value> v) {
  return training_of(v[0]).metric(*host.interpreter, v[1].string(), site_of(host));
}
Type metric_type(RuleContext&) { return Type::tensor(Precision::f64, {}); }

Value run_gradient(HostContext& host, std::span<const Value> v) {
  return training_of(v[0]).gradient(*host.interpreter, v[1].string(), host.span);
}

Value run_weight(HostContext& host, std::span<const Value> v) {
  return training_of(v[0]).weight(v[1].string(), host.span);
}

// Rows (x, y), or (a, b, y): what forward takes, then what it should have said.
void fit_row(Interpreter& interpreter, Training& training, const Value& row, const StepSite& site) {
  if (!row.is_tuple() || row.tuple().items.size() < 2)
    throw failure("E1004", site.span, "fit takes rows (x, y): what forward takes, then what it should have said");
  List items = row.tuple().items;
  const Value goal = std::move(items.back());
  items.pop_back();
  training.call(interpreter, std::move(items), site.scope, site.span);
  training.backward(interpreter, goal, site);
  training.update(interpreter, site);
}

Value run_fit(HostContext& host, std::span<const Value> v) {
  Training& training = training_of(v[0]);
  Interpreter& interpreter = *host.interpreter;
  const StepSite site = site_of(host);
  FitProgress progress;
  for (std::int64_t epoch = 0; epoch < v[2].integer(); ++epoch) {
    training.reset_metrics();
    const Value rows = v[1].is_list() ? v[1] : interpreter.apply(v[1], {Value(training.epochs())}, {site.span}).value;
    if (!rows.is_list() || rows.list().empty()) throw failure("E5003", site.span, "fit has no rows to learn from");
    for (const Value& row : rows.list()) {
      progress.at(training.epochs(), static_cast<std::size_t>(&row - rows.list().data()), rows.list().size());
      fit_row(interpreter, training, row, site);
    }
    training.end_epoch();
  }
  return {};
}

Type fit_type(RuleContext& c) {
  const Type& data = c.type(1);
  const bool list =
      data.is(Type::Kind::list) && (data.parts[0].is(Type::Kind::tuple) || data.parts[0].is(Type::Kind::error));
  const bool made = data.is(Type::Kind::function) && data.parts.size() == 2 && data.parts[0].is(Type::Kind::integer) &&
                    data.parts[1].is(Type::Kind::list);
  if (!list && !made && !data.is(Type::Kind::error))
    wrong_type(c, 1, "a list of rows (x, y), or a fn(epoch) that gives one");
  if (const Value* epochs = c.constant(2); epochs && epochs->integer() < 0)
    c.fail("E1003", "epochs are not negative", 2);
  return Type::Kind::none;
}

constexpr Operand fit_operands[] = {
    {"m", OperandKind::value}, {"data", OperandKind::value}, {"epochs", OperandKind::integer, 1}};
constexpr Operand training_operand[] = {{"m", OperandKind::value}};
constexpr Operand backward_operands[] = {{"m", OperandKind::value}, {"y", OperandKind::value}};
constexpr Operand named_operands[] = {{"m", OperandKind::value}, {"name", OperandKind::string}};

// ---- for layers that work otherwise in a step -----------------------------------------------------

Value run_in_training(HostContext& host, std::span<const Value>) { return Value(host.interpreter->step() != nullptr); }
Type boolean_type(RuleContext&) { return Type::Kind::boolean; }
Value run_step_number(HostContext& host, std::span<const Value>) {
  if (auto* step = host.interpreter->step()) return step->number;
  return count(host, 0);
}
Value run_step_stream(HostContext& host, std::span<const Value>) {
  auto* step = host.interpreter->step();
  return step ? Value(std::int64_t{fnv1a32(step->name + "#" + std::to_string(step->streams++))})
              : Value(std::int64_t{0});
}
Type integer_type(RuleContext&) { return Type::Kind::integer; }

constexpr const char* example =
    "agent Line() {\n  weight w: f32[1, 1] = constant(0.5)\n"
    "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n}\n"
    "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1))\n"
    "for i in 0..20 {\n  m.forward([[1.0], [2.0]] as f32[2, 1])\n  m.backward([[3.0], [6.0]] as f32[2, 1])\n  "
    "m.update()\n}\n"
    "print(close(m.eval().forward([[2.0]] as f32[1, 1]).y.scalar, 6.0, rel: 1e-3))\n// expect: true";

}  // namespace

constinit const Builtin builtin_train = BuiltinFields{
    .name = "train",
    .operands = train_operands,
    .doc =
        "A net in training: its task or graph `forward` (or the only one), a loss, an optimizer, metrics. The loss is "
        "categorical_crossentropy, sparse_categorical_crossentropy (both of logits; labels are integers), mse_avg, "
        "mse_sum, identity, or a pure fn of the prediction and what it should have been. `clip` bounds the norm of all "
        "gradients. `recompute: \"sqrt\"` keeps of n values inside of a task about sqrt(n) until its reverse, and "
        "computes the others again there. `parts` cuts each batch into blocks of rows that run by themselves, part c of "
        "n from row floor(c B / n), and adds up along a tree what they give: the bits depend on n alone, not on "
        "threads. It is still the batch that dropout numbers, and that statistics and metrics are of; where a net mixes "
        "rows in another way, all parts are joined. What it gives has m.forward(x), m.backward(y), m.update(), m.step(x, y), "
        "m.fit(data), m.loss, m.metrics.NAME, m.reset_metrics(), m.grad(\"w\"), m.weight(\"w\"), m.steps, m.epochs, "
        "m.profile() and m.cost (what a step takes), and m.eval(), the net as it is then; save(m, path) and load(m, "
        "path) keep all of it. backward before forward is E5007; two in a row "
        "add their gradients; a weight that reaches the loss only through ops without a gradient is E5013. Tasks in "
        "which tensors decide what runs are carried out once more for their reverse.",
    .example = example,
    .type = train_type,
    .run = run_train,
    .runs_in = RunsIn::either,
    .module = module_name};

constinit const Builtin builtin_sgd = BuiltinFields{
    .name = "sgd",
    .operands = sgd_operands,
    .doc =
        "Stochastic gradient descent. With momentum mu: v = mu * v + g, and w = w - lr * v; with nesterov "
        "w = w - lr * (g + mu * v). weight_decay * w is added to the gradient. lr is a float or a fn(step) -> float of "
        "the number of the step, from 1.",
    .example = example,
    .type = optimizer_type,
    .run = run_sgd,
    .runs_in = RunsIn::either};
constinit const Builtin builtin_adam = BuiltinFields{
    .name = "adam",
    .operands = adam_operands,
    .doc = "Adam, both moments without their bias. weight_decay * w is added to the gradient. lr as in sgd.",
    .example = example,
    .type = optimizer_type,
    .run = run_adam<false>,
    .runs_in = RunsIn::either};
constinit const Builtin builtin_adamw =
    BuiltinFields{.name = "adamw",
                  .operands = adam_operands,
                  .doc = "Adam with a decay apart from the gradient: w = w * (1 - lr * weight_decay) - ...",
                  .example = example,
                  .type = optimizer_type,
                  .run = run_adam<true>,
                  .runs_in = RunsIn::either};
constinit const Builtin builtin_training_agent = BuiltinFields{.name = "training.agent",
                                                               .operands = training_operand,
                                                               .doc = "The net as m.forward(x) calls it.",
                                                               .example = example,
                                                               .type = agent_type,
                                                               .run = run_agent,
                                                               .runs_in = RunsIn::either};
constinit const Builtin builtin_training_eval =
    BuiltinFields{.name = "training.eval",
                  .operands = training_operand,
                  .doc = "m.eval() is the trained net: its tasks work as outside of training.",
                  .example = example,
                  .type = agent_type,
                  .run = run_eval,
                  .runs_in = RunsIn::either};
constinit const Builtin builtin_training_backward = BuiltinFields{
    .name = "training.backward",
    .operands = backward_operands,
    .doc =
        "m.backward(y): the loss against y, then gradients in reverse order; without an update in between they add up.",
    .example = example,
    .type = backward_type,
    .run = run_backward,
    .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_update =
    BuiltinFields{.name = "training.update",
                  .operands = training_operand,
                  .doc = "m.update() changes the weights by the optimizer, and forgets the gradients.",
                  .example = example,
                  .type = nothing_type,
                  .run = run_update,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_reset_metrics =
    BuiltinFields{.name = "training.reset_metrics",
                  .operands = training_operand,
                  .doc = "m.reset_metrics() lets metrics begin anew.",
                  .example = example,
                  .type = nothing_type,
                  .run = run_reset,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_loss =
    BuiltinFields{.name = "training.loss",
                  .operands = training_operand,
                  .doc = "m.loss is the loss of the last backward, a tensor of rank 0.",
                  .example = example,
                  .type = loss_type,
                  .run = run_loss,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_steps =
    BuiltinFields{.name = "training.steps",
                  .operands = training_operand,
                  .doc = "m.steps is the number of updates so far, a tensor i64 of rank 0.",
                  .example = example,
                  .type = count_type,
                  .run = run_steps,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_epochs =
    BuiltinFields{.name = "training.epochs",
                  .operands = training_operand,
                  .doc = "m.epochs is the number of epochs of fit so far, a tensor i64 of rank 0.",
                  .example = example,
                  .type = count_type,
                  .run = run_epochs,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_metric =
    BuiltinFields{.name = "training.metric",
                  .operands = named_operands,
                  .doc = "m.metrics.NAME is the mean over all rows since the metrics began, f64 of rank 0.",
                  .example = example,
                  .type = metric_type,
                  .run = run_metric,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_grad = BuiltinFields{
    .name = "training.grad",
    .operands = named_operands,
    .doc = "m.grad(\"w\"), of a layer m.grad(\"c1.w\"): the gradient of a weight since the last update, of its shape.",
    .example = example,
    .type = loss_type,
    .run = run_gradient,
    .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_weight =
    BuiltinFields{.name = "training.weight",
                  .operands = named_operands,
                  .doc = "m.weight(\"w\"), of a layer m.weight(\"c1.w\"): a weight as it is now, of its shape.",
                  .example = example,
                  .type = loss_type,
                  .run = run_weight,
                  .runs_in = RunsIn::graph};
constinit const Builtin builtin_training_fit =
    BuiltinFields{.name = "training.fit",
                  .operands = fit_operands,
                  .doc =
                      "m.fit(data, epochs: 3): a step for each row (x, y) of a list, or of what a fn(epoch) gives; "
                      "metrics begin anew with each epoch. Epochs are counted over all calls, from 0 (m.epochs). No "
                      "rows are E5003.",
                  .example = example,
                  .type = fit_type,
                  .run = run_fit,
                  .runs_in = RunsIn::graph};
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
