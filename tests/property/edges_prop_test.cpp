// The rearrangements of edges against loops over rows, columns and channels that are written apart from the maps, and
// the laws that they keep.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ir/blocks/rearrange.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::edges_prop_test {

namespace {

using Numbers = std::vector<std::int64_t>;

// A picture: rows, columns, channels. Elements are 1, 2, 3, ..., so that 0 is a hole.
struct Cube {
  std::int64_t m = 0, n = 0, c = 0;
  std::vector<std::int32_t> data = {};
  Cube(std::int64_t rows, std::int64_t columns, std::int64_t channels)
      : m(rows), n(columns), c(channels), data(static_cast<std::size_t>(rows * columns * channels)) {}
  std::int32_t& at(std::int64_t y, std::int64_t x, std::int64_t f) {
    return data.at(static_cast<std::size_t>((y * n + x) * c + f));
  }
  std::int32_t get(std::int64_t y, std::int64_t x, std::int64_t f) const {
    const bool inside = y >= 0 && y < m && x >= 0 && x < n;
    return inside ? data.at(static_cast<std::size_t>((y * n + x) * c + f)) : 0;
  }
  Extents extents() const { return {m, n, c}; }
};

template <class Value>
Cube made(std::int64_t rows, std::int64_t columns, std::int64_t channels, Value value) {
  Cube cube(rows, columns, channels);
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x)
      for (std::int64_t f = 0; f < channels; ++f) cube.at(y, x, f) = value(y, x, f);
  return cube;
}

Cube counted(const Extents& e) {
  Cube cube(e[0], e[1], e[2]);
  std::iota(cube.data.begin(), cube.data.end(), 1);
  return cube;
}

std::int64_t wrapped(std::int64_t i, std::int64_t n) {
  while (i < 0) i += n;
  return i % n;
}

// ---- the oracle: one function per rearrangement ----------------------------------------------------

Cube shifted(const Cube& s, std::int64_t dy, std::int64_t dx, bool wraps) {
  Cube t(s.m, s.n, s.c);
  for (std::int64_t y = 0; y < s.m; ++y)
    for (std::int64_t x = 0; x < s.n; ++x)
      for (std::int64_t f = 0; f < s.c; ++f) {
        std::int64_t to_y = y + dy, to_x = x + dx;
        if (wraps) to_y = wrapped(to_y, s.m), to_x = wrapped(to_x, s.n);
        if (to_y >= 0 && to_y < s.m && to_x >= 0 && to_x < s.n) t.at(to_y, to_x, f) = s.get(y, x, f);
      }
  return t;
}

// One quarter after the other, each as a person would turn a sheet.
Cube turned(Cube s, std::int64_t quarters) {
  for (; quarters > 0; --quarters) {
    Cube t(s.n, s.m, s.c);
    for (std::int64_t y = 0; y < s.m; ++y)
      for (std::int64_t x = 0; x < s.n; ++x)
        for (std::int64_t f = 0; f < s.c; ++f) t.at(s.n - 1 - x, y, f) = s.get(y, x, f);
    s = t;
  }
  return s;
}

Cube scaled(const Cube& s, std::int64_t k, std::int64_t l) {
  return made(s.m * k, s.n * l, s.c,
              [&](std::int64_t y, std::int64_t x, std::int64_t f) { return s.get(y / k, x / l, f); });
}

Cube sheared(const Cube& s, std::int64_t a, std::int64_t b) {
  Cube t(s.m + std::abs(b) * s.n, s.n + std::abs(a) * s.m, s.c);
  const std::int64_t back_x = a < 0 ? -a * (s.m - 1) : 0, back_y = b < 0 ? -b * (s.n - 1) : 0;
  for (std::int64_t v = 0; v < s.m; ++v)
    for (std::int64_t u = 0; u < s.n; ++u)
      for (std::int64_t f = 0; f < s.c; ++f) t.at(v + b * u + back_y, u + a * v + back_x, f) = s.get(v, u, f);
  return t;
}

