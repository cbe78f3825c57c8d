#include "interp/host/view/scalar_uses.hpp"

#include "ir/view_code/view_code.hpp"

namespace taskspec {

namespace {

bool makes_value(LaneInstruction::Kind kind) {
  using Kind = LaneInstruction::Kind;
  switch (kind) {
    case Kind::kernel:
    case Kind::number:
    case Kind::convert:
    case Kind::copy:
    case Kind::extent:
    case Kind::coordinate:
    case Kind::load:
    case Kind::index:
    case Kind::gather:
    case Kind::count:
      return true;
    default:
      return false;
  }
}

}  // namespace

ScalarUses::ScalarUses(const LaneProgram& program, const ViewCode& code) : values_(program.registers.size()) {
  // The machine looks at these in the scratch, wherever that is.
  for (const ViewCode::Output& output : code.outputs) values_[output.value.value].is_passing = false;
  for (const LaneAccess& access : program.accesses)
    for (const Dim& offset : access.offsets)
      for (const Symbol& symbol : offset.symbols()) values_[symbol->id].is_passing = false;
  look_at(ScalarPart(program));
  for (const LaneLoop& loop : program.loops) {
    for (Register r : loop.coordinates) values_[r].is_passing = false;
    look_at(ScalarPart(loop));
  }
  for (Value& value : values_) value.is_passing &= value.is_made;
}

std::vector<bool> ScalarUses::targets(const ScalarPart& part) {
  using Kind = ScalarStep::Kind;
  std::vector<bool> found(part.steps.size(), false);
  for (const ScalarStep& step : part.steps)
    if (step.kind == Kind::jump || step.kind == Kind::jump_back || step.kind == Kind::jump_unless ||
        step.kind == Kind::count)
      found[step.to] = true;
  found.back() = true;  // the next turn of its loop
  return found;
}

void ScalarUses::look_at(const ScalarPart& part) {
  const std::vector<bool> targets = ScalarUses::targets(part);
  ++stretch_;
  for (std::uint32_t at = 0; at < part.code.size(); ++at) {
    const LaneInstruction& i = part.code[at];
    if (targets[at]) ++stretch_;
    for (Register r : i.in) use(r, at);
    if (i.kind == LaneInstruction::Kind::count) make(i.in[0], at);
    if (makes_value(i.kind)) make(i.out, at);
    if (i.kind == LaneInstruction::Kind::loop) ++stretch_;
  }
}

void ScalarUses::make(Register r, std::uint32_t position) {
  Value& value = values_[r];
  if (value.is_made) value.is_passing = false;
  value.is_made = true;
  value.stretch = stretch_;
  value.made_at = value.last = position;
}

void ScalarUses::use(Register r, std::uint32_t position) {
  Value& value = values_[r];
  if (!value.is_made || value.stretch != stretch_) value.is_passing = false;
  value.last = position;
  ++value.count;
}

}  // namespace taskspec
