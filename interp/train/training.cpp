#include "interp/train/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "interp/control/record.hpp"
#include "interp/control/value_key.hpp"
#include "ir/base/text.hpp"
#include "ir/graph/op_list_builder.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

RecordTarget& recording(Interpreter& interpreter, Span span) {
  auto* target = dynamic_cast<RecordTarget*>(&interpreter.target());
  if (!target || interpreter.step())
    throw failure("E1009", span, "training inside of a task or graph is not built yet");
  return *target;
}

std::vector<Value> add(RecordTarget& target, RecordTarget::Listed node) {
  return target.listed(std::move(node)).outputs;
}

}  // namespace

std::string Optimizer::text() const {
  std::string text = name + "(lr: " + print(lr);
  for (const auto& [option, value] : options) text += ", " + option + ": " + print(value);
  return text + ")";
}

Training::Training(const Program& program, const OpTable& ops, TrainOptions options)
    : program_(program), ops_(ops), options_(std::move(options)) {
  reset_metrics();
}

std::string Training::text() const {
  return fmt::format("<training of {}, {}>", print(Value(std::static_pointer_cast<Object>(options_.agent))),
                     options_.optimizer->text());
}

// ---- forward --------------------------------------------------------------------------------------

ForwardPlan& Training::plan_for(Interpreter& interpreter, const std::vector<Value>& arguments, Span span) {
  std::string key;
  for (const Value& value : arguments) {
    if (interpreter.target().is_tensor(value))
      key += interpreter.target().type_of(value).text() + ';';
    else
      put_value(key, value);
  }
  auto known = plans_.find(key);
  if (known == plans_.end())
    known = plans_.emplace(key, make_forward_plan(interpreter, options_.agent, options_.forward, arguments, ops_, span))
                .first;
  note_slots(known->second);
  return known->second;
}

// All plans have the same slots. Of a weight that no way leads to the loss from, the reader hears once.
void Training::note_slots(ForwardPlan& plan) {
  if (!weights_.empty()) return;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const ForwardPlan::SlotInput& slot = plan.slots[i];
    weights_.push_back({slot, {}, {}});
    if (slot.kind != SlotKind::weight || !plan.step.gradients[plan.arguments + i].empty()) continue;
    const std::string name = options_.agent->path + "." + slot.path;
    std::fputs(fmt::format("note: no way leads from weight '{}' to the loss: it stays as it is\n", name).c_str(),
               stderr);
  }
}

Value Training::value_of(const StepRef& ref, const Value& upstream) const {
  switch (ref.kind) {
    case StepRef::Kind::input:
      return forward_.inputs[ref.id];
    case StepRef::Kind::constant:
      return forward_.plan->constants.at(ref.id);
    case StepRef::Kind::upstream:
      return upstream;
    case StepRef::Kind::task:
      break;
  }
  return forward_.made[ref.id][ref.slot];
}

std::vector<Value> Training::inputs_of(const StepTask& task, const Value& upstream) const {
  std::vector<Value> inputs;
  for (const StepRef& ref : task.in) inputs.push_back(value_of(ref, upstream));
  return inputs;
}

CallResult Training::call(Interpreter& interpreter, std::vector<Value> arguments, ScopeId scope, Span span) {
  RecordTarget& target = recording(interpreter, span);
  target.begin_pass(TrainingPass::forward);
  ForwardPlan& plan = plan_for(interpreter, arguments, span);
  last_arguments_.clear();
  for (const Value& value : arguments)
    target.is_tensor(value) ? last_arguments_.emplace_back(target.type_of(value)) : last_arguments_.emplace_back(value);
  forward_ = {};
  forward_.plan = &plan;
  forward_.scope = scope;
  for (const Value& value : arguments)
    if (target.is_tensor(value)) forward_.inputs.push_back(value);
  for (const ForwardPlan::SlotInput& slot : plan.slots) forward_.inputs.push_back(slot.value());
  forward_.inputs.push_back(Value(scalar_array(Value(steps_), Precision::i64)));
  for (std::size_t t = 0; t < plan.step.tasks.size(); ++t) {
    const StepTask& task = plan.step.tasks[t];
    RecordTarget::ListedNode made = target.listed({.list = task.list,
                                                   .name = task.name,
                                                   .suffix = {},
                                                   .inputs = inputs_of(task),
                                                   .writes = plan.writes[t],
                                                   .scope = scope,
                                                   .span = span,
                                                   .begins = t == 0});
    forward_.made.push_back(std::move(made.outputs));
    forward_.ordinals.push_back(made.ordinal);
  }
  auto invocation = std::make_shared<Invocation>();
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    invocation->names.push_back(plan.outputs[i]);
    invocation->outputs.push_back(value_of(plan.step.results[i], {}));
  }
  for (const auto& [result, slot] : plan.versions) plan.slots[slot].value() = value_of(plan.step.results[result], {});
  forward_.prediction = invocation->outputs[0];
  return {Value(std::static_pointer_cast<Object>(invocation)), {}};
}

