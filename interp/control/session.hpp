// A session: the taskGraph that a program records, and its execution on one backend. A receive forces what
// is pending: the segment is aggregated into chains, planned (once per shape of segment) and run.
//
//   Session session(program, backend, bodies, {});
//   Array e = session.receive(*tensor, span);
#pragma once
#include <chrono>
#include <map>

#include "interp/control/recorder.hpp"
#include "interp/control/segment.hpp"
#include "ir/backend.hpp"

namespace taskspec {

struct SessionOptions {
  Schedule schedule = Schedule::push;
  bool record = false;  // keep what each dispatch did, for --profile and --trace
  SinkRule sink_rule = SinkRule::task;
};

// One row of a profile: all dispatches of chains with the same members.
struct ProfileRow {
  std::string chain;  // "[Scale.apply, energy]"
  std::uint64_t calls = 0, bytes = 0;
  std::int64_t ns = 0;
};

// A plan that ran, its chains by step as a profile names them, and how often.
struct PlanRuns {
  std::shared_ptr<const Plan> plan;  // none beyond the first thousand
  std::vector<std::string> chains;
  std::uint64_t runs = 0;
};

struct TimelineEntry {
  std::uint32_t plan = 0;  // in SessionReport::plans_run
  StepId step;
  std::uint32_t worker = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

struct SessionReport {
  std::uint64_t tasks = 0, chains = 0, dispatches = 0, dropped = 0, plans = 0;
  std::uint64_t plan_peak = 0;            // bytes alive at most inside one run of a plan
  std::uint64_t peak_without_chains = 0;  // the same if every task were its own dispatch
  std::uint64_t received = 0;  // bytes of tensors that left the session: for the host, another session, a file
  Backend::Memory memory;
  double seconds = 0;
  std::vector<ProfileRow> profile;
  std::vector<PlanRuns> plans_run;  // these three when the session records
  std::vector<TimelineEntry> timeline;
};

class Session final : public Recorder {
 public:
  Session(Backend& backend, Bodies& bodies, SessionOptions options);
  ~Session() override;

  Array receive(const Tensor& tensor, Span place) override;
  void added(NodeId node, std::span<const TaskGraph::Access> accesses) override;
  void retain(Ref ref) override;
  void release(Ref ref) override;
  void start() override;

  // At a prompt, which has no end to wait for: prints what the graph is to print, and reports what failed there.
  void show();
  // End of the program: runs what has effects, reports what failed there, drops the rest.
  void finish();
  SessionReport report() const;
  const std::vector<Ref>& received() const { return received_; }  // by the host, when it records; in order
  std::uint64_t executions() const { return tasks_run_; }         // for tests (tasks.md section 2.6)

 private:
  enum class State : std::uint8_t { pending, ready, poisoned, gone };
  struct Entry {  // one output in the task's lookup table
    State state = State::pending;
    std::uint32_t handles = 0;  // host handles that name it
    std::uint32_t readers = 0;  // tasks not run yet that read it
    Location location;
    std::uint32_t poison = 0;  // in poisons_
  };
  struct Failure {
    NodeId origin;
    Fault fault;
  };
  struct Prepared {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<Executable> executable;
    std::uint32_t number = UINT32_MAX;  // in plans_run_, when recording
    std::vector<std::uint64_t> bytes;
  };
  Entry& entry(Ref ref) { return entries_[graph[ref.node()].first_out + ref.slot]; }
  bool has_effect(NodeId node) const;
  bool prints(NodeId node) const;
  std::vector<NodeId> needed_for(Ref ref) const;  // pull: its ancestors
  std::vector<NodeId> needed();                   // push: all that somebody can still see
  void run(std::vector<NodeId> nodes);
  Prepared& prepare(const Segment& segment);
  void note_plan(Prepared& prepared);
  Location input(Ref ref);
  void settle(const Segment& segment, const Outcome& outcome);
  void note_failed_effects(const Segment& segment, const std::map<NodeId, std::uint32_t>& failed);
  void keep_records(const Prepared& prepared, const Outcome& outcome);
  void drop_if_unseen(Ref ref);
  struct Constant {  // one of the graph's; without a reader it goes with its last handle
    std::uint32_t handles = 0;
    bool read = false;  // by a task, which the graph keeps
  };
  Constant& constant(Ref ref);
  void raise_failed_effect();
  std::string way(NodeId from, NodeId to) const;
  [[noreturn]] void raise(const Failure& failure, NodeId at, Span place);

  Backend& backend_;
  Bodies& bodies_;
  SessionOptions options_;
  std::vector<Entry> entries_;
  std::vector<Constant> handed_out_;  // by constant
  std::vector<NodeId> pending_;       // in program order
  std::vector<bool> done_;            // by node
  Accesses accesses_;                 // of pending nodes
  std::vector<Location> constants_;   // by constant id, when written to the backend
  std::vector<Failure> poisons_;
  std::map<NodeId, std::uint32_t> failed_effects_;  // tasks with effects that did not happen, and why: in poisons_
  std::map<std::string, Prepared> plans_;
  std::uint64_t plans_made_ = 0, received_bytes_ = 0;
  std::uint64_t tasks_run_ = 0, chains_run_ = 0, dispatches_ = 0, dropped_ = 0, plan_peak_ = 0,
                peak_without_chains_ = 0;
  std::map<std::string, std::size_t> profile_rows_;
  std::vector<ProfileRow> profile_;
  std::vector<PlanRuns> plans_run_;
  std::vector<TimelineEntry> timeline_;
  std::vector<Ref> received_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace taskspec
