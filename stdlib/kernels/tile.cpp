#include "stdlib/kernels/tile.hpp"

namespace taskspec {

namespace {

template <class Acc, int rows>
[[gnu::always_inline]] inline void multiply(const Acc* a, const Acc* b, std::int64_t depth, Acc* c, std::int64_t step) {
  Acc sum[rows][tile_columns];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < tile_columns; ++j) sum[i][j] = c[i * step + j];
  for (std::int64_t d = 0; d < depth; ++d)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < tile_columns; ++j) sum[i][j] += a[d * rows + i] * b[d * tile_columns + j];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < tile_columns; ++j) c[i * step + j] = sum[i][j];
}

// One body, three instruction sets. Chosen by hand and not by target_clones: the resolvers of those run
// before the sanitizers are ready.
template <class Acc, int rows>
void baseline(const Acc* a, const Acc* b, std::int64_t depth, Acc* c, std::int64_t step) {
  multiply<Acc, rows>(a, b, depth, c, step);
}

template <class Acc, int rows>
[[gnu::target("arch=x86-64-v3")]] void avx2(const Acc* a, const Acc* b, std::int64_t depth, Acc* c, std::int64_t step) {
  multiply<Acc, rows>(a, b, depth, c, step);
}

template <class Acc, int rows>
[[gnu::target("arch=x86-64-v4,prefer-vector-width=512")]] void avx512(const Acc* a, const Acc* b, std::int64_t depth,
                                                                      Acc* c, std::int64_t step) {
  multiply<Acc, rows>(a, b, depth, c, step);
}

template <class Acc, int rows>
TileFunction<Acc> best() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return avx512<Acc, rows>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return avx2<Acc, rows>;
  return baseline<Acc, rows>;
}

}  // namespace

template <class Acc>
TileFunction<Acc> tile_function(int rows) {
  return rows == 1 ? best<Acc, 1>() : best<Acc, tile_rows>();
}

template TileFunction<float> tile_function<float>(int);
template TileFunction<double> tile_function<double>(int);
template TileFunction<std::uint32_t> tile_function<std::uint32_t>(int);
template TileFunction<std::uint64_t> tile_function<std::uint64_t>(int);

}  // namespace taskspec
