// One shard of one run: its end of the transport, and all that it knows of the others. Used by the thread of its graph
// part alone.
//
//   ShardRun run(group, ShardId(2), forest, options);
//   run.issue(op);                       // calls of the program, in their order
//   run.settle();                        // until everything issued has been through its fine stage here
//   run.finish();                        // the program makes no more calls: all of them agreed
#pragma once
#include <chrono>
#include <deque>
#include <map>

#include "interp/mpi/call_encoder.hpp"
#include "interp/mpi/dependence_log.hpp"
#include "interp/mpi/fused_launches.hpp"
#include "interp/mpi/replicas.hpp"
#include "interp/mpi/shard_record.hpp"
#include "interp/shards/analysis/engine.hpp"
#include "interp/shards/control/control_watch.hpp"
#include "interp/shards/control/deletion.hpp"
#include "interp/shards/data/data_port.hpp"
#include "interp/shards/data/data_state.hpp"
#include "interp/shards/data/shared_pieces.hpp"
#include "interp/shards/data/touched_elements.hpp"

namespace taskspec {

struct ShardOptions {
  ControlWatch::Level level = ControlWatch::Level::batch;
  std::optional<Injection> inject;
  bool traces = true;        // sequences of calls that repeat themselves are analysed once
  bool finds_traces = true;  // also those that the program does not name
  bool why_trace = false;    // shard 0 says of each trace that cannot be replayed what stands against it
  DataState::Plans plans = DataState::Plans::own;
  DataState::Folds folds = DataState::Folds::points;  // of contributions
  TouchedElements::Memory instances = TouchedElements::Memory::automatic;
  bool elides_more = false;  // fences that more than the rule of the coarse stage proves needless
  std::string dump_dep;      // a file for the dependences; empty: none
  const Sources* sources = nullptr;
  bool record = false;  // somebody will look at what all shards did
};

// For the message about a rank that dies.
struct CallText {
  std::string name, what, place;  // step, "launch step", "f.task:31"
};

// A call that is made again and again with other numbers, as it was made the last time.
struct KnownCall {
  CallLog::Repeated repeated;
  std::size_t values = 0;  // that it is given
  std::shared_ptr<Operation> op;
  std::uint64_t token = 0;  // of that
  const CallText* text = nullptr;
};

class ShardRun final : private Executor, private DataPort::Idle {
 public:
  ShardRun(std::shared_ptr<ShardGroup> group, ShardId self, RegionForest& forest, ShardOptions options);
  ~ShardRun() override;

  std::size_t shards() const { return collectives_.shards(); }
  ShardId self() const { return collectives_.self(); }

  // ---- calls ----
  CallEncoder begin_call() {
    make_deferred();
    return CallEncoder(arguments_, log_.last() + 1, options_.inject, self());
  }
  // The arguments of the encoder; gives the number of the call.
  std::uint64_t called(CallKind kind, std::string_view name, Span span);
  // Also as an operation on regions.
  void issue(Operation op);
  // The last call, which was issued as this operation, and whose last arguments are these values: those of them that
  // are numbers may be others when it is made again. None: an argument is injected somewhere.
  std::optional<KnownCall> known(Operation op, std::string_view name, Span span, const std::vector<bool>& numbers);
  // By the bits of its values.
  void call_again(KnownCall& call, std::span<const std::uint64_t> bits);
  std::optional<Tracer::Place> replay_place() const { return engine_.replay_place(); }
  // Several, one behind the other, where the same ones led back to the present place of the replay and left all data
  // where they were. Gives the number of the first. The log is told of them while this shard waits for contents; until
  // it is told of all of them they and their numbers stay where they are, and no other call is made.
  std::uint64_t call_again(std::span<KnownCall* const> calls, std::span<const std::uint64_t> bits);
  void tell_calls() {  // as many as may be told: while a difference is searched for, none
    while (work()) {
    }
  }
  void tell_all_calls();
  // Calls that have come and are not made yet: they come before any other.
  class Deferred {
   public:
    virtual ~Deferred() = default;
    virtual void make_calls() = 0;
  };
  void set_deferred(Deferred* calls) { deferred_ = calls; }  // null: there is none
  void make_deferred() {
    if (deferred_) deferred_->make_calls();
  }
  // What is called in between repeats itself, by its place in the text. No call: a hint to this shard's analysis.
  void begin_trace(Span place);
  void end_trace(Span place);

  // ---- waiting: everything answers others meanwhile; throws what the run failed with ----
  void turn();
  void settle();
  void release();  // until all calls so far are known to be equal
  void finish();
  void barrier();  // until all shards have come here
  // Likewise; and either all of them go on, or all throw what one had failed with before it came.
  void meet();
  // The first shard alone looks at something: what that has thrown, all get, without places in the text.
  std::optional<Diag> by_first(FunctionRef<void()> look);
  void wait_a_little();
  // A message that this call needs has been recorded; those of earlier calls, and earlier ones of this, are said first.
  void will_say() { will_say(last_call()); }
  void will_say(std::uint64_t call) { unsaid_.push_back(call); }
  // Then it is said: what to do while it waits for others. A failure behind its call is none of it yet, since the
  // shards behind that one say all that comes before.
  struct Saying {
    ShardRun& run;
    std::uint64_t call;
    void operator()() const {
      run.tell_calls();  // the log has the whole batch before others are answered from it
      run.waits("contents of others"), run.beat(), run.turn(), run.raise(call);
    }
  };
  Saying say();
  // Says and hears contents. Where others come than are waited for, calls differ that nobody has compared yet: they are
  // now.
  template <class F>
  void exchange(F&& contents) {
    try {
      contents();
    } catch (const ContentsDiffer& difference) {
      explain(difference);
    }
  }
  // The first call that something was not said for; none: the last one.
  std::uint64_t first_unsaid() const { return unsaid_.empty() ? last_call() : unsaid_.front(); }
  // Here and on other ranks, for whoever comes to this call; at 0 at once.
  void fail(const Diags& diags, std::uint64_t at);
  std::uint64_t last_call() const { return log_.last() + untold_.calls.size(); }
  // The program has failed here: the others are answered until they have failed, too, by themselves or by hearing of
  // it.
  void part();
  const ShardFailure& heard_failure() const { return group_->failure; }
  void raise() { raise(is_ending_ ? UINT64_MAX - 1 : last_call()); }
  void raise(std::uint64_t call);  // what the run failed with, at that call or before

