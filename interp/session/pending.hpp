// What a session has recorded and not run yet, and which of it is to run next: a batch is cut out of it. Decided by
// what was recorded and by nothing else, so that every run is cut the same way.
#pragma once
#include <unordered_set>

#include "interp/session/batch.hpp"
#include "interp/session/liveness.hpp"
#include "interp/session/window.hpp"

namespace taskspec {

class Pending {
 public:
  Pending(const TaskGraph& graph, Liveness& live, Schedule schedule, std::size_t window)
      : graph_(graph), live_(live), schedule_(schedule), limit_(window), window_(window) {}

  void add(NodeId node, std::span<const Requirement> requirements);  // takes memory, as in Liveness
  void take_back(NodeId node) { requirements_.erase(node.value); }
  void added(NodeId node);                                      // it is known altogether; takes no memory
  void unnamed(std::size_t bytes) { unnamed_bytes_ += bytes; }  // of constants that only pending tasks read
  void repeats(DefinitionId task) { repeating_.insert(task.value); }

  const std::vector<NodeId>& nodes() const { return nodes_; }
  bool empty() const { return nodes_.empty(); }
  NodeId printing() const { return printing_; }  // the last one that prints, if any
  // Asked before each task that stands at `site`: should what is pending run now?
  bool fills_window(Span site);
  // Little that is pending can wait until there is more, and is aggregated with that; what prints is wanted soon.
  bool is_due() const {
    return schedule_ == Schedule::push && !empty() && (printing_.valid() || weight_ >= weight_due);
  }

  // With their ancestors, in program order.
  std::vector<NodeId> needed_for(std::vector<NodeId> todo);
  // All that somebody can still see. `drop` hears of the others, which will never run.
  std::vector<NodeId> needed(FunctionRef<void(NodeId)> drop);
  std::vector<NodeId> effects();  // that did not happen yet
  Batch take_batch(std::vector<NodeId> nodes);
  const Requirements& requirements() const { return requirements_; }

  void settled(NodeId node);
  void tidy();  // after a run
  bool prints(NodeId node) const { return prints_[graph_[node].definition.index()]; }

 private:
  static constexpr std::size_t weight_due =
      16;  // small tasks: then a run of its own costs little beside what they take
  std::size_t weight(NodeId node) const;
  std::size_t tasks(NodeId node) const;  // it is about to be: the points of a launch

  const TaskGraph& graph_;
  Liveness& live_;
  const Schedule schedule_;
  const std::size_t limit_;
  std::vector<NodeId> nodes_;   // in program order
  std::vector<NodeId> shares_;  // of those: what brings here elements of maps that other shards have
  Requirements requirements_;
  Window window_;
  std::size_t unnamed_bytes_ = 0;
  NodeId printing_;
  std::size_t tasks_ = 0;                        // they are about to be
  std::size_t weight_ = 0;                       // of all of them, or so many that they are due
  std::vector<bool> prints_;                     // by definition
  std::unordered_set<std::uint32_t> repeating_;  // definitions of tasks whose length nobody knows
};

}  // namespace taskspec
