#include "interp/host/view/lane_moves.hpp"

#include <algorithm>
#include <cstring>

#include "ir/base/instruction_sets.hpp"

namespace taskspec {

namespace {

template <class F>
void with_width(std::uint8_t width, F&& f) {
  if (width == 8)
    f(std::uint64_t{});
  else if (width == 4)
    f(std::uint32_t{});
  else if (width == 2)
    f(std::uint16_t{});
  else
    f(std::uint8_t{});
}

// For the baseline alone: the gathers of wider sets take longer than single loads (Zen 4: twice as long).
template <class T>
void gather(const T* from, const std::int64_t* places, T* to, std::int64_t count) {
  for (std::int64_t e = 0; e < count; ++e) to[e] = from[places[e]];
}

TASKSPEC_CLONES bool inside(const std::int64_t* values, std::int64_t count, std::int64_t lo, std::int64_t hi) {
  const auto size = static_cast<std::uint64_t>(hi - lo);
  std::uint64_t outside = 0;
  for (std::int64_t e = 0; e < count; ++e)
    outside |= static_cast<std::uint64_t>(static_cast<std::uint64_t>(values[e] - lo) >= size);
  return outside == 0;
}

// What the record of `add` does to numbers of this type; a test compares them.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}

template <class T>
void add_two(std::span<const ScatterFold> folds, T* field, std::int64_t count) {
  const std::int64_t *first = folds[0].places, *second = folds[1].places;
  const T *a = reinterpret_cast<const T*>(folds[0].values), *b = reinterpret_cast<const T*>(folds[1].values);
  for (std::int64_t e = 0; e < count; ++e) {
    field[first[e]] = sum(field[first[e]], a[e]);
    field[second[e]] = sum(field[second[e]], b[e]);
  }
}

template <class T>
void add_all(std::span<const ScatterFold> folds, T* field, std::int64_t count) {
  const bool steps = std::ranges::all_of(folds, [](const ScatterFold& fold) { return fold.step == 1; });
  if (folds.size() == 2 && steps) return add_two(folds, field, count);
  for (std::int64_t e = 0; e < count; ++e)
    for (const ScatterFold& fold : folds) {
      T& place = field[fold.places[e * fold.step]];
      place = sum(place, reinterpret_cast<const T*>(fold.values)[e]);
    }
}

}  // namespace

void move_elements(const std::byte* from, std::byte* to, std::int64_t count, std::uint8_t width) {
  if (count >= 8) return static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(count) * width));
  with_width(width, [&](auto element) {
    for (std::int64_t e = 0; e < count; ++e) {
      std::memcpy(&element, from + e * static_cast<std::int64_t>(sizeof element), sizeof element);
      std::memcpy(to + e * static_cast<std::int64_t>(sizeof element), &element, sizeof element);
    }
  });
}

void repeat_element(const std::byte* from, std::byte* to, std::int64_t count, std::uint8_t width) {
  with_width(width, [&](auto element) {
    std::memcpy(&element, from, sizeof element);
    std::fill_n(reinterpret_cast<decltype(element)*>(to), count, element);
  });
}

void gather_elements(const std::byte* from, const std::int64_t* places, std::byte* to, std::int64_t count,
                     std::uint8_t width) {
  with_width(width, [&](auto element) {
    using T = decltype(element);
    gather(reinterpret_cast<const T*>(from), places, reinterpret_cast<T*>(to), count);
  });
}

void scatter_elements(const std::byte* from, std::byte* to, const std::int64_t* places, std::int64_t count,
                      std::uint8_t width) {
  with_width(width, [&](auto element) {
    using T = decltype(element);
    for (std::int64_t e = 0; e < count; ++e) reinterpret_cast<T*>(to)[places[e]] = reinterpret_cast<const T*>(from)[e];
  });
}

bool all_inside(const std::int64_t* values, std::int64_t count, std::int64_t lo, std::int64_t hi) {
  return count == 0 || (lo < hi && inside(values, count, lo, hi));
}

void scatter_folds(std::span<const ScatterFold> folds, std::byte* field, Precision precision, std::int64_t count) {
  if (std::ranges::all_of(folds, [](const ScatterFold& fold) { return fold.op == "add"; })) {
    if (precision == Precision::f64) return add_all(folds, reinterpret_cast<double*>(field), count);
    if (precision == Precision::f32) return add_all(folds, reinterpret_cast<float*>(field), count);
    if (precision == Precision::i64) return add_all(folds, reinterpret_cast<std::int64_t*>(field), count);
    if (precision == Precision::i32) return add_all(folds, reinterpret_cast<std::int32_t*>(field), count);
  }
  const std::int64_t width = info(precision).bytes;
  for (std::int64_t e = 0; e < count; ++e)
    for (const ScatterFold& fold : folds) {
      std::byte* place = field + fold.places[e * fold.step] * width;
      const std::byte* in[] = {place, fold.values + e * width};
      fold.kernel->run_strip(in, {&place, 1}, 1);
    }
}

}  // namespace taskspec
