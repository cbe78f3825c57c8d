// What a task needs of something that changes in place. Two tasks whose requirements interfere keep the order in which
// they were called: an order edge stands between them.
//
//   {.place = log, .privilege = Privilege::inout, .slot_in = 0, .slot_out = 1}    // reads log and leaves its next
//   version
#pragma once
#include <cstdint>

#include "ir/base/ids.hpp"
#include "ir/records/hazard.hpp"
#include "ir/records/operand.hpp"

namespace taskspec {

struct PlaceTag;
using PlaceId = Id<PlaceTag>;

struct Requirement {
  PlaceId place;                            // one field with all its points
  Privilege privilege = Privilege::in;      // out: a new version, which does not depend on the one before
  std::uint16_t slot_in = 0, slot_out = 0;  // the input that reads it; the output that is its new version

  static constexpr std::uint16_t no_slot = UINT16_MAX;  // a field of a region: it has no versions, only an order
  bool has_versions() const { return slot_in != no_slot; }

  bool reads() const { return privilege != Privilege::out; }
  bool writes() const { return privilege != Privilege::in; }
};

// Why a task with requirement `later` must come after one with `earlier`, of the same place; none where it need not.
inline Hazard hazard(const Requirement& earlier, const Requirement& later) {
  if (earlier.writes()) return later.reads() ? Hazard::raw : Hazard::waw;
  return later.writes() ? Hazard::war : Hazard::none;
}

}  // namespace taskspec
