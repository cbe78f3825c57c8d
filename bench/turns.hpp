// Times of one thing that is done again and again while a program grows: what it takes at first and in the end.
//
//   Turns turns;
//   for (...) turns.add(measure(enter).wall);
//   add_row(table, "let of a number", turns);       // microseconds at 10 and at 10,000, and their ratio
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace taskspec::bench {

constexpr std::size_t few = 10, many = 10'000;

class Turns {
 public:
  void add(double seconds) { times_.push_back(seconds); }
  // Medians of some turns behind the first ten, and of the last ones.
  double first() const;
  double last() const;

 private:
  double around(std::size_t begin) const;
  std::vector<double> times_;
};

void add_row(Table& table, const std::string& what, const Turns& turns);

// Values of a C++ program; in a file that sees the public headers only.
void host_values(Table& table);

}  // namespace taskspec::bench
