// What a region holds at each of its points, and types of regions in signatures.
//
//   Fields Cell = fields("Cell", {{"state", f64}, {"flux", f64}});
//   task("add_one").inout("c", Cell, {"state"})         // sees any points, and of their fields one
//   task("star").in("g", Cell("_", "_"), {"state"})     // of a region with two axes
//   fn("total").in("r", Cell)                           // a region as the parameter of a fn
#pragma once
#include "taskspec/operand.hpp"

namespace taskspec::dsl {

// Names of inputs, outputs or fields.
struct Slots : std::vector<std::string> {
  using std::vector<std::string>::vector;
};

struct RegionType : Type {};

// A field: its elements are of a precision, or `integer` (i64), `real` (f64).
struct Field {
  Field(Name name, Precision precision) : name(std::move(name)), precision(precision.name()) {}
  Name name;
  std::string precision;
};

// By itself it is the type of any points in one axis.
class Fields : public RegionType {
 public:
  Fields(const Name& name, std::vector<Field> list);
  template <class... Dims>
  RegionType operator()(Dims&&... dims) const {
    return with({Dim(std::forward<Dims>(dims))...});
  }
  RegionType operator[](Dim dim) const { return with({std::move(dim)}); }

 private:
  RegionType with(std::vector<Dim> dims) const;
};

inline Fields fields(Name name, std::vector<Field> list) { return Fields(std::move(name), std::move(list)); }

}  // namespace taskspec::dsl
