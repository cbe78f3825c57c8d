#include "interp/exact/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

BlockRow ExactReport::total() const {
  BlockRow all{.name = "total"};
  for (const BlockRow& row : rows) {
    all.parameters += row.parameters;
    all.multiply_adds += row.multiply_adds;
    all.operations += row.operations;
    all.bytes += row.bytes;
    all.elements += row.elements;
    all.zeros += row.zeros;
    all.saturations += row.saturations;
    all.ordered_steps += row.ordered_steps;
    all.skipped += row.skipped;
    if (!row.range) continue;
    all.range =
        all.range ? ValueRange{std::min(all.range->least, row.range->least), std::max(all.range->most, row.range->most)}
                  : *row.range;
  }
  return all;
}

namespace {

std::string exact_line(const BlockRow& row) {
  const std::string range = row.range ? fmt::format("{}..{}", row.range->least, row.range->most) : "-";
  const std::string zeros =
      row.elements > 0
          ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(row.zeros) / static_cast<double>(row.elements))
          : "-";
  return fmt::format("{:<16} {:<7} {:>10} {:>12} {:>10} {:>24} {:>8} {:>8} {:>7}\n", row.name, row.block,
                     row.parameters, row.multiply_adds, row.bytes, range, zeros, row.saturations, row.ordered_steps);
}

}  // namespace

std::string ExactReport::text() const {
  std::string text = fmt::format("{:<16} {:<7} {:>10} {:>12} {:>10} {:>24} {:>8} {:>8} {:>7}\n", "block", "type",
                                 "parameters", "multiply-adds", "bytes", "range", "zeros", "cuts", "ordered");
  for (const BlockRow& row : rows) text += exact_line(row);
  text += exact_line(total());
  for (const BlockRow& row : rows)
    if (row.ordered_steps > 0)
      text += fmt::format("{}: in order in {} of {} steps: {}\n", row.name, row.ordered_steps, steps, row.reason);
  for (const BlockRow& row : rows) {
    if (row.runs < steps) text += fmt::format("{}: ran in {} of {} steps\n", row.name, row.runs, steps);
    if (row.skipped > 0)
      text += fmt::format("{}: left out {} of {} multiply-adds\n", row.name, row.skipped, row.multiply_adds * row.runs);
    if (row.nonzeros)
      text += fmt::format("{}: {} elements are not 0; its form saves bytes below a density of {:.3f}\n", row.name,
                          *row.nonzeros, row.break_even);
  }
  return text;
}

}  // namespace taskspec
