// What a program on a chip showed while it ran: spikes and potentials of its neurons, for pictures of the run.
#pragma once
#include "hwsim/cores/machine.hpp"
#include "hwsim/report/picture.hpp"

namespace taskspec {

// Of the neurons of a mapped program (blocks CLIF), looked at after each step.
class NeuronRecorder {
 public:
  explicit NeuronRecorder(const ChipProgram& program);
  void look(const ChipMachine& machine);
  const std::vector<PicturePopulation>& populations() const { return populations_; }

 private:
  struct Place {
    BlockId block, state;
  };
  std::vector<Place> places_;
  std::vector<PicturePopulation> populations_;
};

}  // namespace taskspec
