// Forms of `& | -` and of `cross`: pieces are made of those of the operands, when they are asked for.
#pragma once
#include "ir/region/piece_form.hpp"

namespace taskspec {

enum class SetOperator : std::uint8_t { intersect, unite, subtract };

IndexSpace combine(const Rect& root, SetOperator op, const IndexSpace& a, const IndexSpace& b);

// The right side is a partition, taken at the same colour, or one space for all.
class SetForm final : public PieceForm {
 public:
  SetForm(SetOperator op, PartitionId left, PartitionId right) : op_(op), left_(left), right_(right) {}
  SetForm(SetOperator op, PartitionId left, const Space& right, const IndexSpace& points)
      : op_(op), left_(left), space_(right), points_(points) {}
  IndexSpace piece(const RegionForest& forest, const Point& colour) const override;
  bool touching(const RegionForest& forest, const IndexSpace& points,
                FunctionRef<bool(const Rect&)> visit) const override;
  std::optional<bool> disjoint(const RegionForest& forest) const override;
  std::optional<bool> complete(const RegionForest& forest) const override;
  std::optional<std::int64_t> middle(const RegionForest& forest, const Rect& box, std::size_t axis) const override;
  PieceOrigin origin() const override;
  void put_key(std::string& key, const RegionForest& forest) const override;
  void each_operand(FunctionRef<void(PartitionId)> visit) const override {
    visit(left_);
    if (right_.valid()) visit(right_);
    if (space_.partition.valid()) visit(space_.partition);
  }
  PartitionId within() const override { return op_ == SetOperator::unite ? PartitionId() : left_; }

 private:
  SetOperator op_;
  PartitionId left_, right_;
  Space space_;
  IndexSpace points_;  // of `space_`
};

class CrossForm final : public PieceForm {
 public:
  CrossForm(PartitionId left, PartitionId right) : left_(left), right_(right) {}
  IndexSpace piece(const RegionForest& forest, const Point& colour) const override;
  bool touching(const RegionForest& forest, const IndexSpace& points,
                FunctionRef<bool(const Rect&)> visit) const override;
  std::optional<bool> disjoint(const RegionForest& forest) const override;
  std::optional<bool> complete(const RegionForest& forest) const override;
  std::optional<std::int64_t> middle(const RegionForest& forest, const Rect& box, std::size_t axis) const override;
  PieceOrigin origin() const override { return {.op = "cross", .of = {left_, right_}}; }
  void put_key(std::string& key, const RegionForest& forest) const override;
  void each_operand(FunctionRef<void(PartitionId)> visit) const override {
    visit(left_);
    visit(right_);
  }

 private:
  PartitionId left_, right_;
};

}  // namespace taskspec
