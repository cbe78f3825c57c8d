#include "stdlib/kernels/integer_dots.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "stdlib/kernels/integer_dots_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taskspec {

namespace {

#include "stdlib/kernels/integer_dots_body.hpp"

#if defined(__x86_64__)
// Every processor of 64 bits has these.
struct PairsOf128 {
  using Vector = __m128i;
  using Element = std::int16_t;
  static constexpr int lanes = 4, group = 2, pixels = 6, some_pixels = 2;
  static Vector load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
  static void store(void* to, Vector v) { _mm_storeu_si128(static_cast<__m128i*>(to), v); }
  static void store_part(std::int32_t* to, const Vector& v, std::int64_t count) {
    std::int32_t lane[lanes];
    store(lane, v);
    for (std::int64_t i = 0; i < count; ++i) to[i] = lane[i];
  }
  static Vector broadcast(const Element* from) {
    int pair;
    __builtin_memcpy(&pair, from, sizeof pair);
    return _mm_set1_epi32(pair);
  }
  static Vector dot(Vector sum, Vector x, Vector w) { return _mm_add_epi32(sum, _mm_madd_epi16(x, w)); }
};
void run_dots_baseline(const DotTask& task) { run_dots<PairsOf128>(task); }
constexpr DotSet dot_set_baseline{.name = "SSE2, pairs",
                                  .group = 2,
                                  .lanes = 4,
                                  .offset = 0,
                                  .available = [] { return true; },
                                  .run = run_dots_baseline};
#endif

// Without instructions of its own, in the arrangement of VNNI: so that tests see that arrangement everywhere.
struct FoursByHand {
  struct Vector {
    std::uint32_t lane[4];
  };
  using Element = std::uint8_t;
  static constexpr int lanes = 4, group = 4, pixels = 2, some_pixels = 1;
  static Vector load(const void* from) {
    Vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(void* to, const Vector& v) { __builtin_memcpy(to, &v, sizeof v); }
  static void store_part(std::int32_t* to, const Vector& v, std::int64_t count) {
    std::int32_t lane[lanes];
    store(lane, v);
    for (std::int64_t i = 0; i < count; ++i) to[i] = lane[i];
  }
  static Vector broadcast(const Element* from) {
    std::uint32_t four;
    __builtin_memcpy(&four, from, sizeof four);
    return {{four, four, four, four}};
  }
  static Vector dot(Vector sum, const Vector& x, const Vector& w) {
    for (int i = 0; i < lanes; ++i)
      for (int byte = 0; byte < 4; ++byte)
        sum.lane[i] += (x.lane[i] >> 8 * byte & 255) *
                       static_cast<std::uint32_t>(static_cast<std::int8_t>(w.lane[i] >> 8 * byte & 255));
    return sum;
  }
};
void run_dots_portable(const DotTask& task) { run_dots<FoursByHand>(task); }
constexpr DotSet dot_set_portable{.name = "portable",
                                  .group = 4,
                                  .lanes = 4,
                                  .offset = 128,
                                  .available = [] { return true; },
                                  .run = run_dots_portable};

std::atomic<const DotSet*> preferred_set = nullptr;

struct DotSets {
  std::array<const DotSet*, 4> sets{};
  std::size_t count = 0;
};

DotSets available_sets() {
  DotSets found;
#if defined(__x86_64__)
  for (const DotSet* set : {&dot_set_vnni, &dot_set_avx2, &dot_set_baseline})
    if (set->available()) found.sets[found.count++] = set;
#endif
  found.sets[found.count++] = &dot_set_portable;
  return found;
}

}  // namespace

std::span<const DotSet* const> all_dot_sets() {
  static const DotSets found = available_sets();
  return {found.sets.data(), found.count};
}

void prefer_dot_set(const DotSet* set) { preferred_set = set; }

const DotSet& best_dot_set(bool signed_bytes) {
  const DotSet* preferred = preferred_set;
  if (preferred && (preferred->group == 2 || signed_bytes)) return *preferred;
  for (const DotSet* set : all_dot_sets())
    if (set->group == 2 || signed_bytes) return *set;
  return *all_dot_sets().back();
}

std::int64_t packed_weights(const DotSet& set, std::int64_t outputs, std::int64_t groups) {
  return set.padded(outputs) * groups * set.group;
}

}  // namespace taskspec
