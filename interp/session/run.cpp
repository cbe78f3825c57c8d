// What a session runs, and what it makes of the outcome.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "interp/session/session.hpp"
#include "ir/base/at_end.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

void Session::settled(NodeId node) {
  pending_.settled(node);
  live_.settled(node);
}

std::vector<NodeId> Session::needed() {
  return pending_.needed([this](NodeId node) {
    ++counts_.dropped;
    live_.set(node, Liveness::State::gone);
    settled(node);
  });
}

// ---- running --------------------------------------------------------------------------------------

// Whether there was memory for what runs; what could not run stays pending.
bool Session::fits(FunctionRef<void()> running) {
  try {
    running();
    return true;
  } catch (const Error& error) {
    if (error.diags().items().front().code != Code("E5008")) throw;
  } catch (const std::bad_alloc&) {
  }
  return false;
}

void Session::run_needed() { run(needed()); }

// What could not run, because a plan or its inputs found no memory, stays pending and may be tried again.
void Session::run(std::vector<NodeId> nodes) {
  const AtEnd tidied([this] { pending_.tidy(); });
  // First values of slots are no part of what reads them: the first call of a graph is planned as all later ones are.
  auto others = std::ranges::stable_partition(nodes, [this](NodeId node) { return graph[node].first_value; });
  const std::vector<NodeId> first(nodes.begin(), others.begin()), rest(others.begin(), nodes.end());
  for (const std::vector<NodeId>* part : {&first, &rest}) run_part(*part);
}

void Session::note_if_effect(NodeId node, std::uint32_t cause) {
  if (graph[node].effect) failures_.add_effect(node, cause, pending_.prints(node));
}

// It did not happen, and nothing that needs it will.
void Session::poison(NodeId node, std::uint32_t cause) {
  note_if_effect(node, cause);
  if (writes_fields(node)) poisoned_.never_runs(node, cause);
  live_.set(node, Liveness::State::poisoned, cause);
  settled(node);
}

bool Session::writes_fields(NodeId node) const { return is_launch(graph, node) && graph.launch(node).writes(); }

// A task that reads a poisoned entry is poisoned by it and does not run. What only comes after one runs. What can run
// does so first: it may fail as well, and stand before the cause that is known already. But what a launch leaves in
// fields is there for those behind it, and not for those before it.
void Session::run_part(const std::vector<NodeId>& nodes) {
  std::vector<NodeId> healthy, sick;
  healthy.reserve(nodes.size());
  std::unordered_set<std::uint32_t> unable;
  const auto reads_poison = [&](Ref ref) {
    return ref.is_future() && (live_.entry(ref).state == Liveness::State::poisoned || unable.contains(ref.id));
  };
  const auto run_so_far = [&] {
    if (!healthy.empty()) execute(std::exchange(healthy, {}));
    for (NodeId node : sick) poison(node, first_cause(node));
    sick.clear();
    unable.clear();
  };
  for (NodeId node : nodes) {
    if (live_.is_done(node)) continue;
    const bool is_sick = std::ranges::any_of(graph.in(node), reads_poison);
    (is_sick ? sick : healthy).push_back(node);
    if (is_sick) unable.insert(node.value);
    if (is_sick && writes_fields(node)) run_so_far();
  }
  run_so_far();
}

// Of the poisons that a task reads the one whose origin is the first in the program, however the tasks were cut.
std::uint32_t Session::first_cause(NodeId node) {
  std::optional<std::uint32_t> first;
  for (Ref ref : graph.in(node)) {
    if (!ref.is_future() || live_.entry(ref).state != Liveness::State::poisoned) continue;
    const std::uint32_t cause = live_.entry(ref).poison;
    if (!first || failures_.origin(cause) < failures_.origin(*first)) first = cause;
  }
  return first.value();
}

void Session::execute(std::vector<NodeId> nodes) {
  live_.field_memory().change();
  const Batch batch = pending_.take_batch(nodes);
  const Plans::Found found = find_plan(batch);
  if (auto* refused = std::get_if<std::vector<Poison>>(&found)) return refuse(batch, *refused);
  const Plans::Made& plan = *std::get<const Plans::Made*>(found);
  std::vector<Location> inputs(batch.inputs.size());
  bool ran = false;
  const AtEnd freed([&] {
    for (std::size_t input : batch.made)
      if (!ran && inputs[input].valid()) backend_.free(inputs[input]);
  });
  for (std::size_t input : batch.made)
    inputs[input] = backend_.allocate_zeros(concrete(graph.type(batch.inputs[input])));
  for (std::size_t input = 0; input < inputs.size(); ++input)
    if (!inputs[input].valid()) inputs[input] = live_.location(batch.inputs[input]);
  Causes met;
  if (!poisoned_.empty()) met = poisoned_.met_by(batch, plan.graph);
  Outcome outcome = run_plan(batch, plan, inputs, dead_points(met));
  ran = true;
  count(plan, outcome);
  settle(batch, plan, inputs, std::move(met), outcome);
  if (options_.record_ops) op_profile_.add(plan, graph, batch.nodes, outcome.op_records);
}