// ---- backward -------------------------------------------------------------------------------------

void Training::backward(Interpreter& interpreter, const Value& goal, const StepSite& site) {
  RecordTarget& target = recording(interpreter, site.span);
  target.begin_pass(TrainingPass::backward);
  if (!forward_.plan)
    throw failure("E5007", site.span, "backward comes after a forward, and there was none since the last one");
  const Type prediction = target.type_of(forward_.prediction), wanted = target.type_of(goal);
  last_target_ = wanted;
  auto [known, fresh] = losses_.try_emplace(prediction.text() + ' ' + wanted.text());
  if (fresh) known->second = make_loss_plan(interpreter, options_.functions, prediction, wanted, ops_, site.span);
  const LossPlan& loss = known->second;
  std::vector<Value> inputs{forward_.prediction, goal};
  inputs.insert(inputs.end(), totals_.begin(), totals_.end());
  const std::string& name = options_.functions.loss_name;
  RecordTarget::ListedNode made = target.listed({.list = loss.forward,
                                                 .name = name,
                                                 .suffix = {},
                                                 .inputs = inputs,
                                                 .writes = {},
                                                 .scope = site.scope,
                                                 .span = site.span,
                                                 .begins = false});
  loss_ = made.outputs[0];
  for (std::size_t k = 0; k < totals_.size(); ++k) totals_[k] = made.outputs[k + 1];
  rows_ += loss.rows;
  std::vector<Value> read;
  for (std::size_t position : loss.reads)
    read.push_back(position < made.outputs.size() ? made.outputs[position] : inputs[SIZE_MAX - position]);
  const Value upstream = add(target, {.list = loss.backward,
                                      .name = name,
                                      .suffix = ".backward",
                                      .inputs = read,
                                      .writes = {},
                                      .scope = site.scope,
                                      .span = site.span,
                                      .begins = false,
                                      .ordinal = made.ordinal})[0];
  const TrainingStep& step = forward_.plan->step;
  const bool same_scope = site.scope == forward_.scope;  // else names are counted in the scope at hand
  for (std::size_t r = 0; r < step.reverses.size(); ++r) {
    const StepTask& task = step.reverses[r];
    forward_.made.push_back(add(target, {.list = task.list,
                                         .name = task.name,
                                         .suffix = ".backward",
                                         .inputs = inputs_of(task, upstream),
                                         .writes = {},
                                         .scope = site.scope,
                                         .span = site.span,
                                         .begins = false,
                                         .ordinal = same_scope ? forward_.ordinals[step.reversed[r]] : UINT32_MAX}));
  }
  for (std::size_t i = 0; i < weights_.size(); ++i)
    for (const StepRef& part : step.gradients[forward_.plan->arguments + i]) {
      Value& gradient = weights_[i].gradient;
      const Value more = value_of(part, upstream);
      gradient = gradient.is_none() ? more : sum(interpreter, gradient, more, site);
    }
  forward_ = {};
  stepped_ = true;
}

Value Training::sum(Interpreter& interpreter, const Value& a, const Value& b, const StepSite& site) {
  RecordTarget& target = recording(interpreter, site.span);
  const Type type = target.type_of(a);
  std::shared_ptr<const OpList>& list = lists_["+" + type.text()];
  if (!list) {
    OpListBuilder made;
    const std::array<OpListBuilder::Operand, 2> both{made.input({"a", Privilege::in, {}}, type),
                                                     made.input({"b", Privilege::in, {}}, type)};
    const ValueId total = made.emit(*ops_.find_operator("+", 2), both, {{}, {}, site.span})[0];
    list = std::make_shared<OpList>(std::move(made).finish({}, "gradient", {{"total", total, false}}));
  }
  return add(target, {.list = list,
                      .name = "gradient",
                      .suffix = {},
                      .inputs = {a, b},
                      .writes = {},
                      .scope = site.scope,
                      .span = site.span,
                      .begins = false})[0];
}

// ---- update ---------------------------------------------------------------------------------------

