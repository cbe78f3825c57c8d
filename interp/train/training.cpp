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

RecordTarget::Listed task_of(std::string name, std::shared_ptr<const OpList> list, std::vector<Value> inputs,
                             const StepSite& site) {
  return {.list = std::move(list),
          .name = std::move(name),
          .suffix = {},
          .inputs = std::move(inputs),
          .writes = {},
          .scope = site.scope,
          .span = site.span,
          .begins = false};
}

RecordTarget::Listed task_of(const StepTask& task, std::vector<Value> inputs, const StepSite& site) {
  RecordTarget::Listed node = task_of(task.name, task.list, std::move(inputs), site);
  node.embedded = task.embedded;
  return node;
}

// It is called after the forward task.
RecordTarget::Listed backward_of(RecordTarget::Listed node, std::uint32_t ordinal) {
  node.suffix = ".backward";
  node.ordinal = ordinal;
  return node;
}

// Empty where it is made as a whole.
std::vector<StepRef> parts_of_prediction(const ForwardPlan& plan) {
  return plan.step.result_parts.empty() ? std::vector<StepRef>() : plan.step.result_parts[0];
}

Value integer(std::int64_t number) { return Value(scalar_array(Value(number), Precision::i64)); }
Value real(double number) { return Value(scalar_array(Value(number), Precision::f64)); }

}  // namespace

std::string Optimizer::text() const {
  std::string text = name + "(lr: " + print(lr);
  for (const auto& [option, value] : options) text += ", " + option + ": " + print(value);
  return text + ")";
}

Training::Training(const Program& program, const OpTable& ops, TrainOptions options)
    : program_(program), ops_(ops), options_(std::move(options)) {
  for (TensorSlot& slot : tensor_slots(*options_.agent)) weights_.push_back({std::move(slot)});
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
  if (known != plans_.end()) return known->second;
  ForwardPlan plan = make_forward_plan(
      interpreter, {options_.agent, options_.forward, arguments, options_.recompute, options_.parts, span}, ops_);
  if (plans_.empty()) note_lost_weights(plan);
  return plans_.emplace(std::move(key), std::move(plan)).first->second;
}

// All plans have the same slots: the reader hears once.
void Training::note_lost_weights(const ForwardPlan& plan) const {
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    if (plan.slots[i].kind() != SlotKind::weight || !plan.gradients(i).empty()) continue;
    const std::string name = options_.agent->path + "." + plan.slots[i].path;
    std::fputs(fmt::format("note: no way leads from weight '{}' to the loss: it stays as it is\n", name).c_str(),
               stderr);
  }
}

Value Training::Made::operator[](const StepRef& ref) const {
  switch (ref.kind) {
    case StepRef::Kind::input:
      return inputs[ref.id].at(ref.slot);
    case StepRef::Kind::constant:
      return constants->at(ref.id);
    case StepRef::Kind::upstream:
      return upstream[ref.id].at(ref.slot);
    case StepRef::Kind::number:
      return integer(step->numbers[ref.id]);
    case StepRef::Kind::task:
      break;
  }
  return tasks[ref.id][ref.slot];
}

std::vector<Value> Training::Made::inputs_of(const StepTask& task) const { return all(task.in); }

std::vector<Value> Training::Made::all(const std::vector<StepRef>& refs) const {
  std::vector<Value> values;
  for (const StepRef& ref : refs) values.push_back((*this)[ref]);
  return values;
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
  Made& made = forward_.made;
  made.step = &plan.step;
  made.constants = &plan.constants;
  for (const Value& value : arguments)
    if (target.is_tensor(value)) made.inputs.push_back({value});
  for (const TensorSlot& slot : plan.slots) made.inputs.push_back({slot.value()});
  made.inputs.push_back({integer(steps_)});
  for (std::size_t t = 0; t < plan.step.tasks.size(); ++t) {
    RecordTarget::Listed node = task_of(plan.step.tasks[t], made.inputs_of(plan.step.tasks[t]), {scope, span});
    node.writes = plan.writes[t];
    node.begins = t == 0;
    RecordTarget::ListedNode added = target.listed(std::move(node));
    made.tasks.push_back(std::move(added.outputs));
    made.ordinals.push_back(added.ordinal);
  }
  auto invocation = std::make_shared<Invocation>();
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    invocation->names.push_back(plan.outputs[i]);
    invocation->outputs.push_back(made[plan.step.results[i]]);
  }
  for (const auto& [result, slot] : plan.versions) plan.slots[slot].value() = made[plan.step.results[result]];
  forward_.prediction = invocation->outputs[0];
  return {Value(std::static_pointer_cast<Object>(invocation)), {}};
}

