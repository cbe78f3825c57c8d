// The tables of a run on a chip, for a terminal.
#pragma once
#include "hwsim/report/picture.hpp"

namespace taskspec {

// Layers; the chip with its limit and its place below the roofs; energy with other published figures beside; the hash.
// Each table that rests on assumed figures ends with them. Ends without a new line.
std::string chip_text(const ChipPicture& picture);

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
