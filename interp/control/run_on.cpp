// `run e on ...`: a block of the program in a session of its own.
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
  std::vector<Array> all;  // by output: those of all time steps
  try {
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
