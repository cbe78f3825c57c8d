#include "interp/host/view/scalar_code.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "interp/host/view/scalar_values.hpp"

namespace taskspec {

namespace {

using Xbyak::Label;
using Xbyak::Operand;
using Xbyak::Reg64;
using Xbyak::Xmm;

enum class Order : std::uint8_t { lt, le, gt, ge, eq, ne };

// Registers: rbx the scratch, rbp the loops of the frame, r15 its accesses, [rsp] the frame; r12 the place of the point
// of the innermost loop, r13 that of the point where it ends, r14 turns until somebody looks for an interrupt.
class ScalarMaker final : public ScalarValues {
 public:
  using ScalarValues::ScalarValues;
  void make();

 private:
  using Kind = ScalarStep::Kind;
  using Access = ScalarFrame::Access;
  using Loop = ScalarFrame::Loop;

  // A call behind all other code: what waits goes to the scratch before, and what the code goes on with comes back.
  struct Aside {
    std::optional<std::uint32_t> position = {};  // of the step that the machine does; else it looks for an interrupt
    std::uint32_t loop = 0;
    Label from = {}, back = {};
    Holding before = {}, after = {};
  };
  // A position that is jumped to: what registers hold there, however one comes there.
  struct Target {
    bool is_one = false, is_met = false;
    std::optional<std::uint32_t> last_back = {};  // position of the last step behind it that jumps here
    Label label = {}, again = {};                 // of those in front of it, and those behind
    Holding holding = {};
  };
  struct Place {  // in code that is being made
    const ScalarPart& part;
    std::uint32_t loop;
    Label& leave;
    std::vector<Target> targets;
    Target& target(std::uint32_t at) { return targets[part.steps[at].to]; }
  };

  // ---- steps ----
  void part(const ScalarPart& part, std::uint32_t loop, Label& leave);
  std::uint32_t step(Place& place, std::uint32_t at);  // how many it made
  bool control(Place& place, std::uint32_t at);
  bool number(Kind kind, const LaneInstruction& i);
  bool integers(const Place& place, std::uint32_t at);
  bool moves(Kind kind, const LaneInstruction& i);
  std::uint32_t comparison(Place& place, std::uint32_t at, Order order);
  void jump_unless(Order order, bool floats, Label& to);
  void set_if(Order order, bool floats, const Reg64& out);
  void count(Place& place, std::uint32_t at);
  void index(const Place& place, std::uint32_t at);
  void loop(const Place& place, std::uint32_t inner);

  // ---- jumps ----
  void meet(Target& target);
  void arrive(Place& place, std::uint32_t at, bool from_above);
  Holding carried(const ScalarPart& part, std::uint32_t begin, std::uint32_t end);
  void jump_back(Target& to);

  // ---- calls ----
  void ask(std::uint32_t loop, std::uint32_t position);
  void look();
  Aside& aside(const Place& place, std::uint32_t at);
  void finish(Aside& aside);
  void make_asides();

  Xbyak::Address access(const LaneInstruction& i, std::size_t field) const {
    return ptr[r15 + static_cast<int>(i.access * sizeof(Access) + field)];
  }
  Xbyak::Address of_loop(std::uint32_t l, std::size_t field) const {
    return qword[rbp + static_cast<int>(l * sizeof(Loop) + field)];
  }
  Xbyak::Address of_frame(const Reg64& frame, std::size_t field) const { return ptr[frame + static_cast<int>(field)]; }

