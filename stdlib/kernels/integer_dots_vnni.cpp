// Sums of products of bytes with AVX-512 VNNI: four bytes at once, the input's without sign, the weights' with. The
// instruction adds four products to 32 bits without cutting anything.
#include "stdlib/kernels/integer_dots_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vnni,prefer-vector-width=512")

namespace taskspec {

namespace {

#include "stdlib/kernels/integer_dots_body.hpp"

struct FoursOf512 {
  using Vector = __m512i;
  using Element = std::uint8_t;
  static constexpr int lanes = 16, group = 4, pixels = 12, some_pixels = 4;
  static Vector load(const void* from) { return _mm512_loadu_si512(from); }
  static void store(void* to, Vector v) { _mm512_storeu_si512(to, v); }
  static void store_part(std::int32_t* to, Vector v, std::int64_t count) {
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1U << count) - 1), v);
  }
  static Vector broadcast(const Element* from) {
    int four;
    __builtin_memcpy(&four, from, sizeof four);
    return _mm512_set1_epi32(four);
  }
  static Vector dot(Vector sum, Vector x, Vector w) { return _mm512_dpbusd_epi32(sum, x, w); }
};

void run_dots_vnni(const DotTask& task) { run_dots<FoursOf512>(task); }

}  // namespace

constinit const DotSet dot_set_vnni{.name = "AVX-512 VNNI",
                                    .group = 4,
                                    .lanes = 16,
                                    .offset = 128,
                                    .available =
                                        [] {
                                          return __builtin_cpu_supports("avx512vnni") &&
                                                 __builtin_cpu_supports("avx512bw") &&
                                                 __builtin_cpu_supports("avx512vl");
                                        },
                                    .run = run_dots_vnni};

}  // namespace taskspec

#pragma GCC pop_options
#endif
