// Quantisation: a net of floats becomes a block graph of 8-bit integers. Calibration runs the floats and notes how
// large numbers become; lowering asks for scales and says which tensors share one; what was made is then compared with
// the floats on samples that the calibration did not see.
//
//   Result<Quantized> made = quantize(list, {.blocks = table, .known = weights, .samples = images});
//   made->text()      conv2d   S 63.5, cut 4^3, range 2, 0.0 % saturated, 38.1 dB
#pragma once
#include "interp/quantize/scale_plan.hpp"
#include "ir/lowering/lower.hpp"

namespace taskspec {

struct QuantizeInput {
  const BlockTable& blocks;
  std::vector<std::optional<Array>> known;  // by input of the list: weights
  std::vector<std::vector<Array>> samples;  // each of them: the other inputs
  std::vector<std::int64_t> labels = {};    // of the samples, if the first output is classes
  RangeMethod method = RangeMethod::percentile;
  double percentile = 99.99;
  bool by_table = false;  // requant: "lut"
  bool corrects_bias = true;
  double held_back = 0.25;  // share of the samples that is for the comparison alone
};

struct QuantizedLayer {
  std::string name;
  double scale = 1;
  int cut = -1;  // as LoweredLayer::cut
  double range = 0;
  double saturated = 0;  // share of the integers at their bounds
  double snr = 0;        // decibels
};

struct Quantized {
  OpList list;  // that was lowered: without the pairs of a net that was quantised before (own_scales.hpp)
  LoweredGraph lowered;
  std::shared_ptr<const BlockGraph> graph;
  std::vector<QuantizedLayer> layers;  // the first ones are the inputs, the last ones the outputs
  std::size_t calibrated = 0, compared = 0;
  bool holds_back = false;                               // the comparison saw none of the samples that ranges are of
  std::optional<double> float_accuracy, block_accuracy;  // of the samples held back
  std::string text() const;
};

// For one sample: a batch of 1. Errors: E4011, E4012, what kernels say.
Result<Quantized> quantize(const OpList& list, const QuantizeInput& input);

}  // namespace taskspec
