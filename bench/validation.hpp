// Published figures of chips beside ours: the text of bench/validation.md. Rows are `by construction` where the figure
// went into a chip file, so that the row shows that counting is right, and `independent` where it did not. A miss is
// printed.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace taskspec::bench {

struct ValidationRow {
  std::string figure, published, ours;
  double expected = 0, made = 0;  // for the error
  bool is_bound = false;          // `expected` is the most that is possible
  bool independent = false;
  std::string source;
};

std::vector<ValidationRow> validation_rows();
std::string validation_text(const std::vector<ValidationRow>& rows);
int validation(const Settings& settings);

}  // namespace taskspec::bench
