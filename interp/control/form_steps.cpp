// How the interpreter runs a call of each form, and which forms have instructions of their own in compact programs.
#include "interp/control/compact_builder.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/rules.hpp"

namespace taskspec {

namespace {

// A range whose bounds are only known when the graph runs is as unknown as they are: they stand in its operands.
[[gnu::noinline]] Value range_of(const Call& call, Frame& frame) {
  const Value &begin = frame[call.in[0]], &end = frame[call.in[1]];
  if (begin.is_integer() && end.is_integer()) return Value(Range{begin.integer(), end.integer()});
  auto scalar = std::make_shared<GraphScalar>();
  scalar->written = print(begin) + ".." + print(end);
  scalar->type = Type::Kind::range;
  scalar->operands = {begin, end};
  return Value(std::static_pointer_cast<Object>(scalar));
}

[[noreturn, gnu::noinline]] void throw_at(Span span, const Error& error) {
  Diags diags;
  for (Diag diag : error.diags().items()) {
    diag.primary.span = span;
    diags.add(std::move(diag));
  }
  throw Error(std::move(diags));
}

// Runs `body`; an error without a place gets that of the call.
template <class F>
[[gnu::noinline]] auto placed(Span span, F&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.diags().empty() || error.diags().items().front().primary.span.valid()) throw;
    throw_at(span, error);
  }
}

[[gnu::noinline]] Value dimension_of(const Call& call, Frame& frame) {
  Dim dim = evaluate(Dim(call.symbol), frame);
  return scalar_of(dim);
}

List operands_of(const Call& call, Frame& frame) {
  List items;
  items.reserve(call.in.size());
  for (CallId item : call.in) items.push_back(frame[item]);
  return items;
}

[[gnu::noinline]] Value tuple_of(const Call& call, Frame& frame) { return Value(Tuple{operands_of(call, frame)}); }

[[gnu::noinline]] Value list_of(const Call& call, Frame& frame) {
  List items = operands_of(call, frame);
  // An int among floats: [1, 2.0] is [float].
  if (call.type.is(Type::Kind::list) && call.type.parts[0].is(Type::Kind::real))
    for (Value& item : items)
      if (item.is_integer()) item = Value(item.real());
  return Value(std::move(items));
}

Value self_of(const Call&, Frame& frame) { return frame.self; }

[[gnu::noinline]] Value output_of(const Call& call, Frame& frame) {
  auto* invocation = frame[call.in[0]].as<Invocation>();
  if (!invocation || call.index >= invocation->outputs.size()) bug("output of something that has none");
  return invocation->outputs[call.index];
}

[[gnu::noinline]] Value type_of(const Call& call, Frame& frame) {
  return Value(evaluate(call.type.is(Type::Kind::type) ? call.type.parts[0] : call.type, frame));
}

}  // namespace

// ---- the table ------------------------------------------------------------------------------------

namespace {

// In a graph one node, where it must be one.
bool is_node(Interpreter& run, Frame& frame, CallId id) {
  return frame.in_graph && run.target().structured(run, frame, id);
}

template <Value (*give)(const Call&, Frame&)>
Flow made(Interpreter&, Frame& frame, CallId id) {
  frame[id] = give(frame.function[id], frame);
  return Flow::next;
}

// It is there already: a constant, an argument, what a loop is at.
Flow nothing(Interpreter&, Frame&, CallId) { return Flow::next; }

}  // namespace

// The values of calls that a member of the interpreter works out.
template <Value (Interpreter::*give)(Frame&, const Call&)>
Flow Interpreter::gives(Interpreter& run, Frame& frame, CallId id) {
  frame[id] = (run.*give)(frame, frame.function[id]);
  return Flow::next;
}

// What has blocks, or ends them, runs as a compact program, alone as in the one around it.
Flow Interpreter::run_code(Interpreter& run, Frame& frame, CallId id) {
  return run.execute(frame, run.facts_->compact(frame.id, id, frame.in_graph));
}

Flow Interpreter::run_op(Interpreter& run, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  if (frame.facts.settled[id.index()] && run.program_.proven && !run.by_rules_)
    placed(call.span, [&] { run.settled_op(frame, id); });
  else
    frame[id] = appends(frame, id) ? run.append(frame, call) : placed(call.span, [&] { return run.op(frame, call); });
  return Flow::next;
}

Flow Interpreter::run_builtin(Interpreter& run, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  frame[id] = placed(call.span, [&] { return run.builtin(frame, call); });
  return Flow::next;
}

