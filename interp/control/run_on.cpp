// `run e on ...`: a block of the program in a session of its own.
#include <algorithm>

#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/rebuilt.hpp"
#include "interp/control/run_site.hpp"
#include "interp/control/step_recording.hpp"
#include "ir/base/at_end.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec {

// Drops what the calls of a block left in the frame: handles must not outlive their session.
void Interpreter::forget(Frame& frame, const Block& block) {
  for (CallId id : block.calls) {
    frame.forget(id);
    for (const Block& inner : frame.function[id].blocks) forget(frame, inner);
  }
}

namespace {

std::optional<std::int64_t> time_steps_of(BackendChoice& choice) {
  const Value* steps = choice.option(time_steps_option);
  return steps && steps->is_integer() ? std::optional(steps->integer()) : std::nullopt;
}

// `.steps` of what a run gives: its outputs in all time steps.
Value stacked(const Invocation& last, const std::vector<Array>& all, Target& target) {
  auto steps = std::make_shared<Invocation>();
  steps->label = last.name();
  steps->names.assign(last.names.begin(), last.names.begin() + static_cast<std::ptrdiff_t>(all.size()));
  for (const Array& output : all) steps->outputs.push_back(target.constant(output));
  return Value(std::static_pointer_cast<Object>(std::move(steps)));
}

// What the block of a run reads of its surroundings: its arguments. They become tensors of its session before anything
// is called there, so that it knows them from what graphs hold themselves; afterwards the frame has its own again.
class Arguments {
 public:
  explicit Arguments(Target& target) : target_(target) {}
  void enter(Interpreter& outer, Frame& frame, CallId run) {
    const FreeUse& use = outer.facts().free_use(frame.id, run);
    for (const CallId id : use.values) enter(frame[id], frame.function[id].span);
    for (const VariableId id : use.read)
      if (std::ranges::find(use.written, id) == use.written.end()) enter(frame[id], frame.function[run].span);
    for (const std::uint32_t k : use.parameters) enter(frame.registers[k], frame.function[run].span);
  }
  ~Arguments() {
    for (auto& [place, before] : kept_)
      if (!place->is_none()) *place = std::move(before);  // else the block was the last to need it
  }
  Arguments(const Arguments&) = delete;

 private:
  void enter(Value& value, Span span) {
    bool is_changed = false;
    Value changed = rebuilt(value, [&](const Value& leaf) {
      const auto* tensor = leaf.as<Tensor>();
      if (!tensor) return leaf;
      is_changed = true;
      return target_.constant(tensor->recorder().receive(*tensor, span));
    });
    if (!is_changed) return;
    kept_.emplace_back(&value, std::move(value));
    value = std::move(changed);
  }

  Target& target_;
  std::vector<std::pair<Value*, Value>> kept_;
};

}  // namespace

Value Interpreter::run_on(Frame& frame, const Call& call) {
  if (frame.function.part == Part::host) {  // the graph program opens the session
    block(frame, call.blocks[0]);
    return {};
  }
  auto* choice = operand(frame, call, 0).as<BackendChoice>();
  target_->run_pending();  // what stands before the session comes before it
  if (!choice || !host_ || !host_->open_session) throw failure("E1302", call.span, "a session cannot be opened here");
  // A session of shards may make this the first one of several runs of the call, which it is until the call ends.
  const AtEnd as_before([this, before = host_->replica] { host_->replica = before; });
  std::unique_ptr<NestedSession> session;
  {
    const RunSite::Mark here({*this, frame, CallId(&call - frame.function.calls.data())});
    session = host_->open_session(*choice, call.span);
  }
  struct ClosesSession {  // what the frame holds of the session goes first, however this ends
    std::function<void()> run;
    ~ClosesSession() { run(); }
  } end{[&, scope = std::exchange(frame.scope, ScopeId(0))] {  // scopes of the outer graph mean nothing in it
    frame.scope = scope;
    forget(frame, call.blocks[0]);
    std::erase_if(host_->kept, [](const auto& kept) { return !kept->named(); });
    if (session->named()) host_->kept.push_back(std::move(session));
  }};
  Interpreter inner = nested(session->target());
  Value value;
  std::optional<StepRecording> repeated;
  Arguments arguments(session->target());
  std::vector<Array> all;  // by output: those of all time steps
  try {
    if (choice->backend->backend->keeps_constants)
      arguments.enter(*this, frame, CallId(&call - frame.function.calls.data()));
    if (const std::optional<std::int64_t> steps = time_steps_of(*choice)) {
      session->hold();
      repeated.emplace(*this, inner, frame, CallId(&call - frame.function.calls.data()), *steps);
    }
    value = inner.value_of(frame, call.blocks[0]);
    auto between = [&] { poll(call.span); };
    if (repeated) all = session->run_steps(repeated->taken(value, between), call.span);
  } catch (...) {
    try {
      throw;
    } catch (const Error& error) {
      session->failed(error.diags());
    } catch (...) {
      session->failed({});
    }  // also exit(code): what it showed before that is seen
    if (repeated) repeated->undo();
    forget(frame, call.blocks[0]);
    if (!interrupted_ || !interrupted_->load(std::memory_order_relaxed)) host_->unseen.append(session->end_early());
    throw;
  }
  value = rebuilt(value, [&](const Value& leaf) {  // contents leave the session that ends here
    auto* tensor = leaf.as<Tensor>();
    if (!tensor || !session->owns(*tensor)) return leaf;
    return target_->constant(session->target().receive(leaf, call.span));
  });
  auto result = std::make_shared<Invocation>();
  if (auto* invocation = value.as<Invocation>())
    *result = *invocation;
  else if (!value.is_none())
    result->outputs.push_back(value);
  value = Value();
  if (repeated) result->outputs.push_back(stacked(*result, all, *target_));
  repeated.reset();
  forget(frame, call.blocks[0]);
  result->outputs.push_back(session->report());
  result->names = call.type.names;
  return Value(std::static_pointer_cast<Object>(result));
}

}  // namespace taskspec
