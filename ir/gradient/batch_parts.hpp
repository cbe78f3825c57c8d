// A batch cut into parts along its rows: part c of n holds rows floor(c B / n) to floor((c + 1) B / n). Parts without
// rows are left out; the others keep their places.
//
//   BatchParts::of(7, 3).parts         {0, 2}, {2, 4}, {4, 7}
//   BatchParts::of(2, 4).parts         {0, 1} in place 1, {1, 2} in place 3
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

namespace taskspec {

struct BatchParts {
  static constexpr std::int64_t most_parts = 65535;

  struct Part {
    std::int64_t begin = 0, end = 0;  // rows
    std::int64_t place = 0;
    std::int64_t rows() const { return end - begin; }
  };
  std::int64_t rows = 0, places = 1;
  std::vector<Part> parts;

  static BatchParts of(std::int64_t rows, std::int64_t places) {
    BatchParts batch{rows, places, {}};
    for (std::int64_t c = 0; c < places; ++c) {
      const Part part{c * rows / places, (c + 1) * rows / places, c};
      if (part.rows() > 0) batch.parts.push_back(part);
    }
    return batch;
  }
  // Several of them have rows.
  bool is_cut() const { return parts.size() > 1; }

  // What parts have, added up along a tree over all places: a node over n of them has its left child over the first
  // 2^(ceil(log2 n) - 1); a child without parts adds nothing.
  template <class T, class Add>
  T sum(const std::vector<T>& of_parts, const Add& add) const {
    std::size_t next = 0;
    return sum_over(0, places, of_parts, next, add);
  }

 private:
  // Of the parts in places [begin, end), of which there is one; `next` is the first of them, then the one behind them.
  template <class T, class Add>
  T sum_over(std::int64_t begin, std::int64_t end, const std::vector<T>& of_parts, std::size_t& next,
             const Add& add) const {
    if (end - begin == 1) return of_parts[next++];
    const auto half = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(end - begin)) / 2);
    const std::int64_t middle = begin + half;
    const bool left = parts[next].place < middle;
    if (!left) return sum_over(middle, end, of_parts, next, add);
    T total = sum_over(begin, middle, of_parts, next, add);
    const bool right = next < parts.size() && parts[next].place < end;
    return right ? add(total, sum_over(middle, end, of_parts, next, add)) : total;
  }
};

}  // namespace taskspec
