// A network of blocks on a chip whose neurons are others: what can be said in its terms is, spike by spike the same;
// the rest is refused by name, all at once.
//
//   Result<ChipNeurons> made = on_chip_neurons(net, chip);         // CLIF as loihi or truenorth
//   made->potentials[p].number(v)                                  // what the block would hold where the chip holds v
//
// On loihi potentials are counted in 64ths and from the value that a reset leaves; on truenorth one below theirs,
// because it spikes at its threshold and a CLIF above it. In both the leak acts in front of a step, not behind it.
#pragma once
#include "hwsim/chip/chip.hpp"
#include "hwsim/spikes/net.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

// number = (integer - offset) * unit, neuron by neuron; integers that neurons cannot hold are those at their ends.
struct PotentialScale {
  double unit = 1;
  std::int32_t least = INT32_MIN, most = INT32_MAX;
  std::vector<double> offset = {};  // none: 0
  double number(std::int32_t integer, std::size_t neuron) const {
    return (integer - (offset.empty() ? 0.0 : offset[neuron])) * unit;
  }
  std::int32_t integer(double number, std::size_t neuron) const;
};

struct ChipNeurons {
  SpikingNet net;
  std::vector<PotentialScale> potentials, currents;  // by population
  std::vector<std::string> notes;
};

// What cannot be: E4052, with a note for each population.
class ChipRefusals {
 public:
  void add(std::string_view population, std::string reason);
  bool any() const { return !notes_.empty(); }
  Diags diags(std::string_view net, const Chip& chip) const;

 private:
  std::vector<std::string> notes_;
};

// Where the current of a neuron of loihi could leave its bits: in words.
std::optional<std::string> wrapping_note(const SpikingNet& net, PopulationId to);

Result<ChipNeurons> on_chip_neurons(const SpikingNet& net, const Chip& chip);

}  // namespace taskspec