// ---- backward -------------------------------------------------------------------------------------

void Training::backward(Interpreter& interpreter, const Value& goal, const StepSite& site) {
  RecordTarget& target = recording(interpreter, site.span);
  target.begin_pass(TrainingPass::backward);
  if (!forward_.plan)
    throw failure("E5007", site.span, "backward comes after a forward, and there was none since the last one");
  last_target_ = target.type_of(goal);
  const LossPlan& loss = loss_for(interpreter, *last_target_, site.span);
  forward_.made.upstream = {backward_of_loss(target, loss, goal, site)};
  add_reverses(target, forward_.made, site.scope == forward_.scope, site);
  add_gradients(interpreter, site);
  forward_ = {};
  stepped_ = true;
}

const LossPlan& Training::loss_for(Interpreter& interpreter, const Type& wanted, Span span) {
  const Type prediction = interpreter.target().type_of(forward_.prediction);
  const bool in_parts = !parts_of_prediction(*forward_.plan).empty();
  const std::string key = prediction.text() + ' ' + wanted.text() + (in_parts ? " in parts" : "");
  auto known = losses_.find(key);
  if (known == losses_.end()) {
    const LossCall call{prediction, wanted, in_parts ? &forward_.plan->batch : nullptr, span};
    known = losses_.emplace(key, make_loss_plan(interpreter, options_.functions, call, ops_)).first;
  }
  return known->second;
}

// The loss and metrics, and the gradient of the prediction: the whole, or then its parts.
std::vector<Value> Training::backward_of_loss(RecordTarget& target, const LossPlan& loss, const Value& goal,
                                              const StepSite& site) {
  const std::vector<Value> parts = forward_.made.all(parts_of_prediction(*forward_.plan));
  Made made;
  made.step = &loss.step;
  made.inputs = {{forward_.prediction}, {goal}};
  made.inputs[0].insert(made.inputs[0].end(), parts.begin(), parts.end());
  for (const Value& total : totals_) made.inputs.push_back({total});
  for (const StepTask& task : loss.step.tasks) {
    RecordTarget::ListedNode added = target.listed(task_of(task, made.inputs_of(task), site));
    made.tasks.push_back(std::move(added.outputs));
    made.ordinals.push_back(added.ordinal);
  }
  const std::vector<Value> results = made.all(loss.step.results);
  loss_ = results[0];
  std::copy(results.begin() + 1, results.end(), totals_.begin());
  rows_ += loss.rows;
  add_reverses(target, made, true, site);
  if (parts.empty()) return made.all(loss.step.gradients[0]);
  std::vector<Value> upstream = made.all(loss.step.gradient_parts[0]);
  upstream.emplace(upstream.begin());
  return upstream;
}

// Where names are counted in another scope, reverses are counted there.
void Training::add_reverses(RecordTarget& target, Made& made, bool same_scope, const StepSite& site) {
  const TrainingStep& step = *made.step;
  for (std::size_t r = 0; r < step.reverses.size(); ++r) {
    const bool called_after = same_scope && step.reversed[r] != TrainingStep::none;
    const std::uint32_t ordinal = called_after ? made.ordinals[step.reversed[r]] : UINT32_MAX;
    RecordTarget::Listed node = task_of(step.reverses[r], made.inputs_of(step.reverses[r]), site);
    made.tasks.push_back(target.listed(backward_of(std::move(node), ordinal)).outputs);
  }
}

