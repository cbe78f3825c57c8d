// The clock of a mapped program: when each stage of each core works, when packets leave and arrive, how long a frame
// takes and how far apart frames come out.
//
//   ChipTiming timing = time_program(program, {.noc = NocModel::contended});
//   timing.latency, timing.interval, timing.cycles
//
// Stages of a phase (ticks from its start): the axon, the soma behind it, sends as soma makes them, receives, and the
// move of what came. A phase of a group of cores starts when all of them have ended the one before and the receivers
// of what it sends have room: for one item, or for two where a receive buffer is double. A core in mode A2S2 moves what
// came in the phase before, and so does not wait for packets with its move. Groups of a step group start each step
// together. Source: spec of the chip, sections 1 and 4.1 to 4.3.
#pragma once
#include "hwsim/noc/noc.hpp"
#include "hwsim/program/program.hpp"
#include "hwsim/time/loaded_phases.hpp"
#include "hwsim/time/slowest_step.hpp"

namespace taskspec {

struct ClockOptions {
  NocModel noc = NocModel::contended;
  std::int64_t frames = 0;    // 0: until latency and interval stay as they are, or come back in turns
  bool keeps_stages = false;  // for timelines
};

// When a stage of a core worked, for timelines.
struct StageTime {
  enum class Stage : std::uint8_t { axon, soma, send, receive, move };
  std::int32_t core = 0, phase = 0;  // position in cores
  std::int64_t frame = 0;
  Stage stage = Stage::axon;
  std::int64_t begin = 0, end = 0;
};

struct CoreTime {
  std::int64_t busy = 0;  // ticks in which some stage worked, of so many steps that it ended
  std::int64_t steps = 0;
  std::int64_t open = 0;   // of a step that it has begun
  std::int64_t phase = 0;  // the longest phase
};

// Of a frame: its first packet on its way in, its last one out.
struct FrameTime {
  std::int64_t begin = 0, end = 0;
};

struct ChipTiming {
  std::int64_t frames = 0;
  std::int64_t cycles = 0;    // from the first packet of the first frame to the last one of the last frame
  std::int64_t latency = 0;   // of a frame, in the steady state; of a turn the longest
  std::int64_t interval = 0;  // between frames; of a turn the mean; 0: there was only one
  std::int64_t turn = 0;      // frames after which all goes on in the same way; 0: so many frames were asked for
  std::vector<FrameTime> frame_times;  // of those that came out
  std::vector<CoreTime> cores;
  std::vector<std::int64_t> group_cycles;  // the longest phase of each group
  NocTraffic traffic;                      // of all frames
  std::vector<StageTime> stages;
  std::int32_t limit_group = 0;  // whose phases take longest
  BusiestPort busiest_port;
  LoadedPhases flits;  // under `flit`
};

// Errors: E5012, no event left and work left, with the cycle of those who wait for one another; a phase that is longer
// than a fixed one, with the core, the stage and the length that suffices.
Result<ChipTiming> time_program(const ChipProgram& program, const ClockOptions& options);

// Of a chip, for its network.
NocFigures noc_figures(const Chip& chip, ChipExtent chips);

}  // namespace taskspec
