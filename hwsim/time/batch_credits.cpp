#include "hwsim/time/batch_credits.hpp"

#include <map>

namespace taskspec {

BatchCredits batch_credits(const ChipProgram& program) {
  BatchCredits made{.next = std::vector<std::vector<std::int32_t>>(program.messages.size()),
                    .first = std::vector<std::int64_t>(program.messages.size())};
  for (const ChipCore& core : program.cores) {
    std::map<std::int32_t, std::vector<std::vector<std::int32_t>>> batches;  // by buffer, as phases move them
    const std::size_t phases = core.phases.size();
    for (std::size_t i = 0; i < phases; ++i) {  // what the last one moves comes first
      std::map<std::int32_t, std::vector<std::int32_t>> here;
      for (std::int32_t m : core.phases[(i + phases - 1) % phases].receives)
        here[program.messages[static_cast<std::size_t>(m)].to_buffer].push_back(m);
      for (auto& [buffer, messages] : here) batches[buffer].push_back(std::move(messages));
    }
    for (const auto& [buffer, list] : batches)
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::int32_t m : list[i]) {
          made.next[static_cast<std::size_t>(list[i][0])] = list[(i + 1) % list.size()];
          made.first[static_cast<std::size_t>(m)] = i == 0 ? 0 : -1;
        }
  }
  return made;
}

}  // namespace taskspec
