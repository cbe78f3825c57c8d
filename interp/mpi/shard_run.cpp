#include "interp/mpi/shard_run.hpp"

#include <charconv>
#include <system_error>

#include "ir/base/at_end.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t longest_sleep = 10'000'000;  // ns: beats and failures are looked for at least so often

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
    : data(forest, keys, group->shards(), self),
      group_(std::move(group)),
      options_(std::move(options)),
      record_(options_.record ? std::make_unique<ShardRecord>(forest, group_->shards(), group_->begun) : nullptr),
      recorded_(record_ ? std::make_unique<RecordedTransport>(group_->network().at(self), *record_) : nullptr),
      collectives_(recorded_ ? static_cast<Transport&>(*recorded_) : group_->network().at(self)),
      log_(options_.level == ControlWatch::Level::off ? CallLog::Hashes::none : CallLog::Hashes::chained),
      watch_(collectives_, log_, {.level = options_.level}),
      engine_(forest, collectives_, *this,
              {.traces = options_.traces,
               .automatic = options_.traces,
               .data_signature =
                   [this](RegionId root, std::uint32_t field) {
                     return data.state({root, field});
                   },
               .found =
                   [this](const Operation& op, const CoarseResult& found) {
                     if (record_) record_->coarse(op, found);
                   }}),
      port_(collectives_) {
  collectives_.on_failure([this](const Message& message) { hear_failure(message); });
}

ShardRun::~ShardRun() = default;

void ShardRun::found(const Operation& op, const FineResult& result, std::uint64_t) {
  if (record_) record_->found(op, result);
}

void ShardRun::replayed(const Operation& op, const TemplateCall& call) {
  if (record_) record_->replayed(op, call);
}

std::uint64_t ShardRun::called(CallKind kind, std::string_view name, Span span) {
  const std::uint64_t number = log_.record(kind, name, arguments_, span);
  watch_.called();
  if (record_) record_->called(number, std::string(taskspec::text(kind)) + " " + std::string(name), span);
  if (kind == CallKind::start || kind == CallKind::region || kind == CallKind::partition || kind == CallKind::future ||
      kind == CallKind::receive)
    engine_.call(hash128(std::string(name) + static_cast<char>(kind)).low);
  ++group_->steps;
  if (RankGroup* ranks = group_->ranks(); ranks && ranks->notes_calls()) {
    const Sources* sources = options_.sources;
    ranks->note_call(self(), number, std::string(taskspec::text(kind)) + " " + std::string(name),
                     sources && span.valid() ? sources->place(span) : std::string());
  }
  turn();
  raise();
  return number;
}

void ShardRun::turn() {
  engine_.turn();
  const Difference* found = watch_.difference();
  if (!found || group_->failure.is_set()) return;
  Diags diags;
  diags.add(diagnostic(*found, options_.sources));
  fail(diags);
}

// Shards of this process see it where they wait; a shard of each other rank is told, and the rest see it there.
void ShardRun::fail(const Diags& diags) {
  if (group_->failure.is_set()) return;
  group_->fail(diags);
  const RankLayout& layout = group_->network().layout();
  const Diag& first = diags.items().front();
  for (std::size_t rank = 0; rank < layout.ranks; ++rank) {
    if (rank == layout.rank) continue;
    RankLayout there = layout;
    there.rank = rank;
    Message message{.to = there.here().front(), .purpose = Purpose::failure, .step = Collectives::no_collective};
    ByteWriter(message.payload)
        .put(first.code.number())
        .text(first.message)
        .put(first.primary.span.source.value)
        .put(first.primary.span.begin)
        .put(first.primary.span.end);
    collectives_.send(std::move(message));
  }
}

void ShardRun::hear_failure(const Message& message) {
  ByteReader in(message.payload);
  const Code code = Code::of(in.get<std::uint16_t>());
  const std::string why(in.text());
  Span span;
  span.source.value = in.get<decltype(span.source.value)>();
  span.begin = in.get<decltype(span.begin)>();
  span.end = in.get<decltype(span.end)>();
  group_->fail(failure(code, span, why).diags());
}

void ShardRun::raise() {
  if (const std::optional<ShardId> lost = collectives_.transport().lost(); lost && !group_->failure.is_set())
    group_->fail(
        failure("E6004", {},
                "rank " + std::to_string(group_->network().layout().rank_of(*lost)) + " has ended before the others")
            .diags());
  group_->failure.raise_if_set();
}

void ShardRun::wait_a_little() { collectives_.transport().wait(longest_sleep); }

template <class Done>
void ShardRun::wait_for(const char* what, ShardRecord::Bar kind, Done&& done) {
  const AtEnd as_before([this] {
    if (record_) record_->waits_for = ShardRecord::Bar::contents;
  });
  if (record_) record_->waits_for = kind;
  while (true) {
    turn();
    if (done()) return;
    raise();
    if (engine_.turn())
      ++group_->steps;
    else
      waits(what), wait_a_little();
  }
}

void ShardRun::settle() {
  wait_for("fences of its operations", ShardRecord::Bar::fences, [&] { return engine_.is_idle(); });
}

void ShardRun::release() {
  bool released = false;
  watch_.release(log_.last(), [&] { released = true; });
  wait_for("the check of its calls", ShardRecord::Bar::check, [&] { return released || group_->failure.is_set(); });
  raise();
}

void ShardRun::barrier() {
  bool all_came = false;
  collectives_.barrier({Purpose::value, ++barriers_, 2}, [&] { all_came = true; });
  wait_for("all shards to come to a file", ShardRecord::Bar::others, [&] { return all_came; });
}

void ShardRun::finish() {
  settle();
  watch_.ended();
  wait_for("the end of the others", ShardRecord::Bar::others,
           [&] { return watch_.is_done() || group_->failure.is_set(); });
  raise();
  add_up();
  gather_records();
  group_->ended(self());
}

// Messages and bytes are those of all shards together.
void ShardRun::add_up() {
  Bytes own;
  ByteWriter(own).put(port_.counts().messages).put(port_.counts().bytes).put(engine_.fine().counts().steps);
  std::vector<Bytes> all;
  bool is_there = false;
  collectives_.all_gather({Purpose::value, UINT64_MAX, 1}, std::move(own), [&](std::vector<Bytes> got) {
    all = std::move(got);
    is_there = true;
  });
  wait_for("the counts of the others", ShardRecord::Bar::others, [&] { return is_there; });
  std::uint64_t messages = 0, bytes = 0, fine = 0;
  for (const Bytes& one : all) {
    ByteReader in(one);
    messages += in.get<std::uint64_t>();
    bytes += in.get<std::uint64_t>();
    fine += in.get<std::uint64_t>();
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
  add(0);  // fused
}

// Every shard has one, or none has.
void ShardRun::gather_records() {
  if (!record_) return;
  std::vector<Bytes> all;
  bool is_there = false;
  collectives_.all_gather({Purpose::value, UINT64_MAX, 5}, record_->packed(), [&](std::vector<Bytes> got) {
    all = std::move(got);
    is_there = true;
  });
  wait_for("the records of the others", ShardRecord::Bar::others, [&] { return is_there; });
  if (self() != ShardId(0)) return;
  for (const Bytes& one : all) records_.push_back(ShardRecord::unpacked(one));
}

}  // namespace taskspec
