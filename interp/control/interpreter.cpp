#include "interp/control/interpreter.hpp"

#include <pthread.h>

#include <set>

#include "interp/control/capture.hpp"
#include "interp/control/deep_stack.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/rules.hpp"
#include "ir/records/console.hpp"

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

[[noreturn, gnu::noinline]] void stop(Code code, Span span, const char* why) {
  before_deep_throw();
  throw failure(code, span, why);
}

constinit const std::atomic<bool> never = false;

}  // namespace

Interpreter::Interpreter(const Program& program, HostContext* host)
    : program_(program),
      host_(host),
      interrupted_(&never),
      facts_(std::make_shared<Facts>(program, host ? host->forms : std::span<const FormStep>())),
      modules_(program.modules.size()),
      nothing_launched_(std::static_pointer_cast<Object>(std::make_shared<Invocation>())),
      stack_limit_(stack_floor()) {
  if (!host) return;
  if (host->interrupted) interrupted_ = host->interrupted;
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
  other.by_rules_ = by_rules_;
  other.step_ = step_;
  return other;
}

void Interpreter::leave_host() { host_ = nullptr; }

void Interpreter::leave_host_but_for_slots() { host_of_slots_ = std::exchange(host_, nullptr); }

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
  try {
    execute(frame, facts_->compact(module.top_level, added.calls));
  } catch (...) {
    frame.forget_loops();
    throw;
  }
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
  frame->grow();
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
  const Frame& frame = *modules_[position];
  return variable.index() < frame.facts.registers.variables.size() ? frame[variable] : Value();
}

void Interpreter::each_global(FunctionRef<void(const Value&)> visit) const {
  for (const std::shared_ptr<Frame>& module : modules_)
    if (module)
      for (std::uint32_t variable : module->facts.registers.variables) visit(module->registers[variable]);
}

void Interpreter::each_agent_global(std::span<const GlobalUse> uses, std::span<const Value> values,
                                    FunctionRef<void(GlobalUse, const Value&)> visit) const {
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  std::vector<GlobalUse> todo(uses.begin(), uses.end());
  auto reach = [&](const Value& value) {
    each_function(value, [&](FunctionId inside) {
      const std::vector<GlobalUse>& more = facts_->globals(inside);
      todo.insert(todo.end(), more.begin(), more.end());
    });
  };
  for (const Value& value : values) reach(value);
  while (!todo.empty()) {
    const GlobalUse use = todo.back();
    todo.pop_back();
    if (!known.emplace(use.module.value, use.variable.value).second) continue;
    const Module& file = program_.modules[use.module.index()];
    if (!may_hold_agents(program_[file.top_level].variables[use.variable.index()].type)) continue;
    const Value value = global(file, use.variable);
    reach(value);
    if (holds_slots(value)) visit(use, value);
  }
}

void Interpreter::forget_modules() { modules_.clear(); }

void Interpreter::forget(const Module& module, VariableId variable, CallId value) {
  Frame& frame = *modules_[static_cast<std::size_t>(&module - program_.modules.data())];
  frame[variable] = Value();
  if (value.valid()) frame.forget(value);
}

// At each turn of a loop and each call. Who looks at a long program wants to see what it prints, long before its
// session runs by itself; counted and not timed, so that it is cut into the same batches in every run.
void Interpreter::poll(Span span) {
  if (interrupted_->load(std::memory_order_relaxed)) stop("E5009", span, "interrupted");
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < stack_limit_)
    stop("E5006", span, "recursion too deep");
  if (++polls_ % long_way == 0) target_->run_prints();
}

void Interpreter::enter_far(Span span) {
  poll(span);
  if (depth_ == deepest) stop("E5006", span, "recursion too deep");
}

void Interpreter::no_memory(Span span) { stop("E5008", span, "no memory left"); }

Flow Interpreter::block(Frame& frame, const Block& block) {
  return block.calls.empty() ? Flow::next : execute(frame, facts_->compact(frame.id, block, frame.in_graph));
}

Value Interpreter::value_of(Frame& frame, const Block& b) {
  block(frame, b);
  return b.result.valid() ? frame[b.result] : Value();
}

Flow Interpreter::step(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  if (!call.guards.empty()) check_guards(frame, call);
  return form_step(frame, id);
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

}  // namespace taskspec
