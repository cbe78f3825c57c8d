// Control determinism: hashes with known answers, checks that cover what they release, and a difference of any kind
// named by call, argument, shards and lines.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "interp/shards/control/control_watch.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::control_test {
using Level = ControlWatch::Level;

namespace {

Span line(std::uint32_t number) { return {SourceId(0), 10 * number, 10 * number + 4}; }

// Call `number` of a program of all kinds of arguments; `perturbed`: the name of the one that is another one here.
void make_arguments(CallArguments& to, std::uint64_t number, std::string_view perturbed) {
  auto is = [&](std::string_view name) { return perturbed == name; };
  const auto n = static_cast<std::int64_t>(number);
  to.clear();
  to.argument("task").created(is("task") ? Created::agent : Created::task, 3);
  to.argument("domain").domain(Rect::of({is("domain") ? 5 : 4, 2}));
  to.argument("sharding").sharding(is("sharding") ? PointSharding::cyclic() : PointSharding::block());
  to.argument("owner").sharding(PointSharding::owner(ShardId(is("owner") ? 1 : 0)));
  to.argument("how").sharding(PointSharding::of({}, {is("how") ? 8u : 7u, 1}));
  to.argument("projection")
      .projection(is("projection") ? Projection::affine(1, 1, {{{2}}}, {1}) : Projection::identity(1));
  to.argument("index").projection(Projection::of(1, 1, {}, is("index") ? 1 : 2));
  to.argument("partition").created(Created::partition, is("partition") ? 2 : 1);
  to.argument("region").created(Created::region, is("region") ? 2 : 1);
  to.argument("field").list(2).created(Created::field, 0).created(Created::field, is("field") ? 2 : 1);
  to.argument("future").future(number - 1, is("future") ? 1 : 0);
  to.argument("count").integer(n + is("count"));
  to.argument("rate").real(is("rate") ? -0.0 : 0.0);
  to.argument("flag").boolean(is("flag"));
  to.argument("file").text(is("file") ? "a.npy" : "b.npy");
  to.argument("list").list(is("list") ? 1 : 2).integer(1);
  if (!is("list")) to.integer(2);
}

constexpr const char* all_arguments[] = {"task",  "domain",    "sharding", "owner", "how",    "projection",
                                         "index", "partition", "region",   "field", "future", "count",
                                         "rate",  "flag",      "file",     "list"};

// One shard: its log and its watch, and the program that it runs a call at a time.
struct Replica {
  Replica(Collectives& collectives, Level level)
      : log(level == Level::off ? CallLog::Hashes::none : CallLog::Hashes::chained),
        watch(collectives, log, {.level = level}) {}
  void call(std::string_view perturbed = {}, CallKind kind = CallKind::launch, std::uint32_t at = 0) {
    make_arguments(arguments, log.last() + 1, perturbed);
    log.record(kind, kind == CallKind::launch ? "stencil" : "cells.a", arguments,
               line(at ? at : static_cast<std::uint32_t>(log.last() % 100)));
    watch.called();
  }
  CallArguments arguments;
  CallLog log;
  ControlWatch watch;
};

struct Program {
  std::size_t shards;
  Level level;
  std::uint64_t calls, differs_at;  // 0: nowhere
  std::size_t who;
  std::string_view argument;
  CallKind kind = CallKind::launch;  // of the call that differs
  std::uint64_t who_ends_at = UINT64_MAX;
  std::uint64_t receive_each = 10;
  bool runs_ahead = false;  // of its checks, however far
};

struct Outcome {
  std::vector<std::optional<Difference>> differences;
  std::size_t done = 0, released_too_early = 0, released = 0;
  bool hung = false;
};

// Shards with random turns; each makes its next call when the receive before it was released.
Outcome run(const Program& program, std::uint64_t seed) {
  TurnNetwork network(program.shards, seed);
  std::vector<std::unique_ptr<Replica>> replicas;
  for (std::size_t shard = 0; shard < program.shards; ++shard)
    replicas.push_back(std::make_unique<Replica>(network.at(shard), program.level));
  std::vector<bool> waits(program.shards), has_ended(program.shards);
  Outcome outcome;
  auto is_over = [&](std::size_t shard) {
    const ControlWatch& watch = replicas[shard]->watch;
    return watch.is_done() || watch.difference() != nullptr;
  };
  auto turn = [&](std::size_t shard) {
    Replica& own = *replicas[shard];
    if (network.random()() % 32 == 0) own.watch.beat();
    if (waits[shard] || has_ended[shard] || is_over(shard)) return;
    if (own.watch.is_far_ahead() && !program.runs_ahead) return;
    const std::uint64_t next = own.log.last() + 1;
    const bool is_other = shard == program.who;
    if (next > (is_other ? std::min(program.who_ends_at, program.calls) : program.calls)) {
      has_ended[shard] = true;
      own.watch.ended();
      return;
    }
    if (is_other && next == program.differs_at)
      own.call(program.argument, program.kind, 77);
    else
      own.call();
    if (next % program.receive_each) return;
    waits[shard] = true;
    own.watch.release(next, [&, shard, next] {
      waits[shard] = false;
      ++outcome.released;
      if (program.differs_at && next >= program.differs_at && program.level != Level::off) ++outcome.released_too_early;
    });
  };
  auto all_over = [&] {
    for (std::size_t shard = 0; shard < program.shards; ++shard)
      if (!is_over(shard)) return false;
    return true;
  };
  outcome.hung = !network.run_until(all_over, turn);
  for (const auto& replica : replicas) {
    outcome.done += replica->watch.is_done();
    const Difference* difference = replica->watch.difference();
    outcome.differences.push_back(difference ? std::optional(*difference) : std::nullopt);
  }
  return outcome;
}

Sources sources_of_lines() {
  Sources sources;
  std::string text;
  for (int i = 0; i < 200; ++i) text += "launch(" + std::to_string(i % 10) + ")\n";
  (void)sources.add("3_stencil.task", text);
  return sources;
}

}  // namespace