void Training::add_gradients(Interpreter& interpreter, const StepSite& site) {
  const ForwardPlan& plan = *forward_.plan;
  for (std::size_t i = 0; i < plan.slots.size(); ++i)
    for (const StepRef& part : plan.gradients(i)) {
      Value& gradient = weight_of(plan.slots[i]).gradient;
      const Value more = forward_.made[part];
      gradient = gradient.is_none() ? more : run(interpreter, "total_gradient", {gradient, more}, {}, site);
    }
}

Training::Weight& Training::weight_of(const TensorSlot& slot) {
  for (Weight& weight : weights_)
    if (weight.slot.agent == slot.agent && weight.slot.index == slot.index) return weight;
  bug("a step has a slot that its agent has not");
}

// ---- update ---------------------------------------------------------------------------------------

std::shared_ptr<const OpList> Training::list_of(Interpreter& interpreter, const Value& function,
                                                const std::vector<GenericArgument>& arguments) {
  std::string key = print(function);
  for (const GenericArgument& argument : arguments) {
    key += ' ';
    if (auto* type = std::get_if<Type>(&argument))
      key += type->text();
    else
      put_value(key, std::get<Value>(argument));
  }
  std::shared_ptr<const OpList>& list = lists_[key];
  if (!list) list = std::make_shared<OpList>(generic_op_list(interpreter, function, arguments).value_or_throw());
  return list;
}

Value Training::run(Interpreter& interpreter, const std::string& function, std::vector<Value> tensors,
                    const std::vector<Value>& numbers, const StepSite& site) {
  RecordTarget& target = recording(interpreter, site.span);
  std::vector<GenericArgument> arguments;
  for (const Value& tensor : tensors) arguments.emplace_back(target.type_of(tensor));
  for (const Value& number : numbers) arguments.emplace_back(number);
  const std::shared_ptr<const OpList> list = list_of(interpreter, options_.module.at(function), arguments);
  return target.listed(task_of(function, list, std::move(tensors), site)).outputs[0];
}

// What all gradients are multiplied by so that their norm is at most `clip`; none: nothing.
Value Training::clip_factor(Interpreter& interpreter, const StepSite& site) {
  if (options_.clip <= 0) return {};
  Value squares;
  for (const Weight& weight : weights_) {
    if (weight.gradient.is_none()) continue;
    const Value own = run(interpreter, "squares", {weight.gradient}, {}, site);
    squares = squares.is_none() ? own : run(interpreter, "total_gradient", {squares, own}, {}, site);
  }
  return squares.is_none() ? squares : run(interpreter, "clip_factor", {squares}, {Value(options_.clip)}, site);
}

Value Training::rate(Interpreter& interpreter, const StepSite& site) const {
  const Value& lr = options_.optimizer->lr;
  const Value now = lr.as<Callable>() ? interpreter.apply(lr, {Value(steps_)}, {site.span}).value : lr;
  return Value(scalar_array(now, Precision::f64));
}

void Training::update(Interpreter& interpreter, const StepSite& site) {
  recording(interpreter, site.span).begin_pass(TrainingPass::update);
  if (!stepped_)
    throw failure("E5007", site.span, "update comes after a backward, and there was none since the last one");
  const Value factor = clip_factor(interpreter, site);
  ++steps_;
  const Value lr = rate(interpreter, site);
  for (Weight& weight : weights_) {
    if (weight.gradient.is_none()) continue;
    if (!factor.is_none()) weight.gradient = run(interpreter, "clip", {weight.gradient, factor}, {}, site);
    update_weight(interpreter, weight, lr, site);
    weight.gradient = {};
  }
  stepped_ = false;
}

const Function& Training::rule() const {
  return program_[options_.module.at(options_.optimizer->rule).as<Callable>()->function];
}

