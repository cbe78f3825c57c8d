#include "interp/control/session.hpp"

#include <algorithm>
#include <unordered_set>

#include "ir/base/text.hpp"
#include "ir/op_outputs.hpp"
#include "ir/verify.hpp"

namespace taskspec {

Session::Session(Backend& backend, Bodies& bodies, SessionOptions options)
    : backend_(backend), bodies_(bodies), options_(options) {}

Session::~Session() {
  for (Entry& e : entries_)
    if (e.state == State::ready) backend_.free(e.location);
  for (Location location : constants_)
    if (location.valid()) backend_.free(location);
}

// ---- recording ------------------------------------------------------------------------------------

void Session::added(NodeId node, std::span<const TaskGraph::Access> accesses) {
  // Eager: the task before this one runs now, when the handles of its outputs exist.
  if (options_.schedule == Schedule::eager) run(needed());
  entries_.resize(graph[node].first_out + graph.out(node).size());
  done_.resize(node.index() + 1, false);
  for (Ref ref : graph.in(node))
    if (ref.is_future())
      ++entry(ref).readers;
    else if (ref.kind == Ref::Kind::constant)
      constant(ref).read = true;
  if (!accesses.empty()) accesses_.emplace(node.value, std::vector(accesses.begin(), accesses.end()));
  pending_.push_back(node);
}

Session::Constant& Session::constant(Ref ref) {
  if (handed_out_.size() <= ref.id) handed_out_.resize(graph.constant_count());
  return handed_out_[ref.id];
}

void Session::retain(Ref ref) {
  if (ref.is_future()) ++entry(ref).handles;
  if (ref.kind == Ref::Kind::constant) ++constant(ref).handles;
}

void Session::release(Ref ref) {
  if (ref.kind == Ref::Kind::constant && --constant(ref).handles == 0 && !constant(ref).read)
    graph.forget_constant(ref.id);
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

bool Session::has_effect(NodeId node) const {
  if (graph.definition(node).kind == Definition::Kind::native) return true;
  auto found = accesses_.find(node.value);
  return found != accesses_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [](const auto& a) { return a.writes; });
}

bool Session::prints(NodeId node) const {
  const Definition& definition = graph.definition(node);
  return definition.op && console_operand(*definition.op);
}

// ---- what to run ----------------------------------------------------------------------------------

std::vector<NodeId> Session::needed_for(Ref ref) const {
  std::vector<NodeId> todo{ref.node()}, nodes;
  std::unordered_set<std::uint32_t> seen;  // not a table of all tasks: a receive costs what it runs
  while (!todo.empty()) {
    NodeId node = todo.back();
    todo.pop_back();
    if (done_[node.index()] || !seen.insert(node.value).second) continue;
    nodes.push_back(node);
    for (const TaskEdge& edge : graph.edges_into(node)) todo.push_back(edge.from);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// Walks the pending tasks backwards: a pure task whose outputs nobody can name any more is dropped.
std::vector<NodeId> Session::needed() {
  std::vector<NodeId> nodes;
  std::unordered_set<std::uint32_t> wanted;
  for (auto it = pending_.rbegin(); it != pending_.rend(); ++it) {
    NodeId node = *it;
    bool needed = wanted.count(node.value) || has_effect(node);
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
      needed = needed || entry(Ref::future(node, slot)).handles > 0;
    if (needed) {
      nodes.push_back(node);
      for (const TaskEdge& edge : graph.edges_into(node)) wanted.insert(edge.from.value);
    } else {
      ++dropped_;
      done_[node.index()] = true;
      accesses_.erase(node.value);
      for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
        entry(Ref::future(node, slot)).state = State::gone;
      for (Ref ref : graph.in(node))
        if (ref.is_future()) --entry(ref).readers, drop_if_unseen(ref);
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  pending_ = nodes;
  return nodes;
}

// ---- running --------------------------------------------------------------------------------------

Session::Prepared& Session::prepare(const Segment& segment) {
  if (auto known = plans_.find(segment.key); known != plans_.end()) return known->second;
  Prepared prepared;
  std::shared_ptr<const TaskGraph> g = graph_of(segment, graph, accesses_);
  Chains chains = aggregate(*g, {.sink_rule = options_.sink_rule});
  prepared.plan = make_plan(g, chains);
  constexpr std::size_t largest_verified = 10'000;  // the verifiers use sets: a long segment would wait for them
  if (g->size() <= largest_verified) {
    verified([&] { return verify_graph(*g); });
    verified([&] { return verify_chains(*g, chains); });
    verified([&] { return verify_plan(*prepared.plan); });
  }
  prepared.executable = backend_.prepare(prepared.plan, bodies_);
  if (options_.record) note_plan(prepared);
  constexpr std::size_t most_plans = 1024;  // a program whose every turn is another segment must not fill the memory
  if (plans_.size() == most_plans) plans_.clear();
  ++plans_made_;
  return plans_.emplace(segment.key, std::move(prepared)).first->second;
}

// How a profile names the chains of a plan, and the bytes that each writes.
void Session::note_plan(Prepared& prepared) {
  const Plan& plan = *prepared.plan;
  const TaskGraph& g = *plan.graph;
  constexpr std::size_t most_kept = 1024;  // as many as a session keeps for itself
  PlanRuns runs{plans_run_.size() < most_kept ? prepared.plan : nullptr, {}, 0};
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    std::string text = "[";
    std::uint64_t bytes = 0;
    for (std::uint32_t t = plan.step_starts[step]; t < plan.step_starts[step + 1]; ++t) {
      NodeId node = plan.tasks[t].node;
      text += (text.size() > 1 ? ", " : "") + g.definition(node).name;
      for (TypeId type : g.out(node)) bytes += concrete(g.type(type)).bytes();
    }
    runs.chains.push_back(text + "]");
    prepared.bytes.push_back(bytes);
  }
  prepared.number = static_cast<std::uint32_t>(plans_run_.size());
  plans_run_.push_back(std::move(runs));
}

Location Session::input(Ref ref) {
  if (ref.is_future()) return entry(ref).location;
  if (constants_.size() < graph.constant_count()) constants_.resize(graph.constant_count());
  Location& location = constants_[ref.id];
  if (!location.valid()) {
    const Array& array = graph.constant(ref.id).array();
    location = backend_.allocate(array.type());
    backend_.write(location, array);
  }
  return location;
}

void Session::run(std::vector<NodeId> nodes) {
  // A task that reads a poisoned entry is poisoned by it and does not run. What only comes after one runs.
  std::vector<NodeId> healthy;
  std::unordered_map<std::uint32_t, std::uint32_t> sick;
  for (NodeId node : nodes) {
    std::uint32_t cause = UINT32_MAX;
    for (Ref ref : graph.in(node)) {
      if (!ref.is_future()) continue;
      if (auto found = sick.find(ref.id); found != sick.end()) cause = std::min(cause, found->second);
      if (entry(ref).state == State::poisoned) cause = std::min(cause, entry(ref).poison);
    }
    if (cause == UINT32_MAX) {
      healthy.push_back(node);
      continue;
    }
    sick.emplace(node.value, cause);
    if (has_effect(node)) failed_effects_.emplace(node, cause);
    done_[node.index()] = true;
    accesses_.erase(node.value);
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot) {
      Entry& e = entry(Ref::future(node, slot));
      e.state = State::poisoned;
      e.poison = cause;
    }
    for (Ref ref : graph.in(node))
      if (ref.is_future()) --entry(ref).readers, drop_if_unseen(ref);
  }
  if (!healthy.empty()) {
    std::unordered_map<std::uint64_t, std::uint32_t> inside;  // readers of an output within the segment
    auto name = [this](Ref ref) { return graph[ref.node()].first_out + std::uint64_t{ref.slot}; };
    for (NodeId node : healthy)
      for (Ref ref : graph.in(node))
        if (ref.is_future()) ++inside[name(ref)];
    Segment segment = cut(graph, std::move(healthy), accesses_, [&](NodeId node, std::size_t slot) {
      Ref ref = Ref::future(node, slot);
      auto found = inside.find(name(ref));
      if (prints(node)) return true;  // nobody names what it leaves, and also pull must come to it
      return entry(ref).handles > 0 || entry(ref).readers > (found == inside.end() ? 0 : found->second);
    });
    Prepared& prepared = prepare(segment);
    std::vector<Location> inputs;
    for (Ref ref : segment.inputs) inputs.push_back(input(ref));
    Outcome outcome = backend_.execute(*prepared.executable, inputs, {options_.schedule, options_.record});
    tasks_run_ += outcome.tasks_run;
    // Pull leaves out what only had to come before something else.
    if (outcome.failed.empty()) dropped_ += segment.nodes.size() - outcome.tasks_run;
    chains_run_ += prepared.plan->steps();
    dispatches_ += outcome.dispatches;
    plan_peak_ = std::max(plan_peak_, prepared.plan->peak_bytes);
    peak_without_chains_ = std::max(peak_without_chains_, prepared.plan->peak_without_chains);
    if (options_.record) keep_records(prepared, outcome);
    settle(segment, outcome);
  }
  std::erase_if(pending_, [this](NodeId node) { return done_[node.index()]; });
}

// Whether an effect happened is not seen at the results: nobody may have asked for the version it makes.
void Session::note_failed_effects(const Segment& segment, const std::map<NodeId, std::uint32_t>& failed) {
  std::unordered_map<std::uint32_t, std::uint32_t> sick;
  for (NodeId node : segment.nodes) {
    std::uint32_t cause = UINT32_MAX;
    if (auto own = failed.find(node); own != failed.end()) cause = own->second;
    for (Ref ref : graph.in(node))
      if (auto before = ref.is_future() ? sick.find(ref.id) : sick.end(); before != sick.end())
        cause = std::min(cause, before->second);
    if (cause == UINT32_MAX) continue;
    sick.emplace(node.value, cause);
    if (has_effect(node)) failed_effects_.emplace(node, cause);
  }
}

void Session::settle(const Segment& segment, const Outcome& outcome) {
  std::map<NodeId, std::uint32_t> failed;  // origin -> position in poisons_
  for (const Poison& poison : outcome.failed) {
    NodeId origin = segment.nodes[poison.origin.index()];
    failed.emplace(origin, static_cast<std::uint32_t>(poisons_.size()));
    poisons_.push_back({origin, poison.fault});
  }
  if (!failed.empty()) note_failed_effects(segment, failed);
  for (NodeId node : segment.nodes) {
    done_[node.index()] = true;
    accesses_.erase(node.value);
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
      entry(Ref::future(node, slot)).state = State::gone;
  }
  for (std::size_t i = 0; i < segment.results.size(); ++i) {
    Entry& e = entry(segment.results[i]);
    if (auto* location = std::get_if<Location>(&outcome.results[i])) {
      e.state = State::ready;
      e.location = *location;
      if (prints(segment.results[i].node())) drop_if_unseen(segment.results[i]);
      continue;
    }
    const Poison& poison = std::get<Poison>(outcome.results[i]);
    NodeId origin = segment.nodes[poison.origin.index()];
    auto [position, fresh] = failed.emplace(origin, static_cast<std::uint32_t>(poisons_.size()));
    if (fresh) poisons_.push_back({origin, poison.fault});  // it was stopped: interrupted
    e.state = State::poisoned;
    e.poison = position->second;
  }
  for (NodeId node : segment.nodes)
    for (Ref ref : graph.in(node))
      if (ref.is_future()) --entry(ref).readers, drop_if_unseen(ref);
}

void Session::keep_records(const Prepared& prepared, const Outcome& outcome) {
  PlanRuns& runs = plans_run_[prepared.number];
  ++runs.runs;
  for (const StepRecord& record : outcome.records) {
    const std::string& chain = runs.chains[record.step.index()];
    auto [row, fresh] = profile_rows_.emplace(chain, profile_.size());
    if (fresh) profile_.push_back({chain, 0, 0, 0});
    ProfileRow& p = profile_[row->second];
    ++p.calls;
    p.ns += record.end_ns - record.begin_ns;
    p.bytes += prepared.bytes[record.step.index()];
    timeline_.push_back({prepared.number, record.step, record.worker, record.begin_ns, record.end_ns});
  }
}

Array Session::receive(const Tensor& tensor, Span place) {
  Ref ref = tensor.ref;
  if (ref.kind == Ref::Kind::constant) return graph.constant(ref.id).array();
  if (ref.kind == Ref::Kind::input) bug("receive of an input that is not bound");
  links.receive(ref.node());
  if (options_.record && (received_.empty() || !(received_.back() == ref))) received_.push_back(ref);
  if (options_.schedule == Schedule::eager) run(needed());  // the last task, which no other one came after
  if (entry(ref).state == State::pending) run(options_.schedule == Schedule::pull ? needed_for(ref) : needed());
  Entry& e = entry(ref);
  if (e.state == State::poisoned) raise(poisons_[e.poison], ref.node(), place);
  if (e.state != State::ready) bug("a received value is not there");
  Array array = backend_.read(e.location);
  received_bytes_ += array.bytes();
  return array;
}

// The first of the ways in the graph, task by task. Every task on it is poisoned.
std::string Session::way(NodeId from, NodeId to) const {
  std::unordered_map<std::uint32_t, NodeId> before;  // of what is reached
  before.emplace(from.value, from);
  for (NodeId node(from.value + 1); node <= to; node = NodeId(node.value + 1))
    for (Ref ref : graph.in(node))
      if (ref.is_future() && before.contains(ref.id)) {
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
  const TaskNode& origin = graph[failure.origin];
  Diag diag{failure.fault.code, Severity::error, failure.fault.message, {origin.span, ""}, {}, {}, ""};
  diag.at("in '" + graph.path(failure.origin) + "'");
  if (place.valid() && !(place == origin.span)) diag.label(place, "received here");
  if (at != failure.origin && failure.fault.code != Code("E5009"))
    diag.note("the failure reached this value along " + way(failure.origin, at));
  throw Error(std::move(diag));
}

void Session::start() {
  if (options_.schedule == Schedule::push && !pending_.empty()) run(needed());
}

void Session::show() {
  std::vector<NodeId> nodes;
  for (NodeId node : pending_) {
    if (!prints(node)) continue;
    std::vector<NodeId> more = needed_for(Ref::future(node, 0)), all;
    std::ranges::set_union(nodes, more, std::back_inserter(all));
    nodes = std::move(all);
  }
  if (!nodes.empty()) run(std::move(nodes));
  raise_failed_effect();
}

void Session::finish() {
  run(needed());
  raise_failed_effect();
}

// The first one; each is raised once.
void Session::raise_failed_effect() {
  const std::map<NodeId, std::uint32_t> failed = std::exchange(failed_effects_, {});
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
  report.received = received_bytes_;
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
