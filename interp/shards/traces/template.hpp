// A sequence of calls as it was analysed once, to be run again without any analysis: what the lists must look like
// before it, the token of each call, which own points it has and on whom these depend, and what the lists look like
// afterwards.
//
//   edge inside   from a point of the same execution
//   carry edge    from a point of the execution before
//   other         from an operation that came before all of them: by its number
//
// Why replaying gives the order that analysis would give. The exact users that matter are the same at the entry,
// counted from it; so each call finds the same edges, counted from it. What an execution leaves behind, and the next
// one does not cover, need not be held against the one after the next: if A and B conflict at points a and b, then so
// do A and B of the next execution there, which gives a path a -> b' -> a'' -> b''.
#pragma once
#include "interp/shards/analysis/fine.hpp"
#include "interp/shards/traces/signature.hpp"

namespace taskspec {

struct TemplateEdge {
  std::uint32_t from_call = 0;  // in the window: the execution before, then this one, then others by number
  std::int64_t from = 0, to = 0;
  Hazard why{};
};

// A call of a template as it is replayed.
struct TemplateCall {
  std::size_t call = 0;                   // which operation of the template
  std::size_t length = 0;                 // how many it has
  std::span<const std::int64_t> own;      // points, ascending
  std::span<const TemplateEdge> edges;    // by `to`
  std::span<const std::uint64_t> window;  // numbers: `length` of the execution before, then of this one
  std::span<const std::uint64_t> others;

  bool is_carry(const TemplateEdge& edge) const { return edge.from_call < length; }
  bool is_inside(const TemplateEdge& edge) const { return edge.from_call >= length && edge.from_call < 2 * length; }
  LaunchPoint from(const TemplateEdge& edge) const {
    return {edge.from_call < 2 * length ? window[edge.from_call] : others[edge.from_call - 2 * length], edge.from};
  }
};

class TraceTemplate {
 public:
  static constexpr std::uint32_t no_op = UINT32_MAX;
  struct Step {
    std::uint64_t token = 0;
    std::uint32_t op = no_op;  // a call that is no operation has none
  };
  struct Op {
    CallKind kind{};
    std::vector<std::uint32_t> lanes;
    FineResult found;  // as it was recorded; its edges go when they have become relative
    std::vector<TemplateEdge> edges;
    bool is_known = false, is_relative = false;
    std::uint64_t fences = 0, elided = 0, elided_more = 0;  // counted for it
  };
  struct Lane {
    std::vector<LaneUse> uses;
    LaneState before;  // while it is recorded
    std::uint64_t data = 0;
    LaneState after;
    std::vector<std::pair<std::uint32_t, ExactLists::User>> left;  // by it: which operation, which user
    std::vector<bool> piles_up;                                    // of these: the next execution does not cover it
  };

  // While it is recorded: a call; an operation before the coarse stage sees it, after it, after the fine stage.
  void call(std::uint64_t token) { steps.push_back({token, no_op}); }
  std::uint32_t operation(std::uint64_t token, const Operation& op);
  std::uint32_t lane(LaneKey key, bool& is_new);
  void use(std::uint32_t op, LaneKey lane, const LaunchUse& use, KeyId key);
  void count(std::uint32_t op, std::uint64_t fences, std::uint64_t elided, std::uint64_t elided_more) {
    ops[op].fences = fences;
    ops[op].elided = elided;
    ops[op].elided_more = elided_more;
  }
  void learn(std::uint32_t op, const FineResult& found);
  // All is recorded, and the lanes' `after` are there. `before` and `own`: as many numbers each.
  void finish(std::span<const std::uint64_t> before, std::span<const std::uint64_t> own, ExactLists& lists);

  // Edges of the call by window; what it was recorded for is through the fine stage.
  const Op& relative(std::uint32_t op);
  TraceSignature signature(std::span<const LaneState> states, std::span<const std::uint64_t> before) const;

  // Of what it says of lists before and after, and of its own uses.
  bool names(FunctionRef<bool(KeyId)> key, FunctionRef<bool(LaneKey, LaneTree::Place)> place) const;

  std::vector<Step> steps;
  std::vector<Op> ops;
  std::vector<LaneKey> lane_keys;
  std::vector<Lane> lanes;
  std::vector<std::uint64_t> others;
  TraceSignature entry;
  bool follows_itself = false;  // its exit is its entry
  bool piles_up = false;        // in some lane

 private:
  bool leaves_what_it_found(const TraceSignature& exit) const;

  std::vector<std::uint64_t> window_;
};

}  // namespace taskspec
