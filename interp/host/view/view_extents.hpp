// What the signature of a task over views says about how many points they have, held against what a point of a launch
// has: its pieces may have other extents than those of its neighbour.
//
//   task step(inout own: Cell[N].{a}, in next: Cell[N].{a}, w: f64[2])
//
//   const ViewExtents extents(program, task, inputs);
//   extents.check(pieces);  // E5004: 'next' has 2 points; Cell[N] must have 8
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/program/program.hpp"
#include "ir/region/space.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

class ViewExtents {
 public:
  // `inputs`: of all parameters that are no views, in order, as a point has them.
  ViewExtents(const Program& program, const Function& task, std::span<const ArrayType> inputs);
  // By view parameter; throws Error (E5004).
  void check(const IndexSpace* const* pieces) const;

 private:
  static constexpr std::size_t none = SIZE_MAX;
  struct Extent {  // one of a parameter
    std::size_t view = 0, axis = 0, rank = 1;
    Dim dim;
    std::size_t alone = none;  // of symbols_: what it is
    std::string name, type;
    Span span;
  };
  using Values = std::span<std::int64_t>;  // by symbol: negative where it is not known yet
  std::size_t index_of(const Symbol& symbol) const;
  void add(Extent extent);
  void put_in_order();
  void settle(const Extent& extent, std::int64_t given, Values values) const;
  void settle_inputs(std::span<const std::pair<Extent, std::int64_t>> inputs);

  std::vector<std::uint32_t> symbols_;  // their ids
  std::vector<std::int64_t> known_;     // by symbol: from what is no view
  std::vector<Extent> extents_;         // of views, each behind what it needs to be known
  std::optional<Error> wrong_;          // of what is no view
};

}  // namespace taskspec