// Why they do not run is known here; the backend passes on that they do not.
std::vector<Poison> Session::dead_points(const Causes& met) const {
  std::vector<Poison> dead;
  for (const auto& [node, cause] : met) dead.push_back({node, {"E5009", "not run"}});
  return dead;
}

// That it is made is seen on the timeline.
Plans::Found Session::find_plan(const Batch& batch) {
  const std::int64_t begin = log_ ? log_->now() : 0;
  const std::uint32_t before = plans_.made();
  Plans::Found found = plans_.find(batch, graph, pending_.requirements());
  const auto* made = std::get_if<const Plans::Made*>(&found);
  if (log_ && made && plans_.made() > before)
    log_->add(
        {.what = ControlEntry::What::plan, .plan = profile_.plan_of(**made), .begin_ns = begin, .end_ns = log_->now()});
  return found;
}

Outcome Session::run_plan(const Batch& batch, const Plans::Made& plan, std::span<const Location> inputs,
                          std::span<const Poison> dead) {
  const std::int64_t begin = log_ ? log_->now() : 0;
  const auto place = [&](NodeId node) { return graph[batch.nodes[plan.graph.position(node)]].span; };
  Outcome outcome = backend_.execute(*plan.executable, inputs,
                                     {options_.schedule, options_.record, options_.record_ops, dead, place});
  if (!options_.record) return outcome;
  const std::uint32_t run = profile_.add(plan, outcome.records, begin);
  if (!outcome.failed.empty()) profile_.add_failed(plan, outcome.failed);
  if (log_)
    log_->add({.what = ControlEntry::What::run,
               .plan = profile_.plan_of(plan),
               .run = run,
               .begin_ns = begin,
               .end_ns = log_->now()});
  return outcome;
}

// What the backend cannot run fails; the rest runs without it.
void Session::refuse(const Batch& batch, const std::vector<Poison>& refused) {
  if (refused.empty()) bug("a backend refused a graph, and none of its tasks");
  std::map<NodeId, Fault> launches;  // what stands before them reads fields as they were
  for (const Poison& one : refused) {
    const NodeId node = batch.nodes[one.origin.index()];
    if (writes_fields(node))
      launches.emplace(node, one.fault);
    else if (!live_.is_done(node))
      poison(node, failures_.add({node, one.fault}));
  }
  std::vector<NodeId> before;
  for (NodeId node : batch.nodes) {
    const auto fault = launches.find(node);
    if (fault == launches.end()) {
      before.push_back(node);
      continue;
    }
    run_part(std::exchange(before, {}));
    if (!live_.is_done(node)) poison(node, failures_.add({node, fault->second}));
  }
  run_part(before);
}

void Session::count(const Plans::Made& made, const Outcome& outcome) {
  counts_.tasks += outcome.tasks_run;
  // Pull leaves out what only had to come before something else.
  if (outcome.failed.empty()) counts_.dropped += made.graph.graph->size() - outcome.tasks_run;
  counts_.chains += made.chain_count;
  counts_.dispatches += outcome.dispatches;
  counts_.run_peak = std::max(counts_.run_peak, outcome.peak_bytes);
  const std::shared_ptr<const Plan> plan = made.executable->plan();
  if (!plan) return;
  counts_.arena = std::max(counts_.arena, plan->arena_bytes);
  counts_.plan_peak = std::max(counts_.plan_peak, plan->peak_bytes);
  counts_.peak_without_chains = std::max(counts_.peak_without_chains, plan->peak_without_chains);
}

// Whether an effect happened is not seen at the results: nobody may have asked for the version it makes. Of launches it
// is known which points died.
void Session::note_failed_effects(const Batch& batch, const std::map<NodeId, std::uint32_t>& failed) {
  std::unordered_map<std::uint32_t, std::uint32_t> sick;
  for (NodeId node : batch.nodes) {
    std::uint32_t cause = UINT32_MAX;
    if (auto own = failed.find(node); own != failed.end()) cause = own->second;
    if (graph.definition(node).kind != Definition::Kind::launch)
      for (Ref ref : graph.in(node))
        if (auto before = ref.is_future() ? sick.find(ref.id) : sick.end(); before != sick.end())
          cause = std::min(cause, before->second);
    if (cause == UINT32_MAX) continue;
    sick.emplace(node.value, cause);
    note_if_effect(node, cause);
  }
}

