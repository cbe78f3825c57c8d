// Programs of a few cores put together by hand, for schedules that are worked out on paper: no net, no memory, only how
// long stages take, who sends whom how many packets, and how many items a receiver has room for.
//
//   ChipSchedule made(tests::chip_variant("tianjicx"));
//   const int a = made.core(0, 0, {{.axon = 100, .soma = 20, .move = 5}});     // at place 0, of group 0, one phase
//   made.message(ChipSchedule::host, 0, a, 0, 10);                            // 10 packets, moved in its phase 0
#pragma once
#include <memory>
#include <vector>

#include "hwsim/program/program.hpp"
#include "hwsim/time/clock.hpp"

namespace taskspec::tests {

struct PhaseCycles {
  std::int64_t axon = 0, soma = 0, move = 0;
};

class ChipSchedule {
 public:
  static constexpr int host = host_core;

  explicit ChipSchedule(std::shared_ptr<const Chip> chip, ChipExtent chips = {1, 1}) {
    program.chip = std::move(chip);
    program.chips = chips;
    program.width = static_cast<std::int32_t>(program.chip->grid.cores.x * chips.x);
  }

  int core(std::int32_t place, std::int32_t group, const std::vector<PhaseCycles>& phases) {
    ChipCore core{.core = place, .buffers = {}, .phases = {}};
    for (const PhaseCycles& cycles : phases) {
      ChipPhase phase{.axon = {}, .soma = {}, .pipeline = {}, .sends = {}, .moves = {}, .receives = {}};
      phase.axon.emplace().cycles = cycles.axon;
      if (cycles.soma > 0) phase.soma.emplace().cycles = cycles.soma;
      phase.move_cycles = cycles.move;
      phase.group = group;
      core.phases.push_back(std::move(phase));
    }
    program.cores.push_back(std::move(core));
    program.groups = std::max(program.groups, group + 1);
    return static_cast<int>(program.cores.size()) - 1;
  }

  // Of `phase` of the sender, for the moves of `moved` of the receiver, which has room for `depth` items.
  int message(int from, int phase, int to, int moved, std::int64_t packets, std::int64_t depth = 1,
              std::int32_t delay = 0) {
    const auto number = static_cast<std::int32_t>(program.messages.size());
    ChipMessage made{
        .from_core = from, .to_core = to, .from_phase = phase, .delay = delay, .runs = {{0, 0, 8 * packets}}};
    made.packets = packets;
    made.heads = 1;
    if (to != host) {
      ChipCore& core = program.cores[static_cast<std::size_t>(to)];
      made.to_buffer = static_cast<std::int32_t>(core.buffers.size());
      core.buffers.push_back(
          {.use = BufferUse::receive, .name = {}, .block = {}, .layout = {}, .data = {}, .early = {}});
      core.buffers.back().slots = delay + depth;
      core.phases[static_cast<std::size_t>(moved)].receives.push_back(number);
    }
    if (from != host)
      program.cores[static_cast<std::size_t>(from)].phases[static_cast<std::size_t>(phase)].sends.push_back(number);
    program.messages.push_back(std::move(made));
    return number;
  }

  Result<ChipTiming> run(std::int64_t frames = 0) const {
    return time_program(program, {.noc = NocModel::ideal, .frames = frames, .keeps_stages = true});
  }

  // When a stage of a core began, by frame, and when it ended.
  static std::vector<std::int64_t> begins(const ChipTiming& timing, int core, StageTime::Stage stage) {
    return times(timing, core, stage, &StageTime::begin);
  }
  static std::vector<std::int64_t> ends(const ChipTiming& timing, int core, StageTime::Stage stage) {
    return times(timing, core, stage, &StageTime::end);
  }

  ChipProgram program;

 private:
  static std::vector<std::int64_t> times(const ChipTiming& timing, int core, StageTime::Stage stage,
                                         std::int64_t StageTime::*time) {
    std::vector<std::int64_t> list;
    for (const StageTime& one : timing.stages)
      if (one.core == core && one.stage == stage) list.push_back(one.*time);
    return list;
  }
};

}  // namespace taskspec::tests
