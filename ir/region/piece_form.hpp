// How the points of the pieces of a partition are found: a formula, which keeps nothing for a colour, or a table. One
// derived class for each operator or family of them (ir/region/forms/); the forest asks, nobody else.
#pragma once
#include "ir/region/forest.hpp"

namespace taskspec {

// The operator that made a partition and what it was given, for whoever writes it down.
struct PieceOrigin {
  std::string_view op;                        // as the language calls it; "pieces": only these are known
  std::vector<PartitionId> of = {};           // partitions, in their order
  std::optional<Space> space = {};            // the right side of & | - that is no partition
  std::vector<std::int64_t> counts = {};      // blocks
  std::optional<std::int64_t> distance = {};  // halo, shrink
  std::string_view shape = {};                // halo
  bool wraps = false;                         // halo
  struct Field {
    RegionId region;
    std::uint32_t field = 0;
  };
  std::vector<Field> fields = {};  // by_field, image, preimage
};

class PieceForm {
 public:
  virtual ~PieceForm() = default;
  virtual IndexSpace piece(const RegionForest& forest, const Point& colour) const = 0;
  // Rectangles of colours: all pieces that meet `points` are in one of them; others may be too. Until `visit` says
  // false.
  virtual bool touching(const RegionForest& forest, const IndexSpace& points,
                        FunctionRef<bool(const Rect&)> visit) const = 0;
  // By colour: whose piece has something of the points, and what. `own`: the partition of this form.
  using Meets = FunctionRef<void(const Point& colour, const IndexSpace& part)>;
  virtual void meeting(const RegionForest& forest, const Partition& own, const IndexSpace& points, Meets visit) const;
  // Where the form itself tells; else the forest looks at the pieces.
  virtual std::optional<bool> disjoint(const RegionForest& forest) const = 0;
  virtual std::optional<bool> complete(const RegionForest& forest) const = 0;
  // A coordinate inside `box` at which pieces end, so that about as many lie on each side: where a search may cut.
  virtual std::optional<std::int64_t> middle(const RegionForest& forest, const Rect& box, std::size_t axis) const = 0;
  virtual PieceOrigin origin() const = 0;
  // What it is: equal keys, equal pieces. Each form begins with a letter of its own.
  virtual void put_key(std::string& key, const RegionForest& forest) const = 0;
  // What members that share its pieces out were told to make it of, each for itself: the pieces are the same for all of
  // them even where that differs. None: the key tells.
  virtual Hash128 made_of() const { return {}; }
  virtual void each_operand(FunctionRef<void(PartitionId)> visit) const;  // partitions that it asks for their pieces
  // A partition of the same colours, each of whose pieces holds that of this one; none: the form tells of no such.
  virtual PartitionId within() const { return {}; }
  virtual bool is_table() const { return false; }  // keeps its pieces; what is made of it does so too
  virtual bool is_open() const { return false; }   // nobody knows its pieces yet: piece() throws Error E1009
  virtual bool knows(const Point& /*colour*/) const { return true; }  // else it asks others for the piece
  virtual std::size_t bytes() const { return sizeof(*this); }
};

}  // namespace taskspec
