// What happens behind the prediction of a step: the loss, metrics and the gradient of the prediction, for the types of
// a prediction and of what it should have been.
//
//   loss:             prediction, target, totals of metrics  ->  loss, new totals, what the reverse needs
//   loss.backward:    what it needs                          ->  gradient of the prediction
//
// Of a batch in parts each part does so by itself, and what the loss and metrics sum up comes together.
#pragma once
#include "interp/control/interpreter.hpp"
#include "ir/gradient/batch_parts.hpp"
#include "ir/gradient/training_step.hpp"

namespace taskspec {

// The functions of the module `training`, and one of the user's in place of a loss.
struct StepFunctions {
  Value loss;
  std::string loss_name;
  std::vector<std::pair<std::string, Value>> metrics;
  Value labels_f32, labels_f64, added;
};

struct LossPlan {
  // Inputs: prediction, target, totals of metrics. Results: the loss, new totals; gradients of input 0, part by part
  // where the prediction comes so.
  TrainingStep step;
  double rows = 1;  // of the batch
};

struct LossCall {
  const Type &prediction, &target;
  const BatchParts* parts = nullptr;  // in which the prediction comes; none: as a whole
  Span span;
};

LossPlan make_loss_plan(const Interpreter& outer, const StepFunctions& functions, const LossCall& call,
                        const OpTable& ops);

}  // namespace taskspec
