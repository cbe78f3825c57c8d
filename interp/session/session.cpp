#include "interp/session/session.hpp"

#include <algorithm>

#include "ir/base/at_end.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

Session::Session(Backend& backend, Bodies& bodies, SessionOptions options)
    : backend_(backend),
      bodies_(bodies),
      options_(options),
      live_(
          backend, graph, options.forget, [this](RegionId region) { gone(region); },
          [this](PartitionId partition) { gone(partition); }),
      pending_(graph, live_, options.schedule, options.window),
      plans_(backend, bodies, live_.field_memory(), options.sink_rule, options.record),
      failures_(graph),
      poisoned_(graph),
      profile_(backend.hz(), options.timeline),
      op_profile_(backend.hz()) {}

// ---- recording ------------------------------------------------------------------------------------

void Session::adding(Span site) {
  take_held_back();
  if (holds_) return;
  // Eager: the task before this one runs now, when the handles of its outputs exist.
  if (pending_.fills_window(site) || options_.schedule == Schedule::eager) fits([&] { run_needed(); });
  sweep_if_due();
}

// First all that takes memory: a task is known altogether, or not at all.
void Session::added(NodeId node, std::span<const Requirement> requirements) {
  if (is_launch(graph, node) && !backend_.runs_launches())
    throw failure("E1009", graph[node].span, "regions on '" + backend_.name() + "' are not built yet");
  bool known = false;
  const AtEnd taken_back([&] {
    if (known) return;
    pending_.take_back(node);
    live_.take_back(node);
  });
  live_.add(node);
  pending_.add(node, requirements);
  known = true;
  live_.add_readers(node);
  pending_.added(node);
}

void Session::closed(ScopeId scope) {
  while (!open_.empty() && open_.back() >= scope) open_.pop_back();  // also those that failed inside of it
  sweep_if_due();
}

void Session::gone(RegionId region) {
  plans_.forget(region);
  poisoned_.forget(region);
  if (options_.forget) graph.remove_region(region);
}

void Session::gone(PartitionId partition) { plans_.forget(graph.regions[partition].parent.root, partition); }

// ---- what the program asks for ---------------------------------------------------------------------

Array Session::receive(const Tensor& tensor, Span place) {
  const Ref ref = tensor.ref;
  if (!ref.is_future()) return look(tensor, place);
  links.receive(ref.node());
  if (options_.record && !options_.forget && (received_.empty() || !(received_.back() == ref)))
    received_.push_back(ref);
  Array array = look(tensor, place);
  counts_.received += array.bytes();
  return array;
}

Array Session::look(const Tensor& tensor, Span place) {
  take_held_back();
  const Ref ref = tensor.ref;
  if (ref.kind == Ref::Kind::constant) return graph.constant(ref.id).array();
  if (ref.kind == Ref::Kind::input) bug("receive of an input that is not bound");
  try {
    return contents(ref, place);
  } catch (const std::exception&) {
    failures_.rethrow_at(ref.node(), place);
  }
}

Array Session::contents(Ref ref, Span place) {
  if (options_.schedule == Schedule::eager)
    fits([&] { run_needed(); });  // the last task, which no other one came after
  if (live_.entry(ref).state == Liveness::State::pending) force(ref.node(), place);
  const Liveness::Entry& e = live_.entry(ref);
  if (e.state == Liveness::State::poisoned) failures_.raise(e.poison, ref.node(), place);
  if (e.state != Liveness::State::ready) bug("a received value is not there");
  Array array = backend_.read(e.location);
  sweep_if_due();
  return array;
}

// With push all that is pending runs with it; where that is too much for the memory, what the node itself needs.
void Session::force(NodeId node, Span place) {
  if (options_.schedule == Schedule::pull || !fits([&] { run_needed(); })) run_for(node, place);
}

void Session::run_for(NodeId node, Span place) {
  try {
    run(pending_.needed_for({node}));
  } catch (const std::exception&) {
    failures_.rethrow_at(node, place);
  }
}

