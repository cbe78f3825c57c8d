// The launches of a loop: the same ones again and again, but for their numbers. When some turns of it have been seen,
// as many of them as make a good batch are planned once; from then on a launch is only noted, with its numbers, until
// the batch is full and runs, and nothing of it is recorded. Whatever else happens, what was noted so far is recorded
// first, as if there were no loop.
//
//   LaunchLoop loop(run, target, record);
//   loop.take({launch, exchanges});     // issued already
//   LaunchBatch* batch = loop.batch();  // of those that are expected; as many taken as are due: loop.taken()
//   loop.interrupt();                   // before something else is recorded
//   loop.forget();                      // regions or partitions have been deleted
//
// The analysis is told of every launch. A launch that finds the data on other shards than a turn ago is another one:
// other elements move before it. All that is compared is the same on every shard, so all do this alike.
//
// When a whole batch has run as it was planned, what is to be said of each of its launches is known, also when the loop
// comes again later: then two turns of it are enough. Where something else came in between, a receive that some turns
// have, the loop goes on with its next launch, if all data are where a batch finds them. Batches are small at first, so
// that what comes in between cuts few short; a loop that goes on for long gets larger ones. Only the pieces and the
// kinds of the numbers are compared, by the interpreter, and nothing is made of a launch: it is `expected`. Its data are
// where they were a turn ago, since the same launches have put them there. Its call is made with those of the whole
// batch, or before any other one.
#pragma once
#include <functional>

#include "interp/control/record.hpp"
#include "interp/mpi/messages.hpp"

namespace taskspec {

class LaunchLoop final : public HeldBack, private ShardRun::Deferred {
 public:
  // What moves before a launch, for one of its uses.
  struct Exchange {
    LaunchUse whole;  // of the region
    std::vector<FieldExchange::Field> fields;
    std::vector<Value> inputs;  // what fills have set; in no turn of a loop but the first: then it is filled in
  };
  struct Made {
    RecordTarget::Launched launch;
    std::vector<Exchange> exchanges;
    std::vector<std::uint32_t> lanes;  // who has the data of its uses, field by field (DataState::state)
    std::vector<std::pair<LaneKey, std::uint32_t>> left;  // where it leaves them elsewhere
    Operation op;
  };
  using Record = std::function<void(Made)>;

  LaunchLoop(ShardRun& run, RecordTarget& target, Record record)
      : run_(run), target_(target), record_(std::move(record)) {
    run_.set_deferred(this);
  }
  ~LaunchLoop() override { run_.set_deferred(nullptr); }
  LaunchLoop(const LaunchLoop&) = delete;
  // It changes fields and makes nothing, and all that it is given are numbers.
  static bool may_take(const RecordTarget::Launched& launch);
  void take(Made made);
  // What is expected, and issued here when it has come; null: nothing is.
  LaunchBatch* batch();
  bool is_in_batch() const { return is_steady_ && batch_.taken > 0; }  // some have come, and the next one is expected
  void taken();                                                        // as many as were due: a whole batch runs
  void interrupt();
  void forget();

  bool holds() const override { return batch_.taken > 0; }
  void hand_over() override;
  // Those of launches that were expected, if there are some: all that a turn of the loop says is one thing to do.
  void make_calls() override;

 private:
  enum class Mode : std::uint8_t { watching, planning, running };
  using Kind = std::uint16_t;  // of launch: position in kinds_
  static constexpr Kind none = UINT16_MAX;
  static constexpr std::size_t longest_period = 16, small_batch = 8, large_batch = 32, remembered = 128;
  static constexpr std::size_t batches_to_grow = 64, most_cut_short = 3, longest_stretch = 256;
  static constexpr std::int64_t batch_points = 256;  // of a shard, at most
  static constexpr std::size_t most_kinds = 64, most_failures = 3;

  struct Known {
    Made made;
    std::vector<Precision> precisions;    // of its values
    std::vector<bool> numbers;            // by value: no int that differs from point to point
    std::vector<std::uint64_t> pieces{};  // by use, as ExpectedLaunch has them
    std::optional<KnownCall> call{};      // null: not seen in a batch that runs
  };

  Kind kind_of(const Made& made);
  static void give_own_numbers(Made& made);
  void note(const Made& made);
  void run_batch();
  void record(Made made, Kind kind);
  void call(Known& known, std::span<const std::uint64_t> numbers);
  std::vector<std::uint32_t> lane_states() const;  // of the batch
  std::size_t length_of(std::size_t turn) const;
  void end_stretch();
  bool is_too_large(std::span<const Kind> batch) const;
  bool finds_period(Kind next = none);
  bool comes_again() const;
  bool goes_on(const Made& made);
  void go_on();
  void grow();
  void plan();
  bool knows_all_calls();
  bool is_at_rest() const;
  bool finds_its_data() const;
  void begin(Mode mode);
  void watch();
  void watch_anew();

  ShardRun& run_;
  RecordTarget& target_;
  const Record record_;
  std::vector<Known> kinds_;
  std::vector<Kind> following_;  // by kind: the one that came behind it last
  std::vector<Kind> history_;    // the last ones, whatever came in between
  std::size_t together_ = 0;     // of those: nothing else came in between
  struct {
    std::size_t launches = 0, before = 0;  // since something else came in between, and how many there were before
    bool is_regular = false;               // twice the same
  } stretch_;
  Mode mode_ = Mode::watching;
  std::vector<Kind> planned_;               // the launches of a batch
  std::vector<KnownCall*> calls_;           // theirs, when all are known
  LaunchBatch batch_;                       // then with its launches, too
  std::unique_ptr<RepeatedBatch> repeat_;   // null: not planned
  std::size_t called_ = 0;                  // of those that have come: whose calls are made
  std::vector<std::uint64_t> numbers_;      // of a batch: of those that have come, as bits
  std::vector<std::uint64_t> run_numbers_;  // of a batch that runs
  bool is_steady_ = false;                  // all data are where the batch finds them, and all its calls are known
  // Where the calls of a whole batch led back to, with all data where they were. None: not known.
  std::optional<Tracer::Place> replayed_;
  static constexpr std::chrono::milliseconds slow{20};  // from one launch to the next
  ShardWaits::Clock::time_point came_at_;               // the last one that was expected
  std::size_t failures_ = 0;                            // one behind the other
  std::size_t batches_ = 0;                             // whole ones, one behind the other
  std::size_t cut_short_ = 0;  // how often, one behind the other, something came in between before one was whole
  bool may_go_on_ = false;     // something else than a launch came in between
};

}  // namespace taskspec
