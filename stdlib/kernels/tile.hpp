// The innermost step of every matrix product: a small tile of C stays in registers while a packed strip of
// A and one of B run past it. Built for several instruction sets; `tile_function` picks one for this machine.
//
//   TileFunction<float> tile = tile_function<float>(tile_rows);
//   tile(a, b, depth, c, step);     // c[i * step + j] += sum over d of a[d * rows + i] * b[d * tile_columns + j]
#pragma once
#include <cstdint>

namespace taskspec {

// Measured: 4 x 32 is within 10 % of the multiply-add limit with AVX-512 and good with the smaller sets, in
// all accumulators. Loops this plain are what GCC 12 turns into register tiles; 16 columns are unrolled
// away and lose 20x.
inline constexpr int tile_rows = 4;
inline constexpr int tile_columns = 32;

template <class Acc>
using TileFunction = void (*)(const Acc* a, const Acc* b, std::int64_t depth, Acc* c, std::int64_t step);

// `rows` is tile_rows, or 1 for products with a single row. Acc: float, double, std::uint32_t, std::uint64_t.
template <class Acc>
TileFunction<Acc> tile_function(int rows);

}  // namespace taskspec
