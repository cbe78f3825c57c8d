// What a run of the exact engine was like, per block and in total.
//
//   report.total().multiply_adds;      fmt::print("{}", report.text());
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/blocks/numerics.hpp"

namespace taskspec {

struct BlockRow {
  std::string name;
  std::string_view block = {};           // "CC"
  std::int64_t parameters = 0;           // elements of static data
  std::int64_t multiply_adds = 0;        // of one step
  std::int64_t operations = 0;           // of one step, on elements, that are no multiply-adds
  std::int64_t bytes = 0;                // in the memory of a chip
  std::optional<ValueRange> range = {};  // of the values of all steps; with statistics only
  std::int64_t elements = 0, zeros = 0;  // of all steps; with statistics only
  std::int64_t saturations = 0;
  std::int64_t ordered_steps = 0;  // in which no proof held
  std::int64_t runs = 0;           // steps in which it ran: all of them, unless it is triggered or behind a switch
  // Multiply-adds of all steps that were left out, because storage that is sparse has a zero there.
  std::int64_t skipped = 0;
  // Of sparse storage: elements of a step that are not 0, at most; below which density its form saves bytes.
  std::optional<std::int64_t> nonzeros = {};
  double break_even = 1;
  std::string reason = {};  // why the ordered loop may be needed: the bound that is too large
};

struct ExactReport {
  std::vector<BlockRow> rows;  // in the graph's order
  std::int64_t steps = 0;

  BlockRow total() const;
  std::string text() const;
};

}  // namespace taskspec
