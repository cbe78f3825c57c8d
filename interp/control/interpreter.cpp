#include "interp/control/interpreter.hpp"

#include <pthread.h>

#include "interp/control/deep_stack.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/rules.hpp"
#include "ir/console.hpp"

namespace taskspec {

namespace {

// Where this thread's stack ends, and a reserve in which an error can still be reported.
std::uintptr_t stack_floor() {
  pthread_attr_t attributes;
  void* address = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  constexpr std::size_t reserve = 256 << 10;
  return reinterpret_cast<std::uintptr_t>(address) + reserve;
}

// What a deep recursion passes through has small frames: what it seldom does stands in functions of its own.

// A range whose bounds are only known when the graph runs is as unknown as they are: they stand in its operands.
[[gnu::noinline]] Value range_of(const Value& begin, const Value& end) {
  if (begin.is_integer() && end.is_integer()) return Value(Range{begin.integer(), end.integer()});
  auto scalar = std::make_shared<GraphScalar>();
  scalar->written = print(begin) + ".." + print(end);
  scalar->type = Type::Kind::range;
  scalar->operands = {begin, end};
  return Value(std::static_pointer_cast<Object>(scalar));
}

[[noreturn, gnu::noinline]] void stop(Code code, Span span, const char* why) {
  before_deep_throw();
  throw failure(code, span, why);
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

[[gnu::noinline]] Value dimension_of(const Call& call, const Frame& frame) {
  Dim dim = evaluate(Dim(call.symbol), frame);
  return scalar_of(dim);
}

[[gnu::noinline]] Value list_of(const Call& call, Frame& frame) {
  List items;
  items.reserve(call.in.size());
  for (CallId item : call.in) items.push_back(frame[item]);
  // An int among floats: [1, 2.0] is [float].
  if (call.form == Form::list && call.type.is(Type::Kind::list) && call.type.parts[0].is(Type::Kind::real))
    for (Value& item : items)
      if (item.is_integer()) item = Value(item.real());
  return call.form == Form::list ? Value(std::move(items)) : Value(Tuple{std::move(items)});
}

[[gnu::noinline]] Value output_of(const Call& call, Frame& frame) {
  auto* invocation = frame[call.in[0]].as<Invocation>();
  if (!invocation || call.index >= invocation->outputs.size()) bug("output of something that has none");
  return invocation->outputs[call.index];
}

[[gnu::noinline]] Value type_of(const Call& call, const Frame& frame) {
  return Value(evaluate(call.type.is(Type::Kind::type) ? call.type.parts[0] : call.type, frame));
}

}  // namespace

Interpreter::Interpreter(const Program& program, HostContext* host)
    : program_(program),
      host_(host),
      facts_(std::make_shared<Facts>(program)),
      modules_(program.modules.size()),
      stack_limit_(stack_floor()) {
  if (!host) return;
  interrupted_ = host->interrupted;
  natives_ = host->natives;
  if (host->output)
    console_ = Value(std::static_pointer_cast<Object>(
        std::make_shared<Console>([host](std::string_view text) { host->output(text); })));
}

Interpreter Interpreter::nested(Target& target) const {
  Interpreter other(program_, host_);
  other.target_ = &target;
  other.partner_ = partner_;
  other.interrupted_ = interrupted_;
  other.facts_ = facts_;
  other.modules_ = modules_;
  other.globals_ = globals_;
  other.activations_ = activations_;
  return other;
}

void Interpreter::leave_host() { host_ = nullptr; }

void Interpreter::begin() {
  stack_limit_ = stack_floor();
  depth_ = 0;
}

Frame& Interpreter::module(const Module& module) {
  std::size_t position = static_cast<std::size_t>(&module - program_.modules.data());
  modules_.resize(program_.modules.size());
  modules_[position] =
      std::make_shared<Frame>(program_[module.top_level], module.top_level, facts_->function(module.top_level));
  block(*modules_[position], modules_[position]->function.body);
  return *modules_[position];
}

void Interpreter::module(const Module& module, FunctionId part) {
  const FunctionId id = part.valid() ? part : module.top_level;
  auto& frame = modules_[static_cast<std::size_t>(&module - program_.modules.data())];
  frame = std::make_shared<Frame>(program_[id], id, facts_->function(id));
  if (part.valid()) block(*frame, frame->function.body);
}

Frame& Interpreter::advance(const Module& module) {
  Block added;
  Frame& frame = grow(module, added);
  block(frame, added);
  return frame;
}

void Interpreter::skip(const Module& module) {
  Block added;
  grow(module, added);
}

// The frame with room for what its top level has grown by, which goes to `block`.
Frame& Interpreter::grow(const Module& module, Block& block) {
  std::size_t position = static_cast<std::size_t>(&module - program_.modules.data());
  modules_.resize(program_.modules.size());
  const Function& function = program_[module.top_level];
  std::shared_ptr<Frame>& frame = modules_[position];
  Added added = facts_->grow(module.top_level);
  if (!frame) frame = std::make_shared<Frame>(function, module.top_level, facts_->function(module.top_level));
  frame->values.resize(function.calls.size());
  frame->variables.resize(function.variables.size());
  // What became a place only now has one of its own, also where it names a version of another one: var c = a.
  for (VariableId variable : added.places) {
    Value& value = (*frame)[variable];
    if (value.as<Tensor>()) value = target_->place(function.variables[variable.index()].name, value);
  }
  block.calls = std::move(added.calls);
  return *frame;
}

Value Interpreter::global(const Module& module, VariableId variable) const {
  std::size_t position = static_cast<std::size_t>(&module - program_.modules.data());
  if (position >= modules_.size() || !modules_[position]) return {};
  const std::vector<Value>& variables = modules_[position]->variables;
  return variable.index() < variables.size() ? variables[variable.index()] : Value();
}

void Interpreter::forget_modules() { modules_.clear(); }

void Interpreter::forget(const Module& module, VariableId variable, CallId value) {
  Frame& frame = *modules_[static_cast<std::size_t>(&module - program_.modules.data())];
  frame[variable] = Value();
  if (value.valid()) frame[value] = Value();
}

// At each turn of a loop and each call. Who looks at a long program wants to see what it prints, long before its
// session runs by itself; counted and not timed, so that it is cut into the same segments in every run.
void Interpreter::poll(Span span) {
  if (interrupted_ && interrupted_->load(std::memory_order_relaxed)) stop("E5009", span, "interrupted");
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < stack_limit_)
    stop("E5006", span, "recursion too deep");
  constexpr std::uint32_t long_way = 1 << 14;  // some milliseconds
  if (++polls_ % long_way == 0) target_->show();
}

Interpreter::Flow Interpreter::block(Frame& frame, const Block& block) {
  const CallId* at = block.calls.data();
  try {
    for (const CallId* end = at + block.calls.size(); at != end; ++at) {
      if (Flow flow = step(frame, *at); flow != Flow::next) return flow;
      for (CallId read : frame.facts.last_read_by(*at)) frame[read] = Value();
    }
  } catch (const std::bad_alloc&) {  // no other: whatever has its place flies on, however deep this is
    stop("E5008", frame.function[*at].span, "no memory left");
  }
  return Flow::next;
}

Value Interpreter::value_of(Frame& frame, const Block& b) {
  block(frame, b);
  return b.result.valid() ? frame[b.result] : Value();
}

Interpreter::Flow Interpreter::step(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  if (!call.guards.empty()) check_guards(frame, call);
  switch (call.form) {
    case Form::if_:
    case Form::for_:
    case Form::while_:
      if (frame.in_graph && target_->structured(*this, frame, id)) return Flow::next;
      if (call.form == Form::if_) return if_(frame, call);
      return call.form == Form::for_ ? for_(frame, call) : while_(frame, call);
    case Form::return_:
      if (!call.in.empty()) frame.result = operand(frame, call, 0);
      return Flow::return_;
    case Form::break_:
      return Flow::break_;
    case Form::continue_:
      return Flow::continue_;
    default:
      evaluate_call(frame, id);
      return Flow::next;
  }
}

void Interpreter::evaluate_call(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  Value& out = frame[id];
  switch (call.form) {
    case Form::constant:
      out = call.value;
      break;
    case Form::parameter:
      out = frame.arguments[call.index];
      break;
    case Form::dimension:
      out = dimension_of(call, frame);
      break;
    case Form::type:
      out = type_of(call, frame);
      break;
    case Form::variable:
      out = read_variable(frame, call);
      break;
    case Form::global:
      out = read_global(call);
      break;
    case Form::loop:
      break;  // set by the loop
    case Form::op:
      out = appends(frame, id) ? append(frame, call) : placed(call.span, [&] { return op(frame, call); });
      break;
    case Form::builtin:
      out = placed(call.span, [&] { return builtin(frame, call); });
      break;
    case Form::tuple:
    case Form::list:
      out = list_of(call, frame);
      break;
    case Form::range:
      out = range_of(operand(frame, call, 0), operand(frame, call, 1));
      break;
    case Form::element:
      out = element(frame, call);
      break;
    case Form::item:
      out = item(operand(frame, call, 0), operand(frame, call, 1).integer(), call.span);
      break;
    case Form::items:
      out = items(operand(frame, call, 0), operand(frame, call, 1).integer(), operand(frame, call, 2).integer(),
                  call.span);
      break;
    case Form::field:
      out = field(frame, call);
      break;
    case Form::receive:
      out = receive(frame, call);
      break;
    case Form::agent:
      out = make_agent(frame, call);
      break;
    case Form::self:
      out = frame.self;
      break;
    case Form::member:
    case Form::function:
    case Form::closure:
      out = make_callable(frame, call);
      break;
    case Form::compose:
      out = compose(frame, call);
      break;
    case Form::call:
    case Form::invoke:
      if (call.form == Form::call && frame.in_graph && target_->structured(*this, frame, id)) break;
      out = call_function(frame, call);
      break;
    case Form::apply:
      out = apply_value(frame, call);
      break;
    case Form::output:
      out = output_of(call, frame);
      break;
    case Form::write:
      write(frame, call.variable, operand(frame, call, 0));
      break;
    case Form::store:
      store(frame, call);
      break;
    case Form::both:
    case Form::either: {
      bool left = truth(operand(frame, call, 0), call.span);
      bool decided = call.form == Form::both ? !left : left;
      out = Value(decided ? left : truth(value_of(frame, call.blocks[0]), call.span));
      break;
    }
    case Form::run:
      out = run_on(frame, call);
      break;
    case Form::enqueue:
      partner_->enqueue(*this, frame, call);
      break;
    case Form::dequeue:
      out = partner_->dequeue(*this, frame, call);
      break;
    case Form::if_:
    case Form::for_:
    case Form::while_:
    case Form::return_:
    case Form::break_:
    case Form::continue_:
      bug("control form evaluated as a value");
  }
}

void Interpreter::check_guards(Frame& frame, const Call& call) {
  for (const Guard& guard : call.guards) {
    Dim left = evaluate(guard.left, frame), right = evaluate(guard.right, frame);
    if (left.is_constant() && right.is_constant() && !(left == right))
      throw failure("E5004", call.span,
                    guard.what.substr(0, guard.what.find(" is ")) + " is " + left.text() + " here, " + right.text() +
                        " is needed");
  }
}

bool Interpreter::truth(const Value& value, Span span) {
  return value.is_bool() ? value.boolean() : target_->decide(value, span);
}

// ---- control flow ---------------------------------------------------------------------------------

Interpreter::Flow Interpreter::if_(Frame& frame, const Call& call) {
  bool taken = truth(operand(frame, call, 0), call.span);
  std::size_t branch = taken ? 0 : 1;
  return branch < call.blocks.size() ? block(frame, call.blocks[branch]) : Flow::next;
}

Interpreter::Flow Interpreter::for_(Frame& frame, const Call& call) {
  const Block& body = call.blocks[0];
  Value domain = operand(frame, call, 0);
  bool named = !body.calls.empty() && frame.function[body.calls[0]].form == Form::loop;
  std::int64_t count = domain.is_range() ? domain.range().size() : static_cast<std::int64_t>(domain.list().size());
  for (std::int64_t i = 0; i < count; ++i) {
    poll(call.span);
    if (named)
      frame[body.calls[0]] =
          domain.is_range() ? Value(domain.range().begin + i) : domain.list()[static_cast<std::size_t>(i)];
    Flow flow = block(frame, body);
    if (flow == Flow::break_) break;
    if (flow == Flow::return_) return flow;
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::while_(Frame& frame, const Call& call) {
  while (truth(value_of(frame, call.blocks[0]), call.span)) {
    poll(call.span);
    Flow flow = block(frame, call.blocks[1]);
    if (flow == Flow::break_) break;
    if (flow == Flow::return_) return flow;
  }
  return Flow::next;
}

}  // namespace taskspec
