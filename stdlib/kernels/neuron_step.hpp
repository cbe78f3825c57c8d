// What one neuron does in a step: the arithmetic that the op `lif` and the block CLIF share, in integers that saturate
// at 28 bits.
//
//   NeuronStep step = step_neuron(plan, {.potential = 90}, 30, 0, false);     step.spikes, step.state.potential
#pragma once
#include <algorithm>
#include <cstdint>

#include "stdlib/kernels/neurons.hpp"

namespace taskspec {

constexpr std::int64_t saturated_28(std::int64_t x) {
  return std::clamp<std::int64_t>(x, -(std::int64_t{1} << 27), (std::int64_t{1} << 27) - 1);
}

// The shift register that random thresholds come from: its new value, what a mask leaves of it, and the low 28 bits of
// that with their sign.
constexpr std::uint32_t shifted(std::uint32_t state) {
  const std::uint32_t bit = (state ^ state >> 1 ^ state >> 2 ^ state >> 3 ^ state >> 5 ^ state >> 7) & 1;
  return bit << 31 | state >> 1;
}
constexpr std::int32_t masked(std::uint32_t state, std::int32_t mask) {
  const auto bits = static_cast<std::uint32_t>(mask);
  return static_cast<std::int32_t>(state >> 31 == 0 ? state & bits : 0U - (~state & bits));
}
constexpr std::int32_t low_28(std::int32_t bits) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits) << 4) >> 4;
}

struct NeuronState {
  std::int64_t potential = 0, count = 0, theta = 0;
};

struct NeuronStep {
  NeuronState state;
  std::int64_t charged = 0;  // V1, before the reset
  bool spikes = false;
};

constexpr std::int64_t reset_potential(const LifPlan& p, std::int64_t charged, std::int64_t threshold) {
  switch (p.reset) {
    case Reset::to_value:
      return p.vr;
    case Reset::subtract:
      return charged - threshold;
    case Reset::constant:
      return charged - p.dv;
    case Reset::none:
      break;
  }
  return charged;
}

// `u`: the input; `random`: added to the threshold; `ends`: a window does.
constexpr NeuronStep step_neuron(const LifPlan& p, const NeuronState& before, std::int64_t u, std::int64_t random,
                                 bool ends) {
  const std::int64_t threshold = std::max(saturated_28(p.threshold + before.theta + random), p.floor);
  NeuronStep step;
  step.charged = saturated_28(before.potential + (before.count == 0 ? u : 0));
  step.spikes = step.charged > threshold;
  const std::int64_t after = step.spikes ? reset_potential(p, step.charged, threshold) : step.charged;
  const std::int64_t leaked = (p.decay ? (after * *p.decay) >> 8 : after) + p.leak;
  step.state.potential = std::max(saturated_28(ends ? p.initial : leaked), p.floor);
  step.state.count = step.spikes ? p.refractory : std::max<std::int64_t>(0, before.count - 1);
  const std::int64_t adapted = (p.theta_decay ? (before.theta * *p.theta_decay) >> 8 : before.theta) + p.theta_leak;
  step.state.theta = saturated_28(adapted + (step.spikes ? p.theta_rise : 0));
  return step;
}

}  // namespace taskspec