TEST_CASE("[inject] replicas that agree end, at every level; what waits is released") {
  for (const std::uint64_t seed : random_seeds(30, 300))
    for (const Level level : {Level::off, Level::batch, Level::every}) {
      CAPTURE(seed);
      const std::size_t shards = 1 + seed % 8;
      const Outcome outcome = run({shards, level, 150, 0, 0, {}}, seed);
      CHECK_FALSE(outcome.hung);
      CHECK(outcome.done == shards);
      CHECK(outcome.released == 15 * shards);
    }
}

TEST_CASE("[inject] an argument of any kind that differs is named with its call and shard, at every level") {
  std::uint64_t seed = 1;
  for (const std::size_t shards : {2, 3, 4, 5, 6, 7, 8})
    for (const Level level : {Level::off, Level::batch, Level::every})
      for (const char* argument : all_arguments) {
        const std::uint64_t call = 1 + seed * 7 % 140;
        const std::size_t who = seed % shards;
        CAPTURE(seed);
        CAPTURE(shards);
        CAPTURE(argument);
        const Outcome outcome = run({shards, level, 150, call, who, argument}, seed);
        CHECK_FALSE(outcome.hung);
        CHECK(outcome.released_too_early == 0);
        for (const auto& difference : outcome.differences) {
          REQUIRE(difference);
          CHECK(difference->call == call);
          CHECK(difference->argument == argument);
          REQUIRE(difference->groups.size() == 2);
          CHECK(difference->groups[who == 0 ? 0 : 1].shards == std::vector{static_cast<std::uint32_t>(who)});
          CHECK(difference->groups[0].value != difference->groups[1].value);
          CHECK_FALSE(difference->may_be_earlier);
        }
        ++seed;
      }
}

TEST_CASE("[inject] another call, and an end that comes too soon, are named") {
  for (const std::uint64_t seed : random_seeds(40, 400))
    for (const Level level : {Level::off, Level::batch, Level::every}) {
      CAPTURE(seed);
      const std::size_t shards = 2 + seed % 7, who = seed % shards;
      const Outcome other = run({shards, level, 150, 41, who, "none", CallKind::fill}, seed);
      CHECK_FALSE(other.hung);
      for (const auto& difference : other.differences) {
        REQUIRE(difference);
        CHECK(difference->call == 41);
        CHECK(difference->argument.empty());
        CHECK(difference->groups.size() == 2);
      }
      const Outcome ended = run({shards, level, 150, 0, who, {}, CallKind::launch, 40}, seed);
      CHECK_FALSE(ended.hung);
      for (const auto& difference : ended.differences) {
        REQUIRE(difference);
        CHECK(difference->call == 41);
        const Difference::Group& group = difference->groups[who == 0 ? 0 : 1];
        CHECK(group.has_ended);
        CHECK(group.shards == std::vector{static_cast<std::uint32_t>(who)});
      }
    }
}

