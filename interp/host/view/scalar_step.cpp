#include "interp/host/view/scalar_step.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "interp/host/view/lane_code.hpp"

namespace taskspec {

namespace {

ScalarStep::Kind moved_by(ScalarStep::Kind first, std::size_t by) {
  return static_cast<ScalarStep::Kind>(static_cast<std::size_t>(first) + by);
}

// By the symbol of the op: what records say of it is what it does on these precisions.
std::optional<ScalarStep::Kind> short_form(std::string_view symbol, Precision precision, bool of_host) {
  using Kind = ScalarStep::Kind;
  constexpr std::array<std::string_view, 9> symbols = {"+", "-", "*", "<", "<=", ">", ">=", "==", "!="};
  constexpr std::size_t sums = 3;
  const bool is_f64 = precision == Precision::f64, is_f32 = precision == Precision::f32;
  if (!is_f64 && !is_f32 && precision != Precision::i64) return std::nullopt;
  if (symbol == "/" && !of_host && precision != Precision::i64) return is_f64 ? Kind::f64_div : Kind::f32_div;
  const auto found = static_cast<std::size_t>(std::ranges::find(symbols, symbol) - symbols.begin());
  if (found == symbols.size()) return std::nullopt;
  if (is_f64 || is_f32) return moved_by(is_f64 ? Kind::f64_add : Kind::f32_add, found);
  return moved_by(of_host && found < sums ? Kind::int_add : Kind::i64_add, found);
}

class StepMaker {
 public:
  explicit StepMaker(const LaneProgram& program) : program_(program) {}
  ScalarStep step(const LaneInstruction& i, std::size_t at) const;

 private:
  using Kind = ScalarStep::Kind;
  using Instruction = LaneInstruction::Kind;
  const LaneRegister& of(Register r) const { return program_.registers[r]; }
  std::uint32_t at(Register r) const { return static_cast<std::uint32_t>(of(r).at); }
  bool has_lanes(const LaneInstruction& i) const {
    return of(i.out).lanes || std::ranges::any_of(i.in, [&](Register r) { return of(r).lanes; });
  }
  std::optional<Kind> kind(const LaneInstruction& i, std::size_t at) const;
  std::optional<Kind> of_two(const LaneInstruction& i) const;
  std::optional<Kind> copies(const LaneInstruction& i) const;
  std::optional<Kind> by_width(const LaneInstruction& i, Kind one) const;

  const LaneProgram& program_;
};

std::optional<ScalarStep::Kind> StepMaker::of_two(const LaneInstruction& i) const {
  const bool plain = std::ranges::all_of(i.attributes, [](const Value& value) { return value.is_none(); });
  if (i.in.size() != 2 || !plain) return std::nullopt;
  const Precision precision = of(i.in[0]).precision, made = of(i.out).precision;
  if (of(i.in[1]).precision != precision) return std::nullopt;
  const std::optional<Kind> kind = short_form(i.op->symbol, precision, i.kind == Instruction::number);
  const bool compares = made == Precision::boolean;
  return made == precision || compares ? kind : std::nullopt;
}

std::optional<ScalarStep::Kind> StepMaker::copies(const LaneInstruction& i) const {
  if (i.tensor || of(i.in[0]).precision != of(i.out).precision) return std::nullopt;
  switch (of(i.out).width) {
    case 8:
      return Kind::copy_8;
    case 4:
      return Kind::copy_4;
    case 1:
      return Kind::copy_1;
    default:
      return std::nullopt;
  }
}

std::optional<ScalarStep::Kind> StepMaker::by_width(const LaneInstruction& i, Kind one) const {
  const LaneAccess& access = program_.accesses[i.access];
  if (access.by_number || access.or_else) return std::nullopt;
  switch (access.width) {
    case 8:
      return moved_by(one, 2);
    case 4:
      return moved_by(one, 1);
    case 1:
      return one;
    default:
      return std::nullopt;
  }
}

std::optional<ScalarStep::Kind> StepMaker::kind(const LaneInstruction& i, std::size_t at) const {
  switch (i.kind) {
    case Instruction::jump:
      return i.number == UINT32_MAX ? Kind::leave : i.number <= at ? Kind::jump_back : Kind::jump;
    case Instruction::jump_unless:
      return Kind::jump_unless;
    case Instruction::jump_if_empty:
      return Kind::jump_if_empty;
    case Instruction::count:
      return Kind::count;
    case Instruction::kernel:
      if (i.in.size() == 1 && i.op->symbol == "as") return copies(i);  // to the precision that it has
      return of_two(i);
    case Instruction::number:
      return of_two(i);
    case Instruction::convert:
    case Instruction::copy:
      return copies(i);
    case Instruction::load:
      return by_width(i, Kind::load_1);
    case Instruction::index:
      if (i.in.size() != 1 || i.deferred || i.passes || program_.accesses[i.access].or_else) return std::nullopt;
      return Kind::index;
    case Instruction::gather:
      return by_width(i, Kind::gather_1);
    case Instruction::scatter:
      return by_width(i, Kind::scatter_1);
    default:
      return std::nullopt;
  }
}

ScalarStep StepMaker::step(const LaneInstruction& i, std::size_t position) const {
  ScalarStep made;
  made.to = i.number;
  made.access = i.access;
  const std::optional<Kind> found = has_lanes(i) ? std::nullopt : kind(i, position);
  if (!found) return made;
  made.kind = *found;
  made.out = at(i.out);
  if (!i.in.empty()) made.a = at(i.in[0]), made.b = at(i.in.back());
  return made;
}

}  // namespace

std::vector<ScalarStep> make_steps(const LaneProgram& program, std::span<const LaneInstruction> code) {
  const StepMaker maker(program);
  std::vector<ScalarStep> made;
  made.reserve(code.size() + 1);
  for (std::size_t at = 0; at < code.size(); ++at) made.push_back(maker.step(code[at], at));
  made.push_back({.kind = ScalarStep::Kind::end});
  return made;
}

}  // namespace taskspec
