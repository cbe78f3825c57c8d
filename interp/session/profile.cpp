#include "interp/session/profile.hpp"

#include <algorithm>

namespace taskspec {

void Profile::Sample::add(std::int64_t time) {
  least = std::min(least, time);
  if (seen++ % every != 0) return;
  if (ns.size() == most) {
    for (std::size_t i = 0; i < most / 2; ++i) ns[i] = ns[2 * i];
    ns.resize(most / 2);
    every *= 2;
    if ((seen - 1) % every != 0) return;
  }
  ns.push_back(time);
}

std::int64_t Profile::Sample::median() const {
  std::vector<std::int64_t> sorted = ns;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

std::uint32_t Profile::plan_of(const Plans::Made& plan) {
  constexpr std::size_t most_kept = 1024;  // as many as a session keeps for itself
  auto [known, fresh] = run_of_.emplace(plan.number, static_cast<std::uint32_t>(runs_.size()));
  if (fresh) runs_.push_back({runs_.size() < most_kept ? plan.executable->plan() : nullptr, plan.chains, 0});
  return known->second;
}

std::uint32_t Profile::add(const Plans::Made& plan, const std::vector<DispatchRecord>& records, std::int64_t begin_ns) {
  const std::uint32_t of_plan = keeps_timeline_ ? plan_of(plan) : 0, run = runs_counted_++;
  if (keeps_timeline_) ++runs_[of_plan].runs;
  for (const DispatchRecord& record : records) {
    const std::string& chain = plan.chains[record.chain.index()];
    auto [row, fresh] = row_of_.emplace(chain, rows_.size());
    if (fresh) {
      rows_.emplace_back().chain = chain;
      samples_.emplace_back();
    }
    ProfileRow& p = rows_[row->second];
    const std::int64_t time = ns(record.end - record.begin);
    if (p.calls++ == 0)
      p.first_ns = time;
    else
      samples_[row->second].add(time);
    p.ns += time;
    p.bytes += plan.bytes[record.chain.index()];
    p.work.operations += plan.work[record.chain.index()].operations;
    p.work.bytes += plan.work[record.chain.index()].bytes;
    if (!keeps_timeline_) continue;
    ahead_ = std::max(ahead_, begin_ns - ns(record.begin));
    timeline_.push_back({of_plan, record.chain, record.worker, ns(record.begin), ns(record.end), run});
  }
  return run;
}

void Profile::add_failed(const Plans::Made& plan, const std::vector<Poison>& failed) {
  if (!keeps_timeline_) return;
  std::vector<NodeId>& known = runs_[plan_of(plan)].failed;
  for (const Poison& poison : failed)
    if (std::ranges::find(known, poison.origin) == known.end()) known.push_back(poison.origin);
}

// No dispatch begins before its run does: where that is nearest the two clocks meet.
void Profile::report(SessionReport& report) const {
  report.profile = rows_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool one = samples_[i].ns.empty();
    report.profile[i].least_ns = one ? rows_[i].first_ns : samples_[i].least;
    report.profile[i].median_ns = one ? rows_[i].first_ns : samples_[i].median();
  }
  report.plans_run = runs_;
  report.timeline = timeline_;
  for (TimelineEntry& entry : report.timeline) entry.begin_ns += ahead_, entry.end_ns += ahead_;
}

}  // namespace taskspec