Cube mirrored(const Cube& s, std::int64_t axis) {
  return made(s.m, s.n, s.c, [&](std::int64_t y, std::int64_t x, std::int64_t f) {
    return s.get(axis == 0 ? s.m - 1 - y : y, axis == 1 ? s.n - 1 - x : x, axis == 2 ? s.c - 1 - f : f);
  });
}

Cube permuted(const Cube& s, const Numbers& p) {
  const Extents e = s.extents();
  Cube t(e[static_cast<std::size_t>(p[0])], e[static_cast<std::size_t>(p[1])], e[static_cast<std::size_t>(p[2])]);
  for (std::int64_t y = 0; y < s.m; ++y)
    for (std::int64_t x = 0; x < s.n; ++x)
      for (std::int64_t f = 0; f < s.c; ++f) {
        const std::int64_t i[3] = {y, x, f};
        t.at(i[p[0]], i[p[1]], i[p[2]]) = s.get(y, x, f);
      }
  return t;
}

// The flat vector, the first of `order` (0 y, 1 x, 2 f) running fastest.
std::vector<std::int32_t> read_out(const Cube& s, const Numbers& order) {
  const Extents e = s.extents();
  auto extent = [&](std::size_t k) { return e[static_cast<std::size_t>(order[k])]; };
  std::vector<std::int32_t> flat;
  std::int64_t i[3];
  for (i[order[2]] = 0; i[order[2]] < extent(2); ++i[order[2]])
    for (i[order[1]] = 0; i[order[1]] < extent(1); ++i[order[1]])
      for (i[order[0]] = 0; i[order[0]] < extent(0); ++i[order[0]]) flat.push_back(s.get(i[0], i[1], i[2]));
  return flat;
}

// In floating point: the inverse by Cramer's rule. Exact halves go up in both.
Cube projected(const Cube& s, const Numbers& p, std::int64_t rows, std::int64_t columns) {
  auto q = [&](int r, int k) { return static_cast<long double>(p[static_cast<std::size_t>(3 * r + k)]); };
  auto det3 = [](const long double(&a)[3][3]) {
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  };
  return made(rows, columns, s.c, [&](std::int64_t Y, std::int64_t X, std::int64_t f) {
    long double solved[3];  // (u, v, w) with matrix * (u, v, w) = (X, Y, 1), times the determinant
    for (int column = 0; column < 3; ++column) {
      long double a[3][3];
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k)
          a[r][k] = k == column ? (r == 0   ? static_cast<long double>(X)
                                   : r == 1 ? static_cast<long double>(Y)
                                            : 1)
                                : q(r, k);
      solved[column] = det3(a);
    }
    if (solved[2] == 0) return 0;
    const long double x = std::floor(solved[0] / solved[2] + 0.5L), y = std::floor(solved[1] / solved[2] + 0.5L);
    if (x < 0 || y < 0 || x >= static_cast<long double>(s.n) || y >= static_cast<long double>(s.m)) return 0;
    return s.get(static_cast<std::int64_t>(y), static_cast<std::int64_t>(x), f);
  });
}

// ---- the maps --------------------------------------------------------------------------------------

Rearrangement move(std::string_view name, Numbers numbers) { return {rearrangement_named(name), std::move(numbers)}; }

std::vector<std::int32_t> gathered(const IndexMap& map, const std::vector<std::int32_t>& source) {
  std::vector<std::int32_t> target(static_cast<std::size_t>(places_of(map.target())), -1);
  map.gather(std::as_bytes(std::span(source)), std::as_writable_bytes(std::span(target)), sizeof(std::int32_t));
  return target;
}

IndexMap composed(const std::vector<Rearrangement>& moves, const Extents& source, const Extents& target) {
  return compose(moves, source, target, {}).value_or_throw();
}

