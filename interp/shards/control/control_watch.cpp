#include "interp/shards/control/control_watch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace taskspec {
namespace {

// What a check combines.
struct Standing {
  std::uint64_t call = 0;
  Hash128 hash;
  bool is_equal = true;

  Bytes bytes() const {
    Bytes made;
    ByteWriter(made).put(call).put(hash.low).put(hash.high).put(static_cast<std::uint8_t>(is_equal));
    return made;
  }
  static Standing of(ByteView bytes) {
    ByteReader in(bytes);
    Standing made;
    made.call = in.get<std::uint64_t>();
    made.hash.low = in.get<std::uint64_t>();
    made.hash.high = in.get<std::uint64_t>();
    made.is_equal = in.get<std::uint8_t>() != 0;
    return made;
  }
};

void combine(Bytes& into, ByteView other) {
  Standing own = Standing::of(into);
  const Standing theirs = Standing::of(other);
  own.is_equal = own.is_equal && theirs.is_equal && own.call == theirs.call && own.hash == theirs.hash;
  into = own.bytes();
}

// Beats show the newest calls where nothing else is hashed.
constexpr std::uint64_t calls_in_a_beat = 1024;

}  // namespace

ControlWatch::ControlWatch(Collectives& collectives, CallLog& log, const Options& options)
    : collectives_(collectives), log_(log), options_(options), batch_end_(end_of_batch(0)) {
  find_next();
  collectives_.on_message([this](const ShardMessage& message) { compare(message.stamp); });
  collectives_.on_other([this](const ShardMessage& message) { hear(message); });
  collectives_.on_early([this](CollectiveKey key, const CallStamp&) {
    if (key.purpose == Purpose::check) join(key.number);
  });
}

std::uint64_t ControlWatch::end_of_batch(std::uint64_t number) const {
  if (!log_.is_hashed()) return no_call;
  const std::uint64_t early = number < options_.many ? options_.batch : options_.later;
  const std::uint64_t calls = options_.level == Level::every ? 1 : early;
  return (number / calls + 1) * calls;
}

void ControlWatch::compare_at(std::uint64_t number) {
  if (number == batch_end_) {
    batch_end_ = end_of_batch(number);
    check(number);
  }
  if (!asked_for_.empty() && asked_for_.erase(number) > 0) check(number);
  while (!ahead_.empty() && ahead_.front().call <= number) {
    const CallStamp stamp = ahead_.front();
    ahead_.pop_front();
    compare(stamp);
  }
  if (alarm_ <= number) search();
  find_next();
}

void ControlWatch::find_next() {
  next_ = std::min(batch_end_, alarm_);
  if (!asked_for_.empty()) next_ = std::min(next_, *asked_for_.begin());
  if (!ahead_.empty()) next_ = std::min(next_, ahead_.front().call);
}

void ControlWatch::release(std::uint64_t number, std::function<void()> released) {
  if (found_ || is_searching_) return;
  if (!log_.is_hashed() || checked_ >= number) return released();
  waiting_.push_back({number, std::move(released)});
  check(number);
}

void ControlWatch::ended() {
  has_ended_ = true;
  for (const std::uint64_t number : std::exchange(asked_for_, {})) check(number);
  if (!ahead_.empty()) alarm(log_.last() + 1);
  if (alarm_ != no_call) search();
  Standing standing{log_.last(), {}, true};
  if (log_.is_hashed())
    standing.hash = log_.hash(log_.last());
  else if (log_.last() > 0)
    standing.hash = log_.chain(log_.first(), log_.last()).back();
  ++counts_.checks;
  collectives_.all_reduce({Purpose::check, end_check}, standing.bytes(), combine, [this](const Bytes& result) {
    if (Standing::of(result).is_equal) {
      checked_up_to(log_.last());
      is_done_ = true;
    } else {
      alarm(no_call - 1);
    }
  });
}