  std::deque<Aside> asides_;  // which stay where they are
  Label failed_;
};

void ScalarMaker::make() {
  const Reg64 kept[] = {rbx, rbp, r12, r13, r14, r15};
  for (const Reg64& r : kept) push(r);
  sub(rsp, 8);
  mov(ptr[rsp], rdi);
  mov(rbx, of_frame(rdi, offsetof(ScalarFrame, scratch)));
  mov(rbp, of_frame(rdi, offsetof(ScalarFrame, loops)));
  mov(r15, of_frame(rdi, offsetof(ScalarFrame, accesses)));
  mov(r14, of_frame(rdi, offsetof(ScalarFrame, turns_left)));
  Label done, out;
  part(ScalarPart(program_), ScalarCode::top, done);
  L(done);
  mov(eax, 1);
  L(out);
  mov(rdi, ptr[rsp]);
  mov(of_frame(rdi, offsetof(ScalarFrame, turns_left)), r14);
  add(rsp, 8);
  for (std::size_t k = std::size(kept); k-- > 0;) pop(kept[k]);
  ret();
  L(failed_);
  xor_(eax, eax);
  jmp(out, T_NEAR);
  make_asides();
  readyRE();
}

// ---- calls ----------------------------------------------------------------------------------------

void ScalarMaker::ask(std::uint32_t loop, std::uint32_t position) {
  mov(rdi, ptr[rsp]);
  mov(esi, loop);
  mov(edx, position);
  mov(rcx, r12);
  call(of_frame(rdi, offsetof(ScalarFrame, instruction)));
  test(eax, eax);
  jnz(failed_, T_NEAR);
}

void ScalarMaker::look() {
  mov(rdi, ptr[rsp]);
  call(of_frame(rdi, offsetof(ScalarFrame, look)));
  test(eax, eax);
  jnz(failed_, T_NEAR);
  mov(r14d, static_cast<std::uint32_t>(ScalarCode::turns_per_look));
}

ScalarMaker::Aside& ScalarMaker::aside(const Place& place, std::uint32_t at) {
  return asides_.emplace_back(Aside{.position = at, .loop = place.loop, .before = waiting()});
}

void ScalarMaker::finish(Aside& aside) {
  L(aside.back);
  aside.after = holding();
}

void ScalarMaker::make_asides() {
  for (Aside& aside : asides_) {
    L(aside.from);
    for (const auto& [value, number] : aside.before) store(number, slot(value), of(value).width);
    aside.position ? ask(aside.loop, *aside.position) : look();
    for (const auto& [value, number] : aside.after) load(number, slot(value), of(value).width);
    jmp(aside.back, T_NEAR);
  }
}

// ---- jumps ----------------------------------------------------------------------------------------

// Somebody comes there from here, with what registers hold now.
void ScalarMaker::meet(Target& target) {
  const Holding now = steady();
  if (!std::exchange(target.is_met, true))
    target.holding = now;
  else
    std::erase_if(target.holding, [&](const auto& entry) { return std::ranges::find(now, entry) == now.end(); });
}

void ScalarMaker::arrive(Place& place, std::uint32_t at, bool from_above) {
  Target& target = place.targets[at];
  if (from_above) meet(target);
  become(target.holding);
  L(target.label);
  if (!target.last_back) return;
  begin_step(at);
  become(carried(place.part, at, *target.last_back));
  target.holding = holding();
  L(target.again);
}

// Values that go from one turn of a loop to the next, in registers now.
ScalarMaker::Holding ScalarMaker::carried(const ScalarPart& part, std::uint32_t begin, std::uint32_t end) {
  constexpr std::size_t most_reals = 8, most_others = 3;
  const auto each = [&](auto&& visit) {
    for (std::uint32_t at = begin; at < end; ++at)
      if (part.steps[at].kind != Kind::instruction) visit(part.code[at]);
  };
  std::vector<bool> is_made(program_.registers.size(), false);
  each([&](const LaneInstruction& i) {
    is_made[i.out] = true;
    if (i.kind == LaneInstruction::Kind::count) is_made[i.in[0]] = true;
  });
  std::vector<Register> found;
  std::size_t reals = 0, others = 0;
  each([&](const LaneInstruction& i) {
    for (Register r : i.in) {
      std::size_t& count = is_real(r) ? reals : others;
      const bool is_carried = is_made[r] && uses_.is_made(r) && !uses_.is_passing(r);
      if (!is_carried || count == (is_real(r) ? most_reals : most_others) || std::ranges::find(found, r) != found.end())
        continue;
      found.push_back(r);
      ++count;
    }
  });
  Holding in_registers;
  for (Register r : found) in_registers.emplace_back(r, hold(r));
  prefer(in_registers);
  return in_registers;
}

void ScalarMaker::jump_back(Target& to) {
  conform(to.holding);
  dec(r14);
  jnz(to.again, T_NEAR);
  Aside& looking = asides_.emplace_back();
  jmp(looking.from, T_NEAR);
  looking.back = to.again;
  looking.after = to.holding;
}

// ---- steps ----------------------------------------------------------------------------------------

void ScalarMaker::part(const ScalarPart& part, std::uint32_t loop, Label& leave) {
  Place place{part, loop, leave, std::vector<Target>(part.steps.size())};
  const std::vector<bool> targets = ScalarUses::targets(part);
  for (std::uint32_t at = 0; at < targets.size(); ++at) {
    place.targets[at].is_one = targets[at];
    if (part.steps[at].kind == Kind::jump_back) place.target(at).last_back = at;
  }
  bool from_above = true;
  for (std::uint32_t at = 0; at < part.code.size();) {
    if (place.targets[at].is_one) arrive(place, at, from_above);
    const Kind kind = part.steps[at].kind;
    from_above = kind != Kind::leave && kind != Kind::jump && kind != Kind::jump_back;
    begin_step(at);
    at += step(place, at);
    end_step(part.code[at - 1]);
  }
  arrive(place, static_cast<std::uint32_t>(part.code.size()), from_above);
}

std::uint32_t ScalarMaker::step(Place& place, std::uint32_t at) {
  const LaneInstruction& i = place.part.code[at];
  const Kind kind = place.part.steps[at].kind;
  for (const Kind first : {Kind::f64_lt, Kind::f32_lt, Kind::i64_lt})
    if (const int order = static_cast<int>(kind) - static_cast<int>(first);
        order >= 0 && order <= static_cast<int>(Order::ne))
      return comparison(place, at, static_cast<Order>(order));
  if (number(kind, i) || integers(place, at) || moves(kind, i) || control(place, at)) return 1;
  if (kind == Kind::index) {
    index(place, at);
  } else if (i.kind == LaneInstruction::Kind::loop) {
    loop(place, i.number);
  } else {
    save_all();
    forget_all();
    ask(place.loop, at);
  }
  return 1;
}

bool ScalarMaker::control(Place& place, std::uint32_t at) {
  switch (place.part.steps[at].kind) {
    case Kind::leave:
      jmp(place.leave, T_NEAR);
      return true;
    case Kind::jump:
      meet(place.target(at));
      jmp(place.target(at).label, T_NEAR);
      return true;
    case Kind::jump_back:
      jump_back(place.target(at));
      return true;
    case Kind::jump_unless: {
      const Reg64 value = general(hold(place.part.code[at].in[0]));
      meet(place.target(at));
      test(value.cvt32(), value.cvt32());
      je(place.target(at).label, T_NEAR);
      return true;
    }
    case Kind::count:
      count(place, at);
      return true;
    default:
      return false;
  }
}

bool ScalarMaker::number(Kind kind, const LaneInstruction& i) {
  const auto put = [&](void (CodeGenerator::*op)(const Xmm&, const Operand&)) {
    pin(i.in[1]);
    const Number out = i.in[0] == i.in[1] ? copy(i.in[0], i.out) : take(i.in[0], i.out);
    read(i.in[1], [&](const Operand& b) { (this->*op)(real(out), b); });
    keep(i.out, out);
    return true;
  };
  switch (kind) {
    case Kind::f64_add:
      return put(&CodeGenerator::addsd);
    case Kind::f64_sub:
      return put(&CodeGenerator::subsd);
    case Kind::f64_mul:
      return put(&CodeGenerator::mulsd);
    case Kind::f64_div:
      return put(&CodeGenerator::divsd);
    case Kind::f32_add:
      return put(&CodeGenerator::addss);
    case Kind::f32_sub:
      return put(&CodeGenerator::subss);
    case Kind::f32_mul:
      return put(&CodeGenerator::mulss);
    case Kind::f32_div:
      return put(&CodeGenerator::divss);
    default:
      return false;
  }
}

// Those of elements wrap. Those of the host do not: the machine says what is wrong, and wants their operands.
bool ScalarMaker::integers(const Place& place, std::uint32_t at) {
  const LaneInstruction& i = place.part.code[at];
  const Kind kind = place.part.steps[at].kind;
  const bool adds = kind == Kind::i64_add || kind == Kind::int_add;
  const bool subtracts = kind == Kind::i64_sub || kind == Kind::int_sub;
  if (!adds && !subtracts && kind != Kind::i64_mul && kind != Kind::int_mul) return false;
  pin(i.in[1]);
  const Number made = copy(i.in[0], i.out);
  const Reg64 out = general(made);
  read(i.in[1], [&](const Operand& b) { adds ? add(out, b) : subtracts ? sub(out, b) : imul(out, b); });
  if (kind == Kind::i64_add || kind == Kind::i64_sub || kind == Kind::i64_mul) {
    keep(i.out, made);
    return true;
  }
  Aside& too_large = aside(place, at);
  jo(too_large.from, T_NEAR);
  keep(i.out, made);
  finish(too_large);
  return true;
}

bool ScalarMaker::moves(Kind kind, const LaneInstruction& i) {
  const auto element = [&](const Reg64& place, Register value) {
    mov(rax, access(i, offsetof(Access, from)));
    return ptr[rax + place * of(value).width];
  };
  switch (kind) {
    case Kind::copy_1:
    case Kind::copy_4:
    case Kind::copy_8:
      keep(i.out, take(i.in[0], i.out));
      return true;
    case Kind::load_1:
    case Kind::load_4:
    case Kind::load_8: {
      const Number out = room(i.out);
      load(out, element(r12, i.out), of(i.out).width);
      keep(i.out, out);
      return true;
    }
    case Kind::gather_1:
    case Kind::gather_4:
    case Kind::gather_8: {
      const Reg64 place = general(hold(i.in[0]));
      const Number out = room(i.out);
      load(out, element(place, i.out), of(i.out).width);
      keep(i.out, out);
      return true;
    }
    case Kind::scatter_1:
    case Kind::scatter_4:
    case Kind::scatter_8: {
      const Reg64 place = general(hold(i.in[0]));
      const Number value = hold(i.in[1]);
      store(value, element(place, i.in[1]), of(i.in[1]).width);
      return true;
    }
    default:
      return false;
  }
}

// As C++ has it: what is no number is unlike all others and itself, and in no order. A jump that is all it is for goes
// with it.
std::uint32_t ScalarMaker::comparison(Place& place, std::uint32_t at, Order order) {
  const LaneInstruction& i = place.part.code[at];
  const bool floats = is_real(i.in[0]), turned = floats && (order == Order::lt || order == Order::le);
  const Register left = i.in[turned ? 1 : 0], right = i.in[turned ? 0 : 1];
  const bool is_test = place.part.steps[at + 1].kind == Kind::jump_unless && !place.targets[at + 1].is_one &&
                       place.part.code[at + 1].in[0] == i.out && uses_.is_passing(i.out) && uses_.count(i.out) == 1;
  pin(right);
  const Number a = hold(left), made = is_test ? a : room(i.out);
  read(right, [&](const Operand& b) {
    if (!floats)
      cmp(general(a), b);
    else if (of(left).precision == Precision::f64)
      ucomisd(real(a), b);
    else
      ucomiss(real(a), b);
  });
  if (is_test) {
    meet(place.target(at + 1));
    jump_unless(order, floats, place.target(at + 1).label);
    return 2;
  }
  set_if(order, floats, general(made));
  keep(i.out, made);
  return 1;
}

void ScalarMaker::jump_unless(Order order, bool floats, Label& to) {
  switch (order) {
    case Order::lt:
      return floats ? jbe(to, T_NEAR) : jge(to, T_NEAR);
    case Order::le:
      return floats ? jb(to, T_NEAR) : jg(to, T_NEAR);
    case Order::gt:
      return floats ? jbe(to, T_NEAR) : jle(to, T_NEAR);
    case Order::ge:
      return floats ? jb(to, T_NEAR) : jl(to, T_NEAR);
    case Order::eq:
      if (floats) jp(to, T_NEAR);
      return jne(to, T_NEAR);
    case Order::ne: {
      Label over;
      if (floats) jp(over);
      je(to, T_NEAR);
      L(over);
    }
  }
}

void ScalarMaker::set_if(Order order, bool floats, const Reg64& out) {
  switch (order) {
    case Order::lt:
      floats ? seta(al) : setl(al);
      break;
    case Order::le:
      floats ? setae(al) : setle(al);
      break;
    case Order::gt:
      floats ? seta(al) : setg(al);
      break;
    case Order::ge:
      floats ? setae(al) : setge(al);
      break;
    case Order::eq:
      sete(al);
      if (floats) setnp(dl), and_(al, dl);
      break;
    case Order::ne:
      setne(al);
      if (floats) setp(dl), or_(al, dl);
      break;
  }
  movzx(out.cvt32(), al);
}

void ScalarMaker::count(Place& place, std::uint32_t at) {
  const LaneInstruction& i = place.part.code[at];
  const Number next = hold(i.in[0]);
  read(i.in[1], [&](const Operand& end) { cmp(general(next), end); });
  meet(place.target(at));
  jge(place.target(at).label, T_NEAR);
  keep(i.out, copy(i.in[0], i.out));
  inc(general(next));
  keep(i.in[0], next);
}

// A point outside is the machine's business: it may be there all the same.
void ScalarMaker::index(const Place& place, std::uint32_t at) {
  const LaneInstruction& i = place.part.code[at];
  const Number made = copy(i.in[0], i.out);
  const Reg64 out = general(made);
  Aside& elsewhere = aside(place, at);
  sub(out, access(i, offsetof(Access, lo)));
  cmp(out, access(i, offsetof(Access, extent)));
  jae(elsewhere.from, T_NEAR);
  add(out, access(i, offsetof(Access, shift)));
  keep(i.out, made);
  finish(elsewhere);
}

void ScalarMaker::loop(const Place& place, std::uint32_t inner) {
  const LaneLoop& loop = program_.loops[inner];
  const bool is_nested = place.loop != ScalarCode::top;
  Label settled, unsettled, turn, done;
  forget_all();
  if (is_nested) mov(of_loop(place.loop, offsetof(Loop, at)), r12);
  cmp(of_loop(inner, offsetof(Loop, is_settled)), 0);
  je(unsettled, T_NEAR);
  L(settled);
  mov(r12, of_loop(inner, offsetof(Loop, first)));
  mov(r13, of_loop(inner, offsetof(Loop, end)));
  cmp(r12, r13);
  jge(done, T_NEAR);
  const ScalarPart inside(loop);
  become(carried(inside, 0, static_cast<std::uint32_t>(inside.code.size())));
  const Holding at_turn = holding();
  L(turn);
  Aside& looking = asides_.emplace_back();
  dec(r14);
  jz(looking.from, T_NEAR);
  finish(looking);
  begin_step(0);
  for (Register r : loop.coordinates) {
    const Number point = room(r);
    mov(general(point), r12);
    add(general(point), of_loop(inner, offsetof(Loop, to_point)));
    keep(r, point);
  }
  part(inside, inner, done);
  conform(at_turn);
  inc(r12);
  cmp(r12, r13);
  jl(turn, T_NEAR);
  jmp(done, T_NEAR);
  L(unsettled);
  mov(rdi, ptr[rsp]);
  mov(esi, inner);
  call(of_frame(rdi, offsetof(ScalarFrame, enter)));
  cmp(eax, static_cast<std::uint32_t>(ScalarFrame::Entered::done));
  jb(settled, T_NEAR);
  ja(failed_, T_NEAR);
  L(done);
  forget_all();
  if (!is_nested) return;
  mov(r12, of_loop(place.loop, offsetof(Loop, at)));
  mov(r13, of_loop(place.loop, offsetof(Loop, end)));
}

// ---- the door -------------------------------------------------------------------------------------

class MadeScalarCode final : public ScalarCode {
 public:
  MadeScalarCode(const LaneProgram& program, const ViewCode& code, std::size_t bytes) : maker_(program, code, bytes) {
    maker_.make();
    run_ = maker_.getCode<std::int32_t (*)(ScalarFrame*)>();
  }
  bool run(ScalarFrame& frame) const override { return run_(&frame) != 0; }

 private:
  ScalarMaker maker_;
  std::int32_t (*run_)(ScalarFrame*) = nullptr;
};

bool has_short_forms(const ScalarPart& part) {
  return std::ranges::any_of(part.steps.first(part.code.size()),
                             [](const ScalarStep& step) { return step.kind != ScalarStep::Kind::instruction; });
}

}  // namespace

std::unique_ptr<const ScalarCode> ScalarCode::make(const LaneProgram& program, const ViewCode& code) {
  constexpr std::size_t page = 4096, steps_per_page = 64;  // about; the memory grows
  if (program.has_strips || program.has_tensors) return nullptr;
  std::size_t steps = program.code.size();
  bool is_worth_it = has_short_forms(ScalarPart(program));
  for (const LaneLoop& loop : program.loops) {
    steps += loop.code.size();
    is_worth_it |= has_short_forms(ScalarPart(loop));
  }
  if (!is_worth_it) return nullptr;
  try {
    return std::make_unique<MadeScalarCode>(program, code, (steps / steps_per_page + 1) * page);
  } catch (const Xbyak::Error&) {  // no memory that may be run
    return nullptr;
  }
}

}  // namespace taskspec