// The places of the rule behind the weight.
std::vector<std::string> Training::moment_names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : rule().parameters)
    if (parameter.privilege == Privilege::inout) names.push_back(options_.optimizer->name + "_" + parameter.name);
  names.erase(names.begin());
  return names;
}

void Training::make_moments(Target& target, Weight& weight) const {
  if (!weight.moments.empty()) return;
  for (const std::string& name : moment_names())
    weight.moments.push_back(target.place(weight.slot.path + "." + name,
                                          target.constant(Array::make(concrete(target.type_of(weight.slot.value()))))));
}

void Training::update_weight(Interpreter& interpreter, Weight& weight, const Value& lr, const StepSite& site) {
  RecordTarget& target = recording(interpreter, site.span);
  const Optimizer& optimizer = *options_.optimizer;
  const Type type = target.type_of(weight.slot.value());
  make_moments(target, weight);
  std::vector<Value> inputs;
  std::vector<std::size_t> writes;
  std::vector<GenericArgument> arguments;
  auto give = [&](const Value& input, const Type& as) {
    inputs.push_back(input);
    arguments.emplace_back(as);
  };
  for (const Parameter& parameter : rule().parameters) {
    if (parameter.privilege == Privilege::inout) {  // the weight, then its moments
      give(writes.empty() ? weight.slot.value() : weight.moments[writes.size() - 1], type);
      writes.push_back(inputs.size() - 1);
    } else if (parameter.name == "g") {
      give(weight.gradient, type);
    } else if (parameter.name == "lr") {
      give(lr, Type::Kind::real);
    } else if (parameter.name == "step") {
      give(integer(steps_), Type::Kind::integer);
    } else {
      arguments.emplace_back(
          std::ranges::find(optimizer.options, parameter.name, &std::pair<std::string, Value>::first)->second);
    }
  }
  RecordTarget::Listed node = task_of(
      optimizer.name, list_of(interpreter, options_.module.at(optimizer.rule), arguments), std::move(inputs), site);
  node.writes = std::move(writes);
  const std::vector<Value> outputs = target.listed(std::move(node)).outputs;
  weight.slot.value() = outputs[0];
  for (std::size_t k = 0; k < weight.moments.size(); ++k) weight.moments[k] = outputs[k + 1];
}

// ---- what it tells --------------------------------------------------------------------------------

void Training::reset_metrics() {
  totals_.assign(options_.functions.metrics.size(), real(0.0));
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
  return run(interpreter, last, {total, real(rows_)}, {}, site);
}

const Training::Weight& Training::weight_at(const std::string& path, Span span) const {
  auto known = std::ranges::find(weights_, path, [](const Weight& weight) { return weight.slot.path; });
  if (known == weights_.end()) throw failure("E1002", span, fmt::format("the net has no weight '{}'", path));
  return *known;
}

Value Training::weight(const std::string& path, Span span) const { return weight_at(path, span).slot.value(); }

Value Training::gradient(Interpreter& interpreter, const std::string& path, Span span) const {
  recording(interpreter, span);
  const Weight& weight = weight_at(path, span);
  if (weight.gradient.is_none())
    throw failure("E5007", span, fmt::format("'{}' has no gradient since the last update", path));
  return weight.gradient;
}

// ---- checkpoints ----------------------------------------------------------------------------------

std::vector<Training::Saved> Training::state(Target& target) {
  std::vector<Saved> state;
  for (Weight& weight : weights_) {
    if (weight.slot.kind() != SlotKind::weight) continue;
    make_moments(target, weight);
    const std::vector<std::string> names = moment_names();
    for (std::size_t k = 0; k < names.size(); ++k)
      state.push_back({names[k] + "/" + weight.slot.path, &weight.moments[k], weight.slot.path + "." + names[k]});
  }
  for (std::size_t k = 0; k < totals_.size(); ++k)
    state.push_back({"total/" + options_.functions.metrics[k].first, &totals_[k], ""});
  return state;
}

