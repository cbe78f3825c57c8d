#include "ir/lowering/gather.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "ir/base/diag.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

namespace {

std::int64_t product_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
}

using Spot3 = std::array<std::int64_t, 3>;

// Extents of rank 1 or 3 (weights have two or four: those are never gathered by boxes) as [y, x, f].
Spot3 as_three(const Extents& extents) {
  Spot3 three{1, 1, 1};
  if (extents.size() > 3) bug("a gather has at most three axes");
  std::copy(extents.begin(), extents.end(), three.begin() + static_cast<std::ptrdiff_t>(3 - extents.size()));
  return three;
}

Spot3 spot_at(const Spot3& extents, std::int64_t place) {
  return {place / (extents[1] * extents[2]), place / extents[2] % extents[1], place % extents[2]};
}

std::int64_t place_at(const Spot3& extents, const Spot3& spot) {
  return (spot[0] * extents[1] + spot[1]) * extents[2] + spot[2];
}

Extents last_of(const Spot3& three, std::size_t rank) {
  return Extents(three.end() - static_cast<std::ptrdiff_t>(rank), three.end());
}

}  // namespace

// ---- gathers --------------------------------------------------------------------------------------

BlockGather BlockGather::of(BlockId block, Extents extents) {
  BlockGather gather;
  gather.sources_.push_back({block, extents});
  gather.extents_ = std::move(extents);
  return gather;
}

std::int64_t BlockGather::size() const { return product_of(extents_); }

BlockGather::Place BlockGather::at(std::int64_t place) const {
  if (is_whole()) return {0, place};
  return places_[static_cast<std::size_t>(place)];
}

BlockGather BlockGather::joined(const std::vector<BlockGather>& parts) {
  BlockGather all;
  std::int64_t count = 0;
  for (const BlockGather& part : parts) {
    std::vector<std::uint32_t> numbers;
    for (const Source& source : part.sources_) {
      auto found = std::find(all.sources_.begin(), all.sources_.end(), source);
      numbers.push_back(static_cast<std::uint32_t>(found - all.sources_.begin()));
      if (found == all.sources_.end()) all.sources_.push_back(source);
    }
    for (std::int64_t k = 0; k < part.size(); ++k) {
      Place place = part.at(k);
      if (!place.is_constant()) place.source = numbers[place.source];
      all.places_.push_back(place);
    }
    count += part.size();
  }
  all.extents_ = {count};
  return all;
}

BlockGather BlockGather::picked(Extents extents, const std::vector<Place>& places) const {
  BlockGather made;
  made.extents_ = std::move(extents);
  made.sources_ = sources_;
  bool is_same = sources_.size() == 1 && static_cast<std::int64_t>(places.size()) == product_of(sources_[0].extents);
  made.places_.reserve(places.size());
  for (const Place& place : places) {
    const Place from = place.is_constant() ? place : at(place.place);
    is_same = is_same && from == Place{0, static_cast<std::int64_t>(made.places_.size())};
    made.places_.push_back(from);
  }
  if (is_same) made.places_.clear();
  return made;
}

BlockGather BlockGather::permuted(const std::vector<std::size_t>& order) const {
  Extents steps(extents_.size(), 1), extents;
  for (std::size_t k = extents_.size(); k-- > 1;) steps[k - 1] = steps[k] * extents_[k];
  for (std::size_t axis : order) extents.push_back(extents_[axis]);
  std::vector<Place> places(static_cast<std::size_t>(size()));
  Extents index(extents.size());
  for (Place& place : places) {
    for (std::size_t k = 0; k < order.size(); ++k) place.place += index[k] * steps[order[k]];
    for (std::size_t k = order.size(); k-- > 0 && ++index[k] == extents[k];) index[k] = 0;
  }
  return picked(std::move(extents), places);
}

BlockGather BlockGather::seen_as(Extents extents) const {
  BlockGather made = *this;
  made.extents_ = std::move(extents);
  return made;
}

bool BlockGather::is_permutation() const {
  if (sources_.size() != 1 || product_of(sources_[0].extents) != size()) return false;
  if (is_whole()) return true;
  std::vector<bool> seen(places_.size());
  for (const Place& place : places_) {
    if (place.is_constant() || seen[static_cast<std::size_t>(place.place)]) return false;
    seen[static_cast<std::size_t>(place.place)] = true;
  }
  return true;
}

// ---- one edge for all of it -----------------------------------------------------------------------

