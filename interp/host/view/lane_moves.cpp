#include "interp/host/view/lane_moves.hpp"

#include <algorithm>
#include <cstring>

#include "interp/host/view/lane_shapes.hpp"

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

// What the records of `add` and `sub` do to numbers of this type; a test compares them.
template <bool minus, class T>
T changed(T old, T by) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(minus ? static_cast<Bits>(old) - static_cast<Bits>(by)
                                : static_cast<Bits>(old) + static_cast<Bits>(by));
  } else {
    return minus ? old - by : old + by;
  }
}

template <class T>
const T* as(const std::byte* elements) {
  return reinterpret_cast<const T*>(elements);
}

bool is_inside(std::int64_t place, const ScatterFold& fold) {
  return static_cast<std::uint64_t>(place) - static_cast<std::uint64_t>(fold.lo) <
         static_cast<std::uint64_t>(fold.hi) - static_cast<std::uint64_t>(fold.lo);
}

bool takes_away(const ScatterFold& fold) { return fold.op == "sub"; }

// What a fold adds or takes away.
template <bool products, class T>
T amount(const ScatterFold& fold, std::int64_t e) {
  if constexpr (products)
    return as<T>(fold.values)[e] * as<T>(fold.factors)[e];
  else
    return as<T>(fold.values)[e];
}

// What two folds do, known when this is compiled: one loop each.
template <bool products, bool first_minus, bool second_minus, class T>
struct Pair {
  static void run(const ScatterFold& first, const ScatterFold& second, std::int64_t begin, std::int64_t end) {
    T *to = reinterpret_cast<T*>(first.field), *other = reinterpret_cast<T*>(second.field);
    const std::int64_t *p = first.places, *q = second.places;
    const ScatterFold a = first, b = second;  // of which the compiler knows that no sum is written over them
    for (std::int64_t e = begin; e < end; ++e) {
      to[p[e]] = changed<first_minus>(to[p[e]], amount<products, T>(a, e));
      other[q[e]] = changed<second_minus>(other[q[e]], amount<products, T>(b, e));
    }
  }
};

// Some places are looked at together, just before what is there is changed.
template <class Pair>
std::int64_t change_two(std::span<const ScatterFold> folds, std::int64_t count) {
  constexpr std::int64_t block = 64;
  const ScatterFold &a = folds[0], &b = folds[1];
  for (std::int64_t done = 0; done < count; done += block) {
    const std::int64_t end = std::min(count, done + block);
    if (!all_inside(a.places + done, end - done, a.lo, a.hi) || !all_inside(b.places + done, end - done, b.lo, b.hi))
      for (std::int64_t e = done; e < end; ++e)
        if (!is_inside(a.places[e], a) || !is_inside(b.places[e], b)) return Pair::run(a, b, done, e), e;
    Pair::run(a, b, done, end);
  }
  return count;
}

template <bool products, class T>
std::int64_t change_pairs(std::span<const ScatterFold> folds, std::int64_t count) {
  if (takes_away(folds[0]))
    return takes_away(folds[1]) ? change_two<Pair<products, true, true, T>>(folds, count)
                                : change_two<Pair<products, true, false, T>>(folds, count);
  return takes_away(folds[1]) ? change_two<Pair<products, false, true, T>>(folds, count)
                              : change_two<Pair<products, false, false, T>>(folds, count);
}

template <bool products, class T>
std::int64_t change_all(std::span<const ScatterFold> folds, std::int64_t count) {
  const bool steps = std::ranges::all_of(folds, [](const ScatterFold& fold) { return fold.step == 1; });
  if (folds.size() == 2 && steps) return change_pairs<products, T>(folds, count);
  for (std::int64_t e = 0; e < count; ++e)
    for (const ScatterFold& fold : folds) {
      const std::int64_t place = fold.places[e * fold.step];
      if (!is_inside(place, fold)) return e;
      T& to = reinterpret_cast<T*>(fold.field)[place];
      const T by = amount<products, T>(fold, e);
      to = takes_away(fold) ? changed<true>(to, by) : changed<false>(to, by);
    }
  return count;
}

template <class T>
std::int64_t change_reals(std::span<const ScatterFold> folds, std::int64_t count) {
  return folds[0].factors ? change_all<true, T>(folds, count) : change_all<false, T>(folds, count);
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

std::int64_t scatter_folds(std::span<const ScatterFold> folds, Precision precision, std::int64_t count,
                           std::optional<Fault>& fault) {
  if (std::ranges::all_of(folds, [](const ScatterFold& fold) { return fold.op == "add" || takes_away(fold); })) {
    if (precision == Precision::f64) return change_reals<double>(folds, count);
    if (precision == Precision::f32) return change_reals<float>(folds, count);
    if (precision == Precision::i64) return change_all<false, std::int64_t>(folds, count);
    if (precision == Precision::i32) return change_all<false, std::int32_t>(folds, count);
  }
  const std::int64_t width = info(precision).bytes;
  for (std::int64_t e = 0; e < count; ++e)
    for (const ScatterFold& fold : folds) {
      const std::int64_t at = fold.places[e * fold.step];
      if (!is_inside(at, fold)) return e;
      std::byte* place = fold.field + at * width;
      const std::byte* in[] = {place, fold.values + e * width};
      if ((fault = fold.kernel->run_strip(in, {&place, 1}, 1))) {
        fault->span = fold.span;
        return e;
      }
    }
  return count;
}

}  // namespace taskspec
