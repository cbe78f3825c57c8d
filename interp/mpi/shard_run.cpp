#include "interp/mpi/shard_run.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "interp/shards/analysis/elision.hpp"
#include "ir/base/at_end.hpp"
#include "ir/files/files.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t longest_sleep = 10'000'000;  // ns: beats and failures are looked for at least so often
constexpr std::chrono::seconds longest_parting{1};  // that a shard which failed answers others, where none goes on

}  // namespace

std::optional<Injection> injection_of(std::string_view text) {
  Injection made;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  const auto number = [&](auto& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || next == end || *next != ':') return false;
    at = next + 1;
    return true;
  };
  if (!number(made.shard) || !number(made.call) || at == end) return std::nullopt;
  made.argument.assign(at, end);
  return made;
}

ShardRun::ShardRun(std::shared_ptr<ShardGroup> group, ShardId self, RegionForest& forest, ShardOptions options)
    : data(forest, keys, group->shards(), self, options.plans, options.folds),
      touched(forest, options.instances),
      forest_(forest),
      group_(std::move(group)),
      options_(std::move(options)),
      record_(options_.record ? std::make_unique<ShardRecord>(forest, group_->shards(), group_->begun) : nullptr),
      waits_(group_->waits.of(self)),
      recorded_(record_ ? std::make_unique<RecordedTransport>(group_->network().at(self), *record_) : nullptr),
      collectives_(recorded_ ? static_cast<Transport&>(*recorded_) : group_->network().at(self)),
      log_(options_.level == ControlWatch::Level::off ? CallLog::Hashes::none : CallLog::Hashes::chained),
      watch_(collectives_, log_, {.level = options_.level}),
      engine_(forest, collectives_, *this,
              {.more = options_.elides_more ? elides_more : CoarseStage::Elides(),
               .traces = options_.traces,
               .automatic = options_.finds_traces,
               .data_signature =
                   [this](RegionId root, std::uint32_t field) {
                     return data.state({root, field});
                   },
               .failed_guard =
                   [this](const FailedGuard& guard) {
                     if (options_.why_trace && this->self() == ShardId(0)) tell(guard);
                   },
               .stamp = [this](std::uint64_t call) { return log_.stamp(call); },
               .found =
                   [this](const Operation& op, const CoarseResult& found) {
                     if (record_) record_->coarse(op, found);
                   }}),
      port_(collectives_, this),
      pieces_(std::make_shared<SharedPieces>(
          collectives_, SharedPieces::Waits{[this](FunctionRef<bool()> done) {
                                              wait_for("pieces of a partition", ShardRecord::Bar::others, done);
                                            },
                                            [this] {
                                              raise(0);
                                              waits("pieces that others keep"), beat(), wait_a_little();
                                            }})),
      deletions_(collectives_) {
  if (!options_.dump_dep.empty()) dependences_ = std::make_unique<DependenceLog>();
  if (shards() > 1) forest.share(pieces_);
  group_->sources = options_.sources;
  collectives_.on_failure([this](const ShardMessage& message) { hear_failure(message); });
}

ShardRun::~ShardRun() { pieces_->close(); }

void ShardRun::found(const Operation& op, const FineResult& result, std::uint64_t time) {
  if (dependences_) dependences_->found(op, result, time);
  if (record_) record_->found(op, result);
}

void ShardRun::replayed(const Operation& op, const TemplateCall& call) {
  if (dependences_) dependences_->replayed(op, call);
  if (record_) record_->replayed(op, call);
}

void ShardRun::tell_dump(const Operation& op) {
  if (!dependences_) return;
  const CallLog::Call call = log_[op.number];
  dependences_->issued(op, call.name,
                       options_.sources && call.span.valid() ? options_.sources->place(call.span) : std::string());
}

void ShardRun::issue(Operation op) {
  tell_dump(op);
  engine_.issue(std::move(op));
  turn();
}

// One place in the text is one trace, whichever turn of whichever loop it is in.
static std::uint64_t id_of(Span place) {
  return (std::uint64_t{place.source.value} << 48) ^ (std::uint64_t{place.begin} << 24) ^ place.end;
}

