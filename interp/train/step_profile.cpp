#include "interp/train/step_profile.hpp"

#include <algorithm>

#include "interp/control/record.hpp"

namespace taskspec {

namespace {

// The first step makes plans for slots that were never written, the second one those of all later ones.
constexpr std::int64_t planning_steps = 2;

class StepTimes {
 public:
  explicit StepTimes(const Trial& trial) : trial_(trial) {}

  // After each step: what it added to what was there.
  void take(bool counts) {
    std::vector<OpRow> now = trial_.rows();
    before_.resize(now.size());
    spent_.resize(now.size());
    step_ = now;
    if (counts) passes_.emplace_back();
    for (std::size_t i = 0; i < now.size(); ++i) {
      OpRow& row = step_[i];
      row.calls -= before_[i].calls;
      row.ns -= before_[i].ns;
      row.work.operations -= before_[i].work.operations;
      row.work.bytes -= before_[i].work.bytes;
      if (!counts) continue;
      const double ms = static_cast<double>(row.ns) * 1e-6;
      spent_[i].push_back(ms);
      passes_.back()[static_cast<std::size_t>(row.pass)] += ms;
    }
    before_ = std::move(now);
  }

  StepProfile profile() const {
    StepProfile profile;
    profile.steps = static_cast<std::int64_t>(passes_.size());
    for (std::size_t i = 0; i < step_.size(); ++i)
      if (step_[i].calls > 0) profile.rows.push_back({step_[i], summary(spent_[i])});
    for (std::size_t pass = 0; pass < profile.passes.size(); ++pass) {
      std::vector<double> ms;
      for (const auto& passes : passes_) ms.push_back(passes[pass]);
      profile.passes[pass] = summary(std::move(ms));
    }
    return profile;
  }

 private:
  static Milliseconds summary(std::vector<double> ms) {
    if (ms.empty()) return {};
    std::ranges::sort(ms);
    const std::size_t middle = ms.size() / 2;
    return {ms[0], ms.size() % 2 == 1 ? ms[middle] : (ms[middle - 1] + ms[middle]) / 2};
  }

  const Trial& trial_;
  std::vector<OpRow> before_, step_;           // all so far; of the last step
  std::vector<std::vector<double>> spent_;     // ms by row, by step that counts
  std::vector<std::array<double, 4>> passes_;  // ms by such step, by pass
};

}  // namespace

StepProfile profile_steps(Training& training, Interpreter& interpreter, const ProfileOptions& options, Span span) {
  auto* target = dynamic_cast<RecordTarget*>(&interpreter.target());
  const std::unique_ptr<Trial> trial = target ? target->recorder().trial() : nullptr;
  if (!trial) throw failure("E1009", span, "a step can be tried out only where it runs");
  StepTimes times(*trial);
  const std::int64_t before = planning_steps + options.warmup;
  std::int64_t step = 0;
  const StepMemory memory = training.try_steps(
      interpreter, *trial, before + options.steps, [&] { times.take(step++ >= before); }, span);
  StepProfile profile = times.profile();
  if (profile.rows.empty())
    throw failure("E1009", span, "to time ops on this backend is not built yet: it does not tell what they took");
  profile.memory = memory;
  profile.peak = trial->peak_bytes();
  return profile;
}

}  // namespace taskspec
