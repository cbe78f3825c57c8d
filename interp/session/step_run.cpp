#include "interp/session/step_run.hpp"

#include <algorithm>
#include <cstring>

#include "ir/base/at_end.hpp"

namespace taskspec {

StepRun::StepRun(Session& session, const TimeSteps& steps, Span place)
    : session_(session), steps_(steps), place_(place) {
  varying_[key(ref_of(steps.number))] = true;
  for (const TimeSteps::Carried& state : steps.carried) varying_[key(ref_of(state.first))] = true;
}

// Its states are gone, so its tasks can never run.
StepRun::~StepRun() {
  for (std::size_t i = 0; i < owned_.size(); ++i)
    if (owned_[i] && inputs_[i].valid()) session_.backend_.free(inputs_[i]);
  for (NodeId node : batch_.nodes) {
    if (session_.live_.is_done(node)) continue;
    session_.live_.set(node, Liveness::State::poisoned, Failures::out_of_memory);
    session_.settled(node);
  }
}

// ---- what differs from step to step ---------------------------------------------------------------

bool StepRun::varies(NodeId node) const {
  if (session_.pending_.prints(node)) return true;
  return std::ranges::any_of(session_.graph.in(node), [this](Ref ref) { return varying_.contains(key(ref)); });
}

// What the first contents of states are made of.
std::set<NodeId> StepRun::in_front() const {
  std::vector<NodeId> open;
  for (const TimeSteps::Carried& state : steps_.carried)
    if (const Ref ref = ref_of(state.first); ref.is_future()) open.push_back(ref.node());
  std::set<NodeId> found;
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (session_.live_.is_done(node) || !found.insert(node).second) continue;
    for (Ref ref : session_.graph.in(node))
      if (ref.is_future()) open.push_back(ref.node());
  }
  return found;
}

// The others run now, in one batch of their own.
std::vector<NodeId> StepRun::take_varying() {
  std::vector<NodeId> often, once;
  const bool whole = session_.backend_.keeps_steps_whole();
  const std::set<NodeId> first = whole ? in_front() : std::set<NodeId>();
  for (NodeId node : session_.needed()) {
    const bool is_often = whole ? !first.contains(node) : varies(node);
    (is_often ? often : once).push_back(node);
    if (!is_often) continue;
    for (std::size_t slot = 0; slot < session_.graph.out(node).size(); ++slot)
      varying_[key(Ref::future(node, slot))] = true;
  }
  if (!once.empty()) session_.run(std::move(once));
  return often;
}

void StepRun::raise_poison(Ref ref) { session_.failures_.raise(session_.live_.entry(ref).poison, ref.node(), place_); }

// ---- the batch ------------------------------------------------------------------------------------

void StepRun::prepare(std::vector<NodeId> nodes) {
  std::map<Key, bool> kept, donated;
  for (const Value& output : steps_.outputs) kept[key(ref_of(output))] = true;
  for (const TimeSteps::Carried& state : steps_.carried) {
    kept[key(ref_of(state.last))] = true;
    donated[key(ref_of(state.first))] = true;
  }
  for (NodeId node : nodes)
    if (session_.graph.definition(node).kind == Definition::Kind::launch)
      throw failure("E1009", session_.graph[node].span, "launches in time steps are not built yet");
  batch_ = batch_of(
      session_.graph, std::move(nodes), session_.pending_.requirements(),
      [&](NodeId node, std::size_t slot) { return kept.contains(key(Ref::future(node, slot))); },
      [&](Ref ref) { return donated.contains(key(ref)); },
      [&](Ref ref) { return !donated.contains(key(ref)) && session_.live_.is_of_call(ref); });
  const Plans::Found found = session_.find_plan(batch_);
  if (auto* refused = std::get_if<std::vector<Poison>>(&found)) {
    const Poison& first = refused->front();
    give_up(session_.failures_.add({batch_.nodes[first.origin.index()], first.fault}));
  }
  plan_ = std::get<const Plans::Made*>(found);
}

// The first step works on what the session has; from there on the states are this run's own.
void StepRun::bind_states() {
  for (const Ref ref : batch_.inputs) {
    if (ref.is_future() && session_.live_.entry(ref).state == Liveness::State::poisoned) raise_poison(ref);
    inputs_.push_back(session_.live_.location(ref));
    if (key(ref) == key(ref_of(steps_.number))) number_ = inputs_.size() - 1;
  }
  owned_.resize(inputs_.size());
  auto position = [](const std::vector<Ref>& refs, Ref wanted) {
    return static_cast<std::size_t>(std::ranges::find_if(refs, [&](Ref ref) { return key(ref) == key(wanted); }) -
                                    refs.begin());
  };
  for (const TimeSteps::Carried& carried : steps_.carried)
    if (position(batch_.results, ref_of(carried.last)) == batch_.results.size())
      throw failure("E1009", place_, "a state that is given the same value in all time steps is not built yet");
  for (const TimeSteps::Carried& carried : steps_.carried) {
    const Ref first = ref_of(carried.first);
    State state{first, position(batch_.inputs, first), position(batch_.results, ref_of(carried.last))};
    if (state.input < batch_.inputs.size()) {
      session_.live_.taken(first);
      owned_[state.input] = true;
    } else {  // no task reads it, but it may be an output: behind the inputs, the session's own until the first step
      if (first.is_future() && session_.live_.entry(first).state == Liveness::State::poisoned) raise_poison(first);
      state.input = inputs_.size();
      inputs_.push_back(session_.live_.location(first));
      owned_.push_back(false);
    }
    states_.push_back(state);
  }
}