void ControlWatch::check(std::uint64_t number) {
  if (!begun_.insert(number).second) return;
  while (begun_.size() > CallLog::kept) begun_.erase(begun_.begin());
  ++counts_.checks;
  const bool is_known = log_.has(number);
  const Standing standing{number, is_known ? log_.hash(number) : Hash128{}, is_known};
  collectives_.all_reduce(
      {Purpose::check, number}, standing.bytes(), combine,
      [this, number](const Bytes& result) { Standing::of(result).is_equal ? checked_up_to(number) : alarm(number); },
      log_.stamp(number));
}

// Others have begun a check. Who has not come so far joins in when it has.
void ControlWatch::join(std::uint64_t number) {
  if (number == end_check) return;
  if (log_.last() >= number || has_ended_)
    check(number);
  else
    asked_for_.insert(number), find_next();
}

void ControlWatch::checked_up_to(std::uint64_t number) {
  checked_ = std::max(checked_, number);
  while (!found_ && !is_searching_) {
    const auto ready = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& waiting) { return waiting.number <= checked_; });
    if (ready == waiting_.end()) return;
    const auto released = std::move(ready->released);
    waiting_.erase(ready);
    released();
  }
}

void ControlWatch::compare(const CallStamp& stamp) {
  if (stamp.call == 0 || found_) return;
  if (stamp.call > log_.last()) {
    if (has_ended_) return alarm(log_.last() + 1);
    const auto after =
        std::find_if(ahead_.begin(), ahead_.end(), [&](const CallStamp& known) { return known.call > stamp.call; });
    ahead_.insert(after, stamp);
    find_next();
  } else if (log_.has(stamp.call)) {
    const CallStamp own = log_.stamp(stamp.call);
    const bool are_hashed = own.hash_low != 0 && stamp.hash_low != 0;
    if (own.kind != stamp.kind || (are_hashed && own.hash_low != stamp.hash_low)) alarm(stamp.call);
  }
}

void ControlWatch::beat() {
  if (log_.last() == 0 || collectives_.shards() == 1) return;
  ShardMessage message{.to = ShardId((collectives_.self().index() + 1) % collectives_.shards()),
                       .purpose = Purpose::alarm,
                       .step = no_collective,
                       .part = has_ended_,
                       .stamp = log_.stamp()};
  if (!log_.is_hashed()) {
    const std::uint64_t first = std::max(log_.first(), log_.last() - std::min(log_.last(), calls_in_a_beat) + 1);
    const Hash128 hash = log_.chain(first, log_.last()).back();
    ByteWriter(message.payload).put(first).put(hash.low).put(hash.high);
  }
  collectives_.send(std::move(message));
}

void ControlWatch::hear(const ShardMessage& message) {
  if (message.number != 0) {  // an alarm
    alarm_ = std::min(alarm_, message.number);
    find_next();
    if (alarm_ <= log_.last() || has_ended_) search();
    return;
  }
  if (message.part != 0 && log_.last() > message.stamp.call) alarm(message.stamp.call + 1);
  ByteReader in(message.payload);
  const auto first = in.get<std::uint64_t>();
  const Hash128 hash{in.get<std::uint64_t>(), in.get<std::uint64_t>()};
  if (!in.ok() || !log_.has(first) || !log_.has(message.stamp.call)) return;
  if (log_.chain(first, message.stamp.call).back() != hash) alarm(message.stamp.call);
}

// A difference at `call` or before it: all are told, and search as soon as they have come so far, or have ended.
void ControlWatch::alarm(std::uint64_t call) {
  if (found_ || is_searching_) return;
  if (call < alarm_) {
    alarm_ = call;
    find_next();
    for (std::size_t shard = 0; shard < collectives_.shards(); ++shard)
      if (shard != collectives_.self().index())
        collectives_.send({.to = ShardId(shard), .purpose = Purpose::alarm, .step = no_collective, .number = call});
  }
  if (alarm_ <= log_.last() || has_ended_) search();
}

