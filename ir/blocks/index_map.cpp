#include "ir/blocks/index_map.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "ir/base/diag.hpp"

namespace taskspec {

std::int64_t places_of(const Extents& extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(product, extent, &product)) return -1;
  return product > std::numeric_limits<std::int32_t>::max() ? -1 : product;
}

namespace {

Extents row_major_strides(const Extents& extents) {
  Extents strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t k = extents.size(); k-- > 0; step *= std::max<std::int64_t>(extents[k], 1)) strides[k] = step;
  return strides;
}

// One of the loops that an affine rule is.
struct GatherLoop {
  std::int64_t count, stride;
};

using GatherLoops = boost::container::small_vector<GatherLoop, 8>;  // a gather takes no memory

std::span<const GatherLoop> all_of(const GatherLoops& loops) { return {loops.data(), loops.size()}; }

// Axes of one element are left out; two that are one walk through the source become one loop.
GatherLoops gather_loops(const Extents& extents, const Extents& strides) {
  GatherLoops loops;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (extents[k] == 1) continue;
    if (!loops.empty() && loops.back().stride == strides[k] * extents[k])
      loops.back() = {loops.back().count * extents[k], strides[k]};
    else
      loops.push_back({extents[k], strides[k]});
  }
  return loops;
}

// Calls visit(place) for each element of the target, in order.
template <class Visit>
void walk(std::span<const GatherLoop> loops, std::int64_t place, Visit& visit) {
  if (loops.empty()) return visit(place);
  for (std::int64_t i = 0; i < loops[0].count; ++i, place += loops[0].stride) walk(loops.subspan(1), place, visit);
}

template <class T>
T* gather_affine(std::span<const GatherLoop> loops, const T* source, T* target) {
  if (loops.empty()) return *target = *source, target + 1;
  const auto [count, stride] = loops[0];
  if (loops.size() > 1) {
    for (std::int64_t i = 0; i < count; ++i) target = gather_affine(loops.subspan(1), source + i * stride, target);
    return target;
  }
  if (stride == 1)
    std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(T));
  else
    for (std::int64_t i = 0; i < count; ++i) target[i] = source[i * stride];
  return target + count;
}

// The strides that the places have if they follow an affine rule at all.
std::optional<Extents> affine_strides(const Extents& target, const std::vector<std::int32_t>& places) {
  if (places.empty() || places[0] < 0) return std::nullopt;
  const Extents steps = row_major_strides(target);
  Extents strides(target.size(), 0);
  for (std::size_t k = 0; k < target.size(); ++k)
    if (target[k] > 1) strides[k] = std::int64_t{places[static_cast<std::size_t>(steps[k])]} - places[0];
  std::size_t at = 0;
  bool follows = true;
  auto compare = [&](std::int64_t place) { follows = follows && places[at] == place, ++at; };
  walk(all_of(gather_loops(target, strides)), places[0], compare);
  return follows ? std::optional(strides) : std::nullopt;
}

}  // namespace

IndexMap IndexMap::affine(Extents source, Extents target, std::int64_t offset, Extents strides) {
  IndexMap map;
  map.source_ = std::move(source);
  map.target_ = std::move(target);
  map.offset_ = offset;
  map.strides_ = std::move(strides);
  return map;
}

IndexMap IndexMap::identity(const Extents& extents) { return affine(extents, extents, 0, row_major_strides(extents)); }

IndexMap IndexMap::table(Extents source, Extents target, std::vector<std::int32_t> places) {
  if (places_of(target) != static_cast<std::int64_t>(places.size())) bug("a map of another size than its target");
  if (std::optional<Extents> strides = affine_strides(target, places))
    return affine(std::move(source), std::move(target), places[0], *std::move(strides));
  IndexMap map;
  map.source_ = std::move(source);
  map.target_ = std::move(target);
  auto table = std::make_shared<Table>();
  table->places = std::move(places);
  map.find_runs(*table);
  map.table_ = std::move(table);
  return map;
}

// Worth it from four elements per run on: a run costs about as much as four single ones.
void IndexMap::find_runs(Table& table) const {
  const std::vector<std::int32_t>& places = table.places;
  const std::size_t most = places.size() / 4;
  for (std::size_t i = 0; i < places.size();) {
    std::size_t end = i + 1;
    if (places[i] < 0)
      while (end < places.size() && places[end] < 0) ++end;
    else
      while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    if (table.runs.size() == most) return table.runs.clear();
    table.runs.push_back({static_cast<std::int32_t>(i), places[i], static_cast<std::int32_t>(end - i)});
    i = end;
  }
}

std::int64_t IndexMap::place(std::int64_t target) const {
  if (table_) return table_->places[static_cast<std::size_t>(target)];
  std::int64_t place = offset_;
  for (std::size_t k = target_.size(); k-- > 0; target /= target_[k]) place += target % target_[k] * strides_[k];
  return place;
}

