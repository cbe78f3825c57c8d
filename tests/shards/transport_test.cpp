// What comes out of each transport is what went in, once, whatever the order.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <set>

#include "interp/shards/transport/clock.hpp"
#include "interp/shards/transport/mailbox.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::transport_test {

namespace {

// Every shard sends `count` messages of all sizes to every shard, itself too, and lists what it was sent.
Bytes all_to_all(Transport& transport, std::uint64_t count) {
  const std::size_t shards = transport.shards();
  for (std::uint64_t i = 0; i < count; ++i)
    for (std::size_t to = 0; to < shards; ++to)
      transport.send({.from = transport.self(),
                      .to = ShardId(to),
                      .number = i,
                      .payload = Bytes(i * i * i % 70'001, static_cast<std::byte>(i + to))});
  std::set<std::pair<std::uint32_t, std::uint64_t>> come;
  bool is_whole = true;
  while (come.size() < shards * count) {
    const auto message = transport.receive();
    if (!message) {
      transport.wait(1'000'000'000);
      continue;
    }
    is_whole = is_whole && come.emplace(message->from.value, message->number).second &&
               message->payload == Bytes(message->number * message->number * message->number % 70'001,
                                         static_cast<std::byte>(message->number + transport.self().index()));
  }
  return {static_cast<std::byte>(is_whole && !transport.receive())};
}

const Bytes yes{std::byte{1}};

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

TEST_CASE("[transport] every message comes once and whole: threads, held and reordered, processes") {
  auto run = [](Transport& transport) { return all_to_all(transport, 60); };
  for (const std::size_t shards : {1, 2, 3, 8, 16}) {
    CAPTURE(shards);
    CHECK(run_in_threads(shards, run) == std::vector<Bytes>(shards, yes));
    CHECK(run_hostile(shards, 3, run) == std::vector<Bytes>(shards, yes));
    CHECK(run_processes(shards, 4, run) == std::vector<Bytes>(shards, yes));
  }
}

TEST_CASE("[transport] a message is the same after it was bytes; what is none is refused") {
  const ShardMessage message{.from = ShardId(3),
                             .to = ShardId(5),
                             .purpose = Purpose::diagnosis,
                             .step = 7,
                             .part = 2,
                             .round = 300,
                             .number = 1ull << 40,
                             .time = 12,
                             .stamp = {17, 99, 4},
                             .payload = {std::byte{1}, std::byte{2}}};
  Bytes bytes;
  put_message(bytes, message);
  ShardMessage read;
  REQUIRE(get_message(bytes, read));
  Bytes again;
  put_message(again, read);
  CHECK(again == bytes);
  CHECK(read.stamp == message.stamp);
  for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(get_message(ByteView(bytes).first(size), read));
  bytes.push_back({});
  CHECK_FALSE(get_message(bytes, read));
}

TEST_CASE("[transport] who waits sleeps, and is woken by a message, by wake() and by a loss") {
  RankNetwork network({.shards = 2}, nullptr);
  const double before = cpu_seconds();
  network.at(ShardId(0)).wait(50'000'000);
  CHECK(cpu_seconds() - before < 0.04);
  Transport& end = network.at(ShardId(1));
  const SteadyClock clock;
  const std::int64_t start = clock.nanoseconds();
  std::thread other([&] { network.at(ShardId(0)).send({.from = ShardId(0), .to = ShardId(1)}); });
  while (!end.receive()) end.wait(60'000'000'000);
  other.join();
  other = std::thread([&] { end.wake(); });
  end.wait(60'000'000'000);
  other.join();
  other = std::thread([&] { network.lose(ShardId(0)); });
  while (!end.lost()) end.wait(60'000'000'000);
  other.join();
  CHECK(end.lost() == ShardId(0));
  CHECK_FALSE(network.at(ShardId(0)).lost());
  CHECK(clock.nanoseconds() - start < 30'000'000'000);
}

// A look that misses what is there takes half a minute and is seen by that; one that sees what is not there goes on.
TEST_CASE("[transport] who looks before it sleeps sees a message, wake() and a call, each once") {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now(), far = start + std::chrono::seconds(30);
  Mailbox mailbox;
  const auto nothing = [] { return false; };
  const auto looks_in_vain = [&] {
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(2);
    mailbox.look_until(end, nothing);
    return Clock::now() >= end;
  };
  CHECK(looks_in_vain());
  int looks = 0;
  mailbox.look_until(far, [&] { return ++looks == 1000; });  // what comes elsewhere
  CHECK(looks == 1000);
  std::thread other([&] { mailbox.put({.from = ShardId(0), .to = ShardId(1)}); });
  mailbox.look_until(far, nothing);
  other.join();
  CHECK(mailbox.is_over());
  CHECK(mailbox.take());
  CHECK_FALSE(mailbox.take());
  CHECK(looks_in_vain());
  mailbox.wake();
  mailbox.look_until(far, nothing);
  CHECK_FALSE(mailbox.take());  // which leaves that to be seen
  mailbox.look_until(far, nothing);
  mailbox.waited();
  CHECK(looks_in_vain());
  mailbox.call();
  mailbox.look_until(far, nothing);
  mailbox.sleep_until(far);
  CHECK(looks_in_vain());
  mailbox.put({.from = ShardId(0), .to = ShardId(1)});
  mailbox.waited();
  mailbox.look_until(far, nothing);
  CHECK(Clock::now() < far);
}

TEST_CASE("[transport] a process that dies is missed by the others; one that leaves is not") {
  const auto ends = run_in_processes(3, [](Transport& transport) -> Bytes {
    if (transport.self() == ShardId(1)) ::raise(SIGKILL);
    while (!transport.lost()) {
      (void)transport.receive();
      transport.wait(1'000'000'000);
    }
    return {static_cast<std::byte>(transport.lost()->value)};
  });
  CHECK(ends[1].status == 128 + SIGKILL);
  for (const std::size_t shard : {0, 2}) {
    CHECK(ends[shard].status == 0);
    CHECK(ends[shard].result == Bytes{std::byte{1}});
  }
  const auto quiet = run_in_processes(2, [](Transport& transport) -> Bytes {
    if (transport.self() == ShardId(1)) return {};
    for (int i = 0; i < 20; ++i) {
      (void)transport.receive();
      transport.wait(5'000'000);
    }
    return {static_cast<std::byte>(transport.lost().has_value())};
  });
  CHECK(quiet[0].result == Bytes{std::byte{0}});
}

TEST_CASE("[transport] a process that hangs is ended") {
  const auto ends = run_in_processes(
      2,
      [](Transport& transport) -> Bytes {
        if (transport.self() == ShardId(0)) return {};
        for (;;) ::pause();
      },
      0.3);
  CHECK(ends[0].status == 0);
  CHECK(ends[1].status == 128 + SIGKILL);
}

}  // namespace taskspec::transport_test
