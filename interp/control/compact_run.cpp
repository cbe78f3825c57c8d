// How instructions run. What they do not expect goes to the step of the form.
#include <cmath>
#include <functional>

#include "interp/control/compact.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/region_values.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

// With a call between two instructions the state of the machine would lie in memory.
#define TASKSPEC_INLINE [[gnu::always_inline]] static inline

namespace {

struct Add {
  static bool overflows(std::int64_t a, std::int64_t b, std::int64_t& r) { return __builtin_add_overflow(a, b, &r); }
  static double of(double a, double b) { return a + b; }
};
struct Sub {
  static bool overflows(std::int64_t a, std::int64_t b, std::int64_t& r) { return __builtin_sub_overflow(a, b, &r); }
  static double of(double a, double b) { return a - b; }
};
struct Mul {
  static bool overflows(std::int64_t a, std::int64_t b, std::int64_t& r) { return __builtin_mul_overflow(a, b, &r); }
  static double of(double a, double b) { return a * b; }
};
struct Div {
  static bool overflows(std::int64_t a, std::int64_t b, std::int64_t& r) {
    if (b == -1) return __builtin_sub_overflow(0, a, &r);
    if (b == 0) return true;
    r = a / b;
    return false;
  }
  static double of(double a, double b) { return a / b; }
};
struct Mod {
  static bool overflows(std::int64_t a, std::int64_t b, std::int64_t& r) {
    if (b == 0) return true;
    r = b == -1 ? 0 : a % b;  // the processor would trap on the smallest int
    return false;
  }
  static double of(double a, double b) { return std::fmod(a, b); }
};

// Of two floats, or of a float and an int; two ints are no floats, whatever the program says of their types.
// What two operands are taken for. An int beside a float is one.
struct Ints {
  static bool are(const Value& a, const Value& b) { return a.is_integer() && b.is_integer(); }
  static std::int64_t of(const Value& value) { return value.integer(); }
};
struct Floats {
  TASKSPEC_INLINE bool are(const Value& a, const Value& b) {
    return a.is_real() ? b.is_number() : a.is_integer() && b.is_real();
  }
  TASKSPEC_INLINE double of(const Value& value) {
    return value.is_integer() ? static_cast<double>(value.integer()) : value.real();
  }
};

Value& at_offset(Value* registers, std::int32_t offset) {
  return *reinterpret_cast<Value*>(reinterpret_cast<std::byte*>(registers) + offset);
}
const Value& at_offset(const Value* constants, std::int32_t offset) {
  return *reinterpret_cast<const Value*>(reinterpret_cast<const std::byte*>(constants) + ~offset);
}

// Where an operand stands.
struct FromRegister {
  static const Value& of(const auto& machine, std::int32_t offset) { return machine.value(offset); }
};
struct FromConstant {
  static const Value& of(const auto& machine, std::int32_t offset) { return machine.constant(offset); }
};

// Where code ends that ends in the middle, by Flow.
constexpr Instruction exits[] = {{Instruction::Kind::leave, {}, static_cast<std::int32_t>(Flow::next)},
                                 {Instruction::Kind::leave, {}, static_cast<std::int32_t>(Flow::break_)},
                                 {Instruction::Kind::leave, {}, static_cast<std::int32_t>(Flow::continue_)},
                                 {Instruction::Kind::leave, {}, static_cast<std::int32_t>(Flow::return_)}};

}  // namespace

// One function for each instruction; it gives the next one. They are inlined into Interpreter::execute, where all of
// this lies in registers: so `slow` takes parts of it and not the whole.
struct Machine {
  using At = const Instruction*;

  Interpreter& run;
  Frame& frame;
  Value* const registers;
  const Value* const constants;
  const Compact& code;

  Value& value(std::int32_t offset) const { return at_offset(registers, offset); }
  const Value& constant(std::int32_t offset) const { return at_offset(constants, offset); }
  const Value& any(std::int32_t offset) const { return offset < 0 ? constant(offset) : value(offset); }