namespace {

Rearrangement move_by(const RearrangeDef& def, std::vector<std::int64_t> numbers) { return {&def, std::move(numbers)}; }

bool makes(const std::vector<Rearrangement>& moves, const BlockGather& gather, const Extents& source) {
  const Result<IndexMap> map = compose(moves, source, gather.extents(), {});
  if (!map) return false;
  for (std::int64_t k = 0; k < gather.size(); ++k)
    if (map->place(k) != gather.at(k).place) return false;
  return true;
}

// What may do it in one go, the plainest first.
std::vector<std::vector<Rearrangement>> candidates(const Extents& source, const BlockGather& gather) {
  std::vector<std::vector<Rearrangement>> all;
  const bool is_plane = source.size() == 3 && gather.extents().size() == 3;
  if (is_plane) {
    std::vector<std::int64_t> order{0, 1, 2};
    while (std::ranges::next_permutation(order).found) all.push_back({move_by(rearrange_permute, order)});
    for (std::int64_t axis : {0, 1, 2}) all.push_back({move_by(rearrange_reflect, {axis})});
    for (std::int64_t angle : {90, 180, 270}) all.push_back({move_by(rearrange_rotate, {angle})});
    const Spot3 first = spot_at(as_three(source), gather.at(0).place);
    all.push_back(
        {move_by(rearrange_shift, {(source[0] - first[0]) % source[0], (source[1] - first[1]) % source[1], 1})});
  }
  std::vector<std::int64_t> order(source.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    if (!std::ranges::is_sorted(order, std::ranges::greater())) all.push_back({move_by(rearrange_reshape, order)});
  } while (std::ranges::next_permutation(order).found);
  return all;
}

bool may_be_made_by(const Rearrangement& move, const Extents& source, const BlockGather& gather) {
  // A cheap look at three places before the map is made.
  return gather.size() == product_of(source) && move.def != nullptr;
}

std::vector<Rearrangement> permutation_moves(const BlockGather& gather) {
  const Extents& source = gather.sources()[0].extents;
  if (gather.is_whole()) {
    if (source == gather.extents()) return {};
    return {move_by(rearrange_reshape, {})};
  }
  for (std::vector<Rearrangement>& moves : candidates(source, gather))
    if (may_be_made_by(moves[0], source, gather) && makes(moves, gather, source)) return std::move(moves);
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < gather.size(); ++k) places.push_back(gather.at(k).place);
  std::vector<Rearrangement> moves{move_by(rearrange_shuffle, std::move(places))};
  if (source != gather.extents()) moves.push_back(move_by(rearrange_reshape, {}));
  return moves;
}

// Rows and columns repeated.
std::optional<std::vector<Rearrangement>> scaling_moves(const BlockGather& gather) {
  if (gather.sources().size() != 1 || gather.is_whole()) return std::nullopt;
  const Extents &source = gather.sources()[0].extents, &target = gather.extents();
  if (source.size() != 3 || target.size() != 3 || source[2] != target[2]) return std::nullopt;
  if (target[0] % source[0] != 0 || target[1] % source[1] != 0) return std::nullopt;
  for (std::int64_t k = 0; k < gather.size(); ++k)
    if (gather.at(k).is_constant()) return std::nullopt;
  std::vector<Rearrangement> moves{move_by(rearrange_scale, {target[0] / source[0], target[1] / source[1]})};
  if (!makes(moves, gather, source)) return std::nullopt;
  return moves;
}

// ---- several edges --------------------------------------------------------------------------------

// Cuts a gather into boxes that come from boxes of one block, axis k of the target along axis order[k] of the source.
class BoxFinder {
 public:
  BoxFinder(const BlockGather& gather, const std::array<std::size_t, 3>& order)
      : gather_(gather),
        order_(order),
        extents_(as_three(gather.extents())),
        done_(static_cast<std::size_t>(gather.size())) {}

  std::optional<std::vector<BlockLink>> find() {
    std::vector<BlockLink> links;
    for (std::int64_t k = 0; k < gather_.size(); ++k) {
      if (done_[static_cast<std::size_t>(k)]) continue;
      if (links.size() == most_links) return std::nullopt;
      links.push_back(link_from(k));
    }
    return links;
  }

