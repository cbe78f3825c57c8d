#include "interp/session/window.hpp"

#include <algorithm>

namespace taskspec {

namespace {

// Two steps that are taken for one cost a plan, no more.
std::uint64_t step_between(Span from, Span to) {
  const std::uint64_t a = (std::uint64_t{from.source.value} << 48) ^ (std::uint64_t{from.begin} << 24) ^ from.end;
  const std::uint64_t b = (std::uint64_t{to.source.value} << 48) ^ (std::uint64_t{to.begin} << 24) ^ to.end;
  return a * 0x9E3779B97F4A7C15u + b;
}

}  // namespace

bool Window::ends(Span site, std::size_t count) {
  if (tasks_ == 0) return false;
  step_ = step_between(last_, site);
  last_ = site;
  if (count == 0) first_step_ = step_;
  if (count < tasks_ / 2) return false;
  if (count < tasks_) {
    ++taken_[step_];
    return false;
  }
  return count >= 2 * tasks_ || is_turn(step_);
}

bool Window::is_turn(std::uint64_t step) {
  if (rarest_ == 0) {
    rarest_ = UINT32_MAX;
    for (const auto& [known, times] : taken_)
      if (times > 1) rarest_ = std::min(rarest_, times);
  }
  if (rarest_ == UINT32_MAX) return true;  // no loop to be seen
  auto times = [this](std::uint64_t s) {
    auto known = taken_.find(s);
    return known == taken_.end() ? 0 : known->second;
  };
  const std::uint32_t begun = times(first_step_);
  if (begun > 1 && begun <= rarest_ + 1) return step == first_step_;
  return times(step) == rarest_;
}

void Window::begin() {
  first_step_ = step_;
  rarest_ = 0;
  if (!taken_.empty()) taken_.clear();
}

}  // namespace taskspec
