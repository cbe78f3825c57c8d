// Sums of products of bytes with AVX2: pairs of 16 bits.
#include "stdlib/kernels/integer_dots_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#pragma GCC push_options
#pragma GCC target("avx2,tune=znver3")

namespace taskspec {

namespace {

#include "stdlib/kernels/integer_dots_body.hpp"

struct PairsOf256 {
  using Vector = __m256i;
  using Element = std::int16_t;
  static constexpr int lanes = 8, group = 2, pixels = 6, some_pixels = 2;
  static Vector load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static void store(void* to, Vector v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
  static void store_part(std::int32_t* to, Vector v, std::int64_t count) {
    const Vector lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_maskstore_epi32(to, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane), v);
  }
  static Vector broadcast(const Element* from) {
    int pair;
    __builtin_memcpy(&pair, from, sizeof pair);
    return _mm256_set1_epi32(pair);
  }
  static Vector dot(Vector sum, Vector x, Vector w) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w)); }
};

void run_dots_avx2(const DotTask& task) { run_dots<PairsOf256>(task); }

}  // namespace

constinit const DotSet dot_set_avx2{.name = "AVX2, pairs",
                                    .group = 2,
                                    .lanes = 8,
                                    .offset = 0,
                                    .available = [] { return __builtin_cpu_supports("avx2") != 0; },
                                    .run = run_dots_avx2};

}  // namespace taskspec

#pragma GCC pop_options
#endif
