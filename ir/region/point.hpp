// A point of an index space, a colour of a partition, a point of a launch: up to four integers. Rank 0 is a single
// point without coordinates.
//
//   Point::of(2).text() == "2";   Point::of(1, 2).text() == "(1, 2)"
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace taskspec {

inline constexpr std::uint8_t highest_rank = 4;

struct Point {
  std::array<std::int64_t, highest_rank> at{};  // those beyond the rank are 0
  std::uint8_t rank = 1;

  static constexpr Point none() { return {{}, 0}; }
  static constexpr Point of(std::int64_t i) { return {{i}, 1}; }
  static constexpr Point of(std::int64_t i, std::int64_t j) { return {{i, j}, 2}; }
  static constexpr Point of(std::int64_t i, std::int64_t j, std::int64_t k) { return {{i, j, k}, 3}; }
  std::int64_t operator[](std::size_t axis) const { return at[axis]; }
  std::string text() const;   // as a user writes it: "2", "(1, 2)"
  std::string index() const;  // between the brackets of p[..]: "2", "1, 2"
  friend constexpr bool operator==(const Point&, const Point&) = default;
};

}  // namespace taskspec
