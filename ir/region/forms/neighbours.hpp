// Forms of `halo` and `shrink`, and what they do to any set of points of a root.
#pragma once
#include "ir/region/operators.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

// The points and their k neighbours along every axis, without what lies outside of the root.
IndexSpace grown(const Rect& root, const IndexSpace& points, std::int64_t k, HaloShape shape);
// Likewise, where behind the last point of the box along an axis its first one comes. The points lie in the box.
IndexSpace grown_round(const Rect& root, const Rect& box, const IndexSpace& points, std::int64_t k, HaloShape shape);
// The points whose k neighbours (box) all belong to them; what lies outside of the root does not.
IndexSpace shrunk(const Rect& root, const IndexSpace& points, std::int64_t k);

class HaloForm final : public PieceForm {
 public:
  HaloForm(PartitionId of, std::int64_t k, HaloShape shape, bool wraps)
      : of_(of), k_(k), shape_(shape), wraps_(wraps) {}
  IndexSpace piece(const RegionForest& forest, const Point& colour) const override;
  bool touching(const RegionForest& forest, const IndexSpace& points,
                FunctionRef<bool(const Rect&)> visit) const override;
  std::optional<bool> disjoint(const RegionForest& forest) const override;
  std::optional<bool> complete(const RegionForest& forest) const override;
  std::optional<std::int64_t> middle(const RegionForest& forest, const Rect& box, std::size_t axis) const override;
  PieceOrigin origin() const override {
    return {
        .op = "halo", .of = {of_}, .distance = k_, .shape = shape_ == HaloShape::box ? "box" : "star", .wraps = wraps_};
  }
  void put_key(std::string& key, const RegionForest& forest) const override;
  void each_operand(FunctionRef<void(PartitionId)> visit) const override { visit(of_); }

 private:
  PartitionId of_;
  std::int64_t k_;
  HaloShape shape_;
  bool wraps_;  // around what the pieces are of, which is a rectangle
};

// A partition of one colour without axes: a space with a formula of its own.
class ShrinkForm final : public PieceForm {
 public:
  ShrinkForm(const Rect& root, const IndexSpace& points, std::int64_t k) : points_(shrunk(root, points, k)), k_(k) {}
  IndexSpace piece(const RegionForest&, const Point&) const override { return points_; }
  bool touching(const RegionForest&, const IndexSpace&, FunctionRef<bool(const Rect&)> visit) const override {
    return visit(Rect::of({}));
  }
  std::optional<bool> disjoint(const RegionForest&) const override { return true; }
  std::optional<bool> complete(const RegionForest&) const override { return std::nullopt; }
  std::optional<std::int64_t> middle(const RegionForest&, const Rect&, std::size_t) const override {
    return std::nullopt;
  }
  PieceOrigin origin() const override { return {.op = "shrink", .distance = k_}; }
  void put_key(std::string& key, const RegionForest& forest) const override;
  std::size_t bytes() const override { return sizeof(*this) + points_.intervals().runs().size() * 24; }

 private:
  IndexSpace points_;
  std::int64_t k_;
};

}  // namespace taskspec