void ShardRun::begin_trace(Span place) {
  make_deferred();
  if (traces_open_++ == 0) trace_ = place;
  engine_.begin_trace(id_of(place));
}

void ShardRun::end_trace(Span place) {
  make_deferred();
  engine_.end_trace(id_of(place));
  --traces_open_;
}

std::string ShardRun::call_text(std::uint64_t number) const {
  std::string made = "call " + std::to_string(number);
  if (!log_.has(number)) return made;
  const CallLog::Call call = log_[number];
  made += " '" + std::string(text(call.kind)) + " " + call.name + "'";
  if (options_.sources && call.span.valid()) made += " (" + options_.sources->place(call.span) + ")";
  return made;
}

void ShardRun::tell(const FailedGuard& guard) {
  std::string line = "taskspec: trace";
  if (!guard.is_found && options_.sources && trace_.valid()) line += " at " + options_.sources->place(trace_);
  const bool is_before = guard.at_entry && !guard.is_found;
  line += is_before ? ", before call " + std::to_string(log_.last() + 1) : ", at " + call_text(log_.last());
  line += ": " + guard.why;
  if (guard.call > 0) line += "; that far back stands " + call_text(guard.call);
  std::fprintf(stderr, "%s\n", line.c_str());
}

std::uint64_t ShardRun::called(CallKind kind, std::string_view name, Span span) {
  wait_for_checks();
  const std::uint64_t number = log_.record(kind, name, arguments_, span);
  has_called(number, kind, name, span);
  turn();
  raise();
  return number;
}

void ShardRun::has_called(std::uint64_t number, CallKind kind, std::string_view name, Span span, const CallText* text) {
  watch_.called();
  beat();
  if (record_)
    record_->called(number, std::string(taskspec::text(kind)) + " " + std::string(name), span, log_.hash(number));
  if (kind == CallKind::start || kind == CallKind::region || kind == CallKind::partition || kind == CallKind::future ||
      kind == CallKind::receive)
    engine_.call(hash128(std::string(name) + static_cast<char>(kind)).low);
  note_call(number, kind, name, span, text);
}

// For whoever wants to know what this shard is at.
void ShardRun::note_call(std::uint64_t number, CallKind kind, std::string_view name, Span span, const CallText* text) {
  waits_.calls(number, span);
  if (RankGroup* ranks = group_->ranks(); ranks && ranks->notes_calls()) {
    if (!text) text = &text_of(kind, name, span);
    ranks->note_call(self(), number, text->what, text->place);
  }
}

// The same calls come again and again; lines are found by counting.
const CallText& ShardRun::text_of(CallKind kind, std::string_view name, Span span) {
  CallText& text = texts_[{kind, id_of(span)}];
  if (text.name != name || text.what.empty())
    text = {std::string(name), std::string(taskspec::text(kind)) + " " + std::string(name),
            options_.sources && span.valid() ? options_.sources->place(span) : std::string()};
  return text;
}

void ShardRun::explain(const ContentsDiffer& difference) {
  tell_calls();
  const std::string why = difference.what;
  if (options_.level == ControlWatch::Level::off) {
    Diag diag("E6001", Severity::error, {}, "control determinism violated: " + why);
    diag.help_text = "level: \"batch\" compares the calls of all shards, and names the one that differs";
    const Error error(std::move(diag));
    fail(error.diags(), 0);
    throw error;
  }
  release();
  bug(why);
}

void ShardRun::turn() {
  engine_.turn();
  const Difference* found = watch_.difference();
  if (!found || group_->failure.is_reached(0)) return;
  Diags diags;
  diags.add(diagnostic(*found, options_.sources));
  fail(diags, 0);
}

namespace {

void put(ByteWriter& out, Span span) { out.put(span.source.value).put(span.begin).put(span.end); }

Span span_in(ByteReader& in) {
  Span span;
  span.source.value = in.get<decltype(span.source.value)>();
  span.begin = in.get<decltype(span.begin)>();
  span.end = in.get<decltype(span.end)>();
  return span;
}

}  // namespace

