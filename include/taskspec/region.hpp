// Regions: data that changes in place, the partitions that cut it into pieces, and what becomes of a launch.
//
//   Region cells = region("cells", Cell, 64);
//   Partition owned = blocks(cells, 4), interior = owned & shrink(cells, 1), ghost = halo(owned, 1);
//   fill(cells["state"], 1.0);
//   cells["state"].sum(0).scalar<double>()     // what a field holds now, as a tensor
//   launch(stencil, interior, ghost).over(0, 4);                       // launch.hpp
//
// Inside the body of a fn they are recorded, outside of all bodies they are the session's of this thread.
#pragma once
#include "taskspec/declare.hpp"

namespace taskspec::dsl {

// What stands for mutable data or for outputs of a launch; a temporary becomes part of what takes it, as a Tensor does.
class Handle {
 public:
  using At = detail::At;
  const detail::NodePtr& node() const& { return node_; }
  detail::NodePtr node() && { return std::move(node_); }
  std::string text(At at = At::current()) const;  // as the language prints it: "<region Cell[64]>"

 protected:
  Handle() = default;
  explicit Handle(detail::NodePtr node) : node_(std::move(node)) {}
  detail::NodePtr node_;
};

// All points, or those of a piece.
class Region : public Handle {
 public:
  Region() = default;
  Region(const Var& parameter) : Handle(parameter.node()) {}  // of a fn
  explicit Region(detail::NodePtr node) : Handle(std::move(node)) {}
  // What a field holds, read at this moment; in brackets of fill, image and others: the field itself.
  Var operator[](FieldName field) const { return detail::field_of(node_, field.name); }
};

class Partition : public Handle {
 public:
  Partition() = default;
  Partition(const Var& parameter) : Handle(parameter.node()) {}
  explicit Partition(detail::NodePtr node) : Handle(std::move(node)) {}
  Region operator[](Position colour) const { return Region(item(detail::positions(std::move(colour)))); }
  template <class... More>
  Region at(Position first, More&&... more) const {
    return Region(item(detail::positions(std::move(first), std::forward<More>(more)...)));
  }

 private:
  detail::NodePtr item(std::vector<Position> colour) const;
};

// An output of all points of a launch.
class Map : public Handle {
 public:
  Map() = default;
  explicit Map(detail::NodePtr node) : Handle(std::move(node)) {}
  // Element by element over the points, in an order that does not depend on who runs them.
  Tensor sum(At at = At::current()) const { return member("sum", at); }
  Tensor prod(At at = At::current()) const { return member("prod", at); }
  Tensor min(At at = At::current()) const { return member("min", at); }
  Tensor max(At at = At::current()) const { return member("max", at); }
  Tensor gather(At at = At::current()) const { return member("gather", at); }  // one tensor, the points in front
  Tensor operator[](Position point) const { return item(detail::positions(std::move(point))); }
  template <class... More>
  Tensor at(Position first, More&&... more) const {
    return item(detail::positions(std::move(first), std::forward<More>(more)...));
  }

 private:
  Tensor member(const char* name, At at) const;
  Tensor item(std::vector<Position> point) const;
};

// ---- regions --------------------------------------------------------------------------------------

namespace detail {
Region make_region(const Name& name, const Fields& fields, std::vector<Operand> extents);
NodePtr partition_op(const char* name, std::vector<Operand> operands, At at);
void act(const char* name, std::vector<Operand> operands, At at);  // gives nothing
// A function of ints, recorded: `c => ...`
using RecordedFunction = std::function<Operand(const std::vector<Tensor>&)>;
Operand function_of(std::size_t parameters, const RecordedFunction& body, At at);
Operand range_operand(Range range);
}  // namespace detail

// A new region, all of whose elements are zero. The name is for messages.
template <class... More>
Region region(Name name, const Fields& fields, Operand extent, More&&... more) {
  [[maybe_unused]] const detail::At at = extent.at();
  std::vector<Operand> extents;
  extents.push_back(std::move(extent));
  (extents.push_back(detail::further(std::forward<More>(more), at)), ...);
  return detail::make_region(name, fields, std::move(extents));
}
template <class... More>
Region region(const Fields& fields, Operand extent, More&&... more) {
  const detail::At at = extent.at();
  return region(Name("", at), fields, std::move(extent), std::forward<More>(more)...);
}

// A region or partition in brackets.
struct Data {
  using At = detail::At;
  Data(const Region& value, At at = At::current()) : operand(value, at) {}
  Data(Region&& value, At at = At::current()) : operand(std::move(value), at) {}
  Data(const Partition& value, At at = At::current()) : operand(value, at) {}
  Data(Partition&& value, At at = At::current()) : operand(std::move(value), at) {}
  Operand operand;
};

// Writes a number, or the elements of a tensor in the order of the points.
inline void fill(const Var& field, Operand contents) {
  const detail::At at = contents.at();
  detail::act("fill", {Operand(field, at), std::move(contents)}, at);
}

Region shrink(Data region, Operand k);  // without its outer k points

// ---- partitions -----------------------------------------------------------------------------------

Partition blocks(Data region, Operand n, Operand m = {}, Operand k = {}, Operand l = {});
Partition by_weight(Data region, Operand weights);
Partition by_field(const Var& field, Operand n);
Partition halo(Data partition, Operand k, std::string shape = "box");           // or "star"
Partition periodic_halo(Data partition, Operand k, std::string shape = "box");  // `wrap: true`: around the ends
Partition image(Data region, Data partition, const Var& field, detail::At at = detail::At::current());
Partition image(Data region, Data partition, const Var& first, const Var& last, detail::At at = detail::At::current());
Partition preimage(Data partition, const Var& field, detail::At at = detail::At::current());
Partition cross(Data p, Data q);
Partition assume(Data partition, std::string claim);  // "disjoint" or "complete"
Tensor len(const Partition& partition, detail::At at = detail::At::current());

// The pieces that a function of the colour says: a range, or several in a std::vector<Range>.
namespace detail {
Partition cover(Data region, Operand n, const RecordedFunction& pieces);
Operand ranges_operand(std::vector<Range> ranges, At at);
}  // namespace detail
template <class F>
requires std::is_invocable_v<F&, Tensor> Partition cover(Data region, Operand n, F pieces) {
  const detail::At at = n.at();
  return detail::cover(std::move(region), std::move(n), [&](const std::vector<Tensor>& colour) {
    std::vector<Range> ranges;
    if constexpr (std::is_same_v<std::invoke_result_t<F&, Tensor>, Range>)
      ranges.push_back(pieces(colour[0]));
    else
      ranges = pieces(colour[0]);
    return detail::ranges_operand(std::move(ranges), at);
  });
}

// Piece by piece; with a region: every piece.
Partition operator&(const Partition& p, Data q);
Partition operator|(const Partition& p, Data q);
Partition operator-(const Partition& p, Data q);

}  // namespace taskspec::dsl