bool IndexMap::is_identity() const {
  if (places_of(source_) != places_of(target_)) return false;
  if (places_of(target_) == 0) return true;
  if (table_ || offset_ != 0) return false;
  const GatherLoops loops = gather_loops(target_, strides_);
  return loops.empty() || (loops.size() == 1 && loops[0].stride == 1);
}

std::vector<std::int32_t> IndexMap::all_places() const {
  if (table_) return table_->places;
  std::vector<std::int32_t> places;
  const std::int64_t count = places_of(target_);
  places.reserve(static_cast<std::size_t>(count));
  auto add = [&](std::int64_t place) { places.push_back(static_cast<std::int32_t>(place)); };
  if (count > 0) walk(all_of(gather_loops(target_, strides_)), offset_, add);
  return places;
}

bool IndexMap::is_bijection() const {
  if (places_of(source_) != places_of(target_)) return false;
  std::vector<bool> reached(static_cast<std::size_t>(places_of(source_)));
  for (const std::int32_t place : all_places()) {
    if (place < 0 || reached[static_cast<std::size_t>(place)]) return false;
    reached[static_cast<std::size_t>(place)] = true;
  }
  return true;
}

IndexMap IndexMap::seen_as(Extents source, Extents target) const {
  if (places_of(source) != places_of(source_) || places_of(target) != places_of(target_))
    bug("a map seen with other volumes");
  if (target == target_ || table_) {
    IndexMap map = *this;
    map.source_ = std::move(source);
    map.target_ = std::move(target);
    return map;
  }
  const GatherLoops loops = gather_loops(target_, strides_);
  if (loops.size() > 1) return table(std::move(source), std::move(target), all_places());
  Extents strides = row_major_strides(target);  // one walk with one stride: so it is over other extents, too
  for (std::int64_t& stride : strides) stride *= loops.empty() ? 1 : loops[0].stride;
  return affine(std::move(source), std::move(target), offset_, std::move(strides));
}

IndexMap IndexMap::then(const IndexMap& next) const {
  if (places_of(next.source_) != places_of(target_)) bug("two maps that do not follow one another");
  if (is_identity()) return next.seen_as(source_, next.target_);
  if (next.is_identity()) return seen_as(source_, next.target_);
  const std::vector<std::int32_t> first = all_places();
  std::vector<std::int32_t> places = next.all_places();
  for (std::int32_t& place : places)
    if (place >= 0) place = first[static_cast<std::size_t>(place)];
  return table(source_, next.target_, std::move(places));
}

IndexMap IndexMap::inverse() const {
  std::vector<std::int32_t> back(static_cast<std::size_t>(places_of(source_)), -1);
  std::int32_t at = 0;
  for (const std::int32_t place : all_places()) {
    if (place < 0 || back.at(static_cast<std::size_t>(place)) >= 0) bug("the inverse of what is no bijection");
    back[static_cast<std::size_t>(place)] = at++;
  }
  if (back.size() != static_cast<std::size_t>(at)) bug("the inverse of what is no bijection");
  return table(target_, source_, std::move(back));
}

template <class T>
void IndexMap::gather_as(const T* source, T* target) const {
  if (places_of(target_) == 0) return;
  if (!table_) {
    gather_affine(all_of(gather_loops(target_, strides_)), source + offset_, target);
  } else if (table_->runs.empty()) {
    for (const std::int32_t place : table_->places) *target++ = place < 0 ? T{0} : source[place];
  } else {
    for (const Run& run : table_->runs) {
      const std::size_t bytes = static_cast<std::size_t>(run.length) * sizeof(T);
      if (run.source < 0)
        std::memset(target + run.target, 0, bytes);
      else
        std::memcpy(target + run.target, source + run.source, bytes);
    }
  }
}

void IndexMap::gather(std::span<const std::byte> source, std::span<std::byte> target, std::size_t element) const {
  if (source.size() != static_cast<std::size_t>(places_of(source_)) * element ||
      target.size() != static_cast<std::size_t>(places_of(target_)) * element)
    bug("a gather of other sizes than its map");
  auto as = [&]<class T>(T) {
    gather_as(reinterpret_cast<const T*>(source.data()), reinterpret_cast<T*>(target.data()));
  };
  switch (element) {
    case 1:
      return as(std::uint8_t{});
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(std::uint32_t{});
    case 8:
      return as(std::uint64_t{});
  }
  bug("a gather of elements of another size");
}

Array IndexMap::gather(const Array& source) const {
  Array target = Array::make({source.precision(), target_});
  gather({source.raw(), source.bytes()}, {target.raw(), target.bytes()}, info(source.precision()).bytes);
  return target;
}

}  // namespace taskspec
