// What the dispatches of a session took, by chain, and each of them where a timeline is wanted.
#pragma once
#include <map>

#include "interp/session/plans.hpp"
#include "interp/session/session_report.hpp"

namespace taskspec {

class Profile {
 public:
  Profile(double hz, bool timeline) : ns_per_tick_(1e9 / hz), keeps_timeline_(timeline) {}
  void add(const Plans::Made& plan, const std::vector<DispatchRecord>& records);
  void report(SessionReport& report) const;

 private:
  std::int64_t ns(std::int64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

  const double ns_per_tick_;
  const bool keeps_timeline_;
  std::map<std::string, std::size_t> row_of_;  // by chain
  std::vector<ProfileRow> rows_;
  std::map<std::uint32_t, std::uint32_t> run_of_;  // by number of the plan
  std::vector<PlanRuns> runs_;
  std::vector<TimelineEntry> timeline_;
};

}  // namespace taskspec