// One task by a function of the module, for the types of what it is given.
Value Training::run_list(Interpreter& interpreter, const std::string& key, const std::string& function,
                         std::vector<Value> tensors, std::vector<GenericArgument> more, const StepSite& site) {
  RecordTarget& target = recording(interpreter, site.span);
  std::string known = key;
  std::vector<GenericArgument> arguments;
  for (const Value& tensor : tensors) {
    arguments.emplace_back(target.type_of(tensor));
    known += ' ' + target.type_of(tensor).text();
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::shared_ptr<const OpList>& list = lists_[known];
  if (!list)
    list = std::make_shared<OpList>(
        generic_op_list(interpreter, options_.module.at(function), arguments).value_or_throw());
  return add(target, {.list = list,
                      .name = function,
                      .suffix = {},
                      .inputs = std::move(tensors),
                      .writes = {},
                      .scope = site.scope,
                      .span = site.span,
                      .begins = false})[0];
}

// What all gradients are multiplied by so that their norm is at most `clip`; none: nothing.
Value Training::clip_factor(Interpreter& interpreter, const StepSite& site) {
  if (options_.clip <= 0) return {};
  Value squares;
  for (const Weight& weight : weights_) {
    if (weight.gradient.is_none()) continue;
    const Value own = run_list(interpreter, "squares", "squares", {weight.gradient}, {}, site);
    squares = squares.is_none() ? own : sum(interpreter, squares, own, site);
  }
  if (squares.is_none()) return {};
  return run_list(interpreter, "clipped", "clipped", {squares}, {Value(options_.clip)}, site);
}

void Training::update(Interpreter& interpreter, const StepSite& site) {
  recording(interpreter, site.span).begin_pass(TrainingPass::update);
  if (!stepped_)
    throw failure("E5007", site.span, "update comes after a backward, and there was none since the last one");
  const Value factor = clip_factor(interpreter, site);
  ++steps_;
  for (Weight& weight : weights_)
    if (!weight.gradient.is_none()) update_weight(interpreter, weight, factor, site);
  for (Weight& weight : weights_) weight.gradient = {};
  stepped_ = false;
}

void Training::update_weight(Interpreter& interpreter, Weight& weight, const Value& factor, const StepSite& site) {
  RecordTarget& target = recording(interpreter, site.span);
  const Optimizer& optimizer = *options_.optimizer;
  const Value& rule = options_.module.at(optimizer.rule);
  const Function& task = program_[rule.as<Callable>()->function];
  const Type type = target.type_of(weight.slot.value());
  Value lr = optimizer.lr;
  if (lr.as<Callable>()) lr = interpreter.apply(lr, {Value(steps_)}, {site.span}).value;
  RecordTarget::Listed node{.list = {},
                            .name = optimizer.name,
                            .suffix = {},
                            .inputs = {},
                            .writes = {},
                            .scope = site.scope,
                            .span = site.span,
                            .begins = false};
  std::vector<GenericArgument> arguments;
  std::size_t moment = 0;
  for (const Parameter& parameter : task.parameters) {
    if (parameter.privilege == Privilege::inout) {  // the weight, then the moments
      if (moment > weight.moments.size())
        weight.moments.push_back(target.place(weight.slot.path + "." + optimizer.name + "_" + parameter.name,
                                              target.constant(Array::make(concrete(type)))));
      node.writes.push_back(node.inputs.size());
      node.inputs.push_back(moment == 0 ? weight.slot.value() : weight.moments[moment - 1]);
      arguments.emplace_back(type);
      ++moment;
    } else if (parameter.name == "g") {
      node.inputs.push_back(weight.gradient);
      arguments.emplace_back(type);
    } else if (parameter.name == "lr") {
      node.inputs.push_back(Value(scalar_array(lr, Precision::f64)));
      arguments.emplace_back(Type(Type::Kind::real));
    } else if (parameter.name == "step") {
      node.inputs.push_back(Value(scalar_array(Value(steps_), Precision::i64)));
      arguments.emplace_back(Type(Type::Kind::integer));
    } else {
      auto option = std::ranges::find(optimizer.options, parameter.name, &std::pair<std::string, Value>::first);
      arguments.emplace_back(option->second);
    }
  }
  std::shared_ptr<const OpList>& list = lists_["update " + type.text()];
  if (!list) list = std::make_shared<OpList>(generic_op_list(interpreter, rule, arguments).value_or_throw());
  node.list = list;
  if (!factor.is_none()) {
    std::shared_ptr<const OpList>& product = lists_["* " + type.text()];
    if (!product) {
      OpListBuilder made;
      const std::array<OpListBuilder::Operand, 2> both{
          made.input({"g", Privilege::in, {}}, type),
          made.input({"factor", Privilege::in, {}}, target.type_of(factor))};
      product = std::make_shared<OpList>(std::move(made).finish(
          {}, "clip", {{"g", made.emit(*ops_.find_operator("*", 2), both, {{}, {}, site.span})[0], false}}));
    }
    for (Value& input : node.inputs)
      if (identical(input, weight.gradient))
        input = add(target, {.list = product,
                             .name = "clip",
                             .suffix = {},
                             .inputs = {input, factor},
                             .writes = {},
                             .scope = site.scope,
                             .span = site.span,
                             .begins = false})[0];
  }
  const std::vector<Value> outputs = add(target, std::move(node));
  weight.slot.value() = outputs[0];
  for (std::size_t k = 0; k < weight.moments.size(); ++k) weight.moments[k] = outputs[k + 1];
}

// ---- what it tells --------------------------------------------------------------------------------

void Training::reset_metrics() {
  totals_.assign(options_.functions.metrics.size(), Value(scalar_array(Value(0.0), Precision::f64)));
  rows_ = 0;
}

Value Training::loss(Span span) const {
  if (loss_.is_none()) throw failure("E5007", span, "there is no loss before the first backward");
  return loss_;
}

Value Training::metric(Interpreter& interpreter, const std::string& name, const StepSite& site) {
  const auto& metrics = options_.functions.metrics;
  auto known = std::ranges::find(metrics, name, &std::pair<std::string, Value>::first);
  if (known == metrics.end()) {
    std::vector<std::string> names;
    for (const auto& metric : metrics) names.push_back(metric.first);
    throw failure("E1002", site.span,
                  fmt::format("'{}' is none of the metrics of this training: {}", name, joined(names, ", ")));
  }
  if (rows_ == 0) throw failure("E5007", site.span, "there are no metrics before the first backward");
  recording(interpreter, site.span).begin_pass(TrainingPass::none);
  const Value& total = totals_[static_cast<std::size_t>(known - metrics.begin())];
  const std::string last = options_.module.contains(name + "_total") ? name + "_total" : "mean_total";
  return run_list(interpreter, last + fmt::format("{}", rows_), last, {total}, {Value(rows_)}, site);
}

Value Training::gradient(Interpreter& interpreter, const std::string& path, Span span) {
  recording(interpreter, span);
  auto known = std::ranges::find(weights_, path, [](const Weight& weight) { return weight.slot.path; });
  if (known == weights_.end()) throw failure("E1002", span, fmt::format("the net has no weight '{}'", path));
  if (known->gradient.is_none())
    throw failure("E5007", span, fmt::format("'{}' has no gradient since the last update", path));
  return known->gradient;
}

// ---- looked at ------------------------------------------------------------------------------------

namespace {

// Looking at a step changes no slot.
class SameSlots {
 public:
  explicit SameSlots(ForwardPlan& plan) : plan_(plan) {
    for (const ForwardPlan::SlotInput& slot : plan.slots) before_.push_back(slot.value());
  }
  ~SameSlots() {
    for (std::size_t i = 0; i < before_.size(); ++i) plan_.slots[i].value() = before_[i];
  }
  SameSlots(const SameSlots&) = delete;

 private:
  ForwardPlan& plan_;
  std::vector<Value> before_;
};

}  // namespace

std::unique_ptr<GraphView> Training::graph(const Interpreter& outer, ViewContents contents, Span span) {
  if (plans_.empty() || !last_target_)
    throw failure("E5007", span, "the graph of a training is that of its last step, and there was none");
  auto view = std::make_unique<GraphView>(contents);
  view->graph.name = "step";
  RecordTarget target(program_, *view);
  Interpreter interpreter = outer.nested(target);
  interpreter.leave_host();
  auto input = [&](const std::string& name, const Type& type) {
    return view->handle(Ref::input(view->graph.add_input({name, type, Privilege::in})), type);
  };
  const SameSlots same(plans_.begin()->second);
  Training copy(*this);
  std::vector<Value> arguments;
  for (const auto& argument : last_arguments_) {
    auto* type = std::get_if<Type>(&argument);
    const std::string name = arguments.empty() ? "x" : "x" + std::to_string(arguments.size());
    arguments.push_back(type ? input(name, *type) : std::get<Value>(argument));
  }
  const StepSite site{ScopeId(0), span};
  for (Weight& weight : copy.weights_) weight.gradient = {};
  copy.reset_metrics();
  copy.call(interpreter, std::move(arguments), site.scope, span);
  copy.backward(interpreter, input("y", *last_target_), site);
  copy.update(interpreter, site);
  view->graph.add_result({"loss", target.type_of(copy.loss_), copy.loss_.as<Tensor>()->ref});
  return view;
}

}  // namespace taskspec
