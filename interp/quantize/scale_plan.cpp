#include "interp/quantize/scale_plan.hpp"

#include <algorithm>
#include <cmath>

namespace taskspec {

// ---- histogram ------------------------------------------------------------------------------------

void Histogram::add(double number) {
  const double size = std::abs(number);
  if (!std::isfinite(size)) return;
  const double place = most_ > 0 ? size / most_ * static_cast<double>(bins) : 0;
  ++counts_[std::min(bins - 1, static_cast<std::size_t>(place))];
}

void Histogram::add(const Histogram& other) {
  for (std::size_t k = 0; k < bins; ++k) counts_[k] += other.counts_[k];
}

double Histogram::range(RangeMethod method, double percentile) const {
  if (method == RangeMethod::absmax || most_ == 0) return most_;
  const double width = most_ / static_cast<double>(bins);
  if (method == RangeMethod::percentile) {
    const auto all = static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}));
    double below = 0;
    for (std::size_t k = 0; k < bins; ++k) {
      below += static_cast<double>(counts_[k]);
      if (below >= all * percentile / 100) return static_cast<double>(k + 1) * width;
    }
    return most_;
  }
  constexpr int choices = 64;
  double best = most_, least_cost = INFINITY;
  for (int choice = 1; choice <= choices; ++choice) {
    const double clip = most_ * choice / choices, step = clip / 127;
    double cost = 0;
    for (std::size_t k = 0; k < bins; ++k) {
      const double number = (static_cast<double>(k) + 0.5) * width, beyond = number - clip;
      cost += static_cast<double>(counts_[k]) * (beyond > 0 ? beyond * beyond : step * step / 12);
    }
    if (cost < least_cost) least_cost = cost, best = clip;
  }
  return best;
}

// ---- classes --------------------------------------------------------------------------------------

ScalePlan::ScalePlan(std::size_t values, bool by_table) : parent_(values), held_(values), by_table_(by_table) {
  std::iota(parent_.begin(), parent_.end(), 0U);
}

ValueId ScalePlan::class_of(ValueId value) const {
  std::uint32_t at = value.value;
  while (parent_[at] != at) at = parent_[at];
  return ValueId(at);
}

void ScalePlan::same(ValueId a, ValueId b) {
  const std::uint32_t left = class_of(a).value, right = class_of(b).value;
  parent_[std::max(left, right)] = std::min(left, right);
}

double ScalePlan::of(ValueId value) {
  const auto found = scales_.find(class_of(value).value);
  return found == scales_.end() ? 1 : found->second;
}

void ScalePlan::at_most(ValueId value, double scale) {
  const std::uint32_t of_class = class_of(value).value;
  auto [bound, is_new] = bounds_.emplace(of_class, scale);
  if (is_new || scale < bound->second * (1 - 1e-9)) bound->second = scale, bounded_ = true;
}

std::vector<double> ScalePlan::error_of(ValueId value) {
  const auto found = errors.find(value.value);
  return found == errors.end() ? std::vector<double>{} : found->second;
}

double ScalePlan::limited(std::uint32_t of_class, double scale) const {
  const auto bound = bounds_.find(of_class);
  return bound == bounds_.end() ? scale : std::min(scale, bound->second);
}

void ScalePlan::set_ranges(const std::map<std::uint32_t, double>& by_class) {
  bounded_ = false;
  scales_.clear();
  for (const auto& [of_class, range] : by_class) scales_[of_class] = limited(of_class, range > 0 ? 127 / range : 1);
  // In the order of the net, so that what a pool reads has its scale already.
  for (const Preference& wish : preferred_) {
    const std::uint32_t value = class_of(wish.value).value, from = class_of(wish.from).value;
    const auto there = scales_.find(value), source = scales_.find(from);
    if (value == from || there == scales_.end() || source == scales_.end()) continue;
    const double wanted = source->second * wish.factor;
    if (wanted <= there->second) there->second = wanted;
  }
  preferred_.clear();
}

}  // namespace taskspec
