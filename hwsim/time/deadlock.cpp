#include "hwsim/time/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace taskspec {

namespace {

constexpr std::size_t most_waits_told = 16;

}  // namespace

Diag deadlock(std::size_t cores, const std::function<std::optional<CoreWait>(std::int32_t)>& wait_of,
              const std::function<std::string(std::int32_t)>& name) {
  std::vector<CoreWait> waits;
  bool is_circle = false;
  for (std::size_t c = 0; c < cores && waits.empty(); ++c)
    for (std::optional<CoreWait> wait = wait_of(static_cast<std::int32_t>(c)); wait; wait = wait_of(wait->on)) {
      const auto seen = std::ranges::find(waits, wait->core, &CoreWait::core);
      is_circle = seen != waits.end();
      if (is_circle) waits.erase(waits.begin(), seen);
      if (is_circle) break;
      waits.push_back(*wait);
      if (wait->on == host_core) break;
    }
  const std::size_t told = std::min(waits.size(), most_waits_told);
  std::string circle;
  if (is_circle) circle = ": " + name(waits[0].core);
  for (std::size_t i = 0; is_circle && i < told; ++i) circle += " > " + name(waits[i].on);
  Diag diag("E5012", Severity::error, {}, "the cores of the chip wait for one another" + circle);
  for (std::size_t i = 0; i < told; ++i) diag.note(waits[i].why);
  if (waits.size() > told) diag.note(fmt::format("and {} more", waits.size() - told));
  return diag;
}

}  // namespace taskspec
