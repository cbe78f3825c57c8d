// A run on a chip as plain data: what tables, files and the viewer show. Every kind of program fills it; who writes
// knows no more than stands here.
//
//   ChipPicture picture = chip_picture(program, timing, account);       then steps, values and populations
//   fmt::print("{}", chip_text(picture));                               chip_text.hpp, chip_files.hpp
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hwsim/noc/places.hpp"
#include "hwsim/report/account.hpp"
#include "ir/base/hash.hpp"

namespace taskspec {

// The phase that takes longest, and what in it does. Where packets keep frames apart for longer than any phase, the
// place that they go through.
struct StepLimit {
  std::int64_t group = 0, phase = 0, cycles = 0;  // 0: nothing limits
  std::int32_t layer = -1, core = -1;             // number of the core on its chips
  std::string_view stage;                         // "axon", "soma1", "router", "soma2"; "neurons", "synapses"
  std::int64_t stage_cycles = 0;
  std::int64_t barrier = 0;  // of spiking populations: in each tick
  NocPlace port = {};
  std::int64_t port_clk = 0, step_clk = 0;  // in a step: the port is held, the slowest group works; 0: no port limits
};

// Where a step stands below the two roofs of a core, its multiply-add units and the port that feeds them.
struct Roofline {
  double intensity = 0;           // multiply-adds per byte at the port
  double ridge = 0;               // from which on the units are the roof
  double bound = 0, reached = 0;  // multiply-adds per clk and core in use
  bool is_there = false;          // there are multiply-adds, and such units
};

// Neurons and their spikes, step by step.
struct PicturePopulation {
  std::string name;
  std::int64_t neurons = 0, steps = 0;
  Extents shape;
  std::vector<std::pair<std::int32_t, std::int32_t>> spikes;  // step, neuron; ascending, the first ones
  std::vector<std::int64_t> per_step;                         // all of them
  std::vector<std::int64_t> per_neuron;                       // empty: too many neurons
  std::vector<std::int64_t> traced;                           // neurons whose potentials follow
  std::vector<std::vector<std::int32_t>> potentials;          // [traced][step]
};

struct ChipPicture {
  std::string title;
  std::shared_ptr<const Chip> chip;
  ChipExtent chips;
  std::string noc;               // the model of the network
  std::int32_t width = 0;        // cores of a row, over all chips
  std::int64_t cores_there = 0;  // that might be used
  std::int64_t core_bytes = 0;   // that a core has, or its crossbar with what its neurons keep
  std::int64_t frames = 0;       // that the clock saw
  std::int64_t latency = 0, interval = 0;
  StepLimit limit;
  ChipAccount account;
  std::vector<StageTime> stages;  // core: position in account.cores
  std::vector<std::string> notes;
  // Of all steps that ran:
  std::int64_t steps = 0, cycles = 0;
  Hash128 values;  // of all that came out
  std::vector<PicturePopulation> populations;

  PerEvent counts() const { return counts_of(account, steps, cycles); }
  Roofline roofline() const;
  Hash128 hash() const;  // of values, cycles and energy
};

// Without what only a run knows.
ChipPicture chip_picture(const ChipProgram& program, const ChipTiming& timing, ChipAccount account);

std::string_view name_of(NocModel model);  // as options write it

// Events by what they are about, for sums that people read.
struct EnergyPart {
  std::string_view name;
  std::vector<EnergyEvent> events;
};
const std::vector<EnergyPart>& energy_parts();
std::int64_t energy_of(const PerEvent& counts, const EnergyPart& part, const Chip& chip);

}  // namespace taskspec