// Shards of this process see it where they wait; a shard of each other rank is told, and the rest see it there.
void ShardRun::fail(const Diags& diags, std::uint64_t at) {
  if (!group_->fail(diags, at)) return;
  const RankLayout& layout = group_->network().layout();
  const Diag& first = diags.items().front();
  for (std::size_t rank = 0; rank < layout.ranks; ++rank) {
    if (rank == layout.rank) continue;
    RankLayout there = layout;
    there.rank = rank;
    ShardMessage message{.to = there.here().front(), .purpose = Purpose::failure, .step = no_collective};
    ByteWriter out(message.payload);
    out.put(at).put(first.code.number()).text(first.message).text(first.primary.text);
    put(out, first.primary.span);
    out.put(static_cast<std::uint32_t>(first.labels.size()));
    for (const Label& label : first.labels) put(out.text(label.text), label.span);
    collectives_.send(std::move(message));
  }
}

void ShardRun::hear_failure(const ShardMessage& message) {
  ByteReader in(message.payload);
  const auto at = in.get<std::uint64_t>();
  const Code code = Code::of(in.get<std::uint16_t>());
  const std::string why(in.text()), where(in.text());
  Diags diags;
  Diag& diag = diags.error(code, span_in(in), why);
  diag.at(where);
  const auto labels = in.get<std::uint32_t>();
  for (std::uint32_t k = 0; k < labels; ++k) {
    const std::string text(in.text());
    diag.label(span_in(in), text);
  }
  group_->fail(diags, at);
}

ShardRun::Saying ShardRun::say() {
  if (unsaid_.empty()) bug("a message that was not recorded");
  const Saying saying{*this, unsaid_.front()};
  unsaid_.pop_front();
  return saying;
}

void ShardRun::raise(std::uint64_t call) {
  ShardFailure& known = group_->failure;
  if (const std::optional<ShardId> lost = collectives_.transport().lost(); lost && !known.is_reached(0)) {
    const std::string rank = std::to_string(group_->network().layout().rank_of(*lost));
    group_->give_up(failure("E6004", {}, "rank " + rank + " has ended before the others").diags());
  }
  known.raise_if_reached(call);
}

void ShardRun::wait_a_little() { collectives_.transport().wait(longest_sleep); }

template <class Done>
void ShardRun::wait_for(const char* what, ShardRecord::Bar kind, Done&& done) {
  wait_for(what, kind, done, [this] { raise(); });
}

template <class Done, class Raise>
void ShardRun::wait_for(const char* what, ShardRecord::Bar kind, Done&& done, Raise&& raise) {
  const AtEnd as_before([this] {
    if (record_) record_->waits_for = ShardRecord::Bar::contents;
  });
  if (record_) record_->waits_for = kind;
  while (true) {
    turn();
    if (done()) return;
    raise();
    if (engine_.turn())
      waits_.steps();
    else
      waits(what), beat(), wait_a_little();
  }
}

// Once a second the next shard hears how far this one is, whatever this one waits for: so they find out that they
// differ also where no message would have told. The clock is not asked each time.
void ShardRun::beat() {
  constexpr std::uint64_t calls_of_the_clock = 16;
  constexpr std::chrono::seconds pause{1};
  if (++asked_for_beats_ % calls_of_the_clock != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - beat_at_ < pause) return;
  beat_at_ = now;
  watch_.beat();
}

// Nobody waits for what this shard has not sent yet: batches end at the same calls everywhere, and those before have
// run.
void ShardRun::wait_for_checks() {
  if (watch_.is_far_ahead())
    wait_for("the check of its calls", ShardRecord::Bar::check, [&] { return !watch_.is_far_ahead(); });
}

void ShardRun::settle() {
  wait_for("fences of its operations", ShardRecord::Bar::fences, [&] { return engine_.is_idle(); });
}

// What ends a wait outlives it where the wait is left by a failure: messages that come later still find it.
void ShardRun::release() {
  const auto released = std::make_shared<bool>(false);
  watch_.release(log_.last(), [released] { *released = true; });
  wait_for("the check of its calls", ShardRecord::Bar::check, [&] { return *released; });
}

void ShardRun::barrier() {
  const auto all_came = std::make_shared<bool>(false);
  collectives_.barrier({Purpose::value, ++barriers_, 2}, [all_came] { *all_came = true; });
  wait_for("all shards to come here", ShardRecord::Bar::others, [&] { return *all_came; });
}

