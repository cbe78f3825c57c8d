#include "interp/host/view/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <type_traits>

#include "interp/host/view/lane_moves.hpp"
#include "interp/host/view/scalar_run.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

std::size_t most_moves(const LaneProgram& program) {
  std::size_t most = 0;
  for (const LaneLoop& loop : program.loops) most = std::max(most, loop.moves.size());
  return most;
}

template <class T>
std::span<T> placed(std::byte*& at, std::size_t count) {
  static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 8);
  T* first = reinterpret_cast<T*>(at);
  std::uninitialized_default_construct_n(first, count);
  at += count * sizeof(T);
  return {first, count};
}

}  // namespace

std::size_t LaneMachine::state_bytes(const LaneProgram& program) {
  return program.registers.size() * sizeof(std::byte*) + program.accesses.size() * sizeof(AccessState) +
         most_moves(program) * sizeof(Moving);
}

LaneMachine::LaneMachine(const LaneProgram& program, const ViewCode& code, const ViewRun& run, TaskContext& context,
                         std::byte* scratch, std::byte* state)
    : program_(program), code_(code), run_(run), context_(context), scratch_(scratch) {
  at_ = placed<std::byte*>(state, program.registers.size());
  access_ = placed<AccessState>(state, program.accesses.size());
  moving_ = placed<Moving>(state, most_moves(program));
  for (std::size_t a = 0; a < access_.size(); ++a) {
    const ViewMemory& of = view(program.accesses[a].view);
    access_[a].memory = of.memory.box ? of.memory : PieceMemory::inside(*of.root);
  }
  for (Register r = 0; r < at_.size(); ++r) at_[r] = own_slot(r);
  if (program.has_tensors) tensors_.resize(code.values.size());
  for (const auto& [r, array] : program.tensors) tensors_[r] = array;
}

// Where an instruction puts lanes elsewhere than into their slot, it says so before any of them are looked at: nothing
// of that matters to the next run.
void LaneMachine::run(bool anew, ScalarRun* compiled) {
  if (anew) std::ranges::copy(program_.ones, scratch_);
  for (const LaneInput& input : program_.inputs)
    if (input.width == 8)  // mostly, and then without a call
      std::memcpy(scratch_ + input.at, run_.inputs[input.number], 8);
    else
      std::memcpy(scratch_ + input.at, run_.inputs[input.number], input.width);
  compiled ? compiled->run() : void(scalar(program_.code, program_.steps, {}));
  for (std::size_t k = 0; k < code_.outputs.size(); ++k) {
    const Register r = code_.outputs[k].value.value;
    if (code_.values[r].kind == ViewCode::Item::Kind::tensor) put_tensor(k);
    if (code_.values[r].kind != ViewCode::Item::Kind::element && code_.values[r].kind != ViewCode::Item::Kind::host)
      continue;  // a whole is written where it lies
    std::memcpy(run_.outputs[k], at_[r], program_.registers[r].width);
  }
}

void LaneMachine::look_for_interrupt() const {
  if (context_.flags && context_.flags->is_interrupted()) throw LaneFault{{"E5009", "interrupted"}};
}

// ---- code -----------------------------------------------------------------------------------------

void LaneMachine::instruction(const LaneInstruction& i, const Turn& turn) {
  using Kind = LaneInstruction::Kind;
  switch (i.kind) {
    case Kind::kernel:
      return kernel(i, turn);
    case Kind::number:
      return number(i, turn);
    case Kind::convert:
      return convert(i, turn);
    case Kind::copy:
      return copy(i, turn);
    case Kind::extent:
      return extent(i);
    case Kind::coordinate:
      return coordinate(i, turn);
    case Kind::load:
      return program_.accesses[i.access].by_number                              ? load_by_number(i, turn)
             : program_.accesses[i.access].or_else && !access_[i.access].inside ? load_or_else(i, turn)
                                                                                : load(i, turn);
    case Kind::load_whole:
    case Kind::store_whole:
      return whole(i, turn);
    case Kind::make_tensor:
      return make_tensor(i);
    case Kind::tensor_op:
      return tensor_op(i);
    case Kind::total:
      return total(i, turn);
    case Kind::index:
      return index(i, turn);
    case Kind::gather:
      return gather(i, turn);
    case Kind::store:
      return store(i, turn);
    case Kind::scatter:
      return scatter(i, turn);
    case Kind::folds:
      return folds(i, turn);
    case Kind::loop:
      return loop(program_.loops[i.number]);
    default:
      bug("an instruction of a view's body that nobody runs");
  }
}

