// The parts of a chip file, each into its part of the chip. Internal to hwsim/chip.
#pragma once
#include "hwsim/chip/fields.hpp"

namespace taskspec::chip_parts {

void read_clock(ChipFields& root, Chip& chip);  // clock, sync
void read_neuron(ChipFields& root, Chip& chip);
void read_memory(ChipFields& root, Chip& chip);
void read_compute(ChipFields& root, Chip& chip);  // mac, rules
void read_limits(ChipFields fields, Chip& chip);
void read_noc(ChipFields fields, Chip& chip);
void read_time(ChipFields& root, Chip& chip);
void read_energy(ChipFields fields, Chip& chip);

}  // namespace taskspec::chip_parts
