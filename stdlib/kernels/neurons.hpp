// Leaky integrate-and-fire neurons with the integer arithmetic of Task IR: every value saturates at 28 bits,
// a leak comes after the fire. All neurons of a population make one step.
//
//   lif_kernel({.neurons = 64, .threshold = 100, .leak = -2, .reset = Reset::subtract}, Precision::i32, ...)
#pragma once
#include <memory>

#include "ir/records/op.hpp"

namespace taskspec {

enum class Reset : std::uint8_t { to_value, subtract, constant, none };

struct LifPlan {
  std::int64_t neurons = 0;
  std::int64_t threshold = 0;         // Vth0
  std::int64_t leak = 0;              // beta: added after the fire
  std::optional<std::int64_t> decay;  // alpha, in 1/256
  Reset reset = Reset::to_value;
  std::int64_t vr = 0, dv = 0;                  // where a reset leads; what the constant one takes away
  std::int64_t floor = -(1 << 27);              // VL
  std::int64_t initial = 0;                     // Vinit, at the end of a window
  std::optional<std::int64_t> window;           // Tw_len
  std::int64_t refractory = 0;                  // Ref_len: steps without input after a spike
  std::int64_t theta_leak = 0, theta_rise = 0;  // beta_th, Incre
  std::optional<std::int64_t> theta_decay;      // alpha_th, in 1/256
  std::optional<std::int64_t> mask;             // VM, when it is one number
  std::int64_t masks = 0;                       // elements of a tensor of masks, used again and again; 0: none
  // Which inputs there are; in this order: u, v, count, theta, masks, random, ticks. The outputs: spike and the new
  // versions of v, count, theta, random, ticks.
  bool has_count = false, has_theta = false, has_random = false, has_ticks = false;
};

// Neurons that only charge, fire, reset and leak: one loop without branches, which vectorises. A reset is `keep` times
// the charge, minus `fixed`, minus `by_threshold` times the threshold.
struct PlainNeurons {
  explicit PlainNeurons(const LifPlan& plan, std::int64_t theta = 0);
  void step(const std::int32_t* u, const std::int32_t* v, std::int8_t* spike, std::int32_t* new_v,
            std::int64_t count) const;

  std::int64_t threshold, decay, leak, floor;
  std::int64_t keep, fixed, by_threshold;
};

// `current`: the precision of u. v, count, theta, masks, random and ticks are stored in 32 bits.
std::unique_ptr<Kernel> lif_kernel(const LifPlan& plan, Precision current);

}  // namespace taskspec