void LaneMachine::kernel(const LaneInstruction& i, const Turn& turn) {
  std::array<const std::byte*, most_shape_operands> in;
  for (std::size_t k = 0; k < i.in.size(); ++k) in[k] = at_[i.in[k]];
  const bool lanes = program_.registers[i.out].lanes;
  if (lanes && i.direct) {
    at_[i.out] = turn.segments.size() == 1 ? element(i.access, turn.segments[0].at) : own_slot(i.out);
  }
  std::byte* out = at_[i.out];
  if (i.shape) return i.shape(in.data(), out, turn.count);
  if (i.gather) return gather_kernel(i, out, turn.count);
  if (auto fault = i.kernel->run_strip({in.data(), i.in.size()}, {&out, 1}, lanes ? turn.count : 1)) {
    fault->span = i.span;
    throw LaneFault{*std::move(fault)};
  }
}

void LaneMachine::gather_kernel(const LaneInstruction& i, std::byte* out, std::int64_t count) {
  std::array<const std::byte*, most_shape_operands> in;
  std::array<Gathering, most_gathered_operands> from;
  const std::size_t gathers = i.gathers.size();
  for (std::size_t k = 0; k < i.in.size() - gathers; ++k) in[k] = at_[i.in[k]];
  for (std::size_t g = 0; g < gathers; ++g) {
    const LaneAccess& access = program_.accesses[i.gathers[g].access];
    const Register places = i.gathers[g].places;
    const Bounds within = bounds(places);
    from[g] = {base(access) - within.shift * access.width, reinterpret_cast<const std::int64_t*>(at_[places]),
               within.lo, within.hi};
  }
  const std::int64_t done = i.gather(in.data(), from.data(), out, count);
  for (std::int64_t e = done; e < count; ++e)
    for (const LaneGather& gather : i.gathers) refuse(gather.places, e);
  if (done < count) bug("a gather stopped where all places are inside");
}

// Where that element of places that nobody looked at yet is outside.
void LaneMachine::refuse(Register places, std::int64_t element) const {
  const Bounds within = bounds(places);
  const LaneRegister& of = program_.registers[places];
  const std::int64_t place = reinterpret_cast<const std::int64_t*>(at_[places])[of.lanes ? element : 0];
  if (place < within.lo || place >= within.hi) no_point(program_.accesses[of.unchecked], Point::of(place));
}

