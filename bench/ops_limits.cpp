#include "bench/ops_limits.hpp"

#include <cstring>
#include <vector>

#include "bench/bench.hpp"

namespace taskspec::bench {

double copy_rate() {
  constexpr std::size_t bytes = 16 << 20;
  static std::vector<char> from(bytes, 1), to(bytes, 2);
  double begin = wall_clock();
  std::memcpy(to.data(), from.data(), bytes);
  double seconds = wall_clock() - begin;
  from[0] = to[bytes / 2];  // so that the copy is not taken for useless
  return 2.0 * bytes / seconds;
}

namespace {

using Lanes = float __attribute__((vector_size(64)));
constexpr int chains = 12;  // independent sums: more than the latency of a multiply-add times the units for it

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("default", "arch=haswell", "arch=x86-64-v4"), optimize("fp-contract=fast")))
#endif
float multiply_adds(int turns, float factor) {
  Lanes sum[chains];
  for (int k = 0; k < chains; ++k) sum[k] = Lanes{} + static_cast<float>(k);  // equal ones would be one sum
  Lanes scale = Lanes{} + factor;
  for (int t = 0; t < turns; ++t)
#pragma GCC unroll 12
    for (int k = 0; k < chains; ++k) sum[k] = sum[k] * scale + scale;
  float total = 0;
  for (const Lanes& lanes : sum) total += lanes[0] + lanes[9];
  return total;
}

}  // namespace

double multiply_add_rate() {
  constexpr int turns = 200'000;
  static volatile float kept = 0.5F;
  double begin = wall_clock();
  kept = multiply_adds(turns, kept > 1 ? 0.5F : kept);
  return 2.0 * 16 * chains * turns / (wall_clock() - begin);
}

}  // namespace taskspec::bench
