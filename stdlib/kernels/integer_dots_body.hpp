// The loops of integer_dots, included by each file that compiles them for an instruction set, inside an anonymous
// namespace and behind a `#pragma GCC target`: nothing of the standard library may be used here, since its functions
// would be compiled for that set, too. `Set` gives the vectors.
#pragma once

// `pixels` pixels times `vectors` vectors of outputs.
template <class Set, int pixels, int vectors>
[[gnu::always_inline]] inline void dot_tile(const DotTask& t, const std::int32_t* at,
                                            const typename Set::Element* weights, const std::int32_t* start,
                                            std::int32_t* out, std::int64_t valid) {
  using Vector = typename Set::Vector;
  using Element = typename Set::Element;
  constexpr std::int64_t lanes = Set::lanes, group = Set::group;
  const Element* input = reinterpret_cast<const Element*>(t.input);
  Vector sum[pixels][vectors];
  const Element* from[pixels];
  for (int p = 0; p < pixels; ++p) {
    from[p] = input + at[p];
    for (int v = 0; v < vectors; ++v) sum[p][v] = Set::load(start + v * lanes);
  }
  for (std::int64_t g = 0; g < t.group_count; ++g) {
    const std::int64_t place = t.groups[g];
    Vector w[vectors];
    for (int v = 0; v < vectors; ++v) w[v] = Set::load(weights + v * lanes * group);
#pragma GCC unroll 16
    for (int p = 0; p < pixels; ++p) {
      const Vector x = Set::broadcast(from[p] + place);
      for (int v = 0; v < vectors; ++v) sum[p][v] = Set::dot(sum[p][v], x, w[v]);
    }
    weights += vectors * lanes * group;
  }
  for (int p = 0; p < pixels; ++p) {
    std::int32_t* to = out + p * t.outputs;
    for (int v = 0; v < vectors - 1; ++v) Set::store(to + v * lanes, sum[p][v]);
    const std::int64_t last = valid - (vectors - 1) * lanes;
    if (last == lanes)
      Set::store(to + (vectors - 1) * lanes, sum[p][vectors - 1]);
    else
      Set::store_part(to + (vectors - 1) * lanes, sum[p][vectors - 1], last);
  }
}

template <class Set, int vectors>
[[gnu::always_inline]] inline void dot_pixels(const DotTask& t, std::int64_t begin, std::int64_t end,
                                              std::int64_t first, const typename Set::Element* weights) {
  const std::int64_t left = t.outputs - first;
  const std::int64_t valid = left < vectors * Set::lanes ? left : vectors * Set::lanes;
  std::int64_t p = begin;
  auto tile = [&]<int pixels>() __attribute__((always_inline)) {
    for (; p + pixels <= end; p += pixels)
      dot_tile<Set, pixels, vectors>(t, t.pixels + p, weights, t.start + first, t.out + p * t.outputs + first, valid);
  };
  tile.template operator()<Set::pixels>();
  tile.template operator()<Set::some_pixels>();
  tile.template operator()<1>();
}

// Pixels by tiles whose input stays in the first cache while all weights go by.
template <class Set>
void run_dots(const DotTask& t) {
  using Element = typename Set::Element;
  constexpr std::int64_t lanes = Set::lanes, block = 2 * lanes, tile = Set::pixels * 10;
  const std::int64_t depth = t.group_count * Set::group;
  for (std::int64_t begin = 0; begin < t.pixel_count; begin += tile) {
    const std::int64_t end = begin + tile < t.pixel_count ? begin + tile : t.pixel_count;
    const Element* weights = reinterpret_cast<const Element*>(t.weights);
    for (std::int64_t first = 0; first < t.outputs; first += block) {
      if (t.outputs - first > lanes)
        dot_pixels<Set, 2>(t, begin, end, first, weights + first * depth);
      else
        dot_pixels<Set, 1>(t, begin, end, first, weights + first * depth);
    }
  }
}
