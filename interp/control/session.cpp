#include "interp/control/session.hpp"

#include <algorithm>

#include "ir/base/at_end.hpp"
#include "ir/base/text.hpp"
#include "ir/op_outputs.hpp"

namespace taskspec {

Session::Session(Backend& backend, Bodies& bodies, SessionOptions options)
    : backend_(backend), bodies_(bodies), options_(options), window_(options.window) {
  poisons_.push_back({});  // out_of_memory
}

Session::~Session() {
  auto free = [this](const Entry& e) {
    if (e.state == State::ready) backend_.free(e.location);
  };
  tasks_.each([&](std::size_t node, const Task& task) {
    free(task.first);
    for (std::size_t slot = 1; slot < graph.out(NodeId(node)).size(); ++slot) free(task.more[slot - 1]);
  });
  constants_.each([&](std::size_t, const Constant& constant) {
    if (constant.location.valid()) backend_.free(constant.location);
  });
}

// ---- recording ------------------------------------------------------------------------------------

void Session::adding(Span site) {
  // Eager: the task before this one runs now, when the handles of its outputs exist.
  if (window_is_full(site) || options_.schedule == Schedule::eager) fits([&] { run(needed()); });
  sweep_if_due();
}

// First all that takes memory: a task is known altogether, or not at all.
void Session::added(NodeId node, std::span<const TaskGraph::Access> accesses) {
  bool known = false;
  const AtEnd taken_back([&] {
    if (known) return;
    accesses_.erase(node.value);
    tasks_.resize(node.index());
  });
  tasks_.resize(node.index() + 1);
  Task& task = tasks_[node.index()];
  if (graph.out(node).size() > 1) task.more = std::make_unique<Entry[]>(graph.out(node).size() - 1);
  if (!accesses.empty()) accesses_.emplace(node.value, std::vector(accesses.begin(), accesses.end()));
  if (constants_.size() < graph.constant_count()) constants_.resize(graph.constant_count());
  pending_.push_back(node);
  known = true;
  task.effect = has_effect(node, accesses);
  for (Ref ref : graph.in(node)) {
    if (ref.is_future()) {
      ++entry(ref).readers;
    } else if (ref.kind == Ref::Kind::constant) {
      ++constant(ref).readers;
      constant(ref).read = true;
    }
  }
  weight_ += weight(node);
  if (prints(node)) printing_ = node;
}

Session::Constant& Session::constant(Ref ref) {
  if (constants_.size() <= ref.id) constants_.resize(graph.constant_count());
  return constants_[ref.id];
}

void Session::retain(Ref ref) {
  if (ref.is_future()) ++entry(ref).handles;
  if (ref.kind == Ref::Kind::constant) ++constant(ref).handles;
}

void Session::release(Ref ref) {
  if (ref.kind == Ref::Kind::constant && --constant(ref).handles == 0) {
    if (constant(ref).readers > 0) window_bytes_ += graph.constant(ref.id).array().bytes();
    drop_constant_if_unseen(ref);
  }
  if (!ref.is_future()) return;
  --entry(ref).handles;
  drop_if_unseen(ref);
}

void Session::drop_if_unseen(Ref ref) {
  Entry& e = entry(ref);
  if (e.handles > 0 || e.readers > 0 || e.state != State::ready) return;
  backend_.free(e.location);
  e.state = State::gone;
}

void Session::drop_constant_if_unseen(Ref ref) {
  Constant& c = constant(ref);
  if (c.handles > 0 || (options_.forget ? c.readers > 0 : c.read)) return;
  if (c.location.valid()) backend_.free(c.location);
  c.location = {};
  graph.forget_constant(ref.id);
}

bool Session::has_effect(NodeId node, std::span<const TaskGraph::Access> accesses) const {
  if (graph.definition(node).kind == Definition::Kind::native) return true;
  return std::any_of(accesses.begin(), accesses.end(), [](const auto& access) { return access.writes; });
}

bool Session::prints(NodeId node) const {
  const Definition& definition = graph.definition(node);
  return definition.op && console_operand(*definition.op);
}

void Session::opened(ScopeId scope) { open_.push_back(scope); }

void Session::closed(ScopeId scope) {
  while (!open_.empty() && open_.back() >= scope) open_.pop_back();  // also those that failed inside of it
  sweep_if_due();
}

Array Session::receive(const Tensor& tensor, Span place) {
  Ref ref = tensor.ref;
  if (ref.kind == Ref::Kind::constant) return graph.constant(ref.id).array();
  if (ref.kind == Ref::Kind::input) bug("receive of an input that is not bound");
  try {
    return contents(ref, place);
  } catch (const std::exception&) {
    rethrow_at(ref.node(), place);
  }
}

Array Session::contents(Ref ref, Span place) {
  links.receive(ref.node());
  if (options_.record && !options_.forget && (received_.empty() || !(received_.back() == ref)))
    received_.push_back(ref);
  if (options_.schedule == Schedule::eager)
    fits([&] { run(needed()); });  // the last task, which no other one came after
  if (entry(ref).state == State::pending) force(ref.node(), place);
  Entry& e = entry(ref);
  if (e.state == State::poisoned) {
    std::erase_if(failed_effects_, [&](const auto& failed) { return failed.second == e.poison; });
    raise(poisons_[e.poison], ref.node(), place);
  }
  if (e.state != State::ready) bug("a received value is not there");
  Array array = backend_.read(e.location);
  received_bytes_ += array.bytes();
  sweep_if_due();
  return array;
}

// The first of the ways in the graph, task by task. Every task on it is poisoned.
std::string Session::way(NodeId from, NodeId to) const {
  std::unordered_map<std::uint32_t, NodeId> before;  // of what is reached
  before.emplace(from.value, from);
  for (NodeId node : between(from, {to}))
    for (Ref ref : graph.in(node))
      if (node != from && ref.is_future() && before.contains(ref.id)) {
        before.emplace(node.value, ref.node());
        break;
      }
  std::vector<std::string> names{graph.path(to)};
  for (NodeId node = to; node != from;) {
    node = before.at(node.value);
    names.push_back(graph.path(node));
  }
  std::reverse(names.begin(), names.end());
  constexpr std::size_t shown = 4;  // at each end of a long way
  if (names.size() > 2 * shown + 1) {
    auto first = names.begin() + shown, last = names.end() - shown;
    *first = "... " + std::to_string(last - first) + " more ...";
    names.erase(first + 1, last);
  }
  return joined(names, " -> ");
}

void Session::raise(const Failure& failure, NodeId at, Span place) {
  const NodeId from = failure.origin.valid() ? failure.origin : at;
  const TaskNode& origin = graph[from];
  Diag diag(failure.fault.code, Severity::error, origin.span, failure.fault.message);
  diag.at("in '" + graph.path(from) + "'");
  if (place.valid() && !(place == origin.span)) diag.label(place, "received here");
  if (at != from && failure.fault.code != Code("E5009"))
    diag.note("the failure reached this value along " + way(from, at));
  throw Error(std::move(diag));
}

void Session::rethrow_at(NodeId node, Span place) {
  try {
    throw;
  } catch (const Error& error) {
    const Diag& diag = error.diags().items().front();
    if (diag.primary.span.valid() || !graph[node].span.valid()) throw;
    raise({node, {diag.code, diag.message}}, node, place);
  } catch (const std::bad_alloc&) {
    raise({.origin = node}, node, place);
  }
}

void Session::start() {
  if (options_.schedule == Schedule::push && !pending_.empty()) fits([&] { run(needed()); });
  sweep_if_due();
}

// What prints comes one after the other: the last one needs all before it.
void Session::show() {
  if (printing_.valid()) run_for(printing_, {});
}

// Together, or one after the other where that is too much for the memory.
void Session::act() {
  auto acts = [this](NodeId node) { return !is_done(node) && tasks_[node.index()].effect; };
  const bool together = fits([&] {
    std::vector<NodeId> effects;
    std::ranges::copy_if(pending_, std::back_inserter(effects), acts);
    if (!effects.empty()) run(needed_for(std::move(effects)));
  });
  if (together) return;
  for (auto next = std::ranges::find_if(pending_, acts); next != pending_.end();
       next = std::ranges::find_if(pending_, acts))
    run_for(*next, {});
}

void Session::finish() {
  if (!fits([&] { run(needed()); })) act();
  raise_failed_effect();
}

NodeId Session::failed_effect() const {
  const NodeId failed = failed_effects_.empty() ? NodeId() : failed_effects_.begin()->first;
  return !failed.valid() || (lost_effect_.valid() && lost_effect_ < failed) ? lost_effect_ : failed;
}

// The first one; each is raised once.
void Session::raise_failed_effect() {
  const NodeId lost = std::exchange(lost_effect_, NodeId());
  const std::map<NodeId, std::uint32_t> failed = std::exchange(failed_effects_, {});
  if (lost.valid() && (failed.empty() || lost < failed.begin()->first)) raise(poisons_[out_of_memory], lost, {});
  if (failed.empty()) return;
  auto [node, poison] = *failed.begin();
  raise(poisons_[poison], node, {});
}

SessionReport Session::report() const {
  SessionReport report;
  report.tasks = tasks_run_;
  report.chains = chains_run_;
  report.dispatches = dispatches_;
  report.dropped = dropped_;
  report.plans = plans_made_;
  report.making = std::chrono::duration<double>(making_).count();
  report.held = graph.held() + tasks_.held() + constants_.held() + poisons_.held();
  report.received = received_bytes_;
  report.arena = arena_;
  report.plan_peak = plan_peak_;
  report.peak_without_chains = peak_without_chains_;
  report.memory = backend_.memory();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  report.profile = profile_;
  report.plans_run = plans_run_;
  report.timeline = timeline_;
  return report;
}

}  // namespace taskspec
