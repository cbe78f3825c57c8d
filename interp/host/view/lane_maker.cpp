#include "interp/host/view/lane_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace taskspec {

namespace {

constexpr std::size_t one_bytes = 16;  // of the scratch, for a register of one element
constexpr std::size_t slot_bytes = strip_length * 8;

}  // namespace

LaneMaker::LaneMaker(const ViewCode& code, const OpTable& ops)
    : code_(code), ops_(ops), out_(&made_.code), dims_(code.values.size()), home_(code.values.size(), top) {
  for (const ViewCode::Item& item : code.values) {
    add_register(item.precision, false);
    made_.has_tensors |= item.kind == ViewCode::Item::Kind::tensor;
  }
  for (const auto& [value, array] : code.constants) {
    (code[value].kind == ViewCode::Item::Kind::tensor ? made_.tensors : numbers_).emplace_back(one(value), array);
    if (code[value].kind == ViewCode::Item::Kind::host && code[value].precision == Precision::i64)
      dims_[value.index()] = Dim(array.integer(0));
  }
}

LaneProgram make_lanes(const ViewCode& code, const OpTable& ops) { return LaneMaker(code, ops).make(); }

LaneProgram LaneMaker::make() && {
  block(code_.body);
  std::size_t at = 0;
  for (LaneRegister& r : made_.registers)
    if (!r.lanes) r.at = std::exchange(at, at + one_bytes);
  for (std::uint32_t k = 0; k < code_.inputs; ++k)
    if (code_.values[k].kind != ViewCode::Item::Kind::whole)
      made_.inputs.push_back({k, static_cast<std::uint32_t>(made_.registers[k].at), made_.registers[k].width});
  made_.ones.resize(at);
  for (const auto& [r, array] : numbers_)
    std::memcpy(&made_.ones[made_.registers[r].at], array.raw(), made_.registers[r].width);
  at = (at + 63) / 64 * 64;
  for (LaneRegister& r : made_.registers)
    if (r.lanes) r.at = at + r.at * slot_bytes;
  made_.places_at = at + most_slots_ * slot_bytes;
  made_.scratch_bytes = made_.places_at + slot_bytes;
  made_.steps = make_steps(made_, made_.code);
  for (LaneLoop& loop : made_.loops) {
    made_.has_strips |= loop.strip;
    if (!loop.strip) loop.steps = make_steps(made_, loop.code);
  }
  return std::move(made_);
}

// ---- values ---------------------------------------------------------------------------------------

Register LaneMaker::add_register(Precision precision, bool lanes) {
  made_.registers.push_back({precision, info(precision).bytes, lanes, 0});
  return static_cast<Register>(made_.registers.size() - 1);
}

ViewValue LaneMaker::resolved(ViewValue value) const {
  for (auto known = alias_.find(value); known != alias_.end(); known = alias_.find(value)) value = known->second;
  return value;
}

// An int of the host as a polynomial over others, those that are made by nothing else included.
std::optional<Dim> LaneMaker::dim_of(ViewValue value) const {
  value = resolved(value);
  const ViewCode::Item& item = code_[value];
  if (item.kind != ViewCode::Item::Kind::host || item.precision != Precision::i64 || item.variable) return std::nullopt;
  if (dims_[value.index()]) return dims_[value.index()];
  return Dim(std::make_shared<SymbolInfo>(SymbolInfo{.name = "", .id = value.value}));
}

void LaneMaker::note_dim(ViewValue value, std::optional<Dim> dim) {
  place(value);
  dims_[value.index()] = std::move(dim);
}

void LaneMaker::note_number(const ViewStep& step) {
  place(step.out());
  if (!step.op->extent || step.in.size() != step.op->operands.size()) return;
  std::vector<Dim> operands;
  for (ViewValue value : step.in) {
    std::optional<Dim> dim = dim_of(value);
    if (!dim) return;
    operands.push_back(*std::move(dim));
  }
  try {
    dims_[step.out().index()] = step.op->extent(operands);
  } catch (const Error&) {  // it will fail where it is computed
  }
}

// ---- places ---------------------------------------------------------------------------------------

std::uint32_t LaneMaker::add_access(LaneAccess access) {
  for (std::size_t axis = 0; axis < access.offsets.size(); ++axis) {
    const std::optional<std::int64_t> constant = access.offsets[axis].constant();
    access.is_constant &= constant.has_value();
    access.constants[axis] = constant.value_or(0);
  }
  made_.accesses.push_back(std::move(access));
  return static_cast<std::uint32_t>(made_.accesses.size() - 1);
}

