#include "ir/region/interference.hpp"

namespace taskspec {

Hazard hazard(const RegionForest& forest, const Access& earlier, const Access& later) {
  // What the trees tell of the points costs little, what the points themselves tell comes last.
  if (forest.statically_disjoint(earlier.space, later.space)) return Hazard::none;
  if (!earlier.fields.meets(later.fields)) return Hazard::none;
  const Hazard why = hazard(earlier.privilege, earlier.op, later.privilege, later.op);
  return why != Hazard::none && forest.meet(earlier.space, later.space) ? why : Hazard::none;
}

}  // namespace taskspec
