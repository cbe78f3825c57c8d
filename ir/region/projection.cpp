#include "ir/region/projection.hpp"

#include <algorithm>

namespace taskspec {
namespace {

__extension__ using Wide = __int128;
using Factors = std::array<std::array<std::int64_t, highest_rank>, highest_rank>;

// Columns `axes` of the matrix have full rank: elimination without fractions. Factors are small; where one would grow
// beyond what can be held the answer is no.
bool independent(const Factors& factors, std::uint8_t rows, const std::vector<std::size_t>& axes) {
  std::array<std::array<Wide, highest_rank>, highest_rank> m{};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t c = 0; c < axes.size(); ++c) m[row][c] = factors[row][axes[c]];
  std::size_t done = 0;
  for (std::size_t c = 0; c < axes.size(); ++c) {
    std::size_t pivot = done;
    while (pivot < rows && m[pivot][c] == 0) ++pivot;
    if (pivot == rows) return false;
    std::swap(m[pivot], m[done]);
    for (std::size_t row = done + 1; row < rows; ++row) {
      const Wide a = m[done][c], b = m[row][c];
      for (std::size_t k = c; k < axes.size(); ++k)
        if (__builtin_mul_overflow(m[row][k], a, &m[row][k]) ||
            __builtin_sub_overflow(m[row][k], m[done][k] * b, &m[row][k]))
          return false;
    }
    ++done;
  }
  return true;
}

}  // namespace

Projection Projection::identity(std::uint8_t rank) {
  Projection made;
  made.in = made.out = rank;
  for (std::size_t axis = 0; axis < rank; ++axis) made.factors[axis][axis] = 1;
  return made;
}

Projection Projection::affine(std::uint8_t in, std::uint8_t out, const Factors& factors,
                              const std::array<std::int64_t, highest_rank>& offsets) {
  Projection made;
  made.kind = Kind::affine;
  made.in = in;
  made.out = out;
  for (std::size_t row = 0; row < out; ++row) {
    std::copy_n(factors[row].begin(), in, made.factors[row].begin());
    made.offsets[row] = offsets[row];
  }
  const Projection same = identity(in);
  if (in == out && made.factors == same.factors && made.offsets == same.offsets) return same;
  return made;
}

Projection Projection::constant(std::uint8_t in, const Point& colour) { return affine(in, colour.rank, {}, colour.at); }

Projection Projection::of(std::uint8_t in, std::uint8_t out, std::function<Point(const Point&)> function,
                          std::uint64_t hash) {
  Projection made;
  made.kind = Kind::function;
  made.in = in;
  made.out = out;
  made.function = std::move(function);
  made.hash = hash;
  return made;
}

Point Projection::operator()(const Point& point) const {
  if (kind == Kind::identity) return point;
  if (kind == Kind::function) return function(point);
  Point colour{{}, out};
  for (std::size_t row = 0; row < out; ++row) {
    Wide sum = offsets[row];
    for (std::size_t axis = 0; axis < in; ++axis) sum += Wide{factors[row][axis]} * point.at[axis];
    // What cannot be held is no colour either.
    colour.at[row] = static_cast<std::int64_t>(std::clamp<Wide>(sum, INT64_MIN, INT64_MAX));
  }
  return colour;
}

bool Projection::injective(const Rect& domain) const {
  if (kind == Kind::identity || domain.size() < 2) return true;
  if (kind == Kind::function) return false;
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < in; ++axis)
    if (domain.extent(axis) > 1) axes.push_back(axis);
  return axes.size() <= out && independent(factors, out, axes);
}

std::optional<Rect> Projection::image(const Rect& domain) const {
  if (kind == Kind::function) return std::nullopt;
  if (kind == Kind::identity) return domain;
  Rect made{offsets, offsets, out};
  if (domain.empty()) return made;
  for (std::size_t row = 0; row < out; ++row) {
    ++made.hi[row];
    for (std::size_t axis = 0; axis < in; ++axis) {
      std::int64_t low = 0, high = 0;
      if (__builtin_mul_overflow(factors[row][axis], domain.lo[axis], &low) ||
          __builtin_mul_overflow(factors[row][axis], domain.hi[axis] - 1, &high) ||
          __builtin_add_overflow(made.lo[row], std::min(low, high), &made.lo[row]) ||
          __builtin_add_overflow(made.hi[row], std::max(low, high), &made.hi[row]))
        return std::nullopt;
    }
  }
  return made;
}

bool operator==(const Projection& a, const Projection& b) {
  if (a.kind != b.kind || a.in != b.in || a.out != b.out) return false;
  if (a.kind == Projection::Kind::function) return a.hash == b.hash;
  return a.factors == b.factors && a.offsets == b.offsets;
}

}  // namespace taskspec
