#include "hwsim/time/batch_credits.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "hwsim/program/batch_turns.hpp"

namespace taskspec {

namespace {

// Items of a message that a buffer has room for, beside those that wait there for later steps.
std::int64_t room_of(const ChipProgram& program, const ChipCore& core, std::int32_t message) {
  const ChipMessage& sent = program.messages[static_cast<std::size_t>(message)];
  const auto buffer = static_cast<std::size_t>(sent.to_buffer);
  if (sent.to_buffer < 0 || buffer >= core.buffers.size()) return 1;
  return std::max<std::int64_t>(1, core.buffers[buffer].slots - steps_waiting(program.cores, sent));
}

}  // namespace

std::int64_t most_room(const ChipProgram& program) {
  std::int64_t room = 1;
  for (const ChipCore& core : program.cores)
    for (const ChipBuffer& buffer : core.buffers) room = std::max(room, buffer.slots);
  return room;
}

BatchCredits batch_credits(const ChipProgram& program) {
  BatchCredits made{.next = std::vector<std::vector<std::int32_t>>(program.messages.size()),
                    .first = std::vector<std::int64_t>(program.messages.size(), 1)};
  for (const ChipCore& core : program.cores) {
    std::map<std::int32_t, std::vector<std::vector<std::int32_t>>> batches;  // by buffer, as phases move them
    for (std::size_t i = 0; i < core.phases.size(); ++i) {
      std::map<std::int32_t, std::vector<std::int32_t>> here;
      for (std::int32_t m : core.phases[phase_in_turn(core, i)].receives)
        here[program.messages[static_cast<std::size_t>(m)].to_buffer].push_back(m);
      for (auto& [buffer, messages] : here) batches[buffer].push_back(std::move(messages));
    }
    for (const auto& [buffer, list] : batches) {
      const auto count = static_cast<std::int64_t>(list.size());
      for (std::int64_t i = 0; i < count; ++i) {
        const std::vector<std::int32_t>& batch = list[static_cast<std::size_t>(i)];
        const std::int64_t room = room_of(program, core, batch[0]);
        made.next[static_cast<std::size_t>(batch[0])] = list[static_cast<std::size_t>((i + room) % count)];
        for (std::int32_t m : batch)
          made.first[static_cast<std::size_t>(m)] = i < room ? (room - i + count - 1) / count : 0;
      }
    }
  }
  return made;
}

std::int64_t way_back(const ChipProgram& program, std::int32_t message) {
  const ChipMessage& sent = program.messages[static_cast<std::size_t>(message)];
  if (sent.from_core == host_core) return 1;
  const std::int32_t a = program.cores[static_cast<std::size_t>(sent.from_core)].core;
  const std::int32_t b = program.cores[static_cast<std::size_t>(sent.to_core)].core;
  const ChipNoc& noc = program.chip->noc;
  return std::abs(a % program.width - b % program.width) * noc.hop_clk_x +
         std::abs(a / program.width - b / program.width) * noc.hop_clk_y;
}

}  // namespace taskspec