LaneAccess LaneMaker::access_of(const ViewStep& step) const {
  LaneAccess access;
  access.view = step.view;
  access.field = step.field;
  access.width = info(code_.views[step.view].fields[step.field].precision).bytes;
  access.or_else = step.kind == ViewStep::Kind::read_at;
  access.writes = step.kind == ViewStep::Kind::store || step.kind == ViewStep::Kind::fold;
  access.span = step.span;
  return access;
}

// Of a place that lies as far from the point of the loop for all points.
std::optional<LaneAccess> LaneMaker::aligned(std::uint32_t view, std::uint32_t field,
                                             std::span<const ViewValue> index) {
  if (index.size() != coordinates_.size()) return std::nullopt;
  LaneAccess access;
  access.view = view;
  access.field = field;
  access.width = info(code_.views[view].fields[field].precision).bytes;
  access.aligned = true;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const std::optional<Dim> place = dim_of(index[axis]), point = dim_of(coordinates_[axis]);
    if (!place) return std::nullopt;
    const Dim offset = *place - *point;
    for (const Symbol& symbol : offset.symbols())
      if (home_[symbol->id] == loop_) return std::nullopt;
    access.offsets.push_back(offset);
  }
  return access;
}

// ---- scalar code ----------------------------------------------------------------------------------

LaneInstruction& LaneMaker::emit(LaneInstruction instruction) {
  out_->push_back(std::move(instruction));
  return out_->back();
}

void LaneMaker::block(const ViewBlock& block) {
  for (const ViewStep& s : block) step(s);
}

void LaneMaker::step(const ViewStep& s) {
  using Step = ViewStep::Kind;
  switch (s.kind) {
    case Step::number:
    case Step::convert:
    case Step::op:
    case Step::move: {
      LaneInstruction instruction;
      for (ViewValue value : s.in) instruction.in.push_back(one(value));
      instruction.out = one(s.out());
      arithmetic(s, std::move(instruction));
      if (s.kind == Step::number) return note_number(s);
      if (s.kind == Step::move && !code_[s.out()].variable) return note_dim(s.out(), dim_of(s.in[0]));
      return place(s.out());
    }
    case Step::extent:
      emit({.kind = Kind::extent, .out = one(s.out()), .access = s.view, .number = s.field, .span = s.span});
      return place(s.out());
    case Step::read:
    case Step::read_at:
      return read(s);
    case Step::store:
    case Step::fold:
      return write(s);
    case Step::each_point:
      return each_point(s);
    case Step::each_int:
      return each_int(s);
    case Step::while_:
      return while_loop(s);
    case Step::if_:
      return choice(s);
    case Step::once:
      enclosing_.emplace_back();
      block(s.blocks[0]);
      for (std::size_t jump : enclosing_.back().leaves) (*out_)[jump].number = static_cast<std::uint32_t>(out_->size());
      enclosing_.pop_back();
      return;
    case Step::leave:
    case Step::next:
      return leave(s);
    case Step::make_tensor:
      emit({.kind = Kind::make_tensor, .out = one(s.out()), .access = s.view, .span = s.span});
      return place(s.out());
    case Step::tensor_op:
      emit({.kind = Kind::tensor_op, .out = one(s.out()), .op = s.op, .step = &s, .span = s.span});
      return place(s.out());
    case Step::read_number:
    case Step::read_whole:
    case Step::store_whole:
    case Step::accumulate:
      bug("whole fields are loops of their own, which are always strips");
  }
}

const Kernel* LaneMaker::kernel(const ViewStep& s, std::span<const Precision> in, Precision out) {
  const OpDef& op = *s.op;
  OpInstance call{&op, {}, s.attributes, {{out, {strip_length}}}};
  for (Precision precision : in) call.in.push_back({precision, {strip_length}});
  if (op.fusion != Fusion::pointwise || in.empty())
    throw failure("E1009", s.span, fmt::format("'{}' on single elements of a view is not built yet", op.name));
  made_.kernels.push_back(op.kernel(call));
  const Kernel* made = made_.kernels.back().get();
  if (made->strip_steps().empty())
    throw failure("E1009", s.span, fmt::format("'{}' on single elements of a view is not built yet", op.name));
  return made;
}