// First, which calls all shards still have.
void ControlWatch::search() {
  if (is_searching_ || found_) return;
  is_searching_ = true;
  ++counts_.searches;
  Bytes own;
  ByteWriter(own).put(log_.first()).put(log_.last());
  collectives_.all_gather({Purpose::diagnosis, 0}, std::move(own), [this](const std::vector<Bytes>& all) {
    std::uint64_t first = 1, last = UINT64_MAX, furthest = 0;
    for (const Bytes& bytes : all) {
      ByteReader in(bytes);
      first = std::max(first, in.get<std::uint64_t>());
      const auto theirs = in.get<std::uint64_t>();
      last = std::min(last, theirs);
      furthest = std::max(furthest, theirs);
    }
    window_first_ = first;
    if (first > last) return show(first, 1);  // one has gone on for longer than calls are kept
    chain_ = log_.chain(first, last);
    // The one behind the window differs where the window does not.
    narrow(first, std::min(last + 1, furthest), 1);
  });
}

// The first call that differs is in low..high, both possible.
void ControlWatch::narrow(std::uint64_t low, std::uint64_t high, std::uint8_t part) {
  if (low == high) return show(low, part);
  const std::uint64_t middle = low + (high - low) / 2;
  ++counts_.rounds_of_search;
  const Hash128& hash = chain_[middle - window_first_];
  Bytes own;
  ByteWriter(own).put(hash.low).put(hash.high);
  collectives_.all_gather(
      {Purpose::diagnosis, 0, part}, std::move(own), [this, low, middle, high, part](const std::vector<Bytes>& all) {
        const bool are_equal = std::all_of(all.begin(), all.end(), [&](const Bytes& bytes) { return bytes == all[0]; });
        const auto next = static_cast<std::uint8_t>(part + 1);
        are_equal ? narrow(middle + 1, high, next) : narrow(low, middle, next);
      });
}

namespace {

struct Shown {
  bool is_there = false;
  CallKind kind{};
  std::string name;
  Span span;
  std::vector<std::pair<std::string, Bytes>> arguments;

  static Shown of(const CallLog& log, std::uint64_t number) {
    Shown made;
    made.is_there = log.has(number);
    if (!made.is_there) return made;
    const CallLog::Call call = log[number];
    made.kind = call.kind;
    made.name = call.name;
    made.span = call.span;
    for (std::size_t i = 0; i < call.marks.size(); ++i) {
      const std::size_t end = i + 1 < call.marks.size() ? call.marks[i + 1].begin : call.arguments.size();
      const ByteView bytes = ByteView(call.arguments).subspan(call.marks[i].begin, end - call.marks[i].begin);
      made.arguments.emplace_back(call.marks[i].name, Bytes(bytes.begin(), bytes.end()));
    }
    return made;
  }
  Bytes bytes() const {
    Bytes made;
    ByteWriter out(made);
    out.put(static_cast<std::uint8_t>(is_there)).put(kind).text(name);
    out.put(span.source.value).put(span.begin).put(span.end).put(static_cast<std::uint32_t>(arguments.size()));
    for (const auto& [argument, values] : arguments) out.text(argument).block(values);
    return made;
  }
  static Shown of(ByteView bytes) {
    ByteReader in(bytes);
    Shown made;
    made.is_there = in.get<std::uint8_t>() != 0;
    made.kind = in.get<CallKind>();
    made.name = in.text();
    made.span.source.value = in.get<std::uint32_t>();
    made.span.begin = in.get<std::uint32_t>();
    made.span.end = in.get<std::uint32_t>();
    for (auto count = in.get<std::uint32_t>(); count > 0 && in.ok(); --count) {
      std::string argument(in.text());
      const ByteView values = in.block();
      made.arguments.emplace_back(std::move(argument), Bytes(values.begin(), values.end()));
    }
    return made;
  }
};

// The first argument in which two of them differ; none where they are other calls.
std::optional<std::size_t> differing_argument(const std::vector<Shown>& all) {
  const Shown& one = all[0];
  for (const Shown& other : all)
    if (other.is_there != one.is_there || other.kind != one.kind || other.name != one.name ||
        other.arguments.size() != one.arguments.size())
      return std::nullopt;
  for (std::size_t i = 0; i < one.arguments.size(); ++i)
    for (const Shown& other : all)
      if (other.arguments[i] != one.arguments[i]) return i;
  return std::nullopt;
}

Difference difference_of(std::uint64_t call, const std::vector<Shown>& all) {
  Difference made;
  made.call = call;
  const auto argument = differing_argument(all);
  if (argument) made.argument = all[0].arguments[*argument].first;
  std::vector<std::size_t> of_group;  // its first shard
  for (std::size_t shard = 0; shard < all.size(); ++shard) {
    const Shown& own = all[shard];
    auto is_alike = [&](std::size_t first) {
      const Shown& other = all[first];
      if (argument) return own.arguments[*argument] == other.arguments[*argument];
      return own.is_there == other.is_there && own.kind == other.kind && own.name == other.name &&
             own.arguments == other.arguments;
    };
    const auto known = std::find_if(of_group.begin(), of_group.end(), is_alike);
    const auto at = static_cast<std::size_t>(known - of_group.begin());
    if (known == of_group.end()) {
      of_group.push_back(shard);
      made.groups.push_back({{}, !own.is_there, own.kind, own.name, {}, own.span});
      if (argument) made.groups.back().value = text_of_values(own.arguments[*argument].second);
    }
    made.groups[at].shards.push_back(static_cast<std::uint32_t>(shard));
  }
  return made;
}

std::string shards_text(const std::vector<std::uint32_t>& shards) {
  std::string made = shards.size() == 1 ? "shard {" : "shards {";
  for (std::size_t i = 0; i < shards.size(); ++i) made += (i ? "," : "") + std::to_string(shards[i]);
  return made + "}";
}

std::string call_text(CallKind kind, const std::string& name) {
  return std::string(text(kind)) + (name.empty() ? "" : " " + name);
}

}  // namespace