Flow Interpreter::run_call(Interpreter& run, Frame& frame, CallId id) {
  if (!is_node(run, frame, id)) frame[id] = run.call_function(frame, frame.function[id]);
  return Flow::next;
}

Flow Interpreter::run_write(Interpreter& run, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  run.write(frame, call.variable, frame[call.in[0]]);
  return Flow::next;
}

Flow Interpreter::run_store(Interpreter& run, Frame& frame, CallId id) {
  run.store(frame, frame.function[id]);
  return Flow::next;
}

Flow Interpreter::run_enqueue(Interpreter& run, Frame& frame, CallId id) {
  run.partner_->enqueue(run, frame, frame.function[id]);
  return Flow::next;
}

Flow Interpreter::run_dequeue(Interpreter& run, Frame& frame, CallId id) {
  frame[id] = run.partner_->dequeue(run, frame, frame.function[id]);
  return Flow::next;
}

namespace {

// However it is left, but for a failure: then nothing is told any more.
Flow run_trace(Interpreter& run, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  run.target().begin_trace(call.span);
  const Flow flow = run.block(frame, call.blocks[0]);
  run.target().end_trace(call.span);
  return flow;
}

}  // namespace

std::span<const FormStep> Interpreter::standard_steps() {
  static constexpr FormStep table[] = {
      {Form::constant, nothing, emit_nothing},
      {Form::parameter, nothing, emit_nothing},
      {Form::dimension, made<dimension_of>},
      {Form::type, made<type_of>, emit_type},
      {Form::variable, gives<&Interpreter::read_variable>, emit_variable},
      {Form::global, gives<&Interpreter::read_global>},
      {Form::loop, nothing, emit_nothing},
      {Form::time_step, gives<&Interpreter::time_step>},
      {Form::op, run_op, emit_op},
      {Form::builtin, run_builtin, emit_builtin},
      {Form::tuple, made<tuple_of>},
      {Form::list, made<list_of>, emit_list},
      {Form::range, made<range_of>, nullptr, InTurn::still},
      {Form::element, gives<&Interpreter::element>},
      {Form::item, gives<&Interpreter::item>, emit_item},
      {Form::items, gives<&Interpreter::items>},
      {Form::field, gives<&Interpreter::field>},
      {Form::receive, gives<&Interpreter::receive>},
      {Form::agent, gives<&Interpreter::make_agent>},
      {Form::self, made<self_of>},
      {Form::member, gives<&Interpreter::make_callable>},
      {Form::function, gives<&Interpreter::make_callable>},
      {Form::closure, gives<&Interpreter::make_callable>},
      {Form::compose, gives<&Interpreter::compose>},
      {Form::call, run_call, emit_call},
      {Form::invoke, gives<&Interpreter::call_function>},
      {Form::apply, gives<&Interpreter::apply_value>},
      {Form::output, made<output_of>},
      {Form::write, run_write, emit_write},
      {Form::store, run_store, emit_store},
      {Form::if_, run_code, emit_if},
      {Form::for_, run_code, emit_for},
      {Form::while_, run_code, emit_while},
      {Form::trace, run_trace},
      {Form::both, run_code, emit_both},
      {Form::either, run_code, emit_either},
      {Form::return_, run_code, emit_return},
      {Form::break_, run_code, emit_leave<Flow::break_>},
      {Form::continue_, run_code, emit_leave<Flow::continue_>},
      {Form::run, gives<&Interpreter::run_on>},
      {Form::make_region, gives<&Interpreter::make_region>},
      {Form::piece, gives<&Interpreter::piece>},
      {Form::projection, run_projection, emit_projection, InTurn::still},
      {Form::region_field, gives<&Interpreter::region_field>},
      {Form::field_value, gives<&Interpreter::field_value>},
      {Form::map_item, gives<&Interpreter::map_item>},
      {Form::launch, run_launch, nullptr, InTurn::launch},
      {Form::view_element, run_view},
      {Form::view_at, run_view},
      {Form::view_field, run_view},
      {Form::view_store, run_view},
      {Form::view_fold, run_view},
      {Form::store_view_field, run_view},
      {Form::enqueue, run_enqueue},
      {Form::dequeue, run_dequeue},
  };
  return table;
}

const FormStep& step_of(Form form, std::span<const FormStep> more) {
  for (std::span<const FormStep> rows : {more, Interpreter::standard_steps()})
    for (const FormStep& row : rows)
      if (row.form == form) return row;
  bug("no step runs the form " + std::string(form->word));
}

}  // namespace taskspec
