// Loops over points: by the strip, or point by point.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interp/host/view/lane_moves.hpp"
#include "interp/host/view/machine.hpp"

namespace taskspec {

void LaneMachine::enter(const LaneLoop& loop) {
  const std::int64_t longest = std::min(strip_length, view(loop.view).points->size());
  for (const auto& [from, to] : loop.spread)
    repeat_element(at_[from], own_slot(to), longest, program_.registers[to].width);
  for (std::uint32_t a : loop.aligned)
    if (!program_.accesses[a].by_number) enter(a, view(loop.view));
}

// What is the same for all points of the loop: how far away its elements lie, and whether all of them are there.
void LaneMachine::enter(std::uint32_t a, const ViewMemory& over) {
  const LaneAccess& access = program_.accesses[a];
  AccessState& state = access_[a];
  if (state.stays) return;
  state.stays = access.is_constant;
  state.offsets = access.constants;
  for (std::size_t axis = 0; !access.is_constant && axis < access.offsets.size(); ++axis) {
    std::optional<std::int64_t> offset = access.offsets[axis].constant();
    if (!offset)
      offset =
          access.offsets[axis]
              .substitute([&](const Symbol& symbol) { return std::optional(Dim(host_value(symbol->id, 0).integer())); })
              .constant();
    state.offsets[axis] = *offset;
  }
  const ViewMemory& of = view(access.view);
  const Rect &here = *over.root, &there = *state.memory.box;
  std::int64_t shift = 0;
  state.follows = state.memory.is_box();
  for (std::size_t axis = 0; axis < here.rank; ++axis) {
    state.follows &= axis == 0 || here.extent(axis) == there.extent(axis);
    shift = shift * there.extent(axis) + state.offsets[axis] + here.lo[axis] - there.lo[axis];
  }
  if (state.follows) state.from = base(access) + shift * access.width;
  state.inside = is_inside(state, over, of);
}

bool LaneMachine::is_inside(const AccessState& access, const ViewMemory& over, const ViewMemory& of) const {
  const std::span offsets = std::span(access.offsets).first(of.root->rank);
  if (!of.points->is_rect()) {
    const bool same = std::ranges::all_of(offsets, [](std::int64_t offset) { return offset == 0; }) &&
                      *over.root == *of.root && !over.points->is_rect();
    return same && over.points->intervals() == of.points->intervals();
  }
  const Rect &all = over.points->rect(), &rect = of.points->rect();  // of runs it is around all of them
  for (std::size_t axis = 0; axis < offsets.size(); ++axis)
    if (all.lo[axis] + offsets[axis] < rect.lo[axis] || all.hi[axis] + offsets[axis] > rect.hi[axis]) return false;
  return true;
}

// So does a run in nearly all cases; here without calls.
bool LaneMachine::lies_in_rect(std::uint32_t access, const RowRun& run) const {
  const ViewMemory& of = view(program_.accesses[access].view);
  if (!of.points->is_rect()) return false;
  const Rect& rect = of.points->rect();
  bool inside = true;
  for (std::size_t axis = 0; axis < run.start.rank; ++axis) {
    const std::int64_t at = run.start.at[axis] + access_[access].offsets[axis];
    const std::int64_t length = axis + 1u == run.start.rank ? run.count : 1;
    inside &= at >= rect.lo[axis] && at + length <= rect.hi[axis];
  }
  return inside;
}

// One run of the loop: all of it must lie in the views that it goes to.
void LaneMachine::check_bounds(const LaneLoop& loop, const RowRun& run) {
  for (std::uint32_t a : loop.aligned) {
    const LaneAccess& access = program_.accesses[a];
    if (access_[a].inside || access.or_else || access.by_number || lies_in_rect(a, run)) continue;
    const ViewMemory& of = view(access.view);
    const Point start = moved(a, run.start);
    const std::size_t last = start.rank == 0 ? 0 : start.rank - 1u;
    for (std::int64_t done = 0; done < run.count;) {
      Point point = start;
      if (start.rank > 0) point.at[last] += done;
      if (!of.root->contains(point)) no_point(access, point);
      const std::int64_t linear = of.root->linear(point);
      const std::optional<Run> found = access_[a].cursor.run_of(of, linear);
      if (!found) no_point(access, point);
      done += std::min(found->hi - linear, start.rank == 0 ? 1 : of.root->hi[last] - point[last]);
    }
  }
}

void LaneMachine::loop(const LaneLoop& loop) {
  enter(loop);
  if (!loop.strip) {
    const ViewMemory& over = view(loop.view);
    if (over.root->rank == 1 && over.points->is_rect()) {  // mostly of few points: without calls
      const std::int64_t lo = over.points->rect().lo[0], count = over.points->rect().hi[0] - lo;
      if (count > 0) scalar_run(loop, {lo - over.root->lo[0], count, 0, Point::of(lo)});
    } else {
      each_run(over, loop.by_rows, [&](const RowRun& run) { return scalar_run(loop, run); });
    }
    return;
  }
  check_numbers(loop);
  totals_.clear();
  for (const LaneTotal& total : loop.totals)
    totals_.emplace_back(*RootTree::op_of(total.op), program_.registers[total.in].precision);
  strips(loop);
  finish_totals(loop);
}

// What is taken point by point from several places has as many points everywhere.
void LaneMachine::check_numbers(const LaneLoop& loop) const {
  const std::int64_t points = view(loop.view).points->size();
  auto check = [&](std::int64_t others, const std::string& name, Span span) {
    if (points == others) return;
    throw LaneFault{{"E5004",
                     fmt::format("{} has {} points, and {} has {}", code_.views[loop.view].name, points, name, others),
                     span}};
  };
  for (std::uint32_t a : loop.aligned)
    if (const LaneAccess& access = program_.accesses[a]; access.by_number)
      check(view(access.view).points->size(), code_.views[access.view].name, access.span);
  for (std::uint32_t whole : loop.wholes) {
    const bool made = code_.values[whole].kind == ViewCode::Item::Kind::tensor;
    const ArrayType& type = made ? tensors_[whole].type() : code_.values[whole].type;
    check(type.elements(), "a tensor", {});
    const IndexSpace& all = *view(loop.view).points;
    for (std::size_t axis = 0; made && all.is_rect() && axis < all.rect().rank; ++axis)
      if (type.extents.size() == all.rect().rank) check_extent(loop, axis, type.extents[axis]);
  }
}

// A tensor goes to a view row by row.
void LaneMachine::check_extent(const LaneLoop& loop, std::size_t axis, std::int64_t extent) const {
  const std::int64_t points = view(loop.view).points->rect().extent(axis);
  if (points == extent) return;
  throw LaneFault{{"E5004", fmt::format("{} has {} points along axis {}, and a tensor has {}",
                                        code_.views[loop.view].name, points, axis, extent)}};
}

void LaneMachine::finish_totals(const LaneLoop& loop) {
  for (std::size_t k = 0; k < loop.totals.size(); ++k) {
    const LaneTotal& total = loop.totals[k];
    if (totals_[k].empty() && totals_[k].needs_elements())
      throw LaneFault{{"E5003", fmt::format("'{}' of no points, in task {}", total.op, code_.task), total.span}};
    totals_[k].finish(program_.registers[total.out].precision, at_[total.out]);
  }
}

namespace {

constexpr std::int64_t long_run = 64;  // from here on a run has strips of its own, as one that is alone has

// The places of a run of few points, written as four: which of them there are costs a branch that nobody foretells.
void put_places(std::int64_t* places, std::int64_t points, std::int64_t lo, std::int64_t count) {
  constexpr std::int64_t few = 4;
  std::int64_t e = 0;
  if (points + few <= strip_length)
    for (; e < few; ++e) places[points + e] = lo + e;
  for (; e < count; ++e) places[points + e] = lo + e;
}

}  // namespace

void LaneMachine::strips(const LaneLoop& loop) {
  const bool lies_alike =
      std::ranges::all_of(loop.aligned, [&](std::uint32_t a) { return access_[a].follows && access_[a].inside; });
  if (loop.plain && lies_alike) return plain_strips(loop);
  std::vector<Segment>& waiting = waiting_;
  waiting.clear();
  std::int64_t points = 0;
  auto flush = [&] {
    if (points > 0) strip(loop, waiting, points);
    waiting.clear();
    points = 0;
  };
  each_run(view(loop.view), loop.by_rows, [&](const RowRun& run) {
    check_bounds(loop, run);
    const std::size_t last = run.start.rank == 0 ? 0 : run.start.rank - 1u;
    if (run.count >= long_run) flush();
    for (std::int64_t done = 0; done < run.count;) {
      Segment s{points,
                std::min(run.count - done, strip_length - points),
                {run.linear + done, 0, run.number + done, run.start}};
      s.at.count = s.count;
      s.at.start.at[last] += done;
      done += s.count;
      if (run.count >= long_run) {
        strip(loop, {&s, 1}, s.count);
        continue;
      }
      waiting.push_back(s);
      points += s.count;
      if (points == strip_length) flush();
    }
    return true;
  });
  flush();
}

void LaneMachine::strip(const LaneLoop& loop, std::span<const Segment> segments, std::int64_t count) {
  constexpr std::int64_t few = 8;  // points of a segment: moved one by one
  if (++jumps_ % 64 == 0) look_for_interrupt();
  const bool sparse = segments.size() > 1 && count < few * static_cast<std::int64_t>(segments.size());
  if (sparse)
    for (const Segment& s : segments) put_places(places(), s.first, s.at.linear, s.count);
  if (segments.size() == 1 && loop.has_passes) fetch_ahead(loop, segments[0].at.linear + count);
  code(loop.code, {&loop, count, segments, sparse});
}

// Each pass goes over its part of a page by itself, and the processor finds out too late how it goes on.
void LaneMachine::fetch_ahead(const LaneLoop& loop, std::int64_t linear) const {
  constexpr int line = 64, lines = 8;
  for (std::uint32_t a : loop.aligned)
    if (const AccessState& access = access_[a]; access.follows)
      for (int k = 0; k < lines; ++k)
        __builtin_prefetch(access.from + linear * program_.accesses[a].width + k * line, 0, 2);
}

// Where elements of all accesses lie as far from one another everywhere, points are places in memory, and rows are
// nothing.
void LaneMachine::plain_strips(const LaneLoop& loop) {
  for (std::size_t k = 0; k < loop.moves.size(); ++k) {
    const LaneMove& move = loop.moves[k];
    moving_[k] = {move.at, access_[move.access].from, program_.accesses[move.access].width};
  }
  const ViewMemory& over = view(loop.view);
  const std::int64_t all = over.points->size();
  std::int64_t points = 0;
  auto flush = [&] {
    if (points > 0) code(loop.code, {&loop, points, {}, true});
    points = 0;
    look_for_interrupt();
  };
  auto run = [&](Run rest) {
    if (rest.size() >= long_run || rest.size() == all) {
      flush();
      return dense_strips(loop, rest);
    }
    while (rest.lo < rest.hi) {
      const std::int64_t part = std::min(rest.size(), strip_length - points);
      put_places(places(), points, rest.lo, part);
      points += part;
      if (points == strip_length) flush();
      rest.lo += part;
    }
  };
  if (over.points->is_rect()) {
    over.points->runs(*over.root, run);
  } else {
    for (Run r : over.points->intervals().runs()) run(r);
  }
  flush();
}

void LaneMachine::dense_strips(const LaneLoop& loop, Run run) {
  while (run.lo < run.hi) {
    const std::int64_t part = std::min(run.size(), strip_length);
    if (++jumps_ % 64 == 0) look_for_interrupt();
    for (const Moving& moving : moving_.first(loop.moves.size())) at_[moving.at] = moving.from + run.lo * moving.width;
    if (loop.has_passes) fetch_ahead(loop, run.lo + part);
    const Segment s{0, part, {run.lo, part, 0, {}}};
    code(loop.dense, {&loop, part, {&s, 1}, false});
    run.lo += part;
  }
}

bool LaneMachine::scalar_run(const LaneLoop& loop, const RowRun& run) {
  check_bounds(loop, run);
  const std::size_t last = run.start.rank == 0 ? 0 : run.start.rank - 1u;
  Segment s{0, 1, {run.linear, 1, run.number, run.start}};
  for (std::int64_t e = 0; e < run.count; ++e, ++s.at.linear) {
    if (++jumps_ % 1024 == 0) look_for_interrupt();
    if (e > 0) ++s.at.start.at[last];
    for (std::size_t axis = 0; axis < loop.coordinates.size(); ++axis)
      std::memcpy(at_[loop.coordinates[axis]], &s.at.start.at[axis], sizeof(std::int64_t));
    if (scalar(loop.code, loop.steps, {&loop, 1, {&s, 1}, false}) == Left::loop) return false;
  }
  return true;
}

}  // namespace taskspec
