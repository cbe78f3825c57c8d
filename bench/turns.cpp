#include "bench/turns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec::bench {

namespace {

constexpr std::size_t seen = 40;  // turns around each of the two that are measured

}  // namespace

double Turns::first() const { return around(std::min(few, times_.size() / 2)); }
double Turns::last() const { return around(times_.size() - std::min(seen, times_.size())); }

double Turns::around(std::size_t begin) const {
  const std::size_t end = std::min(times_.size(), begin + seen);
  std::vector<double> times(times_.begin() + static_cast<std::ptrdiff_t>(begin),
                            times_.begin() + static_cast<std::ptrdiff_t>(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void add_row(Table& table, const std::string& what, const Turns& turns) {
  table.add({what, fmt::format("{:.1f}", 1e6 * turns.first()), fmt::format("{:.1f}", 1e6 * turns.last()),
             fmt::format("{:.2f}", turns.last() / turns.first())});
}

}  // namespace taskspec::bench