  // Memory that cannot be had is told with the place of the instruction. Here, in small functions: an exception looks
  // through all places of a function that may throw, at each of a million nested calls, and `execute` has none.
  template <class Run>
  static auto placed(Frame& frame, At at, Run&& of) -> decltype(of()) {
    try {
      return of();
    } catch (const std::bad_alloc&) {  // no other: whatever has its place flies on, however deep this is
      Interpreter::no_memory(frame.function[at->call].span);
    }
  }
  [[gnu::noinline]] static Flow form(Interpreter& run, Frame& frame, At at) {
    return placed(frame, at, [&] { return run.form_step(frame, at->call); });
  }
  [[gnu::noinline]] static At slow(Interpreter& run, Frame& frame, At at) {
    placed(frame, at, [&] { run.form_step(frame, at->call); });
    return at + 1;
  }
  [[gnu::noinline]] static bool truth(Interpreter& run, Frame& frame, At at, const Value& value) {
    return placed(frame, at, [&] { return run.truth(value, frame.function[at->call].span); });
  }
  [[gnu::noinline]] static void poll(Interpreter& run, Frame& frame, At at) {
    placed(frame, at, [&] { run.poll(frame.function[at->call].span); });
  }
  TASKSPEC_INLINE bool is_true(Machine& m, At at, const Value& value) {
    return value.is_bool() ? value.boolean() : truth(m.run, m.frame, at, value);
  }

  // ---- arithmetic ----

  template <class Op, class Left, class Right>
  TASKSPEC_INLINE At ints(Machine& m, At at) {
    const Value &a = Left::of(m, at->b), &b = Right::of(m, at->c);
    std::int64_t result = 0;
    if (!Ints::are(a, b) || Op::overflows(a.integer(), b.integer(), result)) [[unlikely]]
      return slow(m.run, m.frame, at);
    m.value(at->a).set(result);
    return at + 1;
  }
  template <class Op, class Left, class Right>
  TASKSPEC_INLINE At floats(Machine& m, At at) {
    const Value &a = Left::of(m, at->b), &b = Right::of(m, at->c);
    if (!Floats::are(a, b)) [[unlikely]]
      return slow(m.run, m.frame, at);
    m.value(at->a).set(Op::of(a.real(), b.real()));
    return at + 1;
  }
  template <class Numbers, class Op, class Left, class Right>
  TASKSPEC_INLINE At compare(Machine& m, At at) {
    const Value &a = Left::of(m, at->b), &b = Right::of(m, at->c);
    if (!Numbers::are(a, b)) [[unlikely]]
      return slow(m.run, m.frame, at);
    m.value(at->a).set(Op()(Numbers::of(a), Numbers::of(b)));
    return at + 1;
  }
  template <class Numbers, class Op, class Left, class Right>
  TASKSPEC_INLINE At branch_unless(Machine& m, At at) {
    const Value &a = Left::of(m, at->a), &b = Right::of(m, at->b);
    if (!Numbers::are(a, b)) [[unlikely]]
      return slow(m.run, m.frame, at);
    return Op()(Numbers::of(a), Numbers::of(b)) ? at + 2 : at + at->c;
  }
  TASKSPEC_INLINE At negate(Machine& m, At at) {
    const Value& a = m.value(at->b);
    if (a.is_real())
      m.value(at->a).set(-a.real());
    else if (a.is_integer() && a.integer() != INT64_MIN)
      m.value(at->a).set(-a.integer());
    else
      return slow(m.run, m.frame, at);
    return at + 1;
  }
  TASKSPEC_INLINE At invert(Machine& m, At at) {
    const Value& a = m.value(at->b);
    if (!a.is_bool()) [[unlikely]]
      return slow(m.run, m.frame, at);
    m.value(at->a).set(!a.boolean());
    return at + 1;
  }

