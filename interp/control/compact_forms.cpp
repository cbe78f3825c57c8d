// The instructions of the forms that have some.
#include <algorithm>

#include "interp/control/compact_builder.hpp"
#include "ir/records/op_outputs.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

using Opcode = Instruction::Kind;

// What records say about host scalars in ir/records/scalar.hpp, as instructions: of two registers, the two others stand
// behind it.
struct FastOp {
  Value (*scalar)(scalar::Operands);
  Opcode ints, floats;
  bool compares = false;
  Opcode unless_ints = Opcode::step, unless_floats = Opcode::step;
};

constexpr FastOp fast_ops[] = {
    {scalar::add, Opcode::add_ints, Opcode::add_floats},
    {scalar::sub, Opcode::sub_ints, Opcode::sub_floats},
    {scalar::mul, Opcode::mul_ints, Opcode::mul_floats},
    {scalar::div, Opcode::div_ints, Opcode::div_floats},
    {scalar::mod, Opcode::mod_ints, Opcode::mod_floats},
    {scalar::lt, Opcode::lt_ints, Opcode::lt_floats, true, Opcode::unless_lt_ints, Opcode::unless_lt_floats},
    {scalar::le, Opcode::le_ints, Opcode::le_floats, true, Opcode::unless_le_ints, Opcode::unless_le_floats},
    {scalar::gt, Opcode::gt_ints, Opcode::gt_floats, true, Opcode::unless_gt_ints, Opcode::unless_gt_floats},
    {scalar::ge, Opcode::ge_ints, Opcode::ge_floats, true, Opcode::unless_ge_ints, Opcode::unless_ge_floats},
    {scalar::eq, Opcode::eq_ints, Opcode::eq_floats, true, Opcode::unless_eq_ints, Opcode::unless_eq_floats},
    {scalar::ne, Opcode::ne_ints, Opcode::ne_floats, true, Opcode::unless_ne_ints, Opcode::unless_ne_floats},
};

bool is_number(const Type& type) { return type.is(Type::Kind::integer) || type.is(Type::Kind::real); }

// The item of `l += [item]`, where the list is not needed as such.
CallId appended_item(const CompactBuilder& code, CallId sum) {
  const Registers& registers = code.facts().registers;
  if (!code.facts().appends[sum.index()] || registers.own[sum.index()]) return {};
  const Call& call = code[sum];
  const CallId list = call.in[1];
  const bool same = registers.calls[sum.index()] == registers.calls[call.in[0].index()];
  if (!same || code[list].form != Form::list || !registers.passed_on[list.index()] || code[list].in.size() != 1)
    return {};
  const CallId item = code[list].in[0];
  const Type& type = code[item].type;
  return (is_number(type) || type.is(Type::Kind::boolean)) && type == call.type.parts[0] ? item : CallId();
}

bool emit_binary(CompactBuilder& code, CallId id, const FastOp& op) {
  const Call& call = code[id];
  const CallId left = call.in[0], right = call.in[1];
  const Type &a = code[left].type, &b = code[right].type;
  const bool ints = a.is(Type::Kind::integer) && b.is(Type::Kind::integer);
  const Opcode kind = ints ? op.ints : op.floats;
  if (!is_number(a) || !is_number(b) || kind == Opcode::step) return false;
  if (code.is_constant(left) && code.is_constant(right)) return false;
  const std::uint32_t which = code.is_constant(right) ? 1 : code.is_constant(left) ? 2 : 0;
  auto variant = [&](Opcode first) { return static_cast<Opcode>(static_cast<std::uint32_t>(first) + which); };
  if (op.compares && code.defer(id, variant(ints ? op.unless_ints : op.unless_floats))) return true;
  code.emit(variant(kind), id, code.at(id), code.at(left), code.at(right));
  return true;
}

bool emit_unary(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  const Type& type = code[call.in[0]].type;
  const bool negates = call.op->scalar == &scalar::neg && is_number(type);
  const bool inverts = call.op->scalar == &scalar::bit_not && type.is(Type::Kind::boolean);
  if ((!negates && !inverts) || code.is_constant(call.in[0])) return false;
  code.emit(negates ? Opcode::negate : Opcode::invert, id, code.at(id), code.at(call.in[0]));
  return true;
}

