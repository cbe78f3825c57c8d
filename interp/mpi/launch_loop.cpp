#include "interp/mpi/launch_loop.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "interp/control/region_values.hpp"

namespace taskspec {

namespace {

bool is_same(const LaunchUse& a, const LaunchUse& b) {
  return a.space == b.space && a.partition == b.partition && a.fields == b.fields && a.privilege == b.privilege &&
         a.projection == b.projection;
}

bool is_same(const Value& a, const Value& b) {
  return known_number(a)->type().precision == known_number(b)->type().precision;
}

// Own points are one object for each sharding and domain.
bool is_same(const Launch& a, const Launch& b) {
  return a.work == b.work && a.task == b.task && a.symbol == b.symbol && a.domain == b.domain && a.own == b.own &&
         a.numbers == b.numbers &&
         std::ranges::equal(a.uses, b.uses, [](const LaunchUse& x, const LaunchUse& y) { return is_same(x, y); });
}

bool is_same(const LaunchLoop::Made& a, const LaunchLoop::Made& b) {
  const auto equal = [](const auto& x, const auto& y) { return is_same(x, y); };
  return a.launch.span == b.launch.span && a.lanes == b.lanes && is_same(a.launch.what, b.launch.what) &&
         std::ranges::equal(a.launch.values, b.launch.values, equal);
}

}  // namespace

bool LaunchLoop::may_take(const RecordTarget::Launched& launch) {
  const Launch& what = launch.what;
  const bool works = what.work == Launch::Work::task || what.work == Launch::Work::native;
  return works && !what.single && launch.outputs.empty() && !launch.agent && !what.reduces() &&
         std::ranges::all_of(launch.values, known_number);
}

// ---- which launch it is ---------------------------------------------------------------------------

LaunchLoop::Kind LaunchLoop::kind_of(const Made& made) {
  if (!history_.empty()) {
    const Kind expected = following_[history_.back()];
    if (expected != none && is_same(kinds_[expected].made, made)) return expected;
  }
  const auto same = std::ranges::find_if(kinds_, [&](const Known& one) { return is_same(one.made, made); });
  if (same != kinds_.end()) return static_cast<Kind>(same - kinds_.begin());
  if (kinds_.size() == most_kinds) forget();  // a long program: what it does now is found again soon
  Known known{made, {}, {}};
  known.pieces.resize(made.launch.what.uses.size());
  const std::vector<std::optional<Projection>>& differs = made.launch.what.numbers;
  for (std::size_t k = 0; k < made.launch.values.size(); ++k) {
    known.precisions.push_back(known_number(made.launch.values[k])->type().precision);
    known.numbers.push_back(k >= differs.size() || !differs[k]);
  }
  kinds_.push_back(std::move(known));
  following_.push_back(none);
  return static_cast<Kind>(kinds_.size() - 1);
}

namespace {

std::size_t whole_turns(std::size_t launches, std::size_t turn) {
  return turn * std::max<std::size_t>(1, launches / turn);
}

}  // namespace

// Of a batch: whole turns. Where something else comes again and again behind as many launches, as many or a part of
// them, so that none is left over.
std::size_t LaunchLoop::length_of(std::size_t turn) const {
  const std::size_t all = stretch_.before;
  for (std::size_t length = whole_turns(std::min(all, large_batch), turn); stretch_.is_regular && length <= all;
       length -= turn) {
    if (length < all && length < small_batch) break;
    if (all % length == 0) return length;
  }
  return whole_turns(small_batch, turn);
}

// Something else than a launch comes.
void LaunchLoop::end_stretch() {
  if (stretch_.launches == 0) return;
  const std::size_t all = std::exchange(stretch_.launches, 0);
  stretch_.is_regular = all == std::exchange(stretch_.before, all) && all <= longest_stretch;
}

bool LaunchLoop::is_too_large(std::span<const Kind> batch) const {
  std::int64_t points = 0;
  for (const Kind kind : batch) points += kinds_[kind].made.launch.what.domain.size();
  return points > batch_points * static_cast<std::int64_t>(run_.shards());
}

// The shortest period that the last launches have had for two batches. `next`: the launch that comes now; none: it is
// among them. Batches begin where turns do that others come behind, so that they may begin there again.
bool LaunchLoop::finds_period(Kind next) {
  for (std::size_t period = 1; period <= longest_period; ++period) {
    const std::size_t length = length_of(period), seen = 2 * length + period;
    if (history_.size() < seen) break;
    if (together_ % period != 0 || (cut_short_ >= most_cut_short && together_ < seen)) continue;
    const auto last = history_.end() - static_cast<std::ptrdiff_t>(2 * length);
    if (!std::equal(last, history_.end(), last - static_cast<std::ptrdiff_t>(period))) continue;
    const std::span<const Kind> found = std::span(history_).last(length);
    if (is_too_large(found) || (next != none && next != found[0])) return false;
    if (repeat_ && std::ranges::equal(found, planned_)) return false;
    batch_.turn = period;
    planned_.assign(found.begin(), found.end());
    return true;
  }
  return false;
}

// Two turns of it, or a batch where that is one: all launches found their data where they had.
bool LaunchLoop::comes_again() const {
  const auto turns = static_cast<std::ptrdiff_t>(std::min(2 * batch_.turn, planned_.size()));
  return together_ >= static_cast<std::size_t>(turns) && history_.size() >= static_cast<std::size_t>(turns) &&
         std::equal(planned_.begin(), planned_.begin() + turns, history_.end() - turns);
}

// With this launch, behind something else: all others of a batch are held against it, too.
bool LaunchLoop::goes_on(const Made& made) {
  if (!std::exchange(may_go_on_, false) || !is_same(kinds_[planned_.front()].made, made)) return false;
  begin(Mode::running);
  is_steady_ = false;  // this one has come already
  return mode_ == Mode::running;
}

// With whatever launch is expected, where that makes nobody run what was recorded.
void LaunchLoop::go_on() {
  if (target_.recorder().has_pending()) return;
  may_go_on_ = false;
  if (finds_its_data()) begin(Mode::running);
}

// A loop that goes on for long.
void LaunchLoop::grow() {
  std::vector<Kind> batch;
  for (std::size_t k = 0; k < whole_turns(large_batch, batch_.turn); ++k) batch.push_back(planned_[k % batch_.turn]);
  if (batch.size() == planned_.size() || is_too_large(batch)) return;
  target_.recorder().held_back = nullptr;
  planned_ = std::move(batch);
  plan();
}

// ---- what is done with it -------------------------------------------------------------------------

void LaunchLoop::take(Made made) {
  if (mode_ == Mode::running) {
    if (is_same(kinds_[planned_[batch_.taken]].made, made)) return note(made);
    interrupt();
    may_go_on_ = false;
  }
  if (failures_ == most_failures || run_.record()) return record_(std::move(made));
  if (goes_on(made)) return note(made);
  const Kind kind = kind_of(made);
  if (mode_ == Mode::watching && together_ == 0 && finds_period(kind)) plan();
  if (mode_ == Mode::planning) give_own_numbers(made);
  record(std::move(made), kind);
  if (mode_ == Mode::planning) {
    if (kind != planned_[batch_.taken]) return watch_anew();
    if (++batch_.taken < planned_.size()) return;
    if (is_at_rest()) repeat_ = target_.recorder().run_to_repeat(planned_.size());
    if (repeat_) {
      failures_ = 0;
      return begin(Mode::running);
    }
    // What comes behind something else may be no loop, and turns that follow one another are one.
    if (together_ >= 3 * planned_.size() + batch_.turn) ++failures_;
    cut_short_ = most_cut_short;
    watch_anew();
  } else if (repeat_ && comes_again()) {
    begin(Mode::running);
  } else if (finds_period()) {
    plan();
  }
}

void LaunchLoop::plan() {
  repeat_.reset();
  begin(Mode::planning);
}

// A constant that several launches take is another one for each of them: they may part.
void LaunchLoop::give_own_numbers(Made& made) {
  for (Value& value : made.launch.values) {
    const Array& number = *known_number(value);
    Array own = Array::make(number.type());
    std::memcpy(own.raw(), number.raw(), number.bytes());
    value = Value(std::move(own));
  }
}

void LaunchLoop::record(Made made, Kind kind) {
  if (!history_.empty()) following_[history_.back()] = kind;
  if (history_.size() == 2 * remembered) history_.erase(history_.begin(), history_.begin() + remembered);
  history_.push_back(kind);
  ++together_;
  ++stretch_.launches;
  record_(std::move(made));
}

// All that was recorded before runs first: the batch is whole, and alone.
void LaunchLoop::begin(Mode mode) {
  Recorder& recorder = target_.recorder();
  recorder.run_pending();
  if (recorder.has_pending()) return watch();
  mode_ = mode;
  batch_.taken = called_ = batches_ = 0;
  replayed_.reset();
  is_steady_ = mode == Mode::running && knows_all_calls() && finds_its_data();
  if (mode != Mode::running) return;
  recorder.held_back = this;
  std::size_t numbers = 0;
  for (const Kind kind : planned_) numbers += kinds_[kind].precisions.size();
  for (std::vector<std::uint64_t>* of : {&numbers_, &run_numbers_}) of->resize(numbers);
  batch_.next = numbers_.data();
}

bool LaunchLoop::knows_all_calls() {
  calls_.clear();
  batch_.launches.clear();
  for (const Kind kind : planned_) {
    Known& known = kinds_[kind];
    if (!known.call) return false;
    calls_.push_back(&*known.call);
    const RecordTarget::Launched& launch = known.made.launch;
    batch_.launches.push_back({launch.what, launch.sharding, launch.span, known.precisions, known.pieces});
  }
  return true;
}

// A batch has come that leaves all data where it has found them: so its second turn did, or the present one would. Then
// nothing is filled in by it, which some shards would do and some not.
bool LaunchLoop::is_at_rest() const { return planned_.size() > batch_.turn || finds_its_data(); }

// Each lane is where the first launch that uses it found it.
bool LaunchLoop::finds_its_data() const {
  std::vector<LaneKey> seen;
  for (const Kind kind : std::span(planned_).first(batch_.turn)) {
    const Made& made = kinds_[kind].made;
    auto found = made.lanes.begin();
    bool all = true;
    for (const LaunchUse& use : made.op.uses)
      use.fields.each([&](std::uint32_t field) {
        const LaneKey lane{use.space.root, field};
        const std::uint32_t state = *found++;
        if (std::ranges::find(seen, lane) != seen.end()) return;
        seen.push_back(lane);
        all = all && run_.data.state(lane) == state;
      });
    if (!all) return false;
  }
  return true;
}

void LaunchLoop::watch() {
  mode_ = Mode::watching;
  is_steady_ = false;
  batch_.taken = called_ = 0;
  replayed_.reset();
  together_ = 0;
  if (!repeat_) planned_.clear();
}

void LaunchLoop::watch_anew() {
  history_.clear();
  watch();
}

void LaunchLoop::note(const Made& made) {
  Known& known = kinds_[planned_[batch_.taken]];
  if (!known.call) known.call = run_.known(made.op, made.launch.named.name, made.launch.span, known.numbers);
  for (const Value& value : made.launch.values) {
    const Array& number = *known_number(value);
    *batch_.next = 0;
    std::memcpy(batch_.next++, number.raw(), std::min(number.bytes(), sizeof *batch_.next));
  }
  called_ = ++batch_.taken;
  if (batch_.taken == planned_.size()) run_batch();
}

// Calls of a loop that is slow on the host are made as they come: by them others see that this shard goes on.
LaunchBatch* LaunchLoop::batch() {
  if (may_go_on_) go_on();
  if (!is_steady_) return nullptr;
  const ShardWaits::Clock::time_point now = ShardWaits::coarse_now();
  const bool is_slow = now - std::exchange(came_at_, now) > slow;
  batch_.due = is_slow ? batch_.taken + 1 : planned_.size();
  return &batch_;
}

void LaunchLoop::taken() {
  if (batch_.taken < planned_.size()) return make_calls();
  run_batch();
  came_at_ = ShardWaits::coarse_now();
}

void LaunchLoop::call(Known& known, std::span<const std::uint64_t> numbers) {
  run_.call_again(*known.call, numbers);
  for (std::size_t k = 0; k < known.made.exchanges.size(); ++k) run_.will_say();
  for (const auto& [lane, state] : known.made.left) run_.data.set_state(lane, state);
}

std::vector<std::uint32_t> LaunchLoop::lane_states() const {
  std::vector<std::uint32_t> states;
  for (const Kind kind : planned_)
    for (const LaunchUse& use : kinds_[kind].made.op.uses)
      use.fields.each([&](std::uint32_t field) { states.push_back(run_.data.state({use.space.root, field})); });
  return states;
}

void LaunchLoop::make_calls() {
  if (mode_ != Mode::running || called_ == batch_.taken) return;  // who plans makes them as they come
  const std::size_t first = std::exchange(called_, batch_.taken);
  const bool is_whole = first == 0 && batch_.taken == planned_.size();
  std::span<const std::uint64_t> numbers = numbers_;
  const std::optional<Tracer::Place> place = run_.replay_place();
  if (is_whole && place && place == replayed_) {
    std::uint64_t number = run_.call_again(calls_, numbers);
    for (const Kind kind : planned_) {
      for (std::size_t k = 0; k < kinds_[kind].made.exchanges.size(); ++k) run_.will_say(number);
      ++number;
    }
    return;
  }
  replayed_.reset();
  const bool may_repeat = is_whole && place;
  const std::vector<std::uint32_t> before = may_repeat ? lane_states() : std::vector<std::uint32_t>();
  for (std::size_t k = 0; k < batch_.taken; ++k) {
    Known& known = kinds_[planned_[k]];
    const std::size_t count = known.precisions.size();
    if (k >= first) call(known, numbers.first(count));
    numbers = numbers.subspan(count);
  }
  if (may_repeat && run_.replay_place() == place && lane_states() == before) replayed_ = place;
}

void LaunchLoop::run_batch() {
  make_calls();
  const bool is_known = is_steady_ || knows_all_calls();
  is_steady_ = is_known && is_at_rest();
  batch_.taken = called_ = 0;
  numbers_.swap(run_numbers_);
  batch_.next = numbers_.data();
  try {
    repeat_->run(run_numbers_);
  } catch (...) {
    run_.tell_calls();
    throw;
  }
  run_.tell_all_calls();
  run_.raise();
  cut_short_ = 0;
  stretch_.launches += planned_.size();
  if (++batches_ == batches_to_grow) grow();
}

void LaunchLoop::hand_over() {
  make_calls();
  const std::size_t noted = batch_.taken;
  const std::vector<std::uint64_t> numbers = std::move(numbers_);
  auto next = numbers.begin();
  if (batches_ == 0 && noted > 0) ++cut_short_;
  stretch_.launches += noted;
  end_stretch();
  const bool fits = !stretch_.is_regular || length_of(batch_.turn) == planned_.size();
  may_go_on_ = fits && cut_short_ < most_cut_short;
  watch();
  for (std::size_t k = 0; k < noted; ++k) {
    Made made = kinds_[planned_[k]].made;
    for (Value& value : made.launch.values) {
      Array number = Array::make(known_number(value)->type());
      std::memcpy(number.raw(), &*next++, std::min(number.bytes(), sizeof *next));
      value = Value(std::move(number));
    }
    made.launch.scope = ScopeId(0);  // its own may be closed by now
    record_(std::move(made));
  }
  if (may_go_on_ || planned_.size() == length_of(batch_.turn)) return;
  repeat_.reset();  // it is found again, with a batch of another length
  planned_.clear();
}

void LaunchLoop::interrupt() {
  if (mode_ == Mode::running) {
    target_.recorder().held_back = nullptr;
    hand_over();
  } else {
    if (mode_ == Mode::planning) ++cut_short_;
    end_stretch();
    watch();
  }
}

void LaunchLoop::forget() {
  interrupt();
  may_go_on_ = false;
  repeat_.reset();
  planned_.clear();
  kinds_.clear();
  following_.clear();
  history_.clear();
}

}  // namespace taskspec
