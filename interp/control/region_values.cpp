#include "interp/control/region_values.hpp"

#include <fmt/format.h>

#include "interp/control/recorder.hpp"
#include "interp/control/target.hpp"

namespace taskspec {

namespace {

// Null: what recorded it is gone.
const RegionForest* forest_of(const RegionHandle& region) {
  const Recorder* recorder = region.recorder();
  return recorder ? &recorder->graph.regions : nullptr;
}

template <class T>
const T& data_in(Target& target, const Value& value, Span span, std::string_view what) {
  const T* data = value.as<T>();
  // The cutter gives the host program a function that another one calls, and with it the call that needs its result.
  if (!data)
    throw failure(
        "E1009", span,
        "a function that says which points a piece has, or which piece a point takes, calls another one here, "
        "which is not built yet; write out what that one computes");
  if (!target.has_regions() || forest_of(*data->region) != &target.regions())
    throw failure("E1004", span,
                  std::string(what) +
                      " belongs to the session that made it, and 'run' opens another one: make a region in what runs, "
                      "and hand its contents over as tensors, r.f");
  return *data;
}

}  // namespace

std::string SpaceValue::text() const {
  const RegionForest* forest = forest_of(*region);
  if (!forest || !space.partition.valid()) return region->text();
  const IndexSpace points = forest->points(space);
  const std::string& name = (*forest)[space.root].fields_name;
  if (!points.is_rect()) return fmt::format("<region {}, {} points>", name, points.size());
  std::string text = points.rect().text();
  if (text.starts_with("(")) text = text.substr(1, text.size() - 2);
  return fmt::format("<region {}[{}]>", name, text);
}

std::string FieldValue::text() const {
  const RegionForest* forest = forest_of(*region);
  if (!forest) return "<field>";
  const Region& of = (*forest)[space.root];
  return fmt::format("<field {}.{}>", of.fields_name, of.fields[field].name);
}

std::string PartitionValue::text() const {
  const RegionForest* forest = forest_of(*region);
  return forest ? forest->text(id) : "<partition>";
}

const SpaceValue& space_in(Target& target, const Value& value, Span span) {
  return data_in<SpaceValue>(target, value, span, "a region");
}
const FieldValue& field_in(Target& target, const Value& value, Span span) {
  return data_in<FieldValue>(target, value, span, "a field");
}
const PartitionValue& partition_in(Target& target, const Value& value, Span span) {
  return data_in<PartitionValue>(target, value, span, "a partition");
}

Type type_of_data(Target& target, const Value& value, Type declared, Span span) {
  const Space space = declared.is(Type::Kind::partition) ? target.regions()[partition_in(target, value, span).id].parent
                                                         : space_in(target, value, span).space;
  const IndexSpace points = target.regions().points(space);
  for (std::size_t axis = 0; axis < declared.dims.size(); ++axis)
    declared.dims[axis] = Dim(points.is_rect() ? points.rect().extent(axis) : axis == 0 ? points.size() : 1);
  return declared;
}

Value space_value(std::shared_ptr<RegionHandle> region, const Space& space) {
  return Value(std::static_pointer_cast<Object>(std::make_shared<SpaceValue>(std::move(region), space)));
}
Value partition_value(std::shared_ptr<RegionHandle> region, PartitionId id) {
  return Value(std::static_pointer_cast<Object>(std::make_shared<PartitionValue>(std::move(region), id)));
}

const Array* known_number(const Value& value) {
  const Array* array = nullptr;
  if (value.is_array())
    array = &value.array();
  else if (auto* tensor = value.as<Tensor>(); tensor && tensor->ref.kind == Ref::Kind::constant)
    array = &tensor->recorder().graph.constant(tensor->ref.id).array();
  return array && array->type().extents.empty() && array->bytes() <= 8 ? array : nullptr;
}

}  // namespace taskspec
