#include "ir/region/forms/run_index.hpp"

#include <algorithm>

namespace taskspec {

RunIndex::RunIndex(std::vector<ColourRun> runs) : runs_(std::move(runs)) {
  std::ranges::stable_sort(runs_, {}, [](const ColourRun& one) { return one.run.lo; });
  reach_.reserve(runs_.size());
  std::int64_t reach = 0;
  for (const ColourRun& one : runs_) {
    elements_ += one.run.size();
    covered_ += std::max<std::int64_t>(0, one.run.hi - std::max(reach, one.run.lo));
    reach_.push_back(reach = std::max(reach, one.run.hi));
  }
}

bool RunIndex::each_between(Run near, FunctionRef<bool(const ColourRun&)> visit) const {
  const auto first = std::ranges::partition_point(reach_, [&](std::int64_t reach) { return reach <= near.lo; });
  for (auto at = static_cast<std::size_t>(first - reach_.begin()); at < runs_.size() && runs_[at].run.lo < near.hi;
       ++at)
    if (runs_[at].run.hi > near.lo && !visit(runs_[at])) return false;
  return true;
}

void RunIndex::each_in(const Intervals& set, FunctionRef<void(const ColourRun&)> visit) const {
  for (const Run& part : set.runs())
    each_between(part, [&](const ColourRun& one) {
      visit({{std::max(one.run.lo, part.lo), std::min(one.run.hi, part.hi)}, one.colour});
      return true;
    });
}

void visit_by_colour(const Rect& root, const Rect& colours, std::vector<ColourRun> runs,
                     FunctionRef<void(const Point& colour, const IndexSpace& part)> visit) {
  std::ranges::stable_sort(runs, {}, &ColourRun::colour);
  for (auto first = runs.begin(); first != runs.end();) {
    const auto behind =
        std::find_if(first, runs.end(), [&](const ColourRun& one) { return one.colour != first->colour; });
    std::vector<Run> part;
    for (auto one = first; one != behind; ++one) part.push_back(one->run);
    visit(colours.point(first->colour), IndexSpace(root, Intervals::of(std::move(part))));
    first = behind;
  }
}

}  // namespace taskspec