Value LaneMachine::host_value(Register r, std::int64_t element) const {
  const LaneRegister& of = program_.registers[r];
  const std::byte* from = at_[r] + (of.lanes ? element * of.width : 0);
  if (of.precision == Precision::boolean) return *from != std::byte{};
  if (of.precision == Precision::f64) {
    double value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

namespace {

void put_host_value(const Value& value, std::byte* to) {
  if (value.is_bool()) {
    *to = std::byte{value.boolean()};
  } else if (value.is_real()) {
    const double real = value.real();
    std::memcpy(to, &real, sizeof real);
  } else {
    const std::int64_t integer = value.integer();
    std::memcpy(to, &integer, sizeof integer);
  }
}

}  // namespace

void LaneMachine::number(const LaneInstruction& i, const Turn& turn) {
  const LaneRegister& out = program_.registers[i.out];
  std::vector<Value> operands = i.attributes;
  if (operands.empty()) operands.resize(i.in.size());
  for (std::int64_t e = 0; e < (out.lanes ? turn.count : 1); ++e) {
    for (std::size_t k = 0, next = 0; k < operands.size() && next < i.in.size(); ++k)
      if (i.attributes.empty() || i.attributes[k].is_none()) operands[k] = host_value(i.in[next++], e);
    try {
      Value made = i.op->scalar(operands);
      if (out.precision == Precision::f64 && made.is_integer()) made = Value(made.real());
      put_host_value(made, at_[i.out] + e * out.width);
    } catch (const Error& error) {
      throw fault_of(error, i.span);
    }
  }
}

void LaneMachine::convert(const LaneInstruction& i, const Turn& turn) {
  const LaneRegister& out = program_.registers[i.out];
  for (std::int64_t e = 0; e < (out.lanes ? turn.count : 1); ++e) {
    Array element = Array::wrap({out.precision, {}},
                                std::shared_ptr<std::byte>(std::shared_ptr<void>(), at_[i.out] + e * out.width));
    try {
      put_scalar(host_value(i.in[0], e), element);
    } catch (const Error& error) {
      throw fault_of(error, i.span);
    }
  }
}

void LaneMachine::copy(const LaneInstruction& i, const Turn& turn) {
  const LaneRegister& out = program_.registers[i.out];
  if (i.tensor)
    tensors_[i.out] = tensor(ViewValue(i.in[0]), 1);
  else
    std::memcpy(at_[i.out], at_[i.in[0]], static_cast<std::size_t>(out.lanes ? turn.count : 1) * out.width);
}

void LaneMachine::extent(const LaneInstruction& i) {
  const ViewMemory& of = view(i.access);
  const std::int64_t extent = of.root->rank == 1 ? of.points->size() : of.points->rect().extent(i.number);
  std::memcpy(at_[i.out], &extent, sizeof extent);
}

void LaneMachine::coordinate(const LaneInstruction& i, const Turn& turn) {
  auto* out = reinterpret_cast<std::int64_t*>(at_[i.out]);
  for (const Segment& s : turn.segments) {
    const bool last = i.number + 1u == s.at.start.rank;
    for (std::int64_t e = 0; e < s.count; ++e) out[s.first + e] = s.at.start[i.number] + (last ? e : 0);
  }
}

// ---- places ---------------------------------------------------------------------------------------

Point LaneMachine::moved(std::uint32_t access, const Point& start) const {
  Point point = start;
  for (std::size_t axis = 0; axis < point.rank; ++axis) point.at[axis] += access_[access].offsets[axis];
  return point;
}

// Of points whose rows are not all there.
std::int64_t LaneMachine::number(std::uint32_t access, const Point& point) const {
  return access_[access].memory.place(*view(program_.accesses[access].view).root, point);
}

void LaneMachine::no_point(const LaneAccess& access, const Point& point) const {
  const ViewCode::View& view = code_.views[access.view];
  std::string message =
      fmt::format("{}[{}].{}: the view has no such point", view.name, point.index(), view.fields[access.field].name);
  message += fmt::format(", in task {}", code_.task);
  if (run_.point) message += fmt::format("[{}]", run_.point->index());
  throw LaneFault{{"E5003", std::move(message), access.span}};
}

void LaneMachine::load(const LaneInstruction& i, const Turn& turn) {
  const std::uint8_t width = program_.accesses[i.access].width;
  if (turn.segments.size() == 1 && !i.copies) {
    at_[i.out] = element(i.access, turn.segments[0].at);
    return;
  }
  at_[i.out] = own_slot(i.out);
  if (turn.sparse && access_[i.access].follows)
    return gather_elements(access_[i.access].from, places(), at_[i.out], turn.count, width);
  for (const Segment& s : turn.segments)
    move_elements(element(i.access, s.at), at_[i.out] + s.first * width, s.count, width);
}

// Of another view, whose runs may be cut elsewhere.
void LaneMachine::load_by_number(const LaneInstruction& i, const Turn& turn) {
  const LaneAccess& access = program_.accesses[i.access];
  const ViewMemory& of = view(access.view);
  at_[i.out] = own_slot(i.out);
  for (const Segment& s : turn.segments)
    for (std::int64_t done = 0; done < s.count;) {
      const Run run = numbered(of, s.at.number + done);
      const std::int64_t part = std::min(s.count - done, run.size());
      std::byte* from = base(access) + place_in(access_[i.access].memory.packed, run.lo) * access.width;
      if (part == turn.count && !i.copies) {
        at_[i.out] = from;
        return;
      }
      move_elements(from, own_slot(i.out) + (s.first + done) * access.width, part, access.width);
      done += part;
    }
}

void LaneMachine::whole(const LaneInstruction& i, const Turn& turn) {
  const bool loads = i.kind == LaneInstruction::Kind::load_whole;
  const Register lanes = loads ? i.out : i.in[0];
  const std::uint8_t width = program_.registers[lanes].width;
  const std::byte* from = !loads ? nullptr : i.tensor ? std::as_const(tensors_[i.number]).raw() : run_.inputs[i.number];
  std::byte* to = loads ? nullptr : i.tensor ? tensors_[i.number].raw() : run_.outputs[i.number];
  for (const Segment& s : turn.segments) {
    std::byte* strip = at_[lanes] + s.first * width;
    if (loads)
      move_elements(from + s.at.number * width, strip, s.count, width);
    else
      move_elements(strip, to + s.at.number * width, s.count, width);
  }
}

void LaneMachine::total(const LaneInstruction& i, const Turn& turn) {
  const std::uint8_t width = program_.registers[i.in[0]].width;
  for (const Segment& s : turn.segments) totals_[i.number].add(s.at.linear, at_[i.in[0]] + s.first * width, s.count);
}

// The run is cut where it leaves the view; the rest has the value that was given.
void LaneMachine::load_or_else(const LaneInstruction& i, const Turn& turn) {
  const LaneAccess& access = program_.accesses[i.access];
  const ViewMemory& of = view(access.view);
  const Rect& root = *of.root;
  const LaneRegister& standard = program_.registers[i.in[0]];
  auto put_standard = [&](std::int64_t first, std::int64_t count) {
    if (standard.lanes)
      move_elements(at_[i.in[0]] + first * access.width, own_slot(i.out) + first * access.width, count, access.width);
    else
      repeat_element(at_[i.in[0]], own_slot(i.out) + first * access.width, count, access.width);
  };
  at_[i.out] = own_slot(i.out);
  for (const Segment& s : turn.segments) {
    const Point start = moved(i.access, s.at.start);
    const std::size_t last = start.rank == 0 ? 0 : start.rank - 1u;
    bool in_rows = true;
    for (std::size_t axis = 0; axis < last; ++axis)
      in_rows &= start[axis] >= root.lo[axis] && start[axis] < root.hi[axis];
    for (std::int64_t done = 0; done < s.count;) {
      Point point = start;
      point.at[last] += done;
      const std::int64_t left = s.count - done;
      std::int64_t part = left;
      if (!in_rows || point[last] >= root.hi[last]) {
        put_standard(s.first + done, part);
      } else if (point[last] < root.lo[last]) {
        put_standard(s.first + done, part = std::min(left, root.lo[last] - point[last]));
      } else {
        const std::int64_t linear = root.linear(point), row = root.hi[last] - point[last];
        if (const std::optional<Run> found = access_[i.access].cursor.run_of(of, linear)) {
          part = std::min({left, row, found->hi - linear});
          std::byte* from = base(access) + place_in(access_[i.access].memory.packed, linear) * access.width;
          if (part == s.count && turn.segments.size() == 1 && !i.copies) {
            at_[i.out] = from;
            return;
          }
          move_elements(from, own_slot(i.out) + (s.first + done) * access.width, part, access.width);
        } else {
          const std::int64_t begin = ViewCursor::next_begin(of, linear);
          put_standard(s.first + done, part = std::min({left, row, begin - linear}));
        }
      }
      done += part;
    }
  }
}

void LaneMachine::store(const LaneInstruction& i, const Turn& turn) {
  const std::uint8_t width = program_.accesses[i.access].width;
  if (turn.sparse && access_[i.access].follows)
    return scatter_elements(at_[i.in[0]], access_[i.access].from, places(), turn.count, width);
  for (const Segment& s : turn.segments) {
    std::byte* to = element(i.access, s.at);
    const std::byte* from = at_[i.in[0]] + s.first * width;
    if (from != to) move_elements(from, to, s.count, width);
  }
}

// Places in memory of points whose coordinates are in registers; -1 where there is no such point and that is fine.
void LaneMachine::index(const LaneInstruction& i, const Turn& turn) {
  const LaneAccess& access = program_.accesses[i.access];
  const ViewMemory& of = view(access.view);
  const bool lanes = program_.registers[i.out].lanes;
  const std::int64_t count = lanes ? turn.count : 1;
  at_[i.out] = own_slot(i.out);
  auto* out = reinterpret_cast<std::int64_t*>(at_[i.out]);
  auto coordinate = [&](std::size_t axis, std::int64_t e) {
    std::int64_t value = 0;
    std::memcpy(&value, at_[i.in[axis]] + (program_.registers[i.in[axis]].lanes ? e * 8 : 0), sizeof value);
    return value;
  };
  auto point_of = [&](std::int64_t e) {
    Point point{{}, of.root->rank};
    for (std::size_t axis = 0; axis < i.in.size(); ++axis) point.at[axis] = coordinate(axis, e);
    return point;
  };
  const PieceMemory memory = access_[i.access].memory;
  const bool by_rect = of.points->is_rect();
  // What is written in the memory of the region itself, others would see.
  const bool seen = access.writes && memory.box == of.root;
  const bool checks = !by_rect && (!lanes || run_.checks_membership || access.or_else || memory.scattered || seen);
  const Rect& around = by_rect ? of.points->rect() : *memory.box;  // beyond it there is no memory
  if (i.deferred) access_[i.access].bounds = {};
  const bool is_plain = lanes && i.in.size() == 1 && !access.or_else && !checks;
  if (is_plain && memory.packed && !by_rect) {
    const auto* values = reinterpret_cast<const std::int64_t*>(at_[i.in[0]]);
    for (std::int64_t e = 0; e < count; ++e)
      if ((out[e] = memory.packed->find(values[e] - of.root->lo[0])) < 0) no_point(access, Point::of(values[e]));
    return;
  }
  if (is_plain && !memory.packed) {
    if (i.deferred) {
      at_[i.out] = at_[i.in[0]];
      access_[i.access].bounds = {around.lo[0], around.hi[0], memory.box->lo[0]};
      return;
    }
    const auto* values = reinterpret_cast<const std::int64_t*>(at_[i.in[0]]);
    if (all_inside(values, count, around.lo[0], around.hi[0])) {
      if (i.passes && memory.box->lo[0] == 0)
        at_[i.out] = at_[i.in[0]];
      else
        for (std::int64_t e = 0; e < count; ++e) out[e] = values[e] - memory.box->lo[0];
      return;
    }
  }
  ViewCursor& cursor = access_[i.access].cursor;
  for (std::int64_t e = 0; e < count; ++e) {
    const Point point = point_of(e);
    const bool there = around.contains(point) && (!checks || cursor.contains(of, of.root->linear(point)));
    out[e] = !there             ? -1
             : memory.packed    ? memory.packed->find(of.root->linear(point))
             : memory.scattered ? cursor.number_of(of, of.root->linear(point))
                                : memory.box->linear(point);
    if (out[e] < 0 && !access.or_else) no_point(access, point);
  }
}

void LaneMachine::gather(const LaneInstruction& i, const Turn& turn) {
  const LaneAccess& access = program_.accesses[i.access];
  const std::int64_t count = program_.registers[i.out].lanes ? turn.count : 1;
  const auto* places = reinterpret_cast<const std::int64_t*>(at_[i.in[0]]);
  if (i.in.size() == 1 && (count == 1 || program_.registers[i.in[0]].lanes))
    return gather_elements(base(access), places, at_[i.out], count, access.width);
  for (std::int64_t e = 0; e < count; ++e) {  // at(): or another value
    const std::int64_t place = places[program_.registers[i.in[0]].lanes ? e : 0];
    const std::byte* from = place >= 0 ? base(access) + place * access.width
                                       : at_[i.in[1]] + (program_.registers[i.in[1]].lanes ? e * access.width : 0);
    std::memcpy(at_[i.out] + e * access.width, from, access.width);
  }
}

void LaneMachine::scatter(const LaneInstruction& i, const Turn& turn) {
  const LaneAccess& access = program_.accesses[i.access];
  const bool many = program_.registers[i.in[0]].lanes, lanes = program_.registers[i.in[1]].lanes;
  const auto* places = reinterpret_cast<const std::int64_t*>(at_[i.in[0]]);
  for (std::int64_t e = 0; e < (many || lanes ? turn.count : 1); ++e)
    std::memcpy(base(access) + places[many ? e : 0] * access.width, at_[i.in[1]] + (lanes ? e * access.width : 0),
                access.width);
}

void LaneMachine::folds(const LaneInstruction& i, const Turn& turn) {
  const std::vector<LaneFold>& folds = turn.loop->folds[i.number];
  const LaneAccess& access = program_.accesses[folds[0].access];
  folds_.clear();
  for (std::size_t k = 0; k < folds.size(); ++k) {
    const Register places = i.in[2 * k];
    const Bounds within = bounds(places);
    folds_.push_back({.field = base(access) - within.shift * access.width,
                      .places = reinterpret_cast<const std::int64_t*>(at_[places]),
                      .step = program_.registers[places].lanes ? 1 : 0,
                      .lo = within.lo,
                      .hi = within.hi,
                      .values = at_[i.in[2 * k + 1]],
                      .factors = i.products ? at_[i.in[2 * folds.size() + k]] : nullptr,
                      .kernel = folds[k].kernel,
                      .op = folds[k].op->name,
                      .span = folds[k].span});
  }
  const Precision precision = code_.views[access.view].fields[access.field].precision;
  std::optional<Fault> fault;
  const std::int64_t done = scatter_folds(folds_, precision, turn.count, fault);
  if (fault) throw LaneFault{*std::move(fault)};
  for (std::int64_t e = done; e < turn.count; ++e)
    for (std::size_t k = 0; k < folds.size(); ++k) refuse(i.in[2 * k], e);
  if (done < turn.count) bug("folds stopped where all places are inside");
}

}  // namespace taskspec
