// The form of pieces that nobody knows yet: fields say which points they have, and a graph that is only looked at has
// no contents of fields. What is known is the operator, the colours, and whether pieces can share a point.
#pragma once
#include "ir/base/diag.hpp"
#include "ir/base/key.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

class OpenForm final : public PieceForm {
 public:
  // `serial` tells it from all others: the same field may hold something else later. `place`: of the operator.
  OpenForm(PieceOrigin origin, const Rect& colours, bool disjoint, std::uint64_t serial, Span place)
      : origin_(std::move(origin)), colours_(colours), disjoint_(disjoint), serial_(serial), place_(place) {}
  IndexSpace piece(const RegionForest&, const Point&) const override {
    throw failure("E1009", place_,
                  "which points the pieces have that '" + std::string(origin_.op) +
                      "' makes here is known when the graph runs: one that is only looked at cannot count them");
  }
  bool touching(const RegionForest&, const IndexSpace&, FunctionRef<bool(const Rect&)> visit) const override {
    return visit(colours_);
  }
  std::optional<bool> disjoint(const RegionForest&) const override { return disjoint_; }
  std::optional<bool> complete(const RegionForest&) const override { return false; }
  std::optional<std::int64_t> middle(const RegionForest&, const Rect&, std::size_t) const override {
    return std::nullopt;
  }
  PieceOrigin origin() const override { return origin_; }
  void put_key(std::string& key, const RegionForest&) const override {
    key += 'o';
    put_number(key, serial_);
  }
  void each_operand(FunctionRef<void(PartitionId)> visit) const override {
    for (const PartitionId operand : origin_.of) visit(operand);
    if (origin_.space && origin_.space->partition.valid()) visit(origin_.space->partition);
  }
  bool is_open() const override { return true; }

 private:
  const PieceOrigin origin_;
  const Rect colours_;
  const bool disjoint_;
  const std::uint64_t serial_;
  const Span place_;
};

}  // namespace taskspec
