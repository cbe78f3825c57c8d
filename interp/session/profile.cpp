#include "interp/session/profile.hpp"

namespace taskspec {

void Profile::add(const Plans::Made& plan, const std::vector<DispatchRecord>& records) {
  std::uint32_t run = 0;
  if (keeps_timeline_) {
    constexpr std::size_t most_kept = 1024;  // as many as a session keeps for itself
    auto [known, fresh] = run_of_.emplace(plan.number, static_cast<std::uint32_t>(runs_.size()));
    run = known->second;
    if (fresh) runs_.push_back({runs_.size() < most_kept ? plan.executable->plan() : nullptr, plan.chains, 0});
    ++runs_[run].runs;
  }
  for (const DispatchRecord& record : records) {
    const std::string& chain = plan.chains[record.chain.index()];
    auto [row, fresh] = row_of_.emplace(chain, rows_.size());
    if (fresh) rows_.emplace_back().chain = chain;
    ProfileRow& p = rows_[row->second];
    ++p.calls;
    p.ns += ns(record.end - record.begin);
    p.bytes += plan.bytes[record.chain.index()];
    p.work.operations += plan.work[record.chain.index()].operations;
    p.work.bytes += plan.work[record.chain.index()].bytes;
    if (keeps_timeline_) timeline_.push_back({run, record.chain, record.worker, ns(record.begin), ns(record.end)});
  }
}

void Profile::report(SessionReport& report) const {
  report.profile = rows_;
  report.plans_run = runs_;
  report.timeline = timeline_;
}

}  // namespace taskspec