void Session::run_pending() {
  take_held_back();
  if (holds_) return;
  if (options_.schedule == Schedule::push && !pending_.empty()) fits([&] { run_needed(); });
  sweep_if_due();
}

// What prints comes one after the other: the last one needs all before it.
void Session::run_prints() {
  take_held_back();
  if (pending_.printing().valid()) run_for(pending_.printing(), {});
}

// Together, or one after the other where that is too much for the memory.
void Session::run_effects() {
  take_held_back();
  const bool together = fits([&] {
    if (std::vector<NodeId> effects = pending_.effects(); !effects.empty())
      run(pending_.needed_for(std::move(effects)));
  });
  if (together) return;
  for (std::vector<NodeId> left = pending_.effects(); !left.empty(); left = pending_.effects()) run_for(left[0], {});
}

void Session::carry_out(NodeId node, Span place) {
  take_held_back();
  if (!live_.is_done(node)) run_for(node, place);
  failures_.raise_effect(node, place);
}

void Session::finish() {
  take_held_back();
  if (!fits([&] { run_needed(); })) run_effects();
  raise_failed_effect();
}

void Session::end_early() {
  run_effects();
  failures_.forget_told();
  raise_failed_effect();
}

SessionReport Session::report() const {
  SessionReport report;
  report.tasks = counts_.tasks;
  report.chains = counts_.chains;
  report.dispatches = counts_.dispatches;
  report.dropped = counts_.dropped;
  report.plans = plans_.made();
  report.making = plans_.seconds();
  report.held = graph.held() + live_.held() + failures_.held();
  report.received = counts_.received;
  report.arena = counts_.arena;
  report.plan_peak = counts_.plan_peak;
  report.peak_without_chains = counts_.peak_without_chains;
  report.memory = backend_.memory();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (const auto* tells = dynamic_cast<const TellsBodies*>(&backend_)) report.bodies = tells->bodies();
  profile_.report(report);
  report.ops = op_profile_.rows();
  return report;
}

// ---- sweeps (SessionOptions::forget) ---------------------------------------------------------------

Staying Session::staying() {
  Staying staying;
  each_handle([&](const Tensor& tensor) {
    if (tensor.ref.is_future()) staying.nodes.insert(tensor.ref.id);
    if (tensor.place.valid()) staying.places.insert(tensor.place.value);
    if (tensor.alias) staying.scopes.insert(tensor.alias->scope.value);
  });
  for (ScopeId scope : open_) staying.scopes.insert(scope.value);
  for (NodeId node : pending_.nodes()) {
    staying.nodes.insert(node.value);
    staying.whole.insert(node.value);
    for (Ref ref : graph.in(node))
      if (ref.is_future()) staying.nodes.insert(ref.id);
    if (auto requirements = pending_.requirements().find(node.value); requirements != pending_.requirements().end())
      for (const Requirement& requirement : requirements->second) staying.places.insert(requirement.place.value);
  }
  for (std::size_t region = 0; region < graph.regions.regions(); ++region)
    if (live_.is_kept(RegionId(region)))
      for (std::size_t field = 0; field < graph.regions[RegionId(region)].fields.size(); ++field)
        staying.places.insert(graph.place(RegionId(region), field).value);
  live_.each_constant_in_use([&](std::uint32_t id) { staying.constants.insert(id); });
  failures_.keep_ways(live_, staying);
  return staying;
}

void Session::sweep() {
  if (options_.schedule == Schedule::pull) drop_unseen();
  const Staying stays = staying();
  links.retire(graph, stays.nodes);
  live_.retire(stays);
  poisoned_.forget_maps_but(stays);
  graph.retire(stays);
  left_ = graph.held();
}

// Pending tasks would stay, in maps: while there are some, a sweep can wait a little.
void Session::sweep_if_due() {
  if (!options_.forget) return;
  const std::size_t due = std::max(options_.sweep, left_) * (pending_.empty() ? 1 : 4);
  if (graph.young() >= due) sweep();
}

}  // namespace taskspec
