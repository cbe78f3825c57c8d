// The plans of a session: made once per shape of segment; what a profile says of them.
#include <algorithm>

#include "interp/control/session.hpp"
#include "ir/verify.hpp"

namespace taskspec {

Session::Prepared& Session::prepare(const Segment& segment) {
  if (auto known = plans_.find(segment.key); known != plans_.end()) return known->second;
  const auto begin = std::chrono::steady_clock::now();
  Prepared prepared;
  std::shared_ptr<const TaskGraph> g = graph_of(segment, graph, accesses_);
  Chains chains = aggregate(*g, {.sink_rule = options_.sink_rule});
  prepared.plan = make_plan(g, chains);
  constexpr std::size_t largest_verified = 10'000;  // the verifiers use sets: a long segment would wait for them
  if (g->size() <= largest_verified) {
    verified([&] { return verify_graph(*g); });
    verified([&] { return verify_chains(*g, chains); });
    verified([&] { return verify_plan(*prepared.plan); });
  }
  prepared.executable = backend_.prepare(prepared.plan, bodies_);
  if (options_.record) note_plan(prepared);
  constexpr std::size_t most_plans = 1024;  // a program whose every turn is another segment must not fill the memory
  constexpr std::size_t most_planned = 65'536;  // tasks: about 2 KB each
  if (plans_.size() == most_plans || (planned_ += g->size()) > most_planned) {
    plans_.clear();
    planned_ = g->size();
  }
  ++plans_made_;
  making_ += std::chrono::steady_clock::now() - begin;
  return plans_.emplace(segment.key, std::move(prepared)).first->second;
}

// How a profile names the chains of a plan, and the bytes that each writes.
void Session::note_plan(Prepared& prepared) {
  const Plan& plan = *prepared.plan;
  const TaskGraph& g = *plan.graph;
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    std::string text = "[";
    std::uint64_t bytes = 0;
    for (std::uint32_t t = plan.step_starts[step]; t < plan.step_starts[step + 1]; ++t) {
      NodeId node = plan.tasks[t].node;
      text += (text.size() > 1 ? ", " : "") + g.definition(node).name;
      for (TypeId type : g.out(node)) bytes += concrete(g.type(type)).bytes();
    }
    prepared.chains.push_back(text + "]");
    prepared.bytes.push_back(bytes);
  }
  if (!options_.timeline) return;
  constexpr std::size_t most_kept = 1024;  // as many as a session keeps for itself
  prepared.number = static_cast<std::uint32_t>(plans_run_.size());
  plans_run_.push_back({plans_run_.size() < most_kept ? prepared.plan : nullptr, prepared.chains, 0});
}

void Session::keep_records(const Prepared& prepared, const Outcome& outcome) {
  if (options_.timeline) ++plans_run_[prepared.number].runs;
  for (const StepRecord& record : outcome.records) {
    const std::string& chain = prepared.chains[record.step.index()];
    auto [row, fresh] = profile_rows_.emplace(chain, profile_.size());
    if (fresh) profile_.push_back({chain, 0, 0, 0});
    ProfileRow& p = profile_[row->second];
    ++p.calls;
    p.ns += record.end_ns - record.begin_ns;
    p.bytes += prepared.bytes[record.step.index()];
    if (options_.timeline)
      timeline_.push_back({prepared.number, record.step, record.worker, record.begin_ns, record.end_ns});
  }
}

}  // namespace taskspec
