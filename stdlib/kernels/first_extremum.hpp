// Where the largest (or smallest) of a row stands, the first of equals, the first nan before all: found in two passes
// that vectorise, one for the value and one for its place.
//
//   std::int64_t at = first_extremum<std::greater<>>(x, count);      // count > 0
#pragma once
#include <algorithm>
#include <cstdint>

#include "stdlib/kernels/storage.hpp"

namespace taskspec {

template <class Better, class T>
[[gnu::always_inline]] inline std::int64_t first_extremum(const T* x, std::int64_t count) {
  using N = Computed<T>;
  constexpr std::int64_t lanes = 32;
  auto join = [](N a, N b) {  // two selections without a branch; a nan comes in and stays
    N further = Better()(b, a) ? b : a;
    return b != b ? b : further;
  };
  N best[lanes];
  for (N& lane : best) lane = convert<N>(x[0]);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) best[l] = join(best[l], convert<N>(x[i + l]));
  N top = best[0];
  for (N lane : best) top = join(top, lane);
  for (; i < count; ++i) top = join(top, convert<N>(x[i]));

  auto is_it = [top](N value) { return (value == top) | ((value != value) & (top != top)); };
  constexpr std::int64_t block = 64;
  std::int64_t at = 0;
  for (; at + block <= count; at += block) {
    int hits = 0;
    for (std::int64_t k = 0; k < block; ++k) hits |= is_it(convert<N>(x[at + k]));
    if (hits) break;
  }
  while (!is_it(convert<N>(x[at]))) ++at;
  return at;
}

}  // namespace taskspec
