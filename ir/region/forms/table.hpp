// The form of pieces that no formula gives: each is kept, with an index of all their runs.
#pragma once
#include "ir/region/forms/run_index.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

class TableForm final : public PieceForm {
 public:
  TableForm(const Rect& root, const Rect& colours, std::vector<IndexSpace> pieces, std::int64_t parent_size);
  IndexSpace piece(const RegionForest&, const Point& colour) const override {
    return pieces_[static_cast<std::size_t>(colours_.linear(colour))];
  }
  bool touching(const RegionForest& forest, const IndexSpace& points,
                FunctionRef<bool(const Rect&)> visit) const override;
  void meeting(const RegionForest& forest, const Partition& own, const IndexSpace& points, Meets visit) const override;
  std::optional<bool> disjoint(const RegionForest&) const override { return disjoint_; }
  std::optional<bool> complete(const RegionForest&) const override { return complete_; }
  std::optional<std::int64_t> middle(const RegionForest& forest, const Rect& box, std::size_t axis) const override;
  PieceOrigin origin() const override { return {.op = "pieces"}; }
  void put_key(std::string& key, const RegionForest& forest) const override;
  bool is_table() const override { return true; }
  std::size_t bytes() const override;

 private:
  Rect root_, colours_;
  std::vector<IndexSpace> pieces_;
  RunIndex index_;
  bool disjoint_ = false, complete_ = false;
};

// Throws Error E5008 where so many pieces cannot be kept.
void check_table_size(std::int64_t pieces, Span span);

}  // namespace taskspec