  // ---- data that goes: what finalisers said, what all shards agree on, and what is then known no more ----
  AgreedDeletions& deletions() { return deletions_; }
  // Between two calls; none: it is not asked at this one. Waits for what was compared at the last one.
  std::optional<std::vector<std::uint64_t>> agreed_deletions();
  void untrace(RegionId region) { engine_.untrace(region); }
  void untrace(PartitionId partition) { engine_.untrace(partition); }
  // When all is settled. False: lists still name it.
  void forget(RegionId region);
  bool forget(PartitionId partition);
  void force(PartitionId partition, std::uint64_t number);  // lists do so no more

  KeyTable keys;
  DataState data;
  TouchedElements touched;
  FusedLaunches fused;  // of own runs
  DataPort& port() { return port_; }
  Collectives& collectives() { return collectives_; }

  // Of the whole run, in the order of the report's fields; equal on all shards.
  std::vector<Value> report() const { return report_; }
  ShardRecord* record() { return record_.get(); }  // null: nobody will look
  // Of all shards, once the run is finished, or all have come to where it failed; empty where nobody looks.
  const std::vector<ShardRecord>& records() const { return records_; }

 private:
  bool work() override;  // tells the log of a call
  void wait_for_checks();
  std::uint64_t log_again(CallLog::Repeated& call, std::span<const std::uint64_t> bits);
  void note_call(std::uint64_t number, CallKind kind, std::string_view name, Span span, const CallText* text);
  bool wants_replayed() const override { return dependences_ != nullptr || record_ != nullptr; }
  void has_called(std::uint64_t number, CallKind kind, std::string_view name, Span span,
                  const CallText* text = nullptr);
  void tell_dump(const Operation& op);
  [[noreturn]] void explain(const ContentsDiffer& difference);
  void found(const Operation& op, const FineResult& result, std::uint64_t time) override;
  void replayed(const Operation& op, const TemplateCall& call) override;
  const CallText& text_of(CallKind kind, std::string_view name, Span span);
  std::string call_text(std::uint64_t number) const;  // "call 9 'launch mul_two' (f.task:21)"
  void tell(const FailedGuard& guard);
  template <class Done>
  void wait_for(const char* what, ShardRecord::Bar kind, Done&& done);  // what: as the watchdog says it
  template <class Done, class Raise>
  void wait_for(const char* what, ShardRecord::Bar kind, Done&& done, Raise&& raise);
  void waits(const char* what) { waits_.waits(what, log_.last()); }
  void beat();
  void add_up();
  std::vector<Bytes> gathered(std::uint8_t part, Bytes own);  // by shard
  void dump_dependences();
  Bytes packed_record() const;
  void keep(const std::vector<Bytes>& records);

  const RegionForest& forest_;
  const std::shared_ptr<ShardGroup> group_;
  const ShardOptions options_;
  const std::unique_ptr<ShardRecord> record_;
  ShardWaits::Shard& waits_;  // what it says of itself
  const std::unique_ptr<RecordedTransport> recorded_;
  Collectives collectives_;
  CallLog log_;
  ControlWatch watch_;
  AnalysisEngine engine_;
  DataPort port_;
  const std::shared_ptr<SharedPieces> pieces_;  // held by partitions, too, which may outlive the run
  AgreedDeletions deletions_;
  CallArguments arguments_;
  Deferred* deferred_ = nullptr;
  struct {
    std::span<KnownCall* const> calls;
    std::span<const std::uint64_t> bits;
  } untold_;
  void hear_failure(const ShardMessage& message);
  std::unique_ptr<DependenceLog> dependences_;  // null: nobody wants them
  Span trace_;                                  // of the program, the outermost that has begun
  std::size_t traces_open_ = 0;
  std::map<std::pair<CallKind, std::uint64_t>, CallText> texts_;  // by place in the text
  std::uint64_t barriers_ = 0, meetings_ = 0, verdicts_ = 0;
  std::deque<std::uint64_t> unsaid_;             // the calls of messages that have been recorded
  bool is_ending_ = false, has_parted_ = false;  // no further call comes
  std::uint64_t asked_for_beats_ = 0;
  std::uint64_t known_calls_ = 0, called_again_ = 0;
  std::chrono::steady_clock::time_point beat_at_ = std::chrono::steady_clock::now();
  std::vector<Value> report_;
  std::vector<ShardRecord> records_;
};

}  // namespace taskspec
