#include "ir/view_code/view_code_maker.hpp"

#include <fmt/format.h>

namespace taskspec {

using Kind = ViewStep::Kind;

void ViewCodeMaker::block(Frame& frame, const Block& block) {
  for (CallId id : block.calls) run(frame, id);
}

void ViewCodeMaker::run(Frame& frame, CallId id) {
  if (name(frame, id) || data(frame, id) || control(frame, id)) return;
  const Call& call = frame.function[id];
  if (call.form == Form::item || call.form == Form::items)
    throw not_built(call.span, "a part of a list", "what differs from point to point is a field");
  if (call.form == Form::list)
    throw not_built(call.span, "a list", "join tensors in front of the loop, or give the task what comes of it");
  throw not_built(call.span, fmt::format("'{}'", call.form->word));
}

ViewBlock ViewCodeMaker::inside(FunctionRef<void()> make) {
  ViewBlock made;
  ViewBlock* outer = std::exchange(block_, &made);
  make();
  block_ = outer;
  return made;
}

// ---- names ----------------------------------------------------------------------------------------

// A variable that changes is read where its call stands.
ViewCodeMaker::Bound ViewCodeMaker::copied(const Bound& given, Span span) {
  if (given.kind != Bound::Kind::value || !code_[given.value].variable) return given;
  ViewCode::Item item = code_[given.value];
  item.variable = false;
  Bound made;
  made.kind = Bound::Kind::value;
  made.value = emit({.kind = Kind::move, .span = span, .in = {given.value}}, code_.add(std::move(item)));
  return made;
}

bool ViewCodeMaker::name(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  Bound& bound = frame.calls[id.index()];
  if (call.form == Form::constant)
    bound = known(call.value, call.span);
  else if (call.form == Form::parameter)
    bound = frame.parameters[call.index];
  else if (call.form == Form::dimension)
    bound = dimension(frame, Dim(call.symbol), call.span);
  else if (call.form == Form::type)
    bound = known(Value(call.type.is(Type::Kind::type) ? call.type.parts[0] : call.type), call.span);
  else if (call.form == Form::variable)
    bound = copied(frame.variables[call.variable.index()], call.span);
  else if (call.form == Form::loop)
    bound = frame.turns.back();
  else if (call.form == Form::self)
    bound.kind = Bound::Kind::other;
  else if (call.form == Form::global && request_.global)
    bound = known(request_.global(call.module, call.variable), call.span);
  else
    return false;
  return true;
}

ViewCodeMaker::Bound ViewCodeMaker::dimension(Frame& frame, const Dim& dim, Span span) {
  const std::vector<Symbol> symbols = dim.symbols();
  if (symbols.size() != 1 || !(dim == Dim(symbols[0]))) throw not_built(span, "such an extent");
  const std::uint32_t id = symbols[0]->id;
  auto made = frame.extents.find(id);
  if (made == frame.extents.end()) {
    auto open = frame.open_extents.find(id);
    if (open == frame.open_extents.end()) throw not_built(span, "such an extent");
    ViewStep step{.kind = Kind::extent, .span = span};
    step.view = static_cast<std::uint32_t>(open->second.first);
    step.field = static_cast<std::uint32_t>(open->second.second);
    Bound bound;
    bound.kind = Bound::Kind::value;
    bound.value = emit(std::move(step), host(Precision::i64));  // where it is read: control may go by it
    return bound;
  }
  Bound bound;
  bound.kind = Bound::Kind::value;
  bound.value = made->second;
  return bound;
}

// ---- data -----------------------------------------------------------------------------------------

bool ViewCodeMaker::data(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  Bound& bound = frame.calls[id.index()];
  if (call.form == Form::op) {
    bound = call.type.is_tensor() ? element_op(frame, call) : number(frame, call);
  } else if (call.form == Form::tuple || call.form == Form::range) {
    bound = {};
    bound.kind = call.form == Form::tuple ? Bound::Kind::tuple : Bound::Kind::range;
    for (CallId in : call.in) bound.parts.push_back(at(frame, in));
  } else if (call.form == Form::list && points_ == 0 &&
             std::ranges::all_of(call.in, [&](CallId in) { return frame.function[in].type.is_tensor(); })) {
    bound = {};
    bound.kind = Bound::Kind::list;
    for (CallId in : call.in) bound.parts.push_back(at(frame, in));
  } else if (call.form == Form::element) {
    const Bound tuple = at(frame, call.in[0]);
    if (tuple.kind != Bound::Kind::tuple) throw not_built(call.span, "such a tuple");
    bound = tuple.parts[call.index];
  } else if (call.form == Form::field && at(frame, call.in[0]).kind == Bound::Kind::range) {
    const Bound range = at(frame, call.in[0]);
    bound = range.parts[call.name == "begin" ? 0 : 1];
  } else if (call.form == Form::view_element) {
    access(frame, id, Kind::read);
  } else if (call.form == Form::view_at) {
    access(frame, id, Kind::read_at);
  } else if (call.form == Form::view_store) {
    access(frame, id, Kind::store);
  } else if (call.form == Form::view_fold) {
    access(frame, id, Kind::fold);
  } else if (call.form == Form::view_field) {
    bound = whole_field(frame, call);
  } else if (call.form == Form::store_view_field) {
    store_field(frame, call);
  } else if (call.form == Form::receive) {  // the bound of a range
    bound = at(frame, call.in[0]);
  } else if (call.form == Form::builtin && at(frame, call.in[0]).kind == Bound::Kind::view) {  // len(v): none but it
    bound = count_of(at(frame, call.in[0]).view, call.span);
  } else if (call.form == Form::call) {
    Bound made = inlined(frame, call);
    frame.calls[id.index()] = std::move(made);
  } else {
    return false;
  }
  return true;
}

namespace {

std::size_t returns_in(const Function& function, const Block& block) {
  std::size_t count = 0;
  for (CallId id : block.calls) {
    count += function[id].form == Form::return_;
    for (const Block& inner : function[id].blocks) count += returns_in(function, inner);
  }
  return count;
}

}  // namespace

ViewCodeMaker::Bound ViewCodeMaker::inlined(Frame& outer, const Call& call) {
  constexpr std::size_t most_calls = 64;
  const Function& fn = program_[call.callee];
  if (fn.kind != FunctionKind::fn || !fn.extern_symbol.empty() || depth_ >= most_calls)
    throw not_built(call.span, depth_ >= most_calls ? "recursion" : "such a call",
                    depth_ >= most_calls ? "a loop does the same: while ..." : "");
  Frame frame{fn};
  frame.calls.resize(fn.calls.size());
  frame.variables.resize(fn.variables.size());
  // Of the agent whose task this is: its parameters stand first in all its members.
  std::size_t next = fn.agent.valid() ? 1 : 0;
  if (next == 1 && (outer.function.agent != fn.agent || outer.function[call.in[0]].form != Form::self))
    throw not_built(call.span, "a fn of another agent");
  for (std::size_t i = 0; i < fn.parameters.size(); ++i) {
    const Parameter& parameter = fn.parameters[i];
    if (parameter.role == Role::agent_parameter) {
      frame.parameters.push_back(outer.parameters[i]);
      continue;
    }
    if (parameter.role != Role::declared || parameter.privilege != Privilege::in)
      throw not_built(call.span, "such a call");
    const std::size_t given = next++;
    if (given < call.in.size() && call.in[given].valid()) {
      frame.parameters.push_back(as(at(outer, call.in[given]), parameter.type, call.span));
    } else {
      block(frame, parameter.default_block);
      frame.parameters.push_back(as(at(frame, parameter.default_value), parameter.type, call.span));
    }
  }
  ++depth_;
  const bool last = !fn.body.calls.empty() && fn[fn.body.calls.back()].form == Form::return_;
  if (last && returns_in(fn, fn.body) == 1) {
    block(frame, fn.body);
    --depth_;
    return frame.returned;
  }
  frame.result = code_.add({.kind = fn.result.is_tensor() ? ViewCode::Item::Kind::element : ViewCode::Item::Kind::host,
                            .precision = precision_of(fn.result, call.span),
                            .variable = true,
                            .name = fn.name});
  enclosing_.push_back(false);
  ViewStep once{.kind = Kind::once, .span = call.span};
  once.blocks.push_back(inside([&] { block(frame, fn.body); }));
  block_->push_back(std::move(once));
  enclosing_.pop_back();
  --depth_;
  Bound made;
  made.kind = Bound::Kind::value;
  made.value = frame.result;
  return copied(made, call.span);
}

// ---- control --------------------------------------------------------------------------------------

bool ViewCodeMaker::control(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  if (call.form == Form::write)
    write(frame, call);
  else if (call.form == Form::if_)
    choice(frame, call);
  else if (call.form == Form::for_)
    loop(frame, call);
  else if (call.form == Form::while_)
    while_loop(frame, call);
  else if (call.form == Form::trace)
    block(frame, call.blocks[0]);
  else if (call.form == Form::both || call.form == Form::either)
    logic(frame, id);
  else if (call.form == Form::return_ || call.form == Form::break_ || call.form == Form::continue_)
    leave(frame, call);
  else
    return false;
  return true;
}

// A `let` names a value; a `var`, and what is read behind the branches that write it, has a place.
void ViewCodeMaker::write(Frame& frame, const Call& call) {
  const Variable& variable = frame.function.variables[call.variable.index()];
  const Bound given = as(at(frame, call.in[0]), variable.type, call.span);
  Bound& place = frame.variables[call.variable.index()];
  const bool has_place = place.kind == Bound::Kind::value && code_[place.value].variable;
  if (!variable.is_mutable && !has_place) {
    place = given;
    return;
  }
  if (are_points(given)) return write_tensor(frame, call, given);
  if (given.kind != Bound::Kind::value) throw not_built(call.span, "such a variable");
  emit({.kind = Kind::move, .span = call.span, .in = {given.value}}, cell(frame, call.variable, variable.type));
}

void ViewCodeMaker::choice(Frame& frame, const Call& call) {
  const Bound condition = at(frame, call.in[0]);
  if (condition.constant.is_bool()) return block(frame, call.blocks[condition.constant.boolean() ? 0 : 1]);
  ViewStep step{.kind = Kind::if_, .span = call.span, .in = {value(frame, call.in[0])}};
  for (const Block& branch : call.blocks) step.blocks.push_back(inside([&] { block(frame, branch); }));
  block_->push_back(std::move(step));
}

// a && b: b only where a holds.
void ViewCodeMaker::logic(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  const bool both = call.form == Form::both;
  const ViewValue left = value(frame, call.in[0]);
  const ViewValue made = code_.add({.kind = code_[left].kind, .precision = Precision::boolean, .variable = true});
  ViewStep step{.kind = Kind::if_, .span = call.span, .in = {left}};
  ViewBlock right = inside([&] {
    block(frame, call.blocks[0]);
    emit({.kind = Kind::move, .span = call.span, .in = {value(frame, call.blocks[0].result)}}, made);
  });
  ViewBlock known = inside([&] { emit({.kind = Kind::move, .span = call.span, .in = {left}}, made); });
  step.blocks.push_back(both ? std::move(right) : known);
  step.blocks.push_back(both ? known : std::move(right));
  block_->push_back(std::move(step));
  Bound bound;
  bound.kind = Bound::Kind::value;
  bound.value = made;
  frame.calls[id.index()] = copied(bound, call.span);
}

namespace {

bool leaves_turn(const Function& function, const Block& block) {
  for (CallId id : block.calls) {
    if (function[id].form->leaves != FormRecord::Leaves::nothing) return true;
    for (const Block& inner : function[id].blocks)
      if (leaves_turn(function, inner)) return true;
  }
  return false;
}

}  // namespace

// Short loops of constant length inside of loops over points: so that those may be strips.
bool ViewCodeMaker::written_out(Frame& frame, const Call& call, const Bound& range) {
  constexpr std::int64_t most_turns = 16;
  const Value &begin = range.parts[0].constant, &end = range.parts[1].constant;
  if (points_ == 0 || !begin.is_integer() || !end.is_integer()) return false;
  const Range turns{begin.integer(), end.integer()};
  if (turns.size() > most_turns || leaves_turn(frame.function, call.blocks[0])) return false;
  for (std::int64_t i = turns.begin; i < turns.end; ++i) {
    frame.turns.push_back(known(Value(i), call.span));
    block(frame, call.blocks[0]);
    frame.turns.pop_back();
  }
  return true;
}

void ViewCodeMaker::loop(Frame& frame, const Call& call) {
  const Bound over = at(frame, call.in[0]);
  if (over.kind == Bound::Kind::view) return loop_over_view(frame, call, over);
  if (over.kind != Bound::Kind::range) throw not_built(call.span, "a loop over a list", "count: for k in 0..n");
  if (written_out(frame, call, over)) return;
  ViewStep step{.kind = Kind::each_int, .span = call.span, .in = {over.parts[0].value, over.parts[1].value}};
  Bound turn;
  turn.kind = Bound::Kind::value;
  turn.value = host(Precision::i64);
  step.outs = {turn.value};
  frame.turns.push_back(turn);
  enclosing_.push_back(true);
  step.blocks.push_back(repeated([&] { block(frame, call.blocks[0]); }));
  enclosing_.pop_back();
  frame.turns.pop_back();
  block_->push_back(std::move(step));
}

void ViewCodeMaker::loop_over_view(Frame& frame, const Call& call, const Bound& view) {
  ViewStep step{.kind = Kind::each_point, .span = call.span};
  step.view = view.view;
  Bound turn;
  for (std::size_t axis = 0; axis < code_.views[view.view].rank; ++axis) {
    Bound coordinate;
    coordinate.kind = Bound::Kind::value;
    coordinate.value = host(Precision::i64);
    step.outs.push_back(coordinate.value);
    turn.parts.push_back(std::move(coordinate));
  }
  turn.kind = Bound::Kind::tuple;
  if (turn.parts.size() == 1) turn = Bound(turn.parts[0]);
  frame.turns.push_back(turn);
  enclosing_.push_back(true);
  ++points_;
  step.blocks.push_back(inside([&] { block(frame, call.blocks[0]); }));
  --points_;
  enclosing_.pop_back();
  frame.turns.pop_back();
  block_->push_back(std::move(step));
}

void ViewCodeMaker::while_loop(Frame& frame, const Call& call) {
  ViewStep step{.kind = Kind::while_, .span = call.span};
  step.blocks.push_back(repeated([&] { block(frame, call.blocks[0]); }));
  step.in = {value(frame, call.blocks[0].result)};
  enclosing_.push_back(true);
  step.blocks.push_back(repeated([&] { block(frame, call.blocks[1]); }));
  enclosing_.pop_back();
  block_->push_back(std::move(step));
}

void ViewCodeMaker::leave(Frame& frame, const Call& call) {
  const bool returns = call.form == Form::return_;
  if (returns) {
    if (depth_ == 0) throw not_built(call.span, "'return'");
    if (!call.in.empty()) {
      const Bound given = as(at(frame, call.in[0]), frame.function.result, call.span);
      if (!frame.result.valid()) {
        frame.returned = given;
        return;
      }
      if (given.kind != Bound::Kind::value) throw not_built(call.span, "such a result");
      emit({.kind = Kind::move, .span = call.span, .in = {given.value}}, frame.result);
    }
    if (!frame.result.valid()) return;
  }
  ViewStep step{.kind = call.form == Form::continue_ ? Kind::next : Kind::leave, .span = call.span};
  for (std::size_t at = enclosing_.size(); at-- > 0; ++step.levels)
    if (enclosing_[at] != returns) break;
  block_->push_back(std::move(step));
}

}  // namespace taskspec
