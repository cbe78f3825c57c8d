// The tables of a run on a chip, for a terminal.
#pragma once
#include "hwsim/report/picture.hpp"

namespace taskspec {

// Layers; the chip with its limit and its place below the roofs; energy with other published figures beside; the hash.
// Each table that rests on assumed figures ends with them. Ends without a new line.
std::string chip_text(const ChipPicture& picture);

// Parts that the tables of spiking populations have, too (spike_picture.hpp); all but the hash end with a new line.
std::string totals_line(const ChipPicture& picture);   // "tiny: 5 steps, 1200 clk, 1.2e-05 s, 340 pJ, 2.8e-05 W"
std::string energy_table(const ChipPicture& picture);  // counts * prices, other published figures, what is assumed
std::string hash_line(const ChipPicture& picture);

// Assumed figures whose place in the file begins with one of these, "/rules", and of energies those of events that
// happened. None: empty.
std::string assumed_text(const Chip& chip, std::span<const std::string_view> places, const PerEvent& counts);

// The sum with each other published figure in place of ours: "23.6 pJ (what it means) [source]: 1234.5 pJ in all".
struct OtherEnergy {
  const ChipAlternative* figure = nullptr;
  std::int64_t energy = 0;  // of all; -1: the figure is of no event, or in another unit
};
std::vector<OtherEnergy> other_energies(const ChipPicture& picture);

}  // namespace taskspec
