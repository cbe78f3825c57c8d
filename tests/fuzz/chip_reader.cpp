// Chip files: the presets, and what can become of them.
#include "hwsim/chip/chip.hpp"
#include "tests/fuzz/readers.hpp"

namespace taskspec::fuzz {

namespace {

std::vector<std::string> chip_samples() {
  std::vector<std::string> samples;
  for (const std::string& name : chip_presets()) samples.push_back(find_chip(name).value_or_throw().text);
  return samples;
}

bool read_chip_file(const std::string& bytes) {
  const Result<Chip> chip = read_chip(bytes, "x.json");
  if (!chip) throw Error(chip.diags());
  for (const ChipFigure& figure : chip->figures)
    if (figure.source.empty() || figure.pointer.empty()) throw Odd("a figure without source or place");
  if (chip->memory_bytes() < 1 || chip->hz < 1 || chip->grid.cores.area() < 1) throw Odd("a chip of nothing");
  if (chip->sync.barrier_clk(3) < 0) throw Odd("a barrier that gives time back");
  return true;
}

}  // namespace

extern const Reader reader_chip{Grain::tokens, chip_samples, nullptr, read_chip_file};

}  // namespace taskspec::fuzz