const Kernel* LaneMaker::fold_kernel(const OpDef& op, Precision precision) {
  ViewStep step;
  step.op = &op;
  step.attributes.resize(2);
  const Precision in[] = {precision, precision};
  return kernel(step, in, precision);
}

// One instruction on registers that are chosen already.
void LaneMaker::arithmetic(const ViewStep& s, LaneInstruction instruction) {
  instruction.span = s.span;
  instruction.op = s.op;
  if (s.kind == ViewStep::Kind::number) {
    instruction.kind = Kind::number;
    instruction.attributes = s.attributes;
  } else if (s.kind == ViewStep::Kind::convert) {
    instruction.kind = Kind::convert;
  } else if (s.kind == ViewStep::Kind::move || s.op->sharing == Sharing::same_bytes) {
    instruction.kind = Kind::copy;
    instruction.tensor = s.kind == ViewStep::Kind::move && code_[s.out()].kind == ViewCode::Item::Kind::tensor;
  } else {
    std::vector<Precision> in;
    for (Register r : instruction.in) in.push_back(made_.registers[r].precision);
    instruction.kernel = kernel(s, in, made_.registers[instruction.out].precision);
  }
  emit(std::move(instruction));
}

Register LaneMaker::places(const ViewStep& s, std::span<const ViewValue> index, std::uint32_t& access) {
  LaneAccess made = access_of(s);
  for (ViewValue value : index) made.index.push_back(one(value));
  access = add_access(std::move(made));
  const Register out = add_register(Precision::i64, false);
  emit({.kind = Kind::index, .out = out, .in = made_.accesses[access].index, .access = access, .span = s.span});
  return out;
}

void LaneMaker::read(const ViewStep& s) {
  const bool or_else = s.kind == ViewStep::Kind::read_at;
  const std::span index = std::span(s.in).first(s.in.size() - (or_else ? 1 : 0));
  place(s.out());
  if (loop_ != top && certain_ && !or_else)
    if (auto access = aligned(s.view, s.field, index)) {
      access->span = s.span;
      const std::uint32_t at = add_access(*std::move(access));
      made_.loops[loop_].aligned.push_back(at);
      emit({.kind = Kind::load, .copies = true, .out = one(s.out()), .access = at, .span = s.span});
      return;
    }
  std::uint32_t access = 0;
  LaneInstruction gather{.kind = Kind::gather, .out = one(s.out()), .in = {places(s, index, access)}, .span = s.span};
  gather.access = access;
  if (or_else) gather.in.push_back(one(s.in.back()));
  emit(std::move(gather));
}

void LaneMaker::write(const ViewStep& s) {
  const std::span index = std::span(s.in).first(s.in.size() - 1);
  std::uint32_t access = 0;
  const Register at = places(s, index, access);
  Register value = one(s.in.back());
  if (s.kind == ViewStep::Kind::fold) {
    const Precision precision = code_.views[s.view].fields[s.field].precision;
    const Register old = add_register(precision, false), made = add_register(precision, false);
    emit({.kind = Kind::gather, .out = old, .in = {at}, .access = access, .span = s.span});
    emit({.kind = Kind::kernel,
          .out = made,
          .in = {old, value},
          .kernel = fold_kernel(*s.op, precision),
          .op = s.op,
          .span = s.span});
    value = made;
  }
  emit({.kind = Kind::scatter, .in = {at, value}, .access = access, .span = s.span});
}

void LaneMaker::each_int(const ViewStep& s) {
  const Register next = add_register(Precision::i64, false), end = add_register(Precision::i64, false);
  emit({.kind = Kind::copy, .out = next, .in = {one(s.in[0])}});
  emit({.kind = Kind::copy, .out = end, .in = {one(s.in[1])}});
  const std::size_t head = out_->size();
  emit({.kind = Kind::count, .out = one(s.outs[0]), .in = {next, end}});
  place(s.outs[0]);
  enclosing_.emplace_back();
  const bool certain = std::exchange(certain_, false);
  block(s.blocks[0]);
  certain_ = certain;
  emit({.kind = Kind::jump, .number = static_cast<std::uint32_t>(head)});
  const auto behind = static_cast<std::uint32_t>(out_->size());
  (*out_)[head].number = behind;
  for (std::size_t jump : enclosing_.back().leaves) (*out_)[jump].number = behind;
  for (std::size_t jump : enclosing_.back().nexts) (*out_)[jump].number = static_cast<std::uint32_t>(head);
  enclosing_.pop_back();
}

