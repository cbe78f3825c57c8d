#include "hwsim/program/batch_turns.hpp"

namespace taskspec {

BatchTurns::BatchTurns(const ChipProgram& program) : by_message_(program.messages.size()) {
  for (std::size_t c = 0; c < program.cores.size(); ++c) {
    const ChipCore& core = program.cores[c];
    const auto position = static_cast<std::int32_t>(c);
    std::map<std::int32_t, std::vector<std::int32_t>> phases;  // by buffer, in turn
    for (std::size_t i = 0; i < core.phases.size(); ++i) {
      const auto k = static_cast<std::int32_t>(phase_in_turn(core, i));
      for (const ChipMove& move : core.phases[static_cast<std::size_t>(k)].moves)
        if (std::vector<std::int32_t>& list = phases[move.from]; list.empty() || list.back() != k) list.push_back(k);
    }
    for (const auto& [buffer, list] : phases)
      for (std::size_t i = 0; i < list.size(); ++i)
        turns_[{position, buffer, list[i]}] = {static_cast<std::int64_t>(i), static_cast<std::int64_t>(list.size())};
    for (std::size_t k = 0; k < core.phases.size(); ++k)
      for (const std::int32_t message : core.phases[k].receives)
        by_message_[static_cast<std::size_t>(message)] =
            of(position, program.messages[static_cast<std::size_t>(message)].to_buffer, static_cast<std::int32_t>(k));
  }
}

BatchTurn BatchTurns::of(std::int32_t core, std::int32_t buffer, std::int32_t phase) const {
  const auto found = turns_.find({core, buffer, phase});
  return found == turns_.end() ? BatchTurn{} : found->second;
}

}  // namespace taskspec
