#include "interp/session/field_memory.hpp"

#include <utility>

#include "ir/base/at_end.hpp"
#include "ir/region/made_here.hpp"

namespace taskspec {

FieldMemory::~FieldMemory() {
  for (const Fields& region : fields_)
    for (const Location location : region.locations)
      if (location.valid()) backend_.free(location);
}

void FieldMemory::drop(RegionId region) noexcept {
  if (region.index() >= fields_.size()) return;
  Fields& known = fields_[region.index()];
  for (const Location location : known.locations)
    if (location.valid()) backend_.free(location);
  known = {};
}

Location FieldMemory::allocate(RegionId region, std::size_t field, const Packed& packed) {
  const ArrayType type = concrete(graph_.type(Ref::field(region, field)));
  try {
    return packed ? backend_.allocate_part(type, packed->held().size()) : backend_.allocate_zeros(type);
  } catch (const Error& error) {
    const Region& of = graph_.regions[region];
    Diag diag = error.diags().items().front();
    diag.message += " of '" + of.name + "." + of.fields[field].name + "'";
    label_made(diag, of);
    throw Error(std::move(diag));
  }
}

Location FieldMemory::location(Ref field) {
  Fields& known = fields(RegionId(field.id));
  if (known.locations.size() <= field.slot) known.locations.resize(field.slot + std::size_t{1});
  Location& location = known.locations[field.slot];
  if (!location.valid()) location = allocate(RegionId(field.id), field.slot, known.room ? known.room->packed : nullptr);
  return location;
}

// ---- which elements -------------------------------------------------------------------------------

std::shared_ptr<const FieldRoom> FieldMemory::room(RegionId region) const {
  return region.index() < fields_.size() ? fields_[region.index()].room : nullptr;
}

void FieldMemory::want(RegionId region, Packed packed) {
  Fields& known = fields(region);
  if (known.changes >= most_changes) packed = nullptr;
  if (!known.room) known.room = std::make_shared<FieldRoom>(FieldRoom{++rooms_, {}});
  known.wanted = std::move(packed);
  if (known.wanted == known.room->packed || std::exchange(known.is_due, true)) return;
  due_.push_back(region);
}

void FieldMemory::change() {
  while (!due_.empty()) {
    Fields& known = fields(due_.back());  // a region that has gone meanwhile wants nothing
    if (known.is_due && known.wanted != known.room->packed) change(due_.back(), known);
    known.is_due = false;
    due_.pop_back();
  }
}

// What has no memory yet, nobody has touched: it is zero.
void FieldMemory::change(RegionId region, Fields& fields) {
  const PackedPlaces *from = fields.room->packed.get(), *to = fields.wanted.get();
  std::vector<Backend::Moved> moved;
  for (const Run& run : (from ? from : to)->held().runs())
    moved.push_back({place_in(from, run.lo), place_in(to, run.lo), run.size()});
  std::vector<Location> made(fields.locations.size());
  const AtEnd freed([&] {
    for (const Location location : made)
      if (location.valid()) backend_.free(location);
  });
  for (std::size_t field = 0; field < made.size(); ++field)
    if (fields.locations[field].valid()) made[field] = allocate(region, field, fields.wanted);
  for (std::size_t field = 0; field < made.size(); ++field)
    if (made[field].valid()) backend_.move_elements(fields.locations[field], made[field], moved);
  fields.locations.swap(made);
  fields.room->packed = fields.wanted;
  ++fields.changes;
  ++changes_;
}

}  // namespace taskspec