void LaneMaker::while_loop(const ViewStep& s) {
  const bool certain = std::exchange(certain_, false);
  const auto head = static_cast<std::uint32_t>(out_->size());
  block(s.blocks[0]);
  const std::size_t test = out_->size();
  emit({.kind = Kind::jump_unless, .in = {one(s.in[0])}});
  enclosing_.emplace_back();
  block(s.blocks[1]);
  certain_ = certain;
  emit({.kind = Kind::jump, .number = head});
  const auto behind = static_cast<std::uint32_t>(out_->size());
  (*out_)[test].number = behind;
  for (std::size_t jump : enclosing_.back().leaves) (*out_)[jump].number = behind;
  for (std::size_t jump : enclosing_.back().nexts) (*out_)[jump].number = head;
  enclosing_.pop_back();
}

void LaneMaker::choice(const ViewStep& s) {
  const bool certain = std::exchange(certain_, false);
  const std::size_t test = out_->size();
  emit({.kind = Kind::jump_unless, .in = {one(s.in[0])}});
  block(s.blocks[0]);
  const std::size_t over = out_->size();
  emit({.kind = Kind::jump});
  (*out_)[test].number = static_cast<std::uint32_t>(out_->size());
  if (s.blocks.size() > 1) block(s.blocks[1]);
  (*out_)[over].number = static_cast<std::uint32_t>(out_->size());
  certain_ = certain;
}

void LaneMaker::leave(const ViewStep& s) {
  Enclosing& target = enclosing_[enclosing_.size() - 1 - s.levels];
  certain_ = false;
  std::vector<std::size_t>& jumps = s.kind == ViewStep::Kind::leave ? target.leaves : target.nexts;
  jumps.push_back(out_->size());
  emit({.kind = Kind::jump, .span = s.span});
}

void LaneMaker::each_point(const ViewStep& s) {
  const std::uint32_t outer = std::exchange(loop_, static_cast<std::uint32_t>(made_.loops.size()));
  made_.loops.emplace_back();
  made_.loops.back().view = s.view;
  made_.loops.back().by_rows = code_.views[s.view].rank > 1;
  const std::vector<ViewValue> coordinates = std::exchange(coordinates_, s.outs);
  for (ViewValue value : s.outs) place(value);
  std::optional<ViewStep> folding;
  std::optional<NoStrip> reason =
      outer == top ? why_not(s, folding) : NoStrip{s.span, "a loop over a view inside another one"};
  if (reason) {
    if (made_.why_not_strip.empty()) {
      made_.why_not_strip = reason->text;
      made_.why_at = reason->span;
    }
    scalar_loop(s);
  }
  const std::size_t guard = out_->size();
  if (!reason) {
    // What stands in front of the loop runs only for it.
    emit({.kind = Kind::jump_if_empty, .access = s.view});
    strip_loop(folding ? *folding : s);
  }
  const std::uint32_t mine = std::exchange(loop_, outer);
  coordinates_ = coordinates;
  emit({.kind = Kind::loop, .number = mine, .span = s.span});
  // A total of no points is one, too.
  if (!reason)
    (*out_)[guard].number = static_cast<std::uint32_t>(made_.loops[mine].totals.empty() ? out_->size() : guard + 1);
}

namespace {

// Then the points behind may never come, or what stands behind in this turn, and their bounds are nobody's business.
bool may_leave(const ViewBlock& block) {
  for (const ViewStep& step : block) {
    if (step.kind == ViewStep::Kind::leave || step.kind == ViewStep::Kind::next) return true;
    if (std::ranges::any_of(step.blocks, may_leave)) return true;
  }
  return false;
}

}  // namespace

void LaneMaker::scalar_loop(const ViewStep& s) {
  const std::uint32_t mine = loop_;
  for (ViewValue value : s.outs) made_.loops[mine].coordinates.push_back(one(value));
  std::vector<LaneInstruction> code;
  std::vector<LaneInstruction>* outer = std::exchange(out_, &code);
  const bool certain = std::exchange(certain_, !may_leave(s.blocks[0]));
  enclosing_.emplace_back();
  block(s.blocks[0]);
  for (std::size_t jump : enclosing_.back().leaves) code[jump].number = UINT32_MAX;
  for (std::size_t jump : enclosing_.back().nexts) code[jump].number = static_cast<std::uint32_t>(code.size());
  enclosing_.pop_back();
  certain_ = certain;
  out_ = outer;
  made_.loops[mine].code = std::move(code);
}

}  // namespace taskspec