// Who heard of a failure meanwhile must not leave by itself: the others would be let through, and wait for it behind.
void ShardRun::meet() {
  Bytes own;
  ByteWriter(own).put(static_cast<std::uint8_t>(group_->failure.is_reached(last_call())));
  const auto all = std::make_shared<std::optional<std::vector<Bytes>>>();
  collectives_.all_gather({Purpose::value, ++meetings_, 6}, std::move(own),
                          [all](std::vector<Bytes> got) { *all = std::move(got); });
  const auto raise_at_once = [this] { raise(0); };
  wait_for(
      "all shards to come here", ShardRecord::Bar::others, [&] { return all->has_value(); }, raise_at_once);
  const bool has_failed =
      std::ranges::any_of(**all, [](const Bytes& one) { return ByteReader(one).get<std::uint8_t>() != 0; });
  if (!has_failed) return;
  wait_for(
      "what another one failed with", ShardRecord::Bar::others,
      [this] { return group_->failure.is_reached(last_call()); }, raise_at_once);
  raise();
}

namespace {

Bytes packed(const Diag& diag) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.put(diag.code.number()).text(diag.message).text(diag.help_text);
  out.put(static_cast<std::uint32_t>(diag.notes.size()));
  for (const std::string& note : diag.notes) out.text(note);
  return bytes;
}

Diag unpacked(ByteView bytes) {
  ByteReader in(bytes);
  const Code code = Code::of(in.get<std::uint16_t>());
  Diag diag(code, Severity::error, {}, std::string(in.text()));
  diag.help_text = in.text();
  for (auto notes = in.get<std::uint32_t>(); notes > 0; --notes) diag.note(std::string(in.text()));
  return diag;
}

}  // namespace

std::optional<Diag> ShardRun::by_first(FunctionRef<void()> look) {
  Bytes own;
  if (self() == ShardId(0)) {
    try {
      look();
    } catch (const Error& error) {
      own = packed(error.diags().items().front());
    }
  }
  const auto verdict = std::make_shared<std::optional<Bytes>>();
  collectives_.broadcast({Purpose::value, ++verdicts_, 8}, ShardId(0), std::move(own),
                         [verdict](Bytes got) { *verdict = std::move(got); });
  wait_for("what the first shard finds", ShardRecord::Bar::others, [&] { return verdict->has_value(); });
  if ((*verdict)->empty()) return std::nullopt;
  return unpacked(**verdict);
}

std::optional<std::vector<std::uint64_t>> ShardRun::agreed_deletions() {
  if (!deletions_.is_due(log_.last())) return std::nullopt;
  wait_for("what all have let go", ShardRecord::Bar::others, [&] { return deletions_.is_known(); });
  pieces_->all_have_come();
  return deletions_.agreed(log_.last());
}

void ShardRun::forget(RegionId region) {
  engine_.forget(region);
  data.forget(region);
  touched.forget(region);
  keys.forget([&](const UseKey& key) { return key.use.space.root == region; });
}

bool ShardRun::forget(PartitionId partition) {
  if (data.names(partition) || !engine_.forget(partition)) return false;
  data.forget(partition);
  touched.forget_numbers();
  keys.forget([&](const UseKey& key) { return names(key, partition); });
  return true;
}

void ShardRun::force(PartitionId partition, std::uint64_t number) {
  engine_.force(forest_[partition].parent.root, number);
  data.forget(partition);
}

void ShardRun::part() {
  using Clock = std::chrono::steady_clock;
  if (std::exchange(has_parted_, true)) return;
  const auto all_came = std::make_shared<bool>(false);
  collectives_.all_gather({Purpose::value, UINT64_MAX, 7}, packed_record(),
                          [this, all_came](const std::vector<Bytes>& records) {
                            keep(records);
                            *all_came = true;
                          });
  std::uint64_t done = group_->waits.done();
  for (Clock::time_point since = Clock::now(); !*all_came && !group_->failure.is_reached(0);) {
    turn();
    if (collectives_.transport().lost()) return;
    if (engine_.turn())
      waits_.steps();
    else
      waits("the others to come to where it failed"), wait_a_little();
    if (const std::uint64_t now = group_->waits.done(); now != done || group_->waits.is_running()) {
      done = now;
      since = Clock::now();
    } else if (Clock::now() - since > longest_parting) {
      fail(group_->failure.diags(), 0);
    }
  }
  if (*all_came) group_->ended(self());  // nobody counts on it any more
}

