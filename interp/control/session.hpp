// A session: the taskGraph that a program records, and its execution on one backend. A receive forces what
// is pending: the segment is aggregated into chains, planned (once per shape of segment) and run.
//
//   Session session(program, backend, bodies, {});
//   Array e = session.receive(*tensor, span);
//
// A program may run for hours. Two options keep its session in the memory of what it can still name:
// - `window`: with push, about so many pending tasks run without a receive (or fewer, with many bytes of constants). It
//   is cut where the program comes by a place again that it does not pass often, the turn of the outermost loop that
//   fits in: so a loop gives the same segment each time.
// - `forget`: what is settled is given back by sweeps. A task stays while a handle names an output of it, a pending
//   task reads one, or it lies on the way from a failure to a value that it poisoned; a scope while it is open or such
//   a task, or the name of a handle, stands in it; a place while a handle or a pending task names it; a constant while
//   a handle names it or a pending task reads it. A sweep comes when as much has been added as the last one left.
#pragma once
#include <chrono>
#include <map>
#include <unordered_set>

#include "interp/control/recorder.hpp"
#include "interp/control/segment.hpp"
#include "interp/control/session_report.hpp"
#include "interp/control/window.hpp"
#include "ir/backend.hpp"

namespace taskspec {

struct SessionOptions {
  Schedule schedule = Schedule::push;
  bool record = false;    // what the dispatches of each chain took, for --profile
  bool timeline = false;  // and each of them by itself, for --trace and --report
  SinkRule sink_rule = SinkRule::task;
  std::size_t window = 0;    // tasks; 0: as many as there are
  bool forget = false;       // give back what is settled: nobody will look at the graph
  std::size_t sweep = 8192;  // at least so many entries between two sweeps
};

class Session final : public Recorder {
 public:
  Session(Backend& backend, Bodies& bodies, SessionOptions options);
  ~Session() override;

  Array receive(const Tensor& tensor, Span place) override;
  void adding(Span site) override;
  void added(NodeId node, std::span<const TaskGraph::Access> accesses) override;
  void retain(Ref ref) override;
  void release(Ref ref) override;
  void start() override;
  bool due() const override;
  void repeats(DefinitionId task) override { repeating_.insert(task.value); }
  void opened(ScopeId scope) override;
  void closed(ScopeId scope) override;
  bool forgets() const override { return options_.forget; }

  void show() override;
  void act() override;
  // The first effect that failed and was not told yet, if there is one. A receive that fails tells of those that failed
  // with it.
  NodeId failed_effect() const;
  void raise_failed_effect();
  // End of the program: runs what has effects, reports what failed there, drops the rest.
  void finish();
  SessionReport report() const;
  const std::vector<Ref>& received() const { return received_; }  // by the host, when it records; in order
  std::uint64_t executions() const { return tasks_run_; }         // for tests (tasks.md section 2.6)