  TASKSPEC_INLINE At to_float(Machine& m, At at) {
    const Value& a = m.value(at->b);
    if (!a.is_number()) [[unlikely]]
      return slow_with_second(m.run, m.frame, at);
    m.value(at->a).set(a.real());
    return at + 1;
  }
  TASKSPEC_INLINE At to_int(Machine& m, At at) {
    const Value& a = m.value(at->b);
    if (!a.is_number()) [[unlikely]]
      return slow_with_second(m.run, m.frame, at);
    m.value(at->a).set(a.is_integer() ? a.integer() : saturated(a.real(), INT64_MIN, INT64_MAX));
    return at + 1;
  }
  TASKSPEC_INLINE At length(Machine& m, At at) {
    const Value& a = m.any(at->b);
    if (a.is_list())
      m.value(at->a).set(list_size(a));
    else if (a.is_range())
      m.value(at->a).set(a.range().size());
    else
      return slow(m.run, m.frame, at);
    return at + 1;
  }

  // ---- values ----

  TASKSPEC_INLINE At is_set(Machine& m, At at) { return m.value(at->a).is_none() ? slow(m.run, m.frame, at) : at + 1; }
  TASKSPEC_INLINE At read(Machine& m, At at) {
    const Value& variable = m.value(at->b);
    if (variable.is_none()) [[unlikely]]
      return slow(m.run, m.frame, at);
    m.value(at->a) = variable;
    return at + 1;
  }
  TASKSPEC_INLINE At copy(Machine& m, At at) {
    m.value(at->a) = m.any(at->b);
    return at + 1;
  }
  TASKSPEC_INLINE At copy_float(Machine& m, At at) {
    const Value& value = m.any(at->b);
    if (value.is_integer()) [[unlikely]]
      return slow(m.run, m.frame, at);
    m.value(at->a) = value;
    return at + 1;
  }
  TASKSPEC_INLINE At release(Machine& m, At at) {
    m.value(at->a) = Value();
    return at + 1;
  }
  TASKSPEC_INLINE At item(Machine& m, At at) {
    const Value &container = m.any(at->b), &index = m.any(at->c);
    if (!container.is_list() || !index.is_integer()) [[unlikely]]
      return slow(m.run, m.frame, at);
    const List& list = container.list();
    const auto i = static_cast<std::uint64_t>(index.integer());
    if (i >= list.size()) [[unlikely]]
      return slow(m.run, m.frame, at);
    m.value(at->a) = list[i];
    return at + 1;
  }
  TASKSPEC_INLINE At store(Machine& m, At at) {
    Value& container = m.value(at->a);
    const Value &value = m.any(at->b), &index = m.any(at->c);
    if (!container.is_list() || !container.is_only() || !index.is_integer()) [[unlikely]]
      return slow(m.run, m.frame, at);
    List& list = container.unique_list();
    const auto i = static_cast<std::uint64_t>(index.integer());
    if (i >= list.size() || (list[i].is_real() && value.is_integer())) [[unlikely]]
      return slow(m.run, m.frame, at);
    list[i] = value;
    return at + 1;
  }
  // The second operand, a list or type that is written, is not made before the step asks for it.
  [[gnu::noinline]] static At slow_with_second(Interpreter& run, Frame& frame, At at) {
    placed(frame, at, [&] { run.form_step(frame, frame.function[at->call].in[1]); });
    return slow(run, frame, at);
  }
  [[gnu::noinline]] static void append_to(Frame& frame, At at, Value& list, const Value& value) {
    placed(frame, at, [&] { list.unique_list().push_back(value); });
  }
  TASKSPEC_INLINE At append(Machine& m, At at) {
    Value& list = m.value(at->a);
    if (!list.is_list()) [[unlikely]]
      return slow_with_second(m.run, m.frame, at);
    append_to(m.frame, at, list, m.any(at->b));
    return at + 1;
  }

  // What it is made of by constants alone, nothing else changes.
  TASKSPEC_INLINE At project(Machine& m, At at) {
    const Value& of = m.any(at->b);
    auto* known = m.value(at->a).as<ProjectedPiece>();
    const bool is_known = known && of.is_object() && known->partition.get() == of.object().get();
    return is_known && known->function.is_none() ? at + 1 : slow(m.run, m.frame, at);
  }

