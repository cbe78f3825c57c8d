// Sums and products whose values go only into other ones become one pass over the strip (lane_shapes.hpp).
//
//   r4 = add(r0, r1);  r5 = mul(r2, r4);  r6 = add(r3, r5)      ->      r6 = "xx+x*x+"(r0, r1, r2, r3)
#include <optional>

#include "interp/host/view/lane_maker.hpp"

namespace taskspec {

namespace {

using Kind = LaneInstruction::Kind;

// What an operand adds to a shape: itself, or how it is computed.
struct Side {
  std::string shape = "x";
  std::vector<Register> in;
  std::size_t ops() const { return shape.size() - in.size(); }
};

Side joined(const OpDef& op, Side left, Side right) {
  const bool turns = (op.symbol == "+" || op.symbol == "*") && right.ops() > left.ops();
  if (turns) std::swap(left, right);
  left.shape += right.shape;
  left.shape += op.symbol;
  left.in.insert(left.in.end(), right.in.begin(), right.in.end());
  return left;
}

}  // namespace

// An operator on floats: those of the language mean what those of C++ do.
bool LaneMaker::has_shape(const LaneInstruction& i) const {
  if (i.kind != Kind::kernel || i.in.size() != 2 || !i.op || i.op->symbol.size() != 1) return false;
  const Precision precision = made_.registers[i.out].precision;
  for (Register r : i.in)
    if (made_.registers[r].precision != precision || !made_.registers[r].lanes) return false;
  const std::string deep = "xx" + std::string(i.op->symbol) + "x" + std::string(i.op->symbol);
  return find_shape(deep, precision) != nullptr;
}

void LaneMaker::join_arithmetic(LaneLoop& loop) {
  std::vector<LaneInstruction>& code = loop.code;
  std::vector<std::uint32_t> uses(made_.registers.size(), 0);
  for (const LaneInstruction& i : code)
    for (Register r : i.in) ++uses[r];
  std::vector<std::optional<Side>> made(made_.registers.size());  // by register: how it is computed
  std::vector<bool> gone(made_.registers.size(), false);
  for (LaneInstruction& i : code) {
    if (!has_shape(i)) continue;
    auto side = [&](std::size_t k, bool deep) {
      const Register r = i.in[k];
      return deep && made[r] && uses[r] == 1 ? *made[r] : Side{.in = {r}};
    };
    // Both sides as they are computed; else the longer one; else the other one.
    const bool left_first = side(0, true).ops() >= side(1, true).ops();
    for (const auto& [left, right] : {std::pair(true, true), std::pair(left_first, !left_first),
                                      std::pair(!left_first, left_first), std::pair(false, false)}) {
      Side all = joined(*i.op, side(0, left), side(1, right));
      const bool alone = all.ops() == 1;
      if (!alone && !(i.shape = find_shape(all.shape, made_.registers[i.out].precision))) continue;
      for (std::size_t k = 0; k < 2; ++k)
        if (side(k, k == 0 ? left : right).ops() > 0) gone[i.in[k]] = true;
      if (!alone) i.in = all.in;
      made[i.out] = std::move(all);
      break;
    }
  }
  std::erase_if(code, [&](const LaneInstruction& i) { return i.kind == Kind::kernel && gone[i.out]; });
}

}  // namespace taskspec
