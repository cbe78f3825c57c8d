#include "bench/exact_limits.hpp"

#include <algorithm>

#include "bench/bench.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taskspec::bench {

#if defined(__x86_64__)

namespace {

constexpr int chains = 12;  // independent sums: more than the latency of an instruction times the units for it

__attribute__((target("avx512f,avx512bw,avx512vnni"))) int sums_of_bytes(int turns, int factor) {
  __m512i sum[chains];
  for (int k = 0; k < chains; ++k) sum[k] = _mm512_set1_epi32(k);  // equal ones would be one sum
  const __m512i x = _mm512_set1_epi8(static_cast<char>(factor)), w = _mm512_set1_epi8(3);
  for (int t = 0; t < turns; ++t)
#pragma GCC unroll 12
    for (int k = 0; k < chains; ++k) sum[k] = _mm512_dpbusd_epi32(sum[k], x, w);
  __m512i total = sum[0];
  for (int k = 1; k < chains; ++k) total = _mm512_xor_si512(total, sum[k]);
  return _mm512_cvtsi512_si32(total);
}

}  // namespace

double vnni_rate() {
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512bw")) return 0;
  constexpr int turns = 20'000, repeats = 20;
  static volatile int kept = 5;
  double least = 1e9;
  for (int i = 0; i < repeats; ++i)
    least = std::min(least, measure([] { kept = sums_of_bytes(turns, kept & 127); }).wall);
  return 64.0 * chains * turns / least;
}

#else

double vnni_rate() { return 0; }

#endif

}  // namespace taskspec::bench
