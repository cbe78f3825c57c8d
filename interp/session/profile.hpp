// What the dispatches of a session took, by chain, and each of them where a timeline is wanted.
#pragma once
#include <map>

#include "interp/session/plans.hpp"
#include "interp/session/session_report.hpp"

namespace taskspec {

class Profile {
 public:
  Profile(double hz, bool timeline) : ns_per_tick_(1e9 / hz), keeps_timeline_(timeline) {}
  // Gives the number of the run. `begin_ns`: when it began on the clock of the program, which that of the backend is
  // compared with.
  std::uint32_t add(const Plans::Made& plan, const std::vector<DispatchRecord>& records, std::int64_t begin_ns);
  std::uint32_t plan_of(const Plans::Made& plan);  // its position among those of the report
  void add_failed(const Plans::Made& plan, const std::vector<Poison>& failed);
  void report(SessionReport& report) const;

 private:
  std::int64_t ns(std::int64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

  // Times of dispatches but the first: all of them, or every second, fourth.. once they are many.
  struct Sample {
    static constexpr std::size_t most = 1024;
    std::vector<std::int64_t> ns;
    std::uint64_t seen = 0, every = 1;
    std::int64_t least = INT64_MAX;
    void add(std::int64_t time);
    std::int64_t median() const;
  };

  const double ns_per_tick_;
  const bool keeps_timeline_;
  std::map<std::string, std::size_t> row_of_;  // by chain
  std::vector<ProfileRow> rows_;
  std::vector<Sample> samples_;  // by row
  std::uint32_t runs_counted_ = 0;
  std::int64_t ahead_ = INT64_MIN;                 // the clock of the program less that of the backend: at least that
  std::map<std::uint32_t, std::uint32_t> run_of_;  // by number of the plan
  std::vector<PlanRuns> runs_;
  std::vector<TimelineEntry> timeline_;
};

}  // namespace taskspec
