// train: a net, a loss, an optimizer and metrics become a training.
#include <fmt/format.h>

#include <algorithm>

#include "interp/control/builtins/builtins.hpp"
#include "interp/train/builtins.hpp"
#include "ir/base/text.hpp"
#include "ir/program/trained_member.hpp"

namespace taskspec {

using namespace builtins;

namespace {

constexpr std::string_view module_name = "training";
constexpr std::string_view loss_names[] = {"categorical_crossentropy", "sparse_categorical_crossentropy", "mse_avg",
                                           "mse_sum", "identity"};
constexpr std::string_view metric_names[] = {
    "accuracy", "categorical_crossentropy", "sparse_categorical_crossentropy", "mse", "rmse", "mae"};
constexpr std::string_view recompute_names[] = {"none", "sqrt"};  // as in Recompute

std::vector<std::string> listed(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

// A name that is written down is looked at before the program runs.
void want_name(RuleContext& c, int operand, const Value& name, std::span<const std::string_view> names,
               std::string_view missing) {
  if (std::ranges::find(names, name.string()) != names.end()) return;
  const std::optional<std::string> near = nearest(name.string(), listed(names));
  c.fail("E1001", fmt::format("{} '{}'", missing, name.string()), operand,
         near ? fmt::format("did you mean '{}'?", *near) : "there are " + joined(listed(names), ", "));
}

void want_metrics(RuleContext& c, int operand) {
  const Type& type = c.type(static_cast<std::size_t>(operand));
  if (type.is(Type::Kind::none) || type.is(Type::Kind::error)) return;
  if (!type.is(Type::Kind::list) || !(type.parts[0].is(Type::Kind::string) || type.parts[0].is(Type::Kind::error)))
    wrong_type(c, static_cast<std::size_t>(operand), "a list of names of metrics");
  if (const Value* written = c.constant(static_cast<std::size_t>(operand)))
    for (const Value& metric : written->list()) want_name(c, operand, metric, metric_names, "no metric is called");
}

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
  if (const Value* loss = c.constant(1); loss && loss->is_string())
    want_name(c, 1, *loss, loss_names, "no loss is called");
  want(c, 2, Type::Kind::optimizer, "an optimizer, such as sgd(lr: 0.1)");
  want_metrics(c, 3);
  if (const Value* clip = c.constant(4); clip && clip->real() < 0)
    c.fail("E1003", "a norm to clip at is not negative", 4);
  const Value* recompute = c.constant(5);
  if (!recompute) c.fail("E1003", "what is computed again must be a constant", 5);
  want_name(c, 5, *recompute, recompute_names, "recompute is no");
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
  if (std::ranges::find(names, name.string()) == names.end())
    throw failure("E5003", {},
                  fmt::format("no {} is called '{}'; there are {}", kind, name.string(), joined(listed(names), ", ")));
  return module.at(name.string());
}

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

}  // namespace

constinit const Builtin builtin_train = BuiltinFields{
    .name = "train",
    .operands = train_operands,
    .doc =
        "A net in training: its task or graph `forward` (or the only one), a loss, an optimizer, metrics. The loss is "
        "categorical_crossentropy, sparse_categorical_crossentropy (both of logits; labels are integers), mse_avg, "
        "mse_sum, identity, or a pure fn of the prediction and what it should have been. `clip` bounds the norm of all "
        "gradients. `recompute: \"sqrt\"` keeps of n values inside of a task about sqrt(n) until its reverse, and "
        "computes the others again there. `parts` cuts each batch into blocks of rows that run by themselves, part c "
        "of "
        "n from row floor(c B / n), and adds up along a tree what they give: the bits depend on n alone, not on "
        "threads. It is still the batch that dropout numbers, and that statistics and metrics are of; where a net "
        "mixes "
        "rows in another way, all parts are joined. What it gives has m.forward(x), m.backward(y), m.update(), "
        "m.step(x, y), "
        "m.fit(data), m.loss, m.metrics.NAME, m.reset_metrics(), m.grad(\"w\"), m.weight(\"w\"), m.steps, m.epochs, "
        "m.profile() and m.cost (what a step takes), and m.eval(), the net as it is then; save(m, path) and load(m, "
        "path) keep all of it. backward before forward is E5007; two in a row add their gradients; a weight that "
        "reaches the loss only through ops without a gradient is E5013. Tasks in which tensors decide what runs are "
        "carried out once more for their reverse.",
    .example = training_example,
    .type = train_type,
    .run = run_train,
    .runs_in = RunsIn::either,
    .module = module_name};

}  // namespace taskspec