 private:
  bool fits(const Spot3& begin, const Spot3& spot) const {
    const std::int64_t place = place_at(extents_, spot);
    if (done_[static_cast<std::size_t>(place)]) return false;
    const BlockGather::Place first = gather_.at(place_at(extents_, begin)), here = gather_.at(place);
    if (first.source != here.source) return false;
    if (first.is_constant()) return true;
    const Spot3 source = as_three(gather_.sources()[first.source].extents);
    const Spot3 a = spot_at(source, first.place), b = spot_at(source, here.place);
    for (std::size_t k = 0; k < 3; ++k)
      if (b[order_[k]] - a[order_[k]] != spot[k] - begin[k]) return false;
    return true;
  }

  // All places of a box with this side, at its far end along `axis`.
  bool can_grow(const Spot3& begin, const Spot3& size, std::size_t axis) const {
    if (begin[axis] + size[axis] >= extents_[axis]) return false;
    Spot3 low = begin, high{begin[0] + size[0], begin[1] + size[1], begin[2] + size[2]};
    low[axis] = high[axis]++;
    for (Spot3 at = low; at[0] < high[0]; ++at[0])
      for (at[1] = low[1]; at[1] < high[1]; ++at[1])
        for (at[2] = low[2]; at[2] < high[2]; ++at[2])
          if (!fits(begin, at)) return false;
    return true;
  }

  BlockLink link_from(std::int64_t place) {
    const Spot3 begin = spot_at(extents_, place);
    Spot3 size{1, 1, 1};
    for (std::size_t axis : {2U, 1U, 0U})
      while (can_grow(begin, size, axis)) ++size[axis];
    const std::size_t rank = gather_.extents().size();
    BlockLink link{
        .from = {}, .source = {}, .target = {last_of(begin, rank), last_of(size, rank)}, .moves = {}, .constants = {}};
    const BlockGather::Place first = gather_.at(place);
    if (!first.is_constant()) take_source(link, first, size);
    Spot3 at = begin;
    for (at[0] = begin[0]; at[0] < begin[0] + size[0]; ++at[0])
      for (at[1] = begin[1]; at[1] < begin[1] + size[1]; ++at[1])
        for (at[2] = begin[2]; at[2] < begin[2] + size[2]; ++at[2]) {
          done_[static_cast<std::size_t>(place_at(extents_, at))] = true;
          if (!link.from) link.constants.push_back(gather_.at(place_at(extents_, at)).place);
        }
    return link;
  }

  void take_source(BlockLink& link, const BlockGather::Place& first, const Spot3& size) const {
    const BlockGather::Source& source = gather_.sources()[first.source];
    link.from = source.block;
    Spot3 turned{};
    for (std::size_t k = 0; k < 3; ++k) turned[order_[k]] = size[k];
    const std::size_t rank = source.extents.size();
    link.source = {last_of(spot_at(as_three(source.extents), first.place), rank), last_of(turned, rank)};
    if (link.source.size == link.target.size && order_ == std::array<std::size_t, 3>{0, 1, 2}) return;
    std::vector<std::int64_t> order(order_.begin(), order_.end());
    if (std::ranges::is_sorted(order) || rank != 3 || link.target.size.size() != 3)
      link.moves.push_back(move_by(rearrange_reshape, {}));
    else
      link.moves.push_back(move_by(rearrange_permute, order));
  }

  const BlockGather& gather_;
  std::array<std::size_t, 3> order_;
  Spot3 extents_;
  std::vector<bool> done_;
};

}  // namespace

std::optional<std::vector<BlockLink>> links_of(const BlockGather& gather) {
  if (gather.is_permutation()) {
    const BlockGather::Source& source = gather.sources()[0];
    return std::vector{
        BlockLink{source.block, whole(source.extents), whole(gather.extents()), permutation_moves(gather), {}}};
  }
  if (std::optional<std::vector<Rearrangement>> moves = scaling_moves(gather)) {
    const BlockGather::Source& source = gather.sources()[0];
    return std::vector{BlockLink{source.block, whole(source.extents), whole(gather.extents()), std::move(*moves), {}}};
  }
  std::optional<std::vector<BlockLink>> best;
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    const bool is_plain = std::ranges::is_sorted(order);
    if (!is_plain && gather.extents().size() != 3) break;
    std::optional<std::vector<BlockLink>> found = BoxFinder(gather, order).find();
    if (found && (!best || found->size() < best->size())) best = std::move(found);
    if (best && best->size() == 1) break;
  } while (std::ranges::next_permutation(order).found);
  return best;
}

}  // namespace taskspec
