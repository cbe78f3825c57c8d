// Which calls are recorded, which are replayed, and which are analysed as if there were no traces. Traces are given by
// the program (begin, end) or found, where calls repeat themselves. Everything here is decided when a call is made,
// from what all shards have alike, so all decide alike.
//
//   recording   calls are analysed, and noted: a template, of which a trace keeps four
//   replaying   the lists looked like those of a template; each call must have the token that the template has there
//   between     an execution is complete; the next call begins another one, or the trace is left
//
// A trace is left through a fence over its lanes; where a call does not fit, the calls of that execution that did are
// analysed now. A trace that could not be entered, or not be ended, three times running is given up until its calls are
// others.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "interp/shards/traces/period_finder.hpp"
#include "interp/shards/traces/recent_numbers.hpp"
#include "interp/shards/traces/template.hpp"

namespace taskspec {

// What the engine does for its traces.
class TraceHost {
 public:
  using TemplatePtr = std::shared_ptr<TraceTemplate>;
  virtual ~TraceHost() = default;

  // To be analysed, in program order; noted in the template; the executor knows of its points already.
  virtual void analyse(Operation op, const TemplatePtr& record, std::uint32_t call, bool was_replayed) = 0;
  virtual void settle() = 0;  // all of them through the coarse stage
  virtual LaneState state(LaneKey lane) = 0;
  virtual void begin_replay(const TraceTemplate& of) = 0;
  virtual void replay(Operation& op, const TemplatePtr& of, std::uint32_t call,
                      std::span<const std::uint64_t> window) = 0;
  virtual void executed() = 0;  // a whole execution
  // As many more whole executions, of which nothing is looked at.
  virtual void replayed_again(const TraceTemplate& of, std::size_t executions) = 0;
  // The first calls of the present one, which are about to be analysed.
  virtual void take_back(const TraceTemplate& of, std::size_t calls) = 0;
  // After complete executions: their users into the lists, and a fence. `piles`: of each operation that leaves users
  // which the next execution does not cover, all its numbers.
  virtual void leave(const TraceTemplate& of, std::span<const std::uint64_t> numbers,
                     std::span<const std::vector<OperationRun>> piles) = 0;
};

// Why a trace was not replayed.
struct FailedGuard {
  bool is_found = false;   // by its calls; else given by the program
  std::uint64_t id = 0;    // of the program's
  bool at_entry = false;   // before its first call; else the present call is another one than the template has
  std::uint64_t call = 0;  // at_entry: the operation that the entry is about, where it is one of this run; else 0
  const std::string& why;
};

class Tracer {
 public:
  // The state of the data of a lane, homes and holders; equal: a template's movements are right again.
  using DataSignature = std::function<std::uint64_t(RegionId root, std::uint32_t field)>;
  struct Options {
    bool automatic = true;
    DataSignature data{};
    // Looks at signatures before they are compared: tests that plant faults.
    std::function<void(TraceSignature&)> blur{};
    // Told of each guard that failed.
    std::function<void(const FailedGuard&)> failed{};
  };
  struct Counts {
    std::uint64_t records = 0, replayed = 0;  // executions
    std::uint64_t failed = 0;                 // guards
  };

  Tracer(TraceHost& host, const RegionForest& forest, KeyTable& keys, ExactLists& lists, Options options);
  ~Tracer();

  void begin(std::uint64_t id);
  void end(std::uint64_t id);
  // One that is kept comes again, with another number: it stays as it is.
  void issue(const std::shared_ptr<Operation>& op, std::uint64_t token, bool is_kept = false);
  void call(std::uint64_t token);

  // Where the replay of a found trace stands. Calls that led from one place back to the same one, all as operations and
  // with the data where they are now, do so again: then they need not be held against the template once more.
  struct Place {
    const TraceTemplate* of = nullptr;
    std::size_t at = 0;
    bool is_between = false;
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::optional<Place> place() const;  // none: nothing is replayed, or it is not as simple as that
  // As many calls as led back to the present place, with numbers from `first` on.
  void replay_again(std::uint64_t first, std::size_t calls);

  // What some templates are about has gone; one of them that is at work is left.
  void forget(FunctionRef<bool(const TraceTemplate&)> is_gone);

  const Counts& counts() const { return counts_; }
  const std::string& why() const { return why_; }  // the last guard failed

  static constexpr std::size_t most_templates = 4, most_failures = 3;

 private:
  using TemplatePtr = TraceHost::TemplatePtr;
  enum class Mode : std::uint8_t { idle, recording, replaying, between };
  struct Trace;

  using Given = std::shared_ptr<Operation>;  // null: a call that is no operation
  void step(std::uint64_t token, const Given& op);
  Operation taken(const Given& op) const { return is_kept_ ? *op : std::move(*op); }
  bool step_replaying(std::uint64_t token, const Given& op);
  void step_recording(std::uint64_t token, const Given& op);
  void step_idle(std::uint64_t token, const Given& op);
  void enter(Trace& trace, std::string why = {});  // why it does not go on, where that is known
  void begin_replay(const TemplatePtr& of);
  bool may_follow(const TraceTemplate& of) const;  // an execution of itself
  bool has_data(const TraceTemplate& of, std::string* why) const;
  void complete();
  void pile_up();  // what the execution leaves that is done now
  void failed(Trace& trace, bool at_entry, std::uint64_t call = 0);
  void fall_back();
  void leave();
  void finish_record();
  void drop_record();

  TraceHost& host_;
  const RegionForest& forest_;
  KeyTable& keys_;
  ExactLists& lists_;
  const Options options_;
  std::map<std::pair<bool, std::uint64_t>, std::unique_ptr<Trace>> traces_;  // found or given, by id
  PeriodFinder finder_;
  RecentNumbers recent_;
  Mode mode_ = Mode::idle;
  bool is_kept_ = false;         // the operation that is issued, by who issues it
  std::size_t depth_ = 0;        // of explicit traces
  Trace* trace_ = nullptr;       // the present one
  Trace* expected_ = nullptr;    // found: the next call may begin it
  bool is_muted_ = false;        // a found one was given up
  TemplatePtr template_, last_;  // at work; whose exit the lists are at
  std::size_t at_ = 0;           // step of the template
  struct Matched {
    Given op;
    std::uint64_t number = 0;  // it had then
  };
  std::vector<Matched> matched_;
  std::uint64_t executions_ = 0;                  // complete ones since the trace was entered
  std::vector<std::vector<OperationRun>> piles_;  // by operation
  std::uint64_t sequence_ = 0;                    // of the tokens of an execution that is analysed
  Counts counts_;
  std::string why_, why_again_;  // the latter: of a found one that was left, and may be entered at once
};

}  // namespace taskspec
