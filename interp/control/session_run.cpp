// What a session runs, and what it makes of the outcome.
#include <algorithm>

#include "interp/control/session.hpp"
#include "ir/base/at_end.hpp"

namespace taskspec {

// ---- what to run ----------------------------------------------------------------------------------

// Batches of the host fill a window sooner than tasks do.
bool Session::window_is_full(Span site) {
  if (options_.schedule != Schedule::push || options_.window == 0) return false;
  constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of constants that go when the tasks have run
  return window_.ends(site, pending_.size()) || window_bytes_ >= most_bytes;
}

namespace {

constexpr std::size_t weight_due = 16;  // small tasks: then a run of its own costs little beside what they take

std::size_t bytes_of(const Type& type) {
  std::size_t bytes = info(type.precision).bytes;
  for (const Dim& dim : type.dims) bytes *= static_cast<std::size_t>(dim.constant().value_or(0));
  return bytes;
}

}  // namespace

// How long a task takes, very roughly, in small tasks; from the program alone, so that every run is cut the same way.
std::size_t Session::weight(NodeId node) const {
  const Definition& definition = graph.definition(node);
  const bool of_unknown_length = definition.structured() || definition.kind == Definition::Kind::native ||
                                 repeating_.contains(graph[node].definition.value);
  if (of_unknown_length) return weight_due;
  std::size_t bytes = 0;
  for (Ref ref : graph.in(node)) bytes += bytes_of(graph.type(ref));
  for (TypeId type : graph.out(node)) bytes += bytes_of(graph.type(type));
  constexpr std::size_t small = 4096;
  return 1 + std::min(bytes / small, weight_due);
}

// Little that is pending can wait until there is more, and is aggregated with that; what prints is wanted soon.
bool Session::due() const {
  return options_.schedule == Schedule::push && !pending_.empty() && (printing_.valid() || weight_ >= weight_due);
}

std::vector<NodeId> Session::needed_for(std::vector<NodeId> todo) {
  std::vector<NodeId> nodes;
  {
    const AtEnd unmark([&] {
      for (NodeId node : nodes) tasks_[node.index()].wanted = false;
    });
    while (!todo.empty()) {
      NodeId node = todo.back();
      todo.pop_back();
      if (is_done(node) || tasks_[node.index()].wanted) continue;
      nodes.push_back(node);
      tasks_[node.index()].wanted = true;
      for (const TaskEdge& edge : graph.edges_into(node)) todo.push_back(edge.from);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// Walks the pending tasks backwards: a pure task whose outputs nobody can name any more is dropped.
std::vector<NodeId> Session::needed() {
  std::vector<NodeId> nodes;
  nodes.reserve(pending_.size());  // from here on nothing can fail
  for (auto it = pending_.rbegin(); it != pending_.rend(); ++it) {
    NodeId node = *it;
    Task& task = tasks_[node.index()];
    bool needed = std::exchange(task.wanted, false) || task.effect;
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
      needed = needed || entry(Ref::future(node, slot)).handles > 0;
    if (needed) {
      nodes.push_back(node);
      for (const TaskEdge& edge : graph.edges_into(node))
        if (Task* before = tasks_.find(edge.from.index())) before->wanted = !before->done;
    } else {
      ++dropped_;
      for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
        entry(Ref::future(node, slot)).state = State::gone;
      settled(node);
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  pending_ = nodes;
  return nodes;
}

// ---- running --------------------------------------------------------------------------------------

Location Session::input(Ref ref) {
  if (ref.is_future()) return entry(ref).location;
  Location& location = constant(ref).location;
  if (!location.valid()) {
    const Array& array = graph.constant(ref.id).array();
    location = backend_.allocate(array.type());
    backend_.write(location, array);
  }
  return location;
}

void Session::settled(NodeId node) {
  tasks_[node.index()].done = true;
  if (!accesses_.empty()) accesses_.erase(node.value);
  for (Ref ref : graph.in(node)) {
    if (ref.is_future()) {
      --entry(ref).readers;
      drop_if_unseen(ref);
    } else if (ref.kind == Ref::Kind::constant) {
      --constant(ref).readers;
      drop_constant_if_unseen(ref);
    }
  }
}

// A task that reads a poisoned entry is poisoned by it and does not run. What only comes after one runs.
std::vector<NodeId> Session::healthy(const std::vector<NodeId>& nodes) {
  std::vector<NodeId> healthy;
  healthy.reserve(nodes.size());
  for (NodeId node : nodes) {
    std::uint32_t cause = UINT32_MAX;
    for (Ref ref : graph.in(node))
      if (ref.is_future() && entry(ref).state == State::poisoned) cause = std::min(cause, entry(ref).poison);
    if (cause == UINT32_MAX) {
      healthy.push_back(node);
      continue;
    }
    if (tasks_[node.index()].effect) failed_effects_.emplace(node, cause);
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot) {
      Entry& e = entry(Ref::future(node, slot));
      e.state = State::poisoned;
      e.poison = cause;
    }
    settled(node);
  }
  return healthy;
}

// With push all that is pending runs with it; where that is too much for the memory, what the node itself needs.
void Session::force(NodeId node, Span place) {
  if (options_.schedule == Schedule::pull || !fits([&] { run(needed()); })) run_for(node, place);
}

void Session::run_for(NodeId node, Span place) {
  try {
    run(needed_for({node}));
  } catch (const std::exception&) {
    rethrow_at(node, place);
  }
}

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

// What could not run, because a plan or its inputs found no memory, stays pending and may be tried again.
void Session::run(std::vector<NodeId> nodes) {
  const AtEnd tidied([this] { tidy(); });
  // First values of slots are no part of what reads them: the first call of a graph is planned as all later ones are.
  auto others = std::ranges::stable_partition(nodes, [this](NodeId node) { return graph[node].first_value; });
  const std::vector<NodeId> first(nodes.begin(), others.begin()), rest(others.begin(), nodes.end());
  for (const std::vector<NodeId>* part : {&first, &rest})
    if (std::vector<NodeId> able = healthy(*part); !able.empty()) execute(std::move(able));
}

void Session::tidy() {
  std::erase_if(pending_, [this](NodeId node) { return is_done(node); });
  if (printing_.valid() && is_done(printing_)) printing_ = {};
  window_bytes_ = 0;
  window_.begin();
  weight_ = 0;
  for (NodeId node : pending_) weight_ += weight(node);
}

Segment Session::cut_out(const std::vector<NodeId>& nodes) {
  auto each_read = [&](auto&& visit) {
    for (NodeId node : nodes)
      for (Ref ref : graph.in(node))
        if (ref.is_future()) visit(entry(ref).inside);
  };
  const AtEnd uncount([&] { each_read([](std::uint32_t& inside) { inside = 0; }); });
  each_read([](std::uint32_t& inside) { ++inside; });
  return cut(graph, nodes, accesses_, [this](NodeId node, std::size_t slot) {
    if (prints(node)) return true;  // nobody names what it leaves, and also pull must come to it
    const Entry& e = entry(Ref::future(node, slot));
    return e.handles > 0 || e.readers > e.inside;
  });
}

void Session::execute(std::vector<NodeId> nodes) {
  const Segment segment = cut_out(nodes);
  Prepared& prepared = prepare(segment);
  std::vector<Location> inputs;
  for (Ref ref : segment.inputs) inputs.push_back(input(ref));
  Outcome outcome = backend_.execute(*prepared.executable, inputs, {options_.schedule, options_.record});
  tasks_run_ += outcome.tasks_run;
  // Pull leaves out what only had to come before something else.
  if (outcome.failed.empty()) dropped_ += segment.nodes.size() - outcome.tasks_run;
  chains_run_ += prepared.plan->steps();
  dispatches_ += outcome.dispatches;
  arena_ = std::max(arena_, prepared.plan->arena_bytes);
  plan_peak_ = std::max(plan_peak_, prepared.plan->peak_bytes);
  peak_without_chains_ = std::max(peak_without_chains_, prepared.plan->peak_without_chains);
  settle(segment, outcome);
  if (options_.record) keep_records(prepared, outcome);
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
    if (tasks_[node.index()].effect) failed_effects_.emplace(node, cause);
  }
}

// The tasks ran: none of them may run again, whatever happens here.
void Session::settle(const Segment& segment, Outcome& outcome) {
  if (outcome.lost) return lose(segment, outcome);
  std::map<NodeId, std::uint32_t> failed;  // origin -> position in poisons_
  auto note = [&](const Poison& poison) {
    const NodeId origin = segment.nodes[poison.origin.index()];
    auto [known, fresh] = failed.emplace(origin, static_cast<std::uint32_t>(poisons_.size()));
    if (fresh) poisons_.push_back({origin, poison.fault});
  };
  try {
    for (const Poison& poison : outcome.failed) note(poison);
    if (!failed.empty()) note_failed_effects(segment, failed);
    for (const auto& result : outcome.results)
      if (auto* poison = std::get_if<Poison>(&result)) note(*poison);  // also what was stopped: interrupted
  } catch (const std::bad_alloc&) {
    return lose(segment, outcome);
  }
  commit(segment, outcome, failed);
}

// Takes no memory, so it cannot fail.
void Session::commit(const Segment& segment, const Outcome& outcome, const std::map<NodeId, std::uint32_t>& failed) {
  for (NodeId node : segment.nodes) {
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
    e.state = State::poisoned;
    e.poison = failed.at(segment.nodes[std::get<Poison>(outcome.results[i]).origin.index()]);
  }
  for (NodeId node : segment.nodes) settled(node);
}

// All that ran counts as failed. Takes no memory either.
void Session::lose(const Segment& segment, Outcome& outcome) {
  for (const auto& result : outcome.results)
    if (auto* location = std::get_if<Location>(&result); location && location->valid()) backend_.free(*location);
  for (NodeId node : segment.nodes) {
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot) {
      Entry& e = entry(Ref::future(node, slot));
      e.state = State::poisoned;
      e.poison = out_of_memory;
    }
    if (tasks_[node.index()].effect && !lost_effect_.valid()) lost_effect_ = node;
  }
  for (NodeId node : segment.nodes) settled(node);
}

}  // namespace taskspec