void ControlWatch::show(std::uint64_t call, std::uint8_t part) {
  collectives_.all_gather({Purpose::diagnosis, 0, part}, Shown::of(log_, call).bytes(),
                          [this, call](const std::vector<Bytes>& all) {
                            std::vector<Shown> shown;
                            for (const Bytes& bytes : all) shown.push_back(Shown::of(bytes));
                            found_ = difference_of(call, shown);
                            found_->may_be_earlier = call == window_first_ && call > 1;
                          });
}

Diag diagnostic(const Difference& difference, const Sources* sources) {
  const std::string number = std::to_string(difference.call);
  const auto known = std::find_if(difference.groups.begin(), difference.groups.end(),
                                  [](const Difference::Group& group) { return !group.has_ended; });
  const Span span = known == difference.groups.end() ? Span{} : known->span;
  std::string message = "control determinism violated at call " + number;
  if (known != difference.groups.end()) message += " '" + call_text(known->kind, known->name) + "'";
  if (sources && span.valid()) {
    const Source& source = (*sources)[span.source];
    message += " (" + source.path() + ":" + std::to_string(source.position(span.begin).line) + ")";
  }
  for (std::size_t i = 0; i < difference.groups.size(); ++i) {
    const Difference::Group& group = difference.groups[i];
    message += (i ? ", " : ": ") + shards_text(group.shards) + " ";
    if (!difference.argument.empty())
      message += difference.argument + " " + group.value;
    else if (group.has_ended)
      message += "ended after call " + std::to_string(difference.call - 1);
    else
      message += call_text(group.kind, group.name);
  }
  Diag diag("E6001", Severity::error, span, std::move(message));
  for (const Difference::Group& group : difference.groups)
    if (!group.has_ended && group.span.valid() && !(group.span == span))
      diag.label(group.span, shards_text(group.shards) + " is here");
  if (difference.may_be_earlier)
    diag.note("calls before call " + number + " are no longer kept, and one of them may differ");
  diag.help(difference.may_be_earlier
                ? "run with --safe=every, which finds the first one"
                : "let the shards agree on what decides this call: agree(x) takes shard 0's value");
  return diag;
}

}  // namespace taskspec
