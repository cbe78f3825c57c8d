// Loops over points whose body is straight and legal as strips.
#include <algorithm>
#include <utility>

#include "interp/host/view/lane_maker.hpp"

namespace taskspec {

// ---- whether it is one ----------------------------------------------------------------------------

// Goes through the body as strip_step will, as far as places need it.
void LaneMaker::collect_uses(const ViewStep& loop, std::vector<FieldUse>& uses) {
  using Step = ViewStep::Kind;
  for (const ViewStep& s : loop.blocks[0]) {
    for (ViewValue value : s.outs) place(value);
    if (s.kind == Step::move) alias_[s.out()] = resolved(s.in[0]);
    if (s.kind == Step::number) note_number(s);
    if (s.kind != Step::read && s.kind != Step::read_at && s.kind != Step::store && s.kind != Step::fold) continue;
    const std::span index = std::span(s.in).first(s.in.size() - (s.kind == Step::read ? 0 : 1));
    FieldUse use{.kind = s.kind == Step::store  ? FieldUse::Kind::write
                         : s.kind == Step::fold ? FieldUse::Kind::fold
                                                : FieldUse::Kind::read,
                 .view = s.view,
                 .field = s.field,
                 .span = s.span};
    if (std::optional<LaneAccess> access = aligned(s.view, s.field, index)) {
      use.aligned = true;
      use.offsets = std::move(access->offsets);
    }
    uses.push_back(std::move(use));
  }
}

// `folding`: set to the loop to make strips of, where that is another one.
std::optional<NoStrip> LaneMaker::why_not(const ViewStep& loop, std::optional<ViewStep>& folding) {
  if (std::optional<NoStrip> reason = not_straight(code_, loop)) return reason;
  while (true) {
    std::vector<FieldUse> uses;
    collect_uses(folding ? *folding : loop, uses);
    alias_.clear();
    std::optional<NoStrip> reason = written_elsewhere(code_, uses);
    if (!reason) return std::nullopt;
    std::optional<ViewStep> next =
        with_folds(code_, folding ? *folding : loop, reason->field->first, reason->field->second);
    if (!next) return reason;
    folding = std::move(next);
  }
}

// ---- its code -------------------------------------------------------------------------------------

void LaneMaker::strip_loop(const ViewStep& s) {
  const std::uint32_t mine = loop_;
  made_.loops[mine].strip = true;
  std::vector<LaneInstruction> code;
  before_ = std::exchange(out_, &code);
  for (const ViewStep& inner : s.blocks[0])
    if (inner.kind == ViewStep::Kind::fold) folds_[{inner.view, inner.field}].push_back(&inner);
  for (const ViewStep& inner : s.blocks[0]) strip_step(inner);
  out_ = std::exchange(before_, nullptr);
  made_.loops[mine].code = std::move(code);
  join_arithmetic(made_.loops[mine]);
  settle_memory(made_.loops[mine]);
  settle_slots(made_.loops[mine]);
  note_passes(made_.loops[mine]);
  settle_dense(made_.loops[mine]);
  alias_.clear();
  lanes_.clear();
  pending_.clear();
  places_.clear();
  folds_.clear();
}

void LaneMaker::strip_step(const ViewStep& s) {
  using Step = ViewStep::Kind;
  switch (s.kind) {
    case Step::move:
      alias_[s.out()] = resolved(s.in[0]);
      return;
    case Step::number:
    case Step::convert:
    case Step::op:
      if (s.kind == Step::op && s.op->sharing == Sharing::same_bytes) {  // elements have no shape
        alias_[s.out()] = resolved(s.in[0]);
        return;
      }
      if (hoisted(s)) return;
      if (s.kind == Step::number) note_number(s);
      if (s.kind == Step::op || (s.op && !s.op->extent)) return strip_arithmetic(s);
      pending_[s.out()] = &s;  // as a place it is not computed at all
      return;
    case Step::extent:
      before_->push_back(
          {.kind = Kind::extent, .out = one(s.out()), .access = s.view, .number = s.field, .span = s.span});
      home_[s.out().index()] = top;
      return;
    case Step::read:
    case Step::read_at:
      return strip_read(s);
    case Step::store:
      return strip_write(s);
    case Step::read_number:
    case Step::read_whole:
    case Step::store_whole:
    case Step::accumulate:
      return strip_whole(s);
    default:
      return strip_fold(s);
  }
}

// What is the same for all points is made once, in front of the loop.
bool LaneMaker::hoisted(const ViewStep& s) {
  LaneInstruction instruction;
  for (ViewValue value : s.in) {
    if (!outside(resolved(value))) return false;
    instruction.in.push_back(one(resolved(value)));
  }
  instruction.out = one(s.out());
  out_ = std::exchange(before_, out_);
  arithmetic(s, std::move(instruction));
  out_ = std::exchange(before_, out_);
  if (s.kind == ViewStep::Kind::number) note_number(s);
  home_[s.out().index()] = top;
  return true;
}

void LaneMaker::strip_arithmetic(const ViewStep& s) {
  LaneInstruction instruction;
  for (ViewValue value : s.in) instruction.in.push_back(s.kind == ViewStep::Kind::op ? lanes(value) : operand(value));
  const Register out = add_register(code_[s.out()].precision, true);
  instruction.out = out;
  arithmetic(s, std::move(instruction));
  lanes_[s.out()] = out;
}

// As 512 elements, those of all points alike included.
Register LaneMaker::lanes(ViewValue value) {
  value = resolved(value);
  if (auto known = lanes_.find(value); known != lanes_.end()) return known->second;
  if (auto waiting = pending_.find(value); waiting != pending_.end()) {
    const ViewStep& step = *waiting->second;
    pending_.erase(waiting);
    strip_arithmetic(step);
    return lanes_.at(value);
  }
  const Register made = add_register(code_[value].precision, true);
  const auto axis = std::ranges::find(coordinates_, value);
  if (axis != coordinates_.end())
    emit({.kind = Kind::coordinate, .out = made, .number = static_cast<std::uint32_t>(axis - coordinates_.begin())});
  else
    made_.loops[loop_].spread.emplace_back(one(value), made);
  return lanes_[value] = made;
}

// For instructions that take either.
Register LaneMaker::operand(ViewValue value) {
  value = resolved(value);
  return outside(value) ? one(value) : lanes(value);
}

Register LaneMaker::strip_places(const ViewStep& s, std::span<const ViewValue> index, std::uint32_t& access) {
  std::vector<Register> registers;
  bool varies = false;
  for (ViewValue value : index) {
    registers.push_back(operand(value));
    varies |= made_.registers[registers.back()].lanes;
  }
  std::pair<std::uint32_t, std::vector<Register>> key{s.view * 2 + (s.kind == ViewStep::Kind::read_at), registers};
  LaneAccess made = access_of(s);
  made.index = registers;
  access = add_access(std::move(made));
  if (auto known = places_.find(key); known != places_.end()) {
    made_.accesses[known->second.second].writes |= made_.accesses[access].writes;
    return known->second.first;
  }
  const Register out = add_register(Precision::i64, varies);
  std::vector<LaneInstruction>& code = varies ? *out_ : *before_;
  code.push_back({.kind = Kind::index, .out = out, .in = registers, .access = access, .span = s.span});
  places_[std::move(key)] = {out, access};
  return out;
}

void LaneMaker::strip_read(const ViewStep& s) {
  const bool or_else = s.kind == ViewStep::Kind::read_at;
  const std::span index = std::span(s.in).first(s.in.size() - (or_else ? 1 : 0));
  place(s.out());
  std::optional<LaneAccess> near = aligned(s.view, s.field, index);
  LaneInstruction made{.kind = near ? Kind::load : Kind::gather, .span = s.span};
  if (near) {
    near->or_else = or_else;
    near->span = s.span;
    made.access = add_access(*std::move(near));
    made_.loops[loop_].aligned.push_back(made.access);
  } else {
    made.in.push_back(strip_places(s, index, made.access));
  }
  if (or_else) made.in.push_back(operand(s.in.back()));
  const bool varies = made.kind == Kind::load || made_.registers[made.in[0]].lanes ||
                      (or_else && made_.registers[made.in.back()].lanes);
  if (!varies) {
    made.out = one(s.out());
    home_[s.out().index()] = top;
    before_->push_back(std::move(made));
    return;
  }
  made.out = add_register(code_[s.out()].precision, true);
  lanes_[s.out()] = made.out;
  emit(std::move(made));
}

void LaneMaker::strip_write(const ViewStep& s) {
  const std::span index = std::span(s.in).first(s.in.size() - 1);
  const Register value = lanes(s.in.back());
  if (std::optional<LaneAccess> near = aligned(s.view, s.field, index)) {
    near->span = s.span;
    const std::uint32_t access = add_access(*std::move(near));
    made_.loops[loop_].aligned.push_back(access);
    emit({.kind = Kind::store, .in = {value}, .access = access, .span = s.span});
    return;
  }
  std::uint32_t access = 0;
  const Register at = strip_places(s, index, access);
  emit({.kind = Kind::scatter, .in = {at, value}, .access = access, .span = s.span});
}

// Of the loops that whole fields become.
void LaneMaker::strip_whole(const ViewStep& s) {
  LaneLoop& loop = made_.loops[loop_];
  if (s.kind == ViewStep::Kind::accumulate) {
    const Register value = lanes(s.in[0]);
    LaneLoop& mine = made_.loops[loop_];
    emit(
        {.kind = Kind::total, .in = {value}, .number = static_cast<std::uint32_t>(mine.totals.size()), .span = s.span});
    mine.totals.push_back({s.op->name, value, one(s.out()), s.span});
    home_[s.out().index()] = top;
    return;
  }
  auto is_tensor = [&] { return code_[s.in[0]].kind == ViewCode::Item::Kind::tensor; };
  if (s.kind == ViewStep::Kind::store_whole && is_tensor()) {
    emit({.kind = Kind::store_whole, .tensor = true, .in = {lanes(s.in[1])}, .number = one(s.in[0]), .span = s.span});
    return;
  }
  if (s.kind == ViewStep::Kind::store_whole) {
    std::uint32_t number = 0;
    while (code_.outputs[number].value != s.in[0]) ++number;
    emit({.kind = Kind::store_whole, .in = {lanes(s.in[1])}, .number = number, .span = s.span});
    return;
  }
  place(s.out());
  const Register out = lanes_[s.out()] = add_register(code_[s.out()].precision, true);
  if (s.kind == ViewStep::Kind::read_whole) {
    loop.wholes.push_back(s.in[0].value);
    emit({.kind = Kind::load_whole, .tensor = is_tensor(), .out = out, .number = s.in[0].value, .span = s.span});
    return;
  }
  LaneAccess access = access_of(s);
  access.aligned = access.by_number = true;
  const std::uint32_t at = add_access(std::move(access));
  made_.loops[loop_].aligned.push_back(at);
  emit({.kind = Kind::load, .out = out, .access = at, .span = s.span});
}

// All folds of its field are at the same place of each turn, so that they may come one after the other.
bool LaneMaker::folds_in_place(const ViewStep& s) const {
  std::optional<std::vector<Dim>> offsets;
  for (const ViewStep* fold : folds_.at({s.view, s.field})) {
    auto access =
        const_cast<LaneMaker*>(this)->aligned(s.view, s.field, std::span(fold->in).first(fold->in.size() - 1));
    if (!access || (offsets && access->offsets != *offsets)) return false;
    offsets = std::move(access->offsets);
  }
  return true;
}

void LaneMaker::strip_fold(const ViewStep& s) {
  const Precision precision = code_.views[s.view].fields[s.field].precision;
  const std::span index = std::span(s.in).first(s.in.size() - 1);
  if (folds_in_place(s)) {
    const Register old = add_register(precision, true), made = add_register(precision, true);
    LaneAccess near = *aligned(s.view, s.field, index);
    near.span = s.span;
    const std::uint32_t access = add_access(std::move(near));
    made_.loops[loop_].aligned.push_back(access);
    const Register value = lanes(s.in.back());
    emit({.kind = Kind::load, .out = old, .access = access, .span = s.span});
    emit({.kind = Kind::kernel,
          .out = made,
          .in = {old, value},
          .kernel = fold_kernel(*s.op, precision),
          .op = s.op,
          .span = s.span});
    emit({.kind = Kind::store, .in = {made}, .access = access, .span = s.span});
    return;
  }
  // Values by strip, then all folds of the field point by point, in the order of the statements.
  const std::vector<const ViewStep*>& all = folds_.at({s.view, s.field});
  if (all.back() != &s) return;
  LaneInstruction made{.kind = Kind::folds, .span = s.span};
  std::vector<LaneFold> folds;
  for (const ViewStep* fold : all) {
    LaneFold entry{.op = fold->op, .kernel = fold_kernel(*fold->op, precision), .span = fold->span};
    for (ViewValue value : std::span(fold->in).first(fold->in.size() - 1)) lanes(value);
    made.in.push_back(strip_places(*fold, std::span(fold->in).first(fold->in.size() - 1), entry.access));
    made.in.push_back(lanes(fold->in.back()));
    folds.push_back(entry);
  }
  std::vector<std::vector<LaneFold>>& known = made_.loops[loop_].folds;
  made.number = static_cast<std::uint32_t>(known.size());
  made.access = folds[0].access;
  known.push_back(std::move(folds));
  emit(std::move(made));
}

// ---- memory ---------------------------------------------------------------------------------------

namespace {

using Kind = LaneInstruction::Kind;

bool gives_nothing(const LaneInstruction& i) {
  return i.kind == Kind::store || i.kind == Kind::scatter || i.kind == Kind::folds || i.kind == Kind::total ||
         i.kind == Kind::store_whole;
}
bool writes_field(const LaneInstruction& i) {
  return i.kind == Kind::store || i.kind == Kind::scatter || i.kind == Kind::folds;
}
bool same_field(const LaneAccess& a, const LaneAccess& b) { return a.view == b.view && a.field == b.field; }
bool reads_register(const LaneInstruction& i, Register r) { return std::ranges::find(i.in, r) != i.in.end(); }

}  // namespace

// A load leaves its elements in the field, where it may, and so do places that are read from one; an op whose result
// goes into a field writes it there.
void LaneMaker::settle_memory(LaneLoop& loop) {
  std::vector<LaneInstruction>& code = loop.code;
  auto field = [&](const LaneInstruction& i) -> const LaneAccess& { return made_.accesses[i.access]; };
  auto write_of = [&](std::size_t i, const LaneAccess& of) {
    return writes_field(code[i]) && same_field(field(code[i]), of);
  };
  for (std::size_t l = 0; l < code.size(); ++l) {
    if (code[l].kind != Kind::load) continue;
    bool written = false, ever = false;
    for (std::size_t i = l + 1; i < code.size(); ++i) {
      if (written && reads_register(code[i], code[l].out)) code[l].copies = true;
      written |= write_of(i, field(code[l]));
    }
    for (std::size_t i = 0; i < code.size(); ++i) ever |= write_of(i, field(code[l]));
    for (LaneInstruction& i : code)
      if (i.kind == Kind::index && i.in.size() == 1 && i.in[0] == code[l].out) i.passes = !ever;
  }
  defer_checks(loop);
  for (std::size_t s = 0; s < code.size(); ++s) {
    if (code[s].kind != Kind::store) continue;
    std::size_t p = s;
    while (p-- > 0 && code[p].out != code[s].in[0]) {
    }
    if (p == static_cast<std::size_t>(-1) || code[p].kind != Kind::kernel || code[p].direct) continue;
    const LaneAccess& target = field(code[s]);
    bool fine = true;
    for (std::size_t i = 0; i < code.size(); ++i) fine &= i == s || !write_of(i, target);
    for (std::size_t l = 0; l < s && fine; ++l) {
      if (code[l].kind != Kind::load || !same_field(field(code[l]), target)) continue;
      if (l > p) fine = false;
      if (code[l].copies) continue;
      if (reads_register(code[p], code[l].out)) fine &= code[p].op->sharing == Sharing::in_place;
      for (std::size_t i = p + 1; i <= s; ++i) fine &= !reads_register(code[i], code[l].out);
    }
    if (!fine) continue;
    code[p].direct = true;
    code[p].access = code[s].access;
  }
}

// Places that one loop alone reads by are looked at by it: one pass less over what may come from memory.
void LaneMaker::defer_checks(LaneLoop& loop) {
  for (LaneInstruction& i : loop.code) {
    if (i.kind != Kind::index || !i.passes || made_.accesses[i.access].or_else) continue;
    std::size_t uses = 0;
    bool looks = true;
    for (const LaneInstruction& user : loop.code)
      for (std::size_t k = 0; k < user.in.size(); ++k) {
        if (user.in[k] != i.out) continue;
        ++uses;
        looks &= user.gather || (user.kind == Kind::folds && k % 2 == 0 && k / 2 < loop.folds[user.number].size());
      }
    i.deferred = looks && uses == 1;
    if (i.deferred) made_.registers[i.out].unchecked = i.access;
  }
}

// Registers of lanes that are not needed at the same time share a slot, so that all of them stay in the cache.
void LaneMaker::settle_slots(LaneLoop& loop) {
  std::vector<std::size_t> last(made_.registers.size(), 0);
  for (std::size_t i = 0; i < loop.code.size(); ++i)
    for (Register r : loop.code[i].in) last[r] = i;
  for (const LaneInstruction& i : loop.code)
    if (i.passes) last[i.in[0]] = std::max(last[i.in[0]], last[i.out]);
  std::vector<std::size_t> free;
  std::size_t slots = 0;
  for (const auto& [from, to] : loop.spread) made_.registers[to].at = slots++;
  std::vector<std::pair<std::size_t, std::size_t>> busy;  // last use, slot
  for (std::size_t i = 0; i < loop.code.size(); ++i) {
    std::erase_if(busy, [&](const auto& b) {
      if (b.first >= i) return false;
      free.push_back(b.second);
      return true;
    });
    const LaneInstruction& made = loop.code[i];
    if (gives_nothing(made) || !made_.registers[made.out].lanes) continue;
    if (free.empty()) free.push_back(slots++);
    made_.registers[made.out].at = free.back();
    busy.emplace_back(std::max(last[made.out], i), free.back());
    free.pop_back();
  }
  most_slots_ = std::max(most_slots_, slots);
}

void LaneMaker::note_passes(LaneLoop& loop) const {
  loop.plain = loop.wholes.empty() && loop.totals.empty();
  int passes = 0;
  for (const LaneInstruction& i : loop.code) {
    loop.plain &= i.kind != Kind::coordinate && i.kind != Kind::store_whole;
    passes += i.kind == Kind::kernel || (i.kind == Kind::index && !i.deferred) || i.kind == Kind::gather;
  }
  for (std::uint32_t a : loop.aligned) loop.plain &= !made_.accesses[a].or_else && !made_.accesses[a].by_number;
  loop.has_passes = passes > 1;
}

// Loads that leave elements in their field, and ops that write into theirs, whose stores have nothing left to do.
void LaneMaker::settle_dense(LaneLoop& loop) {
  if (!loop.plain) return;
  for (const LaneInstruction& i : loop.code) {
    if (i.kind == Kind::load && !i.copies) {
      loop.moves.push_back({i.out, i.access});
      continue;
    }
    const bool is_there =
        i.kind == Kind::store && std::ranges::any_of(loop.code, [&](const LaneInstruction& made) {
          return made.kind == Kind::kernel && made.direct && made.out == i.in[0] && made.access == i.access;
        });
    if (is_there) continue;
    loop.dense.push_back(i);
    if (i.kind != Kind::kernel || !i.direct) continue;
    loop.moves.push_back({i.out, i.access});
    loop.dense.back().direct = false;
  }
}

}  // namespace taskspec