void ShardRun::finish() {
  is_ending_ = true;
  if (!unsaid_.empty()) bug("a message that was announced was never said");
  settle();
  // Nothing is under way when the shards part.
  wait_for("what all have let go", ShardRecord::Bar::others, [&] { return deletions_.is_known(); });
  watch_.ended();
  wait_for("the end of the others", ShardRecord::Bar::others, [&] { return watch_.is_done(); });
  add_up();
  dump_dependences();
  if (record_) keep(gathered(5, packed_record()));
  pieces_->close();
  group_->ended(self());
}

std::vector<Bytes> ShardRun::gathered(std::uint8_t part, Bytes own) {
  const auto all = std::make_shared<std::optional<std::vector<Bytes>>>();
  collectives_.all_gather({Purpose::value, UINT64_MAX, part}, std::move(own),
                          [all](std::vector<Bytes> got) { *all = std::move(got); });
  wait_for("what the others gather", ShardRecord::Bar::others, [&] { return all->has_value(); });
  return **std::move(all);
}

// Shard 0 writes the file; the others hear from it, as of everything, if it cannot.
void ShardRun::dump_dependences() {
  if (!dependences_) return;
  const std::vector<Bytes> all = gathered(3, dependences_->packed());
  if (self() == ShardId(0)) {
    try {
      write_text(options_.dump_dep, dependences_json(all));
    } catch (const Error& error) {
      fail(error.diags(), 0);
    }
  }
  barrier();
  raise();
}

// Messages, bytes, points and fused launches are those of all shards together.
void ShardRun::add_up() {
  Bytes own;
  const Collectives::Counts& contents = collectives_.contents();
  ByteWriter(own).put(contents.messages).put(contents.bytes).put(engine_.fine().counts().steps).put(fused.count());
  const std::vector<Bytes> all = gathered(1, std::move(own));
  std::uint64_t messages = 0, bytes = 0, fine = 0, fused_by_all = 0;
  for (const Bytes& one : all) {
    ByteReader in(one);
    messages += in.get<std::uint64_t>();
    bytes += in.get<std::uint64_t>();
    fine += in.get<std::uint64_t>();
    fused_by_all += in.get<std::uint64_t>();
  }
  const CoarseStage::Counts& coarse = engine_.coarse().counts();
  const auto add = [&](std::uint64_t number) { report_.push_back(Value(static_cast<std::int64_t>(number))); };
  for (const std::uint64_t number : {coarse.fences, coarse.elided, coarse.other_fences, coarse.collectives})
    add(number);
  add(engine_.traces().replayed);
  add(engine_.traces().records);
  add(coarse.forced);
  add(messages), add(bytes);
  add(collectives_.rounds());
  add(coarse.steps), add(fine);
  add(watch_.counts().hashes);
  add(data.counts().made);
  add(fused_by_all);
}

Bytes ShardRun::packed_record() const {
  if (!record_) return {};
  const CoarseStage::Counts& coarse = engine_.coarse().counts();
  const FineStage::Counts fine = engine_.fine().counts();
  const Allocations &analysis = engine_.allocations(), &decisions = data.allocations();
  record_->work = {coarse.steps,
                   coarse.touched,
                   coarse.elided_more,
                   fine.steps,
                   fine.entries,
                   fine.edges,
                   data.counts().made,
                   data.counts().touched,
                   analysis.number + decisions.number,
                   analysis.bytes + decisions.bytes,
                   engine_.bytes() + data.bytes() + touched.bytes(),
                   static_cast<std::uint64_t>(touched.packed_elements())};
  return record_->packed();
}

// Every shard has one, or none has.
void ShardRun::keep(const std::vector<Bytes>& records) {
  if (!record_ || self() != ShardId(0)) return;
  for (const Bytes& one : records) records_.push_back(ShardRecord::unpacked(one));
}

}  // namespace taskspec