// `x as float`, `x as int` of a number: then the call of the type in front of it does not run.
Opcode conversion(const CompactBuilder& code, CallId cast) {
  const Call& call = code[cast];
  if (call.form != Form::op || call.op->scalar != &scalar::convert || makes_tensors(*call.op, call.type))
    return Opcode::step;
  const bool of_number = is_number(code[call.in[0]].type) && !code.is_constant(call.in[0]);
  const bool of_type = code[call.in[1]].form == Form::type && code.facts().registers.passed_on[call.in[1].index()];
  if (!of_number || !of_type || !is_number(call.type)) return Opcode::step;
  return call.type.is(Type::Kind::real) ? Opcode::to_float : Opcode::to_int;
}

}  // namespace

void emit_nothing(CompactBuilder&, CallId) {}

// ---- values ---------------------------------------------------------------------------------------

void emit_variable(CompactBuilder& code, CallId id) {
  const VariableId variable = code[id].variable;
  if (code.facts().registers.own[id.index()])
    code.emit(Opcode::read, id, code.at(id), code.at(variable));
  else if (!code.is_set(variable))
    code.emit(Opcode::is_set, id, code.at(variable));
  code.set(variable);
}

void emit_write(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  const Type& declared = code.function().variables[call.variable.index()].type;
  if (code.facts().places[call.variable.index()])
    code.step(id);
  else if (!code.facts().registers.made_in_place(call))
    code.emit(declared.is(Type::Kind::real) ? Opcode::copy_float : Opcode::copy, id, code.at(call.variable),
              code.at(call.in[0]));
  code.set(call.variable);
}

void emit_store(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  if (call.in.size() != 2) return code.step(id);
  code.emit(Opcode::store, id, code.at(call.variable), code.at(call.in[0]), code.at(call.in[1]));
}

void emit_op(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  if (const CallId item = appended_item(code, id); item.valid()) {
    code.emit(Opcode::append, id, code.at(id), code.at(item));
    return;
  }
  const bool on_host = call.op->scalar && !makes_tensors(*call.op, call.type) &&
                       std::ranges::all_of(call.in, [](CallId in) { return in.valid(); });
  if (on_host && call.in.size() == 1 && emit_unary(code, id)) return;
  if (on_host && call.in.size() == 2)
    for (const FastOp& op : fast_ops)
      if (op.scalar == call.op->scalar && emit_binary(code, id, op)) return;
  if (const Opcode kind = conversion(code, id); kind != Opcode::step)
    code.emit(kind, id, code.at(id), code.at(call.in[0]));
  else
    code.step(id);
}

void emit_type(CompactBuilder& code, CallId id) {
  const CallId next = code.next();
  const bool in_cast = next.valid() && conversion(code, next) != Opcode::step && code[next].in[1] == id;
  if (!in_cast) code.step(id);
}

void emit_builtin(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  const bool counts = call.builtin->serves == Serves::counts;
  const Type& type = counts ? code[call.in[0]].type : call.type;
  if (counts && (type.is(Type::Kind::list) || type.is(Type::Kind::range)))
    code.emit(Opcode::length, id, code.at(id), code.at(call.in[0]));
  else
    code.step(id);
}

void emit_list(CompactBuilder& code, CallId id) {
  if (const CallId sum = code.next(); sum.valid() && code[sum].form == Form::op)
    if (code[sum].in.size() == 2 && code[sum].in[1] == id && appended_item(code, sum).valid()) return;
  code.step(id);
}

void emit_item(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  code.emit(Opcode::item, id, code.at(id), code.at(call.in[0]), code.at(call.in[1]));
}

// ---- control flow ---------------------------------------------------------------------------------