std::vector<NamedArray> Training::contents(Target& target, Span span) {
  if (stepped_) throw failure("E5007", span, "gradients wait for their update: save comes behind it");
  std::vector<TensorSlot> slots;
  for (const Weight& weight : weights_) slots.push_back(weight.slot);
  std::vector<NamedArray> arrays = slot_contents(target, slots, span);
  auto add = [&](const std::string& name, Array array) {
    arrays.push_back({std::string(training_state) + name, std::move(array)});
  };
  for (const Saved& saved : state(target)) add(saved.name, target.receive(*saved.value, span));
  add("rows", real(rows_).array());
  add("steps", integer(steps_).array());
  add("epochs", integer(epochs_).array());
  return arrays;
}

void Training::load(Target& target, const std::string& path) {
  std::vector<TensorSlot> slots;
  for (const Weight& weight : weights_) slots.push_back(weight.slot);
  std::vector<WantedArray> wanted = wanted_arrays(target, slots);
  const std::vector<Saved> saved = state(target);
  for (const Saved& one : saved)
    wanted.push_back({std::string(training_state) + one.name, concrete(target.type_of(*one.value))});
  wanted.push_back({std::string(training_state) + "rows", {Precision::f64, {}}});
  for (const char* count : {"steps", "epochs"})
    wanted.push_back({std::string(training_state) + count, {Precision::i64, {}}});
  std::vector<Array> found = fitting(path, text(), wanted, load_checkpoint(path).arrays);
  List made;  // before anything changes, which memory may end
  for (std::size_t k = 0; k < saved.size(); ++k) {
    const Value contents = target.constant(found[slots.size() + k]);
    made.push_back(saved[k].place.empty() ? contents : target.place(saved[k].place, contents));
  }
  const std::size_t numbers = slots.size() + saved.size();
  set_slots(target, slots, {found.begin(), found.begin() + static_cast<std::ptrdiff_t>(slots.size())});
  for (std::size_t k = 0; k < saved.size(); ++k) *saved[k].value = std::move(made[k]);
  rows_ = found[numbers].number(0);
  steps_ = found[numbers + 1].integer(0);
  epochs_ = found[numbers + 2].integer(0);
  for (Weight& weight : weights_) weight.gradient = {};
  forward_ = {};
  loss_ = {};
  stepped_ = false;
}

// ---- looked at ------------------------------------------------------------------------------------

namespace {

// Looking at a step changes no slot.
class SameSlots {
 public:
  explicit SameSlots(ForwardPlan& plan) : plan_(plan) {
    for (const TensorSlot& slot : plan.slots) before_.push_back(slot.value());
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

// What slots and moments hold is no part of the graph of a step.
void Training::forget_contents(GraphView& view, RecordTarget& target) {
  auto unknown = [&](const Type& type) { return view.handle(Ref::constant(view.graph.add_constant(type, {})), type); };
  for (Weight& weight : weights_) {
    const Type type = target.type_of(weight.slot.value());
    weight.slot.value() = unknown(type);
    weight.gradient = {};
    weight.moments.clear();
    if (weight.slot.kind() != SlotKind::weight) continue;
    for (const std::string& name : moment_names())
      weight.moments.push_back(target.place(weight.slot.path + "." + name, unknown(type)));
  }
  reset_metrics();
}

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
  copy.forget_contents(*view, target);
  std::vector<Value> arguments;
  for (const auto& argument : last_arguments_) {
    auto* type = std::get_if<Type>(&argument);
    const std::string name = arguments.empty() ? "x" : "x" + std::to_string(arguments.size());
    arguments.push_back(type ? input(name, *type) : std::get<Value>(argument));
  }
  const StepSite site{ScopeId(0), span};
  copy.call(interpreter, std::move(arguments), site.scope, span);
  copy.backward(interpreter, input("y", *last_target_), site);
  copy.update(interpreter, site);
  view->graph.add_result({"loss", target.type_of(copy.loss_), copy.loss_.as<Tensor>()->ref});
  return view;
}

}  // namespace taskspec
