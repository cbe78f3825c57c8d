#include "interp/train/loss_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interp/control/op_lists.hpp"
#include "ir/gradient/parts.hpp"
#include "ir/gradient/reverse.hpp"
#include "ir/graph/op_list_builder.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

class LossMaker {
 public:
  LossMaker(const Interpreter& outer, const StepFunctions& functions, const LossCall& call, const OpTable& ops)
      : outer_(outer),
        functions_(functions),
        call_(call),
        prediction_(call.prediction),
        target_(call.target),
        ops_(ops),
        span_(call.span) {}

  LossPlan make() {
    if (!is_float(prediction_.precision))
      throw failure("E5004", span_, "a prediction that is trained is a float, this is " + prediction_.text());
    if (concrete(prediction_).elements() == 0) throw failure("E5003", span_, "the batch is empty");
    const ValueId y = made_.input({"prediction", Privilege::in, {}}, prediction_);
    const ValueId target = comparable(made_.input({"target", Privilege::in, {}}, target_));
    plan_.rows = prediction_.rank() > 0 ? static_cast<double>(*prediction_.dims[0].constant()) : 1.0;
    const ValueId loss = one_number(call(functions_.loss, {y, target}));
    std::vector<OpListBuilder::Output> outputs{{"loss", loss, false}};
    for (const auto& [name, metric] : functions_.metrics)
      outputs.push_back({name, total(name, metric, y, target), false});
    OpList forward = std::move(made_).finish({}, functions_.loss_name, outputs);
    add_reverse(forward);
    add_forward(std::move(forward));
    if (call_.parts) cut_batch();
    return std::move(plan_);
  }

 private:
  ValueId call(const Value& function, const std::vector<ValueId>& tensors, std::vector<GenericArgument> more = {}) {
    std::vector<GenericArgument> arguments;
    for (ValueId value : tensors) arguments.emplace_back(made_.type(value));
    arguments.insert(arguments.end(), more.begin(), more.end());
    return made_.append(generic_op_list(outer_, function, arguments).value_or_throw(), tensors)[0];
  }

  // Integer labels as rows of 0 and 1.
  ValueId comparable(ValueId target) {
    if (is_float(target_.precision)) {
      if (functions_.loss_name == "sparse_categorical_crossentropy") wrong_target("an integer label for each row");
      if (!(target_ == prediction_)) wrong_target("a tensor like it");
      return target;
    }
    const bool fits = prediction_.rank() > 0 && target_.rank() + 1 == prediction_.rank();
    for (std::size_t d = 0; fits && d < target_.rank(); ++d)
      if (!(target_.dims[d] == prediction_.dims[d])) wrong_target("a label for each row");
    if (!fits) wrong_target("a tensor like it, or an integer label for each row");
    const Value classes(*prediction_.dims.back().constant());
    return call(prediction_.precision == Precision::f64 ? functions_.labels_f64 : functions_.labels_f32, {target},
                {classes});
  }
  [[noreturn]] void wrong_target(const std::string& wanted) const {
    throw failure(
        "E5004", span_,
        fmt::format("the prediction is {}; backward wants {}, this is {}", prediction_.text(), wanted, target_.text()));
  }

  ValueId one_number(ValueId loss) {
    const Type& type = made_.type(loss);
    if (!is_float(type.precision) || concrete(type).elements() != 1)
      throw failure("E1004", span_,
                    fmt::format("a loss is one float; '{}' gives {}", functions_.loss_name, type.text()));
    if (type.rank() == 0) return loss;
    const std::array<OpListBuilder::Operand, 1> operands{loss};
    return made_.emit(*ops_.serving(Serves::reshapes), operands, {{}, {}, span_})[0];
  }

  // Of a metric over the rows so far.
  ValueId total(const std::string& name, const Value& metric, ValueId y, ValueId target) {
    const Type number = Type::tensor(Precision::f64, {});
    const ValueId before = made_.input({name + "_total", Privilege::in, {}}, number);
    const ValueId value = one_number(call(metric, {y, target}));
    return call(functions_.added, {before, value}, {Value(plan_.rows)});
  }

  void add_reverse(OpList& forward) {
    ReverseOptions options;
    options.upstream.assign(forward.outputs.size(), false);
    options.upstream[0] = true;
    options.wanted.assign(forward.inputs.size(), false);
    options.wanted[0] = true;
    const Reverse made = taskspec::reverse(forward, options, ops_);
    if (made.inputs.empty())
      throw failure(
          "E5013", span_,
          fmt::format("'{}' does not depend on the prediction in a way that has a gradient", functions_.loss_name));
    OpListBuilder list;
    StepTask task{.list = {}, .embedded = {}, .name = functions_.loss_name, .members = {}, .in = {}};
    std::vector<ValueId> given{one(list, forward.type(forward.outputs[0].value))};
    for (std::size_t k = 0; k < made.reads.size(); ++k) {
      given.push_back(list.input(made.list.inputs[k + 1], made.list.types[k + 1]));
      task.in.push_back(kept(forward, made.reads[k]));
    }
    const ValueId gradient = list.append(made.list, given)[0];
    task.list =
        std::make_shared<OpList>(std::move(list).finish({}, made.list.name, {{"d_prediction", gradient, false}}));
    plan_.step.reverses.push_back(std::move(task));
    plan_.step.reversed.push_back(0);
    plan_.step.gradients = {{{StepRef::Kind::task, 1, 0}}};
  }
  void add_forward(OpList forward) {
    StepTask task{.list = {}, .embedded = {}, .name = functions_.loss_name, .members = {}, .in = {}};
    for (std::uint32_t i = 0; i < forward.inputs.size(); ++i) task.in.push_back({StepRef::Kind::input, i, 0});
    for (std::uint16_t k = 0; k <= functions_.metrics.size(); ++k)
      plan_.step.results.push_back({StepRef::Kind::task, 0, k});
    task.list = std::make_shared<OpList>(std::move(forward));
    plan_.step.tasks.push_back(std::move(task));
  }

  // The target is cut where it has a row for each of the prediction.
  void cut_batch() {
    const bool has_rows = target_.rank() > 0 && target_.dims[0] == prediction_.dims[0];
    const PartsOptions options{*call_.parts, {true, has_rows}, {true}, {}, {true}};
    plan_.step = in_parts(plan_.step, options, ops_);
  }

  static ValueId one(OpListBuilder& list, const Type& type) {
    return list.constant(Value(scalar_array(Value(1.0), type.precision)), type);
  }
  // A value of the forward list that its reverse reads.
  static StepRef kept(OpList& forward, ValueId value) {
    if (value.index() < forward.inputs.size()) return {StepRef::Kind::input, value.value, 0};
    auto known = std::ranges::find(forward.outputs, value, &OpList::Output::value);
    const auto position = static_cast<std::uint16_t>(known - forward.outputs.begin());
    if (known == forward.outputs.end()) forward.outputs.push_back({fmt::format("v{}", value.value), value, false});
    return {StepRef::Kind::task, 0, position};
  }

  const Interpreter& outer_;
  const StepFunctions& functions_;
  const LossCall& call_;
  const Type &prediction_, &target_;
  const OpTable& ops_;
  const Span span_;
  OpListBuilder made_;
  LossPlan plan_;
};

}  // namespace

LossPlan make_loss_plan(const Interpreter& outer, const StepFunctions& functions, const LossCall& call,
                        const OpTable& ops) {
  return LossMaker(outer, functions, call, ops).make();
}

}  // namespace taskspec
