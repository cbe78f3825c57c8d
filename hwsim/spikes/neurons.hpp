// One step of neurons that lie in a row: sums in, spikes out, sums cleared for the next time.
//
//   step_loihi({.du = 4096, .dv = 512, .threshold = 64}, {.sums = sums, .u = u, .v = v, .bias = bias, .fires = fires},
//   n); std::size_t count = compact(fires, n, first, list);            // numbers of those that spike
#pragma once
#include <memory>

#include "hwsim/spikes/net.hpp"
#include "ir/blocks/numerics.hpp"

namespace taskspec {

struct NeuronRow {
  std::int32_t* sums = nullptr;  // what came in; 0 afterwards
  std::int32_t *u = nullptr, *v = nullptr;
  const std::int32_t* bias = nullptr;
  std::uint8_t* fires = nullptr;  // 1 or 0
};

void step_loihi(const LoihiNeurons& model, const NeuronRow& row, std::int64_t count);
void step_truenorth(const TrueNorthNeurons& model, const NeuronRow& row, std::int64_t count);

// Neurons of a block CLIF, which computes with the numerics of its record, as does their synapse, whose current lies in
// `u`. The sums begin at the bias again.
class ClifStepper {
 public:
  ClifStepper(const SpikePopulation& population, std::int64_t begin, std::int64_t end);
  void step(const NeuronRow& row);
  void reset();

 private:
  TaskBlock block_;
  std::int64_t count_ = 0;
  std::vector<std::int32_t> first_thresholds_, thresholds_, masks_;
  std::vector<std::byte> scratch_;
  std::unique_ptr<BlockRunner> runner_, synapse_;
  std::vector<std::int32_t> currents_;  // that the synapse gives
};

// What a block makes of sums, or the sums as they are. They begin at the bias again.
class SumStepper {
 public:
  SumStepper(const GradedSums& model, std::int64_t count);
  // Numbers of those that are not 0, first + i, and what they are; both lists have room for all. Returns how many.
  std::size_t step(const NeuronRow& row, std::uint32_t first, std::uint32_t* list, std::int32_t* values);

 private:
  std::int64_t count_ = 0;
  Precision precision_ = Precision::i32;
  std::shared_ptr<const Array> table_;
  std::unique_ptr<BlockRunner> runner_;  // none: sums are given
  std::vector<std::byte> scratch_, given_;
};

// updated[i] = 1 where something arrived, u or v is not 0, or a bias acts.
void mark_updated(const std::uint8_t* arrived, const NeuronRow& row, std::uint8_t* updated, std::int64_t count);
std::int64_t sum_of(const std::uint8_t* flags, std::int64_t count);

// Writes first + i for each set flag, ascending; `list` has room for `count`. Returns how many.
std::size_t compact(const std::uint8_t* flags, std::int64_t count, std::uint32_t first, std::uint32_t* list);

}  // namespace taskspec