Failures::Cause Session::cause_of(const Batch& batch, const BatchGraph& graph, const Poison& poison) const {
  Failures::Cause cause{.origin = batch.nodes[graph.position(poison.origin)], .fault = poison.fault};
  const PointGroup* group = graph.graph->points(poison.origin);
  if (group && !group->launch->single && !folds_all(*group))
    cause.point = "[" + group->launch->point(poison.origin.value - group->first.value).index() + "]";
  return cause;
}

// By task of the session; of a launch the first one of its points.
std::map<NodeId, std::uint32_t> Session::causes_by_task(const Batch& batch, const BatchGraph& graph,
                                                        const Causes& failed, const Outcome& outcome) const {
  std::map<NodeId, std::uint32_t> causes;
  auto note = [&](NodeId node, std::uint32_t cause) {
    auto [known, fresh] = causes.emplace(batch.nodes[graph.position(node)], cause);
    known->second = std::min(known->second, cause);
  };
  for (const auto& [node, cause] : failed) note(node, cause);
  for (const auto& [node, poison] : outcome.dead)
    if (const PointGroup* group = graph.graph->points(node); !group || !is_join(*group))
      note(node, failed.at(poison.origin));
  return causes;
}

// The tasks ran: none of them may run again, whatever happens here.
void Session::settle(const Batch& batch, const Plans::Made& plan, std::span<const Location> inputs, Causes failed,
                     Outcome& outcome) {
  if (outcome.lost) return lose(batch, inputs, outcome);
  auto note = [&](const Poison& poison) {
    auto [known, fresh] = failed.emplace(poison.origin, 0);
    if (fresh) known->second = failures_.add(cause_of(batch, plan.graph, poison));
  };
  try {
    for (const Poison& poison : outcome.failed) note(poison);
    for (const auto& [node, poison] : outcome.dead) note(poison);
    if (!failed.empty()) note_failed_effects(batch, causes_by_task(batch, plan.graph, failed, outcome));
    for (const auto& result : outcome.results)
      if (auto* poison = std::get_if<Poison>(&result)) note(*poison);  // also what was stopped: interrupted
    Causes dead;
    for (const auto& [node, poison] : outcome.dead) dead.emplace(node, failed.at(poison.origin));
    if (!dead.empty() || !poisoned_.empty()) poisoned_.ran(batch, plan.graph, dead);
  } catch (const std::bad_alloc&) {
    return lose(batch, inputs, outcome);
  }
  commit(batch, inputs, outcome, failed);
}

// Takes no memory, so it cannot fail.
void Session::commit(const Batch& batch, std::span<const Location> inputs, const Outcome& outcome,
                     const Causes& failed) {
  for (std::uint32_t input : outcome.taken) live_.taken(batch.inputs[input]);
  for (NodeId node : batch.nodes) live_.set(node, Liveness::State::gone);
  for (std::size_t input : batch.made) {
    Liveness::Entry& e = live_.entry(batch.inputs[input]);
    e.state = Liveness::State::ready;
    e.location = inputs[input];
  }
  for (std::size_t i = 0; i < batch.results.size(); ++i) {
    Liveness::Entry& e = live_.entry(batch.results[i]);
    if (auto* location = std::get_if<Location>(&outcome.results[i])) {
      e.state = Liveness::State::ready;
      e.location = *location;
      continue;
    }
    e.state = Liveness::State::poisoned;
    e.poison = failed.at(std::get<Poison>(outcome.results[i]).origin);
  }
  for (NodeId node : batch.nodes) settled(node);
  for (std::size_t input : batch.made) live_.drop_if_unseen(batch.inputs[input]);
}

// All that ran counts as failed. Takes no memory either.
void Session::lose(const Batch& batch, std::span<const Location> inputs, Outcome& outcome) {
  for (std::uint32_t input : outcome.taken) live_.taken(batch.inputs[input]);
  for (std::size_t input : batch.made) backend_.free(inputs[input]);
  for (const auto& result : outcome.results)
    if (auto* location = std::get_if<Location>(&result); location && location->valid()) backend_.free(*location);
  for (NodeId node : batch.nodes) {
    live_.set(node, Liveness::State::poisoned, Failures::out_of_memory);
    if (writes_fields(node)) poisoned_.lost(node, Failures::out_of_memory);
    if (graph[node].effect) failures_.lose_effect(node);
  }
  for (NodeId node : batch.nodes) settled(node);
}

}  // namespace taskspec