  // ---- control flow ----

  TASKSPEC_INLINE At step(Machine& m, At at) {
    const Flow flow = form(m.run, m.frame, at);
    if (flow == Flow::next) [[likely]]
      return at + 1;
    if (flow == Flow::break_ && at->a != 0) return at + at->a;
    if (flow == Flow::continue_ && at->b != 0) return at + at->b;
    return &exits[static_cast<std::size_t>(flow)];
  }
  [[gnu::noinline]] static void check(Interpreter& run, Frame& frame, At at) {
    placed(frame, at, [&] { run.check_guards(frame, frame.function[at->call]); });
  }
  TASKSPEC_INLINE At guards(Machine& m, At at) {
    check(m.run, m.frame, at);
    return at + 1;
  }
  [[gnu::noinline]] static bool is_node(Interpreter& run, Frame& frame, At at) {
    return placed(frame, at, [&] { return run.target().structured(run, frame, at->call); });
  }
  TASKSPEC_INLINE At node(Machine& m, At at) { return is_node(m.run, m.frame, at) ? at + at->c : at + 1; }
  TASKSPEC_INLINE At jump(Machine&, At at) { return at + at->c; }
  TASKSPEC_INLINE At branch(Machine& m, At at) { return is_true(m, at, m.value(at->a)) ? at + 1 : at + at->c; }
  TASKSPEC_INLINE At until(Machine& m, At at) { return is_true(m, at, m.value(at->a)) ? at + at->c : at + 1; }
  TASKSPEC_INLINE At decide(Machine& m, At at) {
    m.value(at->a).set(is_true(m, at, m.any(at->b)));
    return at + 1;
  }
  TASKSPEC_INLINE At turn(Machine& m, At at) {
    if (!m.run.goes_on()) [[unlikely]]
      poll(m.run, m.frame, at);
    return at + at->c;
  }
  TASKSPEC_INLINE At begin_loop(Machine& m, At at) {
    Value* state = &m.value(at->a);
    state[0] = m.any(at->b);
    state[1].set(std::int64_t{0});
    if (!state->is_range()) [[unlikely]] {
      if (state->as<GraphScalar>()) is_true(m, at, *state);  // how often it runs is not known
      (void)state->list();
    }
    return at + at->c;
  }
  TASKSPEC_INLINE At next_turn(Machine& m, At at) {
    Value* state = &m.value(at->a);
    const bool counts = state->is_range();
    const Range range = counts ? state->range() : Range{state[1].integer(), list_size(*state)};
    if (range.begin >= range.end) return at + 1;
    if (!m.run.goes_on()) [[unlikely]]
      poll(m.run, m.frame, at);
    if (counts)
      state->set(Range{range.begin + 1, range.end});
    else
      state[1].set(range.begin + 1);
    if (at->b < 0) return at + at->c;
    Value& turn = m.value(at->b);
    if (counts)
      turn.set(range.begin);
    else
      turn = state->list()[static_cast<std::size_t>(range.begin)];
    return at + at->c;
  }
  // Behind a whole turn: each of its launches was one that was expected, and so are those of the next turns.
  TASKSPEC_INLINE At turns_again(Machine& m, At at) {
    const auto launches = static_cast<std::uint32_t>(at->a);
    const bool were_expected = m.run.launched_again_ == launches;
    m.run.launched_again_ = 0;
    return were_expected && comes_again(m.run, m.frame, at) ? at + at->c : at + 1;
  }
  [[gnu::noinline]] static bool comes_again(Interpreter& run, Frame& frame, At at) {
    return placed(frame, at, [&] {
      run.launches_ = run.target().launch_batch();
      return run.launches_ && static_cast<std::size_t>(at->a) % run.launches_->turn == 0;
    });
  }
  TASKSPEC_INLINE At launch_again(Machine& m, At at) {
    LaunchBatch& batch = *m.run.launches_;
    for (const std::int32_t number : m.code.launches[static_cast<std::size_t>(at->b)].numbers)
      *batch.next++ = m.any(number).bits();
    if (++batch.taken < batch.due) [[likely]]
      return at + 1;
    return goes_on_again(m.run, m.frame, at) ? at + 1 : at + at->c;
  }
  // It may end the batch: the turn before which it is done is a whole one.
  TASKSPEC_INLINE At poll_again(Machine& m, At at) { return m.run.must_poll() ? at + at->c : at + 1; }
  [[gnu::noinline]] static bool goes_on_again(Interpreter& run, Frame& frame, At at) {
    return placed(frame, at, [&] {
      run.target().launches_taken();
      return (run.launches_ = run.target().launch_batch()) != nullptr;
    });
  }
  static std::int64_t list_size(const Value& list) { return static_cast<std::int64_t>(list.list().size()); }
  TASKSPEC_INLINE At give(Machine& m, At at) {
    m.frame.result = m.any(at->a);
    return &exits[static_cast<std::size_t>(Flow::return_)];
  }
  TASKSPEC_INLINE At call(Machine& m, At at) {
    if (!m.frame.self.is_none()) [[unlikely]]  // it may reach other members: both see the newest registers
      return slow(m.run, m.frame, at);
    m.run.call_planned(m.frame, m.code.calls[static_cast<std::size_t>(at->b)], *at);
    return at + 1;
  }
};