TEST_CASE("[inject] the message has the call, the argument, the shards and both lines") {
  const Sources sources = sources_of_lines();
  const Outcome outcome = run({4, Level::batch, 60, 17, 2, "domain"}, 3);
  REQUIRE(outcome.differences[0]);
  const Diag diag = diagnostic(*outcome.differences[0], &sources);
  CHECK(diag.code.text() == "E6001");
  CHECK(diag.message ==
        "control determinism violated at call 17 'launch stencil' (3_stencil.task:17): shards {0,1,3} domain "
        "(0..4, 0..2), shard {2} domain (0..5, 0..2)");
  CHECK(diag.primary.span == line(16));
  REQUIRE(diag.labels.size() == 1);
  CHECK(diag.labels[0].span == line(77));
  const Outcome ended = run({3, Level::every, 60, 0, 2, {}, CallKind::launch, 40}, 3);
  REQUIRE(ended.differences[0]);
  CHECK(diagnostic(*ended.differences[0], nullptr).message ==
        "control determinism violated at call 41 'launch stencil': shards {0,1} launch stencil, shard {2} ended after "
        "call 40");
}

TEST_CASE("[inject] what is older than what is kept is told as such") {
  const Outcome outcome = run({2, Level::batch, 9000, 5, 1, "count", CallKind::launch, UINT64_MAX, 100'000, true}, 3);
  CHECK_FALSE(outcome.hung);
  REQUIRE(outcome.differences[0]);
  CHECK(outcome.differences[0]->call >= 5);
  // With nothing hashed, and nobody who looks while the program runs.
  RankNetwork network({.shards = 1}, nullptr);
  Collectives alone(network.at(ShardId(0)));
  Replica replica(alone, Level::off);
  for (int i = 0; i < 5000; ++i) replica.call();
  CHECK(replica.log.first() == 5000 - CallLog::kept + 1);
  CHECK_FALSE(replica.log.has(5000 - CallLog::kept));
  CHECK(replica.log.has(5000));
}

TEST_CASE("[inject] who is asked for a check, or hears of a call, that it has not made yet looks at it right there") {
  for (const bool differs : {false, true}) {
    RankNetwork network({.shards = 2}, nullptr);
    Collectives a(network.at(ShardId(0))), b(network.at(ShardId(1)));
    Replica one(a, Level::batch), other(b, Level::batch);
    const auto poll = [&] {
      for (int i = 0; i < 100; ++i) (void)a.poll(), (void)b.poll();
    };
    while (one.log.last() < 5) one.call();
    bool is_released = false;
    if (differs)
      one.watch.beat();
    else
      one.watch.release(5, [&] { is_released = true; });
    while (other.log.last() < 5) {
      poll();
      CHECK_FALSE(is_released);
      CHECK_FALSE(other.watch.difference());
      other.call(differs && other.log.last() == 4 ? "rate" : "");
    }
    poll();
    CHECK(is_released != differs);
    CHECK((other.watch.difference() != nullptr) == differs);
  }
}

TEST_CASE("[inject] long programs are checked less often, and a difference in one is named") {
  const auto checks = [](std::uint64_t calls, Level level) {
    RankNetwork network({.shards = 1}, nullptr);
    Collectives alone(network.at(ShardId(0)));
    Replica replica(alone, level);
    while (replica.log.last() < calls) replica.call();
    CHECK(replica.watch.counts().hashes == (level == Level::off ? 0 : calls));
    return replica.watch.counts().checks;
  };
  CHECK(checks(63, Level::batch) == 0);
  CHECK(checks(64, Level::batch) == 1);
  CHECK(checks(4096, Level::batch) == 64);
  CHECK(checks(4607, Level::batch) == 64);
  CHECK(checks(10'240, Level::batch) == 64 + 12);
  CHECK(checks(10'240, Level::every) == 10'240);
  CHECK(checks(10'240, Level::off) == 0);
  for (const std::uint64_t seed : random_seeds(8, 40)) {
    CAPTURE(seed);
    const std::uint64_t call = 4097 + seed * 97 % 3000;
    const Outcome outcome =
        run({2, Level::batch, 9000, call, seed % 2, "rate", CallKind::launch, UINT64_MAX, 100'000}, seed);
    CHECK_FALSE(outcome.hung);
    for (const auto& difference : outcome.differences) {
      REQUIRE(difference);
      CHECK(difference->call == call);
      CHECK(difference->argument == "rate");
    }
  }
}

TEST_CASE("[S5] the comparison of hashes is what holds a receive back") {
  // With level off nothing is compared before the release: the test above sees what this one lets pass.
  RankNetwork network({.shards = 2}, nullptr);
  Collectives a(network.at(ShardId(0))), b(network.at(ShardId(1)));
  Replica one(a, Level::batch), other(b, Level::batch);
  one.call();
  other.call("count");
  bool is_released = false;
  one.watch.release(1, [&] { is_released = true; });
  other.watch.release(1, [&] { is_released = true; });
  for (int i = 0; i < 100; ++i) {
    (void)a.poll();
    (void)b.poll();
  }
  CHECK_FALSE(is_released);
  CHECK(one.watch.difference());
  CHECK(other.watch.difference());
}

TEST_CASE("[hash] values that differ have different bytes, and known answers hold") {
  auto hash_of = [](auto put) {
    CallArguments arguments;
    put(arguments.argument("x"));
    return arguments.hash({}, 1, CallKind::launch);
  };
  std::vector<Hash128> hashes;
  for (const double value : {0.0, -0.0, 1.0, std::numeric_limits<double>::infinity()})
    hashes.push_back(hash_of([&](CallArguments& a) { a.real(value); }));
  for (const std::int64_t value : {0, 1, -1}) hashes.push_back(hash_of([&](CallArguments& a) { a.integer(value); }));
  for (const bool value : {false, true}) hashes.push_back(hash_of([&](CallArguments& a) { a.boolean(value); }));
  for (const char* value : {"", "a", "ab"}) hashes.push_back(hash_of([&](CallArguments& a) { a.text(value); }));
  hashes.push_back(hash_of([](CallArguments& a) { a.list(2).text("a").text("b"); }));
  hashes.push_back(hash_of([](CallArguments& a) { a.list(1).text("ab"); }));
  hashes.push_back(hash_of([](CallArguments& a) { a.future(1, 2); }));
  hashes.push_back(hash_of([](CallArguments& a) { a.domain(Rect::of({1})); }));
  hashes.push_back(hash_of([](CallArguments& a) { a.domain(Rect::of({1, 1})); }));
  for (std::size_t i = 0; i < hashes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(hashes[i] != hashes[j]);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(hash_of([&](CallArguments& a) { a.real(nan); }) == hash_of([&](CallArguments& a) { a.real(-nan); }));
  CHECK(text_of_values([] {
          CallArguments a;
          a.list(3).integer(1).real(2.5).text("x");
          return Bytes(a.bytes().begin(), a.bytes().end());
        }()) == "[1, 2.5, \"x\"]");
}

TEST_CASE("[hash] arguments that come again with other numbers are those that were made with them") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto made = [](std::int64_t integer, double real) {
    CallArguments a;
    a.argument("task").created(Created::task, 1).argument("value 1").integer(integer);
    a.argument("value 2").real(real).argument("value 3").text("x");
    return a;
  };
  const auto same = [](CallArguments a, CallArguments b) {
    const auto is_same = [](const CallArguments::Mark& x, const CallArguments::Mark& y) {
      return std::string_view(x.name) == y.name && x.begin == y.begin;
    };
    return a.hash({}, 1, CallKind::launch) == b.hash({}, 1, CallKind::launch) &&
           std::ranges::equal(a.marks(), b.marks(), is_same);
  };
  for (const auto& [integer, real] : {std::pair<std::int64_t, double>(7, -0.0), {INT64_MIN, 2.5}, {-1, -nan}}) {
    CallArguments again = made(3, 1.0);
    again.hash({}, 1, CallKind::launch);
    CHECK_FALSE(same(again, made(integer, real)));
    again.put(again.number(1), std::bit_cast<std::uint64_t>(integer));
    again.put(again.number(2), std::bit_cast<std::uint64_t>(real));
    CHECK(same(again, made(integer, real)));
    // What is sent with them stands in front.
    CallArguments sent;
    sent.argument("sent").text("abc");
    CallArguments whole = sent;
    whole.append(again);
    CHECK(whole.marks().size() == 5);
    CHECK(same(CallArguments().append(whole, 1), again));
    CHECK_FALSE(same(whole, again));
    CallArguments written;
    written.argument("sent").text("abc").argument("task").created(Created::task, 1);
    written.argument("value 1").integer(integer).argument("value 2").real(real).argument("value 3").text("x");
    CHECK(same(whole, written));
  }
}

TEST_CASE("[hash] calls that come again are kept as what they were, however many numbers they have") {
  // Three that come again, with one, four and six numbers, and one that does not.
  CallLog log(CallLog::Hashes::chained), plain(CallLog::Hashes::chained);
  std::mt19937_64 random(1);
  std::vector<CallLog::Repeated> which(3);
  for (std::size_t k = 0; k < which.size(); ++k) {
    CallLog::Repeated& one = which[k];
    one = {CallKind::launch, line(static_cast<std::uint32_t>(k)), "step " + std::to_string(k), k + 1, {}, {}};
    one.arguments.argument("task").created(Created::task, k);
    for (std::size_t number = 0; number < (k == 0 ? 1 : 2 * k + 2); ++number) {
      number % 2 == 0 ? one.arguments.argument("value").integer(0) : one.arguments.argument("value").real(0);
      one.numbers.push_back({one.arguments.number(number + 1), number});
    }
  }
  for (std::uint64_t call = 1; call <= 3 * CallLog::kept; ++call) {
    CallArguments written;
    const auto k = static_cast<std::size_t>(between(random, 0, 3));
    if (k == which.size()) {
      written.argument("region").created(Created::region, call);
      CallArguments same = written;
      log.record(CallKind::fill, "fill", same, line(9));
      plain.record(CallKind::fill, "fill", written, line(9));
      continue;
    }
    written.argument("task").created(Created::task, k);
    std::vector<std::uint64_t> values;
    for (std::size_t number = 0; number < which[k].numbers.size(); ++number) {
      const std::int64_t value = between(random, -1000, 1000);
      const bool is_integer = number % 2 == 0;
      values.push_back(is_integer ? std::bit_cast<std::uint64_t>(value)
                                  : std::bit_cast<std::uint64_t>(static_cast<double>(value)));
      written.argument("value");
      is_integer ? written.integer(value) : written.real(static_cast<double>(value));
    }
    log.record_again(which[k], values);
    plain.record(which[k].kind, which[k].name, written, which[k].span);
  }
  REQUIRE(log.first() == plain.first());
  CHECK(log.chain(log.first(), log.last()) == plain.chain(log.first(), log.last()));
  for (std::uint64_t call = log.first(); call <= log.last(); ++call) {
    const CallLog::Call own = log[call], wanted = plain[call];
    REQUIRE(own.hash == wanted.hash);
    REQUIRE(own.arguments == wanted.arguments);
    REQUIRE(own.kind == wanted.kind);
    REQUIRE(own.name == wanted.name);
    REQUIRE(own.span == wanted.span);
    REQUIRE(own.marks.size() == wanted.marks.size());
  }
}

TEST_CASE("[hash] a chain of calls has the hashes that thirty lines of another language give") {
  CallLog log(CallLog::Hashes::chained);
  CallArguments a;
  auto record = [&](CallKind kind) {
    log.record(kind, "", a, {});
    a.clear();
  };
  a.argument("text").text("print(1)\n").argument("shards").integer(4);
  record(CallKind::start);
  a.argument("extents").domain(Rect::of({64}));
  record(CallKind::region);
  a.argument("of").created(Created::region, 0).argument("pieces").domain(Rect::of({4}));
  record(CallKind::partition);
  a.argument("region").created(Created::region, 0).argument("field").created(Created::field, 1).argument("to").real(1);
  record(CallKind::fill);
  a.argument("task").created(Created::task, 2).argument("domain").domain(Rect::of({4}));
  a.argument("sharding").sharding(PointSharding::cyclic()).argument("piece").created(Created::partition, 0);
  a.projection(Projection::identity(1)).list(2).created(Created::field, 0).created(Created::field, 1).boolean(true);
  record(CallKind::launch);
  a.argument("task").created(Created::task, 3).argument("domain").domain(Rect::of({4, 2}));
  a.argument("sharding").sharding(PointSharding::block()).argument("piece").created(Created::partition, 1);
  a.projection(Projection::affine(1, 1, {{{2}}}, {1})).argument("rate").future(5, 0);
  record(CallKind::launch);
  a.argument("of").future(6, 1).argument("by").sharding(PointSharding::owner(ShardId(0))).argument("at").integer(-1);
  record(CallKind::receive);
  const std::string_view wanted[] = {
      "1b03384c89582cff5ce7dce4000f0d4b", "65402cec4e07a568dc1b579d7d5697a6", "5d5f4f9e426da4643a4eecb243995fc3",
      "61bcef4c5a47999839a018942586f924", "da108a59abbb8aa33be246745402bb11", "0cd658ecd48c6cefbb17678b7e31eaee",
      "293273fc4c675e5af10d278046e65dfa",
  };
  for (std::uint64_t number = 1; number <= log.last(); ++number) CHECK(log[number].hash.text() == wanted[number - 1]);
}

}  // namespace taskspec::control_test
