// What a program on a chip showed while it ran: spikes and potentials of its neurons, for pictures of the run.
#pragma once
#include <functional>
#include <span>

#include "hwsim/cores/machine.hpp"
#include "hwsim/report/picture.hpp"

namespace taskspec {

// Spikes and potentials of one population, step by step.
class PopulationRecorder {
 public:
  PopulationRecorder(std::string name, Extents shape, bool has_potentials);
  bool wants_potentials() const;  // of the step to come
  // Neurons that spiked, ascending; potentials are asked of those neurons that are traced.
  void step(std::span<const std::uint32_t> spikes, const std::function<std::int32_t(std::int64_t)>& potential);
  const PicturePopulation& population() const { return population_; }

 private:
  PicturePopulation population_;
};

// Of the neurons of a mapped program (blocks CLIF), looked at after each step.
class NeuronRecorder {
 public:
  explicit NeuronRecorder(const ChipProgram& program);
  void look(const ChipMachine& machine);
  std::vector<PicturePopulation> populations() const;

 private:
  struct Place {
    BlockId block, state;
    PopulationRecorder recorder;
  };
  std::vector<Place> places_;
};

}  // namespace taskspec