std::string refused(const Rearrangement& one, const Extents& source, const Extents& target) {
  const Rearrangement moves[] = {one};
  const Diags diags = check_rearrangements(moves, source, target, {});
  CHECK(compose(moves, source, target, {}).diags().has_errors() == diags.has_errors());
  return diags.has_errors() ? diags.items().front().code.text() + " " + diags.items().front().message : "";
}

std::string refused(std::string_view name, Numbers numbers, const Extents& source, const Extents& target) {
  return refused(move(name, std::move(numbers)), source, target);
}

Extents random_extents(std::mt19937_64& random) {
  return {between(random, 1, 7), between(random, 1, 7), between(random, 1, 5)};
}

Numbers random_permutation(std::mt19937_64& random, std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (std::size_t k = numbers.size(); k > 1; --k)
    std::swap(numbers[k - 1], numbers[static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(k) - 1))]);
  return numbers;
}

// A move that fits, and what the oracle makes of it.
struct Case {
  Rearrangement move;
  Cube result;
};

Case random_case(std::mt19937_64& random, const Cube& s) {
  auto any = [&](std::int64_t low, std::int64_t high) { return between(random, low, high); };
  switch (any(0, 8)) {
    case 0: {
      const Numbers n{any(-20, 20), any(-20, 20), any(0, 1)};
      return {move("shift", n), shifted(s, n[0], n[1], n[2] != 0)};
    }
    case 1: {
      const std::int64_t quarters = any(-5, 5);
      return {move("rotate", {90 * quarters}), turned(s, wrapped(quarters, 4))};
    }
    case 2: {
      const Numbers n{any(1, 3), any(1, 3)};
      return {move("scale", n), scaled(s, n[0], n[1])};
    }
    case 3: {
      Numbers n{any(-2, 2), any(-2, 2)};
      if (n[0] * n[1] == 1) n[1] = 0;
      return {move("shear", n), sheared(s, n[0], n[1])};
    }
    case 4: {
      const std::int64_t axis = any(0, 2);
      return {move("reflect", {axis}), mirrored(s, axis)};
    }
    case 5: {
      const Numbers n = random_permutation(random, 3);
      return {move("permute", n), permuted(s, n)};
    }
    case 6: {
      const Numbers p = random_permutation(random, s.n);
      return {move("shuffle", p), made(s.m, s.n, s.c, [&](std::int64_t y, std::int64_t x, std::int64_t f) {
                return s.get(y, p[static_cast<std::size_t>(x)], f);
              })};
    }
    case 7: {
      const Numbers p = random_permutation(random, s.m * s.n * s.c);
      Cube t = s;
      for (std::size_t k = 0; k < p.size(); ++k) t.data[k] = s.data[static_cast<std::size_t>(p[k])];
      return {move("shuffle", p), t};
    }
  }
  return {move("identity", {}), s};
}

}  // namespace

