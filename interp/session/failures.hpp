// What failed in a session: why outputs are poisoned, which effects did not happen, and how that is told. The first
// one of each cause is told, with the way along which it reached what was asked for.
#pragma once
#include <map>
#include <optional>

#include "interp/session/liveness.hpp"

namespace taskspec {

class Failures {
 public:
  explicit Failures(const TaskGraph& graph) : graph_(graph) { causes_.push_back({}); }

  static constexpr std::uint32_t out_of_memory = 0;  // is there from the start: to note it takes no memory
  struct Cause {                                     // by itself: there was no memory to say more
    NodeId origin;                                   // none: wherever it is met
    Fault fault{"E5008", "no memory left"};
    bool told = false;       // by a receive
    std::string point = {};  // "[2]": of a launch
  };
  std::uint32_t add(Cause cause) {
    causes_.push_back(std::move(cause));
    return static_cast<std::uint32_t>(causes_.size() - 1);
  }

  NodeId origin(std::uint32_t cause) const { return causes_[cause].origin; }  // none is behind all

  // Effects that did not happen, by program order.
  void add_effect(NodeId node, std::uint32_t cause, bool prints);
  void lose_effect(NodeId node) {  // takes no memory: that it failed is known of the first one only
    if (!lost_effect_.valid()) lost_effect_ = node;
  }
  NodeId first_effect() const;
  void forget_told() {  // what a receive has told of, also where an effect met it only later
    std::erase_if(effects_, [&](const auto& effect) { return causes_[effect.second].told; });
  }
  void raise_first_effect();                   // forgets the others
  void raise_effect(NodeId node, Span place);  // where it did not happen
  void raise_first_print();                    // whatever else was told

  [[noreturn]] void raise(std::uint32_t cause, NodeId at, Span place);  // tells of the effects that failed with it
  // What is caught: at this task if it has no place of its own.
  [[noreturn]] void rethrow_at(NodeId node, Span place) const;

  // Adds the ways from causes to poisoned outputs of tasks that stay, and forgets the causes of others.
  void keep_ways(Liveness& live, Staying& staying);
  std::size_t held() const { return causes_.held(); }

 private:
  void keep_told_effects();
  [[noreturn]] void raise(const Cause& cause, NodeId at, Span place) const;
  Diag told(const Cause& cause, NodeId at, Span place) const;
  std::vector<NodeId> between(NodeId from, std::vector<NodeId> targets) const;
  std::string way(NodeId from, NodeId to) const;

  const TaskGraph& graph_;
  RetiringTable<Cause> causes_;
  std::map<NodeId, std::uint32_t> effects_;
  std::optional<std::pair<NodeId, std::uint32_t>> print_;  // the first one that failed, and its cause
  NodeId lost_effect_;                                     // the first one of which there was no memory to note that
};

}  // namespace taskspec
