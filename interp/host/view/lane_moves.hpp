// Elements that go between fields and strips: moved, repeated, gathered by places, folded into places. By width of an
// element where only bytes matter.
#pragma once
#include <span>
#include <string_view>

#include "ir/records/kernel.hpp"

namespace taskspec {

void move_elements(const std::byte* from, std::byte* to, std::int64_t count, std::uint8_t width);
void repeat_element(const std::byte* from, std::byte* to, std::int64_t count, std::uint8_t width);
void gather_elements(const std::byte* from, const std::int64_t* places, std::byte* to, std::int64_t count,
                     std::uint8_t width);

// to[places[e]] = from[e]
void scatter_elements(const std::byte* from, std::byte* to, const std::int64_t* places, std::int64_t count,
                      std::uint8_t width);

// field[places[e]] = op of that and values[e], for all entries of element e before those of the next one: the order of
// the loop, and so its bits. Stops at the first element with a place that is not in [lo, hi), or whose op fails, and
// gives how many are done.
struct ScatterFold {
  std::byte* field = nullptr;
  const std::int64_t* places = nullptr;
  std::int64_t step = 1;  // 0: one place for all
  std::int64_t lo = 0, hi = INT64_MAX;
  const std::byte* values = nullptr;
  const std::byte* factors = nullptr;  // sums of floats only, of all folds or of none: the values are products by these
  const Kernel* kernel = nullptr;
  std::string_view op = {};  // its name: sums and differences of the common precisions have loops of their own
  Span span = {};            // of what it is in the text
};
std::int64_t scatter_folds(std::span<const ScatterFold> folds, Precision precision, std::int64_t count,
                           std::optional<Fault>& fault);

}  // namespace taskspec
