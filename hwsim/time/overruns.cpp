#include "hwsim/time/overruns.hpp"

#include <fmt/format.h>

namespace taskspec {

Diag Overruns::told(const Chip& chip, const std::string& core, const std::string& layer) const {
  constexpr std::string_view stages[] = {"axon", "soma1", "router", "soma2"};
  Diag diag("E5012", Severity::error, {},
            fmt::format("{}: phase {} takes {} clk, a phase of {} has {}: too long since its {}{}", core, first_->phase,
                        first_->need, chip.name, chip.sync.phase_clk, stages[static_cast<std::size_t>(first_->stage)],
                        layer.empty() ? "" : ", layer '" + layer + "'"));
  diag.help(fmt::format("sync/phase_clk of {} suffices", longest_));
  return diag;
}

}  // namespace taskspec
