// Forms that take a space apart into shares: blocks of a rectangle along its axes, or, of points in any other form, by
// their number. Share c of n of N things begins at c*N/n, rounded down.
#pragma once
#include "ir/region/piece_form.hpp"

namespace taskspec {

struct Shares {
  std::int64_t things = 0, shares = 1;
  std::int64_t begin(std::int64_t share) const;
  std::int64_t of(std::int64_t thing) const;  // the share that has it
  // Begin of a share strictly between lo and hi, with as many shares on each side.
  std::optional<std::int64_t> middle(std::int64_t lo, std::int64_t hi) const;
};

class BlocksForm final : public PieceForm {
 public:
  // `counts` along each axis of `rect`; the colours of a single count for several axes are of rank 1.
  BlocksForm(const Rect& rect, const Point& counts, std::uint8_t colour_rank);
  IndexSpace piece(const RegionForest& forest, const Point& colour) const override;
  bool touching(const RegionForest& forest, const IndexSpace& points,
                FunctionRef<bool(const Rect&)> visit) const override;
  std::optional<bool> disjoint(const RegionForest&) const override { return true; }
  std::optional<bool> complete(const RegionForest&) const override { return true; }
  std::optional<std::int64_t> middle(const RegionForest& forest, const Rect& box, std::size_t axis) const override;
  PieceOrigin origin() const override {
    return {.op = "blocks", .counts = {counts_.at.begin(), counts_.at.begin() + counts_.rank}};
  }
  void put_key(std::string& key, const RegionForest& forest) const override;

 private:
  Shares along(std::size_t axis) const { return {rect_.extent(axis), counts_.at[axis]}; }
  Rect rect_;
  Point counts_;
  std::uint8_t colour_rank_;
};

class SparseBlocksForm final : public PieceForm {
 public:
  SparseBlocksForm(const Rect& root, const Intervals& points, std::int64_t pieces)
      : root_(root), points_(points), shares_{points.size(), pieces} {}
  IndexSpace piece(const RegionForest& forest, const Point& colour) const override;
  bool touching(const RegionForest& forest, const IndexSpace& points,
                FunctionRef<bool(const Rect&)> visit) const override;
  std::optional<bool> disjoint(const RegionForest&) const override { return true; }
  std::optional<bool> complete(const RegionForest&) const override { return true; }
  std::optional<std::int64_t> middle(const RegionForest& forest, const Rect& box, std::size_t axis) const override;
  PieceOrigin origin() const override { return {.op = "blocks", .counts = {shares_.shares}}; }
  void put_key(std::string& key, const RegionForest& forest) const override;
  std::size_t bytes() const override { return sizeof(*this) + points_.runs().size() * 24; }

 private:
  Rect root_;
  Intervals points_;
  Shares shares_;
};

}  // namespace taskspec
