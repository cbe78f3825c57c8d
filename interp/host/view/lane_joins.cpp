// Sums and products whose values go only into other ones become one pass over the strip (lane_shapes.hpp).
//
//   r4 = add(r0, r1);  r5 = mul(r2, r4);  r6 = add(r3, r5)      ->      r6 = "xx+x*x+"(r0, r1, r2, r3)
//
// Then what is gathered for one of them alone is read by it, and needs no strip in between.
//
//   r4 = gather(r0);  r5 = gather(r1);  r6 = "xx-x/"(r4, r5, r2)      ->      r6 = "gg-x/"(r0, r1, r2)
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
  std::vector<std::string> shapes(made_.registers.size());
  for (std::size_t r = 0; r < made.size(); ++r)
    if (made[r]) shapes[r] = made[r]->shape;
  join_gathers(loop, shapes);
  join_products(loop, shapes);
}

// `shapes`: by register, of those that are computed as one. A gather may wait for the op that wants it: in strips no
// field that is read through places is written.
void LaneMaker::join_gathers(LaneLoop& loop, const std::vector<std::string>& shapes) {
  std::vector<LaneInstruction>& code = loop.code;
  std::vector<std::uint32_t> uses(made_.registers.size(), 0);
  std::vector<const LaneInstruction*> gather(made_.registers.size(), nullptr);
  for (const LaneInstruction& i : code) {
    for (Register r : i.in) ++uses[r];
    if (i.kind == Kind::gather && i.in.size() == 1 && made_.registers[i.in[0]].lanes) gather[i.out] = &i;
  }
  std::vector<bool> gone(made_.registers.size(), false);
  for (LaneInstruction& i : code) {
    if (i.kind != Kind::kernel || shapes[i.out].empty()) continue;
    std::string shape = shapes[i.out];
    std::size_t operand = 0;
    for (char& c : shape)
      if (c == 'x')
        if (const Register r = i.in[operand++]; gather[r] && uses[r] == 1) c = 'g';
    const GatherLoop loop_of = find_gather(shape, made_.registers[i.out].precision);
    if (!loop_of) continue;
    i.gather = loop_of;
    i.shape = nullptr;
    std::vector<Register> plain;
    operand = 0;
    for (char c : shape) {
      if (c != 'x' && c != 'g') continue;
      const Register r = i.in[operand++];
      if (c == 'x') {
        plain.push_back(r);
        continue;
      }
      i.gathers.push_back({gather[r]->access, gather[r]->in[0]});
      gone[r] = true;
    }
    i.in = std::move(plain);
    for (const LaneGather& g : i.gathers) i.in.push_back(g.places);  // they are read, too
  }
  std::erase_if(code, [&](const LaneInstruction& i) { return i.kind == Kind::gather && gone[i.out]; });
}

// Sums at places of products that nobody else wants: n[w[i].a].charge += -dt * w[i].current.
void LaneMaker::join_products(LaneLoop& loop, const std::vector<std::string>& shapes) {
  std::vector<LaneInstruction>& code = loop.code;
  std::vector<std::uint32_t> uses(made_.registers.size(), 0);
  std::vector<const LaneInstruction*> product(made_.registers.size(), nullptr);
  for (const LaneInstruction& i : code) {
    for (Register r : i.in) ++uses[r];
    if (i.kind == Kind::kernel && shapes[i.out] == "xx*" && !i.shape && !i.gather) product[i.out] = &i;
  }
  std::vector<bool> gone(made_.registers.size(), false);
  for (LaneInstruction& i : code) {
    if (i.kind != Kind::folds) continue;
    const std::vector<LaneFold>& folds = loop.folds[i.number];
    bool fine = true;
    for (std::size_t k = 0; k < folds.size(); ++k) {
      const Register value = i.in[2 * k + 1];
      const std::string_view symbol = folds[k].op->symbol;
      fine &= (symbol == "+" || symbol == "-") && product[value] && uses[value] == 1;
    }
    if (!fine) continue;
    i.products = true;
    for (std::size_t k = 0; k < folds.size(); ++k) {
      const Register value = i.in[2 * k + 1];
      i.in[2 * k + 1] = product[value]->in[0];
      i.in.push_back(product[value]->in[1]);
      gone[value] = true;
    }
  }
  std::erase_if(code, [&](const LaneInstruction& i) { return i.kind == Kind::kernel && gone[i.out]; });
}

}  // namespace taskspec