void StepRun::bind_outputs() {
  for (const Value& value : steps_.outputs) {
    const Ref ref = ref_of(value);
    Output output;
    const auto result = std::ranges::find_if(batch_.results, [&](Ref r) { return key(r) == key(ref); });
    const auto state = std::ranges::find_if(states_, [&](const State& s) { return key(s.first) == key(ref); });
    if (result != batch_.results.end()) {
      output.from = Output::From::result;
      output.position = static_cast<std::size_t>(result - batch_.results.begin());
    } else if (state != states_.end()) {
      output.from = Output::From::state;
      output.position = state->input;
    }
    ArrayType all = concrete(session_.graph.type(ref));
    all.extents.insert(all.extents.begin(), steps_.count);
    output.all = Array::make(std::move(all));
    outputs_.push_back(std::move(output));
  }
}

// What is the same in all steps stands in each of them.
void StepRun::stack_outside() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].from != Output::From::outside) continue;
    const Array one = session_.look(*steps_.outputs[i].as<Tensor>(), place_);
    for (std::int64_t k = 0; k < steps_.count; ++k)
      std::memcpy(outputs_[i].all.raw() + static_cast<std::size_t>(k) * one.bytes(), one.raw(), one.bytes());
  }
}

void StepRun::copy_row(Output& output, std::int64_t k, Location from) const {
  const Array row = session_.backend_.read(from);
  std::memcpy(output.all.raw() + static_cast<std::size_t>(k) * row.bytes(), row.raw(), row.bytes());
}

// ---- running --------------------------------------------------------------------------------------

// None of its tasks runs again, and nobody can ask for what they make.
void StepRun::give_up(std::uint32_t cause) {
  for (NodeId node : batch_.nodes) {
    session_.live_.set(node, Liveness::State::poisoned, cause);
    session_.settled(node);
  }
  const NodeId origin = session_.failures_.origin(cause);
  session_.failures_.raise(cause, origin.valid() ? origin : batch_.nodes.front(), place_);
}

void StepRun::check(const Outcome& outcome) {
  if (outcome.lost) give_up(Failures::out_of_memory);
  const Poison* first = outcome.failed.empty() ? nullptr : &outcome.failed.front();
  for (const auto& result : outcome.results)
    if (!first) first = std::get_if<Poison>(&result);
  if (!first) return;
  for (const auto& result : outcome.results)
    if (auto* location = std::get_if<Location>(&result)) session_.backend_.free(*location);
  give_up(session_.failures_.add({batch_.nodes[first->origin.index()], first->fault}));
}

// What a step leaves is what the next one begins with; what it gave else is in `outputs_` already.
void StepRun::pass_on(Outcome& outcome, bool last) {
  std::vector<bool> kept(outcome.results.size(), last);
  for (const State& state : states_) {
    if (owned_[state.input] && inputs_[state.input].valid()) session_.backend_.free(inputs_[state.input]);
    inputs_[state.input] = std::get<Location>(outcome.results[state.result]);
    kept[state.result] = true;
    owned_[state.input] = !last;
  }
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (!kept[i]) session_.backend_.free(std::get<Location>(outcome.results[i]));
}

void StepRun::commit(const Outcome& outcome) {
  for (NodeId node : batch_.nodes) session_.live_.set(node, Liveness::State::gone);
  for (std::size_t i = 0; i < batch_.results.size(); ++i) {
    Liveness::Entry& entry = session_.live_.entry(batch_.results[i]);
    entry.state = Liveness::State::ready;
    entry.location = std::get<Location>(outcome.results[i]);
  }
  for (NodeId node : batch_.nodes) session_.settled(node);
  for (const Ref ref : batch_.results) session_.live_.drop_if_unseen(ref);
}

void StepRun::step(std::int64_t k) {
  if (steps_.between) steps_.between();
  if (number_ != SIZE_MAX) {
    Array number = Array::make({Precision::i64, {}});
    number.data<std::int64_t>()[0] = k;
    session_.backend_.write(inputs_[number_], number);
  }
  for (Output& output : outputs_)
    if (output.from == Output::From::state) copy_row(output, k, inputs_[output.position]);
  const SessionOptions& options = session_.options_;
  Outcome outcome = session_.run_plan(batch_, *plan_, std::span(inputs_).first(batch_.inputs.size()));
  session_.count(*plan_, outcome);
  for (std::uint32_t input : outcome.taken) inputs_[input] = {};
  if (options.record_ops) session_.op_profile_.add(*plan_, session_.graph, batch_.nodes, outcome.op_records);
  check(outcome);
  for (Output& output : outputs_)
    if (output.from == Output::From::result) copy_row(output, k, std::get<Location>(outcome.results[output.position]));
  const bool last = k + 1 == steps_.count;
  pass_on(outcome, last);
  if (last) commit(outcome);
}

std::vector<Array> StepRun::run() {
  const AtEnd tidied([this] { session_.pending_.tidy(); });
  std::vector<NodeId> nodes = take_varying();
  if (!nodes.empty()) {
    prepare(std::move(nodes));
    bind_states();
  }
  bind_outputs();
  stack_outside();
  for (std::int64_t k = 0; !batch_.nodes.empty() && k < steps_.count; ++k) {
    try {
      step(k);
    } catch (const Error& error) {
      Diag diag = error.diags().items().front();
      diag.note("in time step " + std::to_string(k) + " of " + std::to_string(steps_.count) + ", counted from 0");
      throw Error(std::move(diag));
    }
  }
  std::vector<Array> all;
  for (Output& output : outputs_) all.push_back(std::move(output.all));
  return all;
}

std::vector<Array> Session::run_steps(const TimeSteps& steps, Span place) {
  holds_ = false;
  return StepRun(*this, steps, place).run();
}

}  // namespace taskspec