 private:
  static constexpr std::uint32_t out_of_memory = 0;  // in poisons_, from the start: to note it takes no memory
  enum class State : std::uint8_t { pending, ready, poisoned, gone };
  struct Entry {  // one output in the task's lookup table
    State state = State::pending;
    std::uint32_t handles = 0;  // host handles that name it
    std::uint32_t readers = 0;  // tasks not run yet that read it
    std::uint32_t inside = 0;   // of them, those of the segment that is being cut
    Location location;
    std::uint32_t poison = 0;  // in poisons_
  };
  struct Task {
    Entry first;                    // of its first output
    std::unique_ptr<Entry[]> more;  // of the others
    bool done = false, effect = false, wanted = false;
  };
  struct Failure {  // by itself: there was no memory to say more
    NodeId origin;  // none: wherever it is met
    Fault fault{"E5008", "no memory left"};
  };
  struct Prepared {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<Executable> executable;
    std::uint32_t number = UINT32_MAX;  // in plans_run_, when there is a timeline
    std::vector<std::string> chains;    // by step, when recording; and the bytes that each writes
    std::vector<std::uint64_t> bytes;
  };
  Entry& entry(Ref ref) {
    Task& task = tasks_[ref.id];
    return ref.slot == 0 ? task.first : task.more[ref.slot - std::size_t{1}];
  }
  bool has_effect(NodeId node, std::span<const TaskGraph::Access> accesses) const;
  bool is_done(NodeId node) { return !tasks_.contains(node.index()) || tasks_[node.index()].done; }
  bool prints(NodeId node) const;
  std::vector<NodeId> needed_for(std::vector<NodeId> todo);  // and their ancestors
  std::vector<NodeId> needed();                              // push: all that somebody can still see
  Array contents(Ref ref, Span place);
  void force(NodeId node, Span place);
  void run_for(NodeId node, Span place);  // and its ancestors
  void run(std::vector<NodeId> nodes);
  static bool fits(FunctionRef<void()> running);
  std::vector<NodeId> healthy(const std::vector<NodeId>& nodes);
  void execute(std::vector<NodeId> nodes);
  Segment cut_out(const std::vector<NodeId>& nodes);
  void settled(NodeId node);  // it ran, will never run, or cannot
  Prepared& prepare(const Segment& segment);
  void note_plan(Prepared& prepared);
  Location input(Ref ref);
  void settle(const Segment& segment, Outcome& outcome);
  void commit(const Segment& segment, const Outcome& outcome, const std::map<NodeId, std::uint32_t>& failed);
  void lose(const Segment& segment, Outcome& outcome);
  void tidy();
  void note_failed_effects(const Segment& segment, const std::map<NodeId, std::uint32_t>& failed);
  void keep_records(const Prepared& prepared, const Outcome& outcome);
  void drop_if_unseen(Ref ref);
  struct Constant {  // one of the graph's; without a reader it goes with its last handle
    std::uint32_t handles = 0;
    std::uint32_t readers = 0;  // tasks not run yet that read it
    bool read = false;          // by a task, which the graph keeps
    Location location;          // when written to the backend
  };
  Constant& constant(Ref ref);
  void drop_constant_if_unseen(Ref ref);
  bool window_is_full(Span site);
  std::size_t weight(NodeId node) const;
  void sweep_if_due();
  void sweep();
  Staying staying();
  void keep_ways(Staying& staying);
  std::vector<NodeId> between(NodeId from, std::vector<NodeId> targets) const;
  std::string way(NodeId from, NodeId to) const;
  [[noreturn]] void raise(const Failure& failure, NodeId at, Span place);
  [[noreturn]] void rethrow_at(NodeId node, Span place);  // what is caught, at this task if it has no place

  Backend& backend_;
  Bodies& bodies_;
  SessionOptions options_;
  RetiringTable<Task> tasks_;  // by node
  RetiringTable<Constant> constants_;
  std::vector<NodeId> pending_;  // in program order
  Accesses accesses_;            // of pending nodes
  RetiringTable<Failure> poisons_;
  std::vector<ScopeId> open_;  // scopes of calls under way, by depth
  Window window_;
  std::size_t window_bytes_ = 0;                    // of constants that pending tasks read
  std::size_t left_ = 0;                            // by the last sweep
  std::map<NodeId, std::uint32_t> failed_effects_;  // tasks with effects that did not happen, and why: in poisons_
  NodeId lost_effect_;                              // the first one of which there was no memory to note that
  std::unordered_map<std::string, Prepared> plans_;
  std::size_t planned_ = 0;  // tasks in plans_
  std::uint64_t plans_made_ = 0, received_bytes_ = 0;
  std::chrono::steady_clock::duration making_{};
  std::uint64_t tasks_run_ = 0, chains_run_ = 0, dispatches_ = 0, dropped_ = 0, arena_ = 0, plan_peak_ = 0,
                peak_without_chains_ = 0;
  std::map<std::string, std::size_t> profile_rows_;
  std::vector<ProfileRow> profile_;
  std::vector<PlanRuns> plans_run_;
  std::vector<TimelineEntry> timeline_;
  std::vector<Ref> received_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  NodeId printing_;                              // the last one that is pending and prints, if any
  std::size_t weight_ = 0;                       // of pending_
  std::unordered_set<std::uint32_t> repeating_;  // definitions of tasks whose length nobody knows
};

}  // namespace taskspec