TEST_CASE("each rearrangement of random extents is what the loops make [edges]") {
  for (std::uint64_t seed : random_seeds(600, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Cube source = counted(random_extents(random));
    const Case one = random_case(random, source);
    CAPTURE(one.move.text());
    const IndexMap map = composed({one.move}, source.extents(), one.result.extents());
    CHECK(map.target() == one.result.extents());
    CHECK(gathered(map, source.data) == one.result.data);
    for (std::size_t i = 0; i < one.result.data.size(); ++i)
      CHECK(map.place(static_cast<std::int64_t>(i)) == one.result.data[i] - 1);
  }
}

TEST_CASE("reshape reads the axes from the fastest to the slowest [edges]") {
  for (std::uint64_t seed : random_seeds(200, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Cube source = counted(random_extents(random));
    const Numbers order = random_permutation(random, 3);
    const Extents flat{places_of(source.extents())};
    const std::vector<std::int32_t> expected = read_out(source, order);
    CHECK(gathered(composed({move("reshape", order)}, source.extents(), flat), source.data) == expected);
    // The same order as a permutation and one that keeps it; and there and back.
    const Rearrangement turn = move("permute", {order[2], order[1], order[0]});
    CHECK(gathered(composed({turn, move("reshape", {})}, source.extents(), flat), source.data) == expected);
    const IndexMap there = composed({move("reshape", {2, 1, 0})}, source.extents(), flat);
    const IndexMap back = composed({move("reshape", {})}, flat, source.extents());
    CHECK(there.then(back).is_identity());
    CHECK(back.target() == source.extents());
  }
  // Of one axis there is only one order; ids of axes that are not there do not matter where all are reversed.
  CHECK(composed({move("reshape", {2, 1, 0})}, {6}, {2, 3}).is_identity());
  CHECK(composed({move("reshape", {2, 1})}, {2, 3}, {6}).is_identity());
  CHECK(composed({move("reshape", {0, 1, 2})}, {2, 3}, {6}).place(1) == 3);
  CHECK(composed({move("reshape", {1, 2})}, {2, 3}, {6}).place(1) == 3);
  // In the middle: the shape that those behind it need.
  CHECK(composed({move("reshape", {}), move("rotate", {90})}, {6}, {3, 2}).place(0) == 2);
}

TEST_CASE("affine puts each place where its matrix says, projections take the nearest [edges]") {
  std::size_t affine = 0, projective = 0;
  for (std::uint64_t seed : random_seeds(600, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Cube s = counted(random_extents(random));
    Numbers n(6);
    for (std::int64_t& number : n) number = between(random, -1, 3);
    n[2] = between(random, -1, 9), n[5] = between(random, -1, 9);
    const Cube empty(between(random, 1, 40), between(random, 1, 40), s.c);
    Cube t = empty;
    bool outside = false, collides = false;
    for (std::int64_t y = 0; y < s.m; ++y)
      for (std::int64_t x = 0; x < s.n; ++x) {
        const std::int64_t to_x = n[0] * x + n[1] * y + n[2], to_y = n[3] * x + n[4] * y + n[5];
        if (to_x < 0 || to_y < 0 || to_x >= t.n || to_y >= t.m) {
          outside = true;
          continue;
        }
        for (std::int64_t f = 0; f < s.c; ++f) {
          collides = collides || t.at(to_y, to_x, f) != 0;
          t.at(to_y, to_x, f) = s.get(y, x, f);
        }
      }
    const std::string said = refused("affine", n, s.extents(), t.extents());
    if (outside) CHECK(said.starts_with("E2005 affine("));
    if (!outside && collides) CHECK(said.ends_with("puts several places of the source onto one"));
    if (!outside && !collides && ++affine)
      CHECK(gathered(composed({move("affine", n)}, s.extents(), t.extents()), s.data) == t.data);
    Numbers p(9);
    for (std::int64_t& number : p) number = between(random, -2, 4);
    if (!refused("project", p, s.extents(), empty.extents()).empty()) continue;
    ++projective;
    CHECK(gathered(composed({move("project", p)}, s.extents(), empty.extents()), s.data) ==
          projected(s, p, empty.m, empty.n).data);
  }
  CHECK(affine > 40);
  CHECK(projective > 400);
}

TEST_CASE("affine and project contain the others [edges]") {
  const Cube s = counted({4, 5, 2});
  auto of = [&](std::string_view name, Numbers n, const Extents& target) {
    return gathered(composed({move(name, std::move(n))}, s.extents(), target), s.data);
  };
  CHECK(of("affine", {0, 1, 0, -1, 0, 4}, {5, 4, 2}) == turned(s, 1).data);
  CHECK(of("affine", {-1, 0, 4, 0, 1, 0}, {4, 5, 2}) == mirrored(s, 1).data);
  CHECK(of("affine", {1, 2, 0, 0, 1, 0}, {4, 13, 2}) == sheared(s, 2, 0).data);
  CHECK(of("project", {1, 0, -2, 0, 1, 1, 0, 0, 1}, {4, 5, 2}) == shifted(s, 1, -2, false).data);
  CHECK(of("project", {-3, 0, 0, 0, -3, 0, 0, 0, -3}, {4, 5, 2}) == s.data);
  // A zero between any two, as before a transposed convolution; nothing is said of what is wanted: up to the last one.
  const Rearrangement spread[] = {move("affine", {2, 0, 0, 0, 2, 0}), move("affine", {1, 0, 0, 0, 1, 0})};
  CHECK(composed({spread[0]}, {2, 2}, {3, 3}).place(3) == -1);
  CHECK(check_rearrangements(std::span(spread), {2, 2}, {3, 3}, {}).empty());
}

TEST_CASE("maps compose as gathers do, and bijections have an inverse [edges]") {
  for (std::uint64_t seed : random_seeds(300, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Cube source = counted(random_extents(random));
    Cube at = source;
    std::vector<Rearrangement> moves;
    for (std::int64_t length = between(random, 0, 6); length > 0 && at.data.size() < 3000; --length) {
      Case next = random_case(random, at);
      // The elements keep their numbers, so that the oracle goes along step by step.
      moves.push_back(std::move(next.move));
      at = std::move(next.result);
    }
    const IndexMap all = composed(moves, source.extents(), at.extents());
    CHECK(gathered(all, source.data) == at.data);
    if (!all.is_bijection()) continue;
    const IndexMap back = all.inverse();
    CHECK(all.then(back).is_identity());
    CHECK(back.then(all).is_identity());
    CHECK(gathered(back, at.data) == source.data);
  }
}

TEST_CASE("four quarters and two mirrors are the identity, whatever they are made of [edges]") {
  for (const Extents& e : {Extents{4, 7, 3}, Extents{1, 5, 2}, Extents{3, 3}}) {
    CHECK(composed({move("rotate", {90}), move("rotate", {90}), move("rotate", {90}), move("rotate", {90})}, e, e)
              .is_identity());
    CHECK(composed({move("rotate", {-90}), move("rotate", {450})}, e, e).is_identity());
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(e.size()); ++axis)
      CHECK(composed({move("reflect", {axis}), move("reflect", {axis})}, e, e).is_identity());
    CHECK(composed({move("shift", {2, -3, 1}), move("shift", {-2, 3, 1})}, e, e).is_identity());
    CHECK(composed({move("rotate", {180}), move("reflect", {0}), move("reflect", {1})}, e, e).is_identity());
  }
  CHECK(!composed({move("rotate", {180})}, {4, 7, 3}, {4, 7, 3}).is_identity());
}

TEST_CASE("a chain of rearrangements is one map, affine where it can be [edges]") {
  std::vector<Rearrangement> chain;
  for (int k = 0; k < 100; ++k) chain.push_back(k % 2 == 0 ? move("reflect", {1}) : move("rotate", {90}));
  const IndexMap map = composed(chain, {6, 6, 2}, {6, 6, 2});
  CHECK(map.is_affine());
  CHECK(map.is_bijection());
  CHECK(composed({move("permute", {2, 0, 1}), move("reflect", {0})}, {4, 5, 6}, {6, 4, 5}).is_affine());
  CHECK(!composed({move("shift", {1, 0, 0})}, {4, 5, 6}, {4, 5, 6}).is_affine());
  // One gather: each element of the target is written once, and no array lies between.
  const Cube source = counted({6, 6, 2});
  CHECK(gathered(map, source.data) == gathered(map.then(IndexMap::identity({6, 6, 2})), source.data));
}

TEST_CASE("gathers move elements of each size, in runs and one by one [edges]") {
  const Extents extents{9, 8, 6};
  const std::vector<Rearrangement> chains[] = {{},
                                               {move("shift", {2, 0, 0})},
                                               {move("shift", {0, 3, 1})},
                                               {move("permute", {1, 0, 2})},
                                               {move("reflect", {2})},
                                               {move("reflect", {2}), move("shift", {1, 1, 0})}};
  const Precision precisions[] = {Precision::tern, Precision::u4,  Precision::i8,  Precision::i9,
                                  Precision::f16,  Precision::i28, Precision::f32, Precision::i64};
  for (const auto& chain : chains) {
    const Extents target = chain.size() == 1 && chain[0].def->name == "permute" ? Extents{8, 9, 6} : extents;
    const IndexMap map = composed(chain, extents, target);
    for (const Precision precision : precisions) {
      Array source = Array::make({precision, extents});
      for (std::int64_t i = 0; i < source.elements(); ++i)
        source.set_number(i, static_cast<double>(precision == Precision::tern ? i % 3 - 1 : i % 16));
      const Array made = map.gather(source);
      CHECK(made.type() == ArrayType{precision, target});
      for (std::int64_t i = 0; i < made.elements(); ++i)
        CHECK(made.number(i) == (map.place(i) < 0 ? 0 : source.number(map.place(i))));
    }
  }
}

TEST_CASE("what a rearrangement cannot do is said [edges]") {
  const Extents e{4, 6, 2};
  CHECK(refused("rotate", {45}, e, e) == "E2005 rotate turns by a multiple of 90 degrees, not by 45");
  CHECK(refused("rotate", {90}, {6}, {6}) == "E2005 rotate moves rows and columns, and [6] has no [y, x] or [y, x, f]");
  CHECK(refused("rotate", {}, e, e) == "E2005 rotate takes one angle, not 0 numbers");
  CHECK(refused("permute", {0, 0, 1}, e, e) == "E2005 permute of [4, 6, 2] takes each of its 3 axes once, not 0, 0, 1");
  CHECK(refused("permute", {0, 1}, e, e) == "E2005 permute of [4, 6, 2] takes each of its 3 axes once, not 0, 1");
  CHECK(refused("reshape", {2, 2, 0}, e, e) == "E2005 reshape takes each axis once, not 2, 2, 0");
  CHECK(refused("reshape", {1, 0}, e, {48}) ==
        "E2005 reshape of [4, 6, 2] takes its 3 axes from fastest to slowest, not 1, 0");
  CHECK(refused("reshape", {}, e, {7, 7}) == "E2001 shapes differ: [4, 6, 2] cannot be reshaped to [7, 7]");
  CHECK(refused("identity", {}, e, {7, 7}) ==
        "E2001 shapes differ: what arrives has [4, 6, 2], 48 elements, and the box there has [7, 7]");
  CHECK(refused("reflect", {3}, e, e) == "E2005 [4, 6, 2] has no axis 3");
  CHECK(refused("shuffle", {0, 1, 2, 3, 4, 4}, e, e) ==
        "E2005 shuffle takes each place from 0 to 5 once: nothing may be lost or copied");
  CHECK(refused("shuffle", {0, 1}, e, e) ==
        "E2005 shuffle of [4, 6, 2] takes one place per element or one per column (x), not 2");
  CHECK(refused("shear", {1, 1}, e, {10, 10, 2}) ==
        "E2005 shear(x: 1, y: 1) puts several places of the source onto one");
  CHECK(refused("shear", {1, 0, 1}, e, {10, 10, 2}).starts_with("E2005 a shear that wraps has no meaning"));
  CHECK(refused("scale", {0, 1}, e, e).starts_with("E2005 scale repeats rows and columns"));
  CHECK(refused("affine", {1, 0, -1, 0, 1, 0}, e, e) ==
        "E2005 affine(1, 0, -1, 0, 1, 0) of [4, 6, 2] reaches from (0, -1) to (3, 4), outside [4, 6, 2]");
  CHECK(refused("project", {1, 0, 0, 2, 0, 0, 0, 0, 1}, e, e) ==
        "E2005 project(1, 0, 0, 2, 0, 0, 0, 0, 1) flattens the plane: its determinant is 0");
  CHECK(refused("scale", {2000000000, 2000000000}, e, e).ends_with("an edge carries at most 2147483647 elements"));
  CHECK(refused("shear", {2147483647, -2147483648LL}, e, e).ends_with("at most 2147483647 elements"));
  CHECK(refused("shift", {1LL << 40, 0, 0}, e, e) == "E2005 the numbers of a rearrangement have 32 bits");
  CHECK(refused("shift", {2147483647, -2147483648LL, 1}, e, e).empty());
  CHECK(refused("identity", {}, {0, 4}, {0, 4}) == "E2005 an edge carries from 1 to 2147483647 elements, not [0, 4]");
  CHECK(refused("identity", {}, {1LL << 40, 1LL << 40}, e).starts_with("E2005 an edge carries from 1 to"));
}

TEST_CASE("rearrangements print as a text has them, and a text makes the same numbers [edges]") {
  auto given = [](const RearrangeDef& def, std::vector<Value> values) {
    return def.numbers(values, {}).value_or_throw();
  };
  const Value zero(std::int64_t{0}), one(std::int64_t{1}), no(false), yes(true);
  const RearrangeDef& shift = *rearrangement_named("shift");
  CHECK(given(shift, {one, zero, zero, zero, yes}) == Numbers{0, -1, 1});
  CHECK(given(shift, {zero, Value(std::int64_t{2}), one, zero, no}) == Numbers{-1, 2, 0});
  CHECK(move("shift", {0, -1, 1}).text() == "shift(left: 1, wrap: true)");
  CHECK(move("shift", {-1, 2, 0}).text() == "shift(up: 1, right: 2)");
  CHECK(move("shift", {0, 0, 0}).text() == "shift()");
  const Value axes(List{Value("x"), Value("y"), Value("f")});
  CHECK(given(*rearrangement_named("permute"), {axes}) == Numbers{1, 0, 2});
  CHECK(move("permute", {1, 0, 2}).text() == "permute(\"x\", \"y\", \"f\")");
  CHECK(move("permute", {1, 0}).text() == "permute(1, 0)");
  CHECK(given(*rearrangement_named("reshape"), {Value()}).empty());
  CHECK(move("reshape", {}).text() == "reshape()");
  CHECK(move("reshape", {2, 1, 0}).text() == "reshape(\"f\", \"x\", \"y\")");
  CHECK(given(*rearrangement_named("reflect"), {Value("x")}) == Numbers{1});
  CHECK(given(*rearrangement_named("reflect"), {Value("r")}) == Numbers{2});
  CHECK(move("reflect", {1}).text() == "reflect(axis: \"x\")");
  CHECK(move("reflect", {3}).text() == "reflect(axis: 3)");
  CHECK(move("scale", {2, 3}).text() == "scale(y: 2, x: 3)");
  CHECK(move("shear", {1, 0}).text() == "shear(x: 1, y: 0)");
  CHECK(move("rotate", {-90}).text() == "rotate(-90)");
  CHECK(move("affine", {1, 0, 0, 0, 1, 0}).text() == "affine(1, 0, 0, 0, 1, 0)");
  CHECK(move("identity", {}).text() == "identity()");
  CHECK(rearrangement_named("reflect")->numbers(std::vector{Value("z")}, {}).diags().items().front().message ==
        "\"z\" is no axis: \"y\", \"x\", \"f\", or a number from 0 on");
  CHECK(rearrangement_named("turn") == nullptr);
  CHECK(rearrangement_named("REFLECT") == rearrangement_numbered(7));
  std::size_t number = 0;
  for (const RearrangeDef* def : all_rearrangements()) CHECK(def->number == static_cast<int>(number++));
  CHECK(number == 11);
}

}  // namespace taskspec::edges_prop_test
