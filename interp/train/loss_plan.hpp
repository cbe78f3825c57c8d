// What happens behind the prediction of a step: the loss, metrics and the gradient of the prediction, for the types of
// a prediction and of what it should have been.
//
//   loss:             prediction, target, totals of metrics  ->  loss, new totals, what the reverse needs
//   loss.backward:    what it needs                          ->  gradient of the prediction
#pragma once
#include "interp/control/interpreter.hpp"
#include "ir/gradient/reverse.hpp"

namespace taskspec {

// The functions of the module `training`, and one of the user's in place of a loss.
struct StepFunctions {
  Value loss;
  std::string loss_name;
  std::vector<std::pair<std::string, Value>> metrics;
  Value labels_f32, labels_f64, added;
};

struct LossPlan {
  std::shared_ptr<const OpList> forward, backward;
  // Outputs of `forward` that `backward` reads; input k < 2 counts as SIZE_MAX - k: the prediction, the target.
  std::vector<std::size_t> reads;
  double rows = 1;  // of the batch
};

LossPlan make_loss_plan(const Interpreter& outer, const StepFunctions& functions, const Type& prediction,
                        const Type& target, const OpTable& ops, Span span);

}  // namespace taskspec