void emit_call(CompactBuilder& code, CallId id) {
  const CompactBuilder::Jumps behind = code.node(id);
  if (const std::int32_t planned = code.plan(code[id]); planned >= 0)
    code.emit(Opcode::call, id, code.at(id), planned);
  else
    code.step(id);
  code.land(behind);
}

// By constants alone, as most: `p[i]`, `p[i + 1]`.
void emit_projection(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  const bool by_constants = call.in.size() > 1 && std::ranges::all_of(std::span(call.in).subspan(1), [&](CallId in) {
                              return code.is_constant(in) && !code[in].type.is(Type::Kind::function);
                            });
  if (!by_constants || !code.facts().registers.own[id.index()]) return code.step(id);
  code.emit(Opcode::project, id, code.at(id), code.at(call.in[0]));
}

void emit_if(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  const CompactBuilder::Jumps behind = code.node(id);
  const CompactBuilder::Jumps otherwise = code.unless(call.in[0], id);
  code.calls(call.blocks[0].calls);
  CompactBuilder::Jumps end;
  if (call.blocks.size() > 1 && !call.blocks[1].calls.empty()) {
    end.push_back(code.emit(Opcode::jump, id));
    code.land(otherwise);
    code.calls(call.blocks[1].calls);
  } else {
    code.land(otherwise);
  }
  code.land(end);
  code.land(behind);
}

void emit_for(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  const Block& body = call.blocks[0];
  const bool named = !body.calls.empty() && code[body.calls[0]].form == Form::loop;
  const CompactBuilder::Jumps behind = code.node(id);
  const std::int32_t turn = named ? code.at(body.calls[0]) : -1;
  const LaunchTurns again = launch_turns(code.source(), body.calls);
  code.enter_loop();
  const std::size_t begin = code.emit(Opcode::begin_loop, id, code.at(id), code.at(call.in[0]));
  const std::size_t first = code.here();
  code.calls(body.calls);
  code.turns();
  CompactBuilder::Jumps to_next;
  if (again.launches > 0) to_next.push_back(code.emit(Opcode::turns_again, id, again.launches));
  code.land({begin});
  const std::size_t next = code.here();
  code.jump_back(first, Opcode::next_turn, id, code.at(id), turn);
  if (again.launches > 0) {
    const std::size_t end = code.emit(Opcode::jump, id);
    const std::size_t first_again = code.here();
    code.turn_again(again, first);
    code.land(to_next);
    code.jump_back(next, Opcode::poll_again, id);
    code.jump_back(first_again, Opcode::next_turn, id, code.at(id), turn);
    code.land({end});
  }
  code.leave_loop();
  code.emit(Opcode::release, id, code.at(id));
  code.land(behind);
}

void emit_while(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  const CompactBuilder::Jumps behind = code.node(id);
  code.enter_loop();
  const std::size_t condition = code.here();
  code.calls(call.blocks[0].calls, call.blocks[0].result);
  const CompactBuilder::Jumps end = code.unless(call.blocks[0].result, id);
  code.calls(call.blocks[1].calls);
  code.turns();
  code.jump_back(condition, Opcode::turn, id);
  code.land(end);
  code.leave_loop();
  code.land(behind);
}

namespace {

// The right side runs only where the left one has not decided.
void emit_logic(CompactBuilder& code, CallId id, Opcode decided) {
  const Call& call = code[id];
  code.emit(Opcode::decide, id, code.at(id), code.at(call.in[0]));
  const std::size_t behind = code.emit(decided, id, code.at(id));
  code.calls(call.blocks[0].calls);
  code.emit(Opcode::decide, id, code.at(id), code.at(call.blocks[0].result));
  code.land({behind});
}

}  // namespace

void emit_both(CompactBuilder& code, CallId id) { emit_logic(code, id, Opcode::branch); }
void emit_either(CompactBuilder& code, CallId id) { emit_logic(code, id, Opcode::until); }

void emit_return(CompactBuilder& code, CallId id) {
  const Call& call = code[id];
  if (call.in.empty())
    code.leave(Flow::return_, id);
  else
    code.emit(Opcode::give, id, code.at(call.in[0]));
}

}  // namespace taskspec