#undef TASKSPEC_INLINE

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // jumps to labels: each instruction goes to the next one by itself

Flow Interpreter::execute(Frame& frame, const Compact& code) {
  static const void* const labels[] = {
      &&at_leave,
#define TASKSPEC_INSTRUCTION(name, ...) &&at_##name,
#include "interp/control/compact.def"
  };
  const Instruction* at = code.instructions.data();
  Machine m{*this, frame, frame.registers, frame.facts.registers.constants.data(), code};
  goto* labels[static_cast<std::size_t>(at->kind)];
#define TASKSPEC_INSTRUCTION(name, ...)         \
  at_##name : at = Machine::__VA_ARGS__(m, at); \
  goto* labels[static_cast<std::size_t>(at->kind)];
#include "interp/control/compact.def"
at_leave:
  return static_cast<Flow>(at->a);
}

#pragma GCC diagnostic pop

// Whoever finds it first tells the others.
static const FunctionFacts& facts_of(const PlannedCall& planned, Facts& facts, bool in_graph) {
  if (const FunctionFacts* known = planned.facts.load(std::memory_order_acquire)) return *known;
  const FunctionFacts& found = facts.function(planned.callee);
  if (!planned.function->body.calls.empty())
    planned.body.store(&facts.compact(planned.callee, planned.function->body, in_graph), std::memory_order_release);
  planned.facts.store(&found, std::memory_order_release);
  return found;
}

void Interpreter::call_planned(Frame& frame, const PlannedCall& planned, const Instruction& at) try {
  const Function& function = *planned.function;
  Frame inner(function, planned.callee, facts_of(planned, *facts_, frame.in_graph), stack_);
  const Value* const constants = frame.facts.registers.constants.data();
  Value* argument = inner.registers;
  for (const auto& [from, is_float] : planned.arguments) {
    *argument = from < 0 ? at_offset(constants, from) : at_offset(frame.registers, from);
    if (is_float && argument->is_integer()) argument->set(argument->real());
    ++argument;
  }
  if (inner.facts.talks) begin_activation(inner);
  if (!goes_on() || is_deep()) [[unlikely]]
    enter_far(frame.function[at.call].span);
  ++depth_;
  inner.scope = frame.scope;
  inner.in_graph = frame.in_graph;
  if (const Compact* body = planned.body.load(std::memory_order_relaxed)) execute(inner, *body);
  --depth_;
  at_offset(frame.registers, at.a) = std::move(inner.result);
} catch (const std::bad_alloc&) {
  no_memory(frame.function[at.call].span);
}

}  // namespace taskspec
