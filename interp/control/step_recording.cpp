#include "interp/control/step_recording.hpp"

#include <algorithm>

#include "interp/control/capture.hpp"

namespace taskspec {

namespace {

// What the block of the run reads that agents may hang on.
std::vector<Value> read_by(const Frame& frame, const FreeUse& use) {
  std::vector<Value> values;
  for (CallId id : use.values) values.push_back(frame[id]);
  for (VariableId id : use.read) values.push_back(frame[id]);
  for (std::uint32_t k : use.parameters) values.push_back(frame.registers[k]);
  return values;
}

bool is_state(const Program& program, const Agent& agent, std::size_t slot) {
  return program[agent.definition].slots[slot].kind == SlotKind::state;
}

}  // namespace

StepRecording::StepRecording(Interpreter& outer, Interpreter& inner, Frame& frame, CallId run, std::int64_t count)
    : inner_(inner), frame_(frame), count_(count), number_(inner.target().constant(Array::make({Precision::i64, {}}))) {
  const FreeUse& use = outer.facts().free_use(frame.id, run);
  const std::vector<Value> values = read_by(frame, use);
  for (const Value& value : values) each_agent(value, [this](Agent& agent) { keep(agent); });
  outer.each_agent_global(use.globals, values, [this](GlobalUse, const Value& value) {
    each_agent(value, [this](Agent& agent) { keep(agent); });
  });
  const Call& call = frame.function[frame.function[run].blocks[0].result];
  for (const Place& place : call.places) {
    Value& now = frame[place.variable];
    const Value before = now;
    now = inner.target().place(frame.function.variables[place.variable.index()].name, before);
    variables_.push_back({place.variable, now, before});
  }
  inner.recording_ = this;
}

// A state from outside of the session has a place there, so that what reads it before it changes reads that.
void StepRecording::keep(Agent& agent) {
  if (std::ranges::any_of(agents_, [&](const Kept& kept) { return kept.agent == &agent; })) return;
  Kept kept{&agent, {}, {}, agent.slots};
  for (std::size_t i = 0; i < agent.slots.size(); ++i)
    if (is_state(inner_.program(), agent, i))
      agent.slots[i] =
          inner_.target().place(agent.path + "." + inner_.program()[agent.definition].slots[i].name, agent.slots[i]);
  kept.first = agent.slots;
  agents_.push_back(std::move(kept));
}

void StepRecording::made(const Value& agent) {
  Agent& inside = *agent.as<Agent>();
  agents_.push_back({&inside, agent, inside.slots, {}});
}

TimeSteps StepRecording::taken(const Value& called, FunctionRef<void()> between) const {
  TimeSteps steps;
  steps.between = between;
  steps.count = count_;
  steps.number = number_;
  auto carry = [&](const Value& first, const Value& last) {
    const Ref a = first.as<Tensor>()->ref, b = last.as<Tensor>()->ref;
    if (a.kind != b.kind || a.id != b.id || a.slot != b.slot) steps.carried.push_back({first, last});
  };
  for (const Kept& kept : agents_)
    for (std::size_t i = 0; i < kept.first.size(); ++i)
      if (is_state(inner_.program(), *kept.agent, i)) carry(kept.first[i], kept.agent->slots[i]);
  for (const Variable& variable : variables_) carry(variable.first, frame_[variable.variable]);
  for (const Value& output : called.as<Invocation>()->outputs)
    steps.outputs.push_back(output.is_array() ? inner_.target().constant(output.array()) : output);
  return steps;
}

void StepRecording::undo() {
  for (const Kept& kept : agents_)
    if (!kept.before.empty()) kept.agent->slots = kept.before;
  for (const Variable& variable : variables_) frame_[variable.variable] = variable.before;
}

Value Interpreter::time_step(Frame&, const Call& call) {
  if (!recording_) throw failure("E1004", call.span, "there are no time steps here");
  return recording_->number();
}

}  // namespace taskspec
