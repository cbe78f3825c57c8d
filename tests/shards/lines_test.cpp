// Contents that go by a line come as those that go by messages, whichever way each of them takes, and nobody sleeps
// through them.
#include <doctest/doctest.h>

#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "interp/shards/data/data_port.hpp"
#include "interp/shards/transport/clock.hpp"
#include "interp/shards/transport/content_line.hpp"
#include "tests/shards/networks.hpp"

namespace taskspec::lines_test {

namespace {

// The contents with that number, of that length.
Bytes contents(std::uint64_t number, std::size_t bytes) {
  Bytes made(bytes);
  for (std::size_t at = 0; at < bytes; ++at) made[at] = static_cast<std::byte>(number * 31 + at);
  return made;
}

void send(DataPort& port, ShardId to, std::uint64_t number, std::size_t bytes, std::uint32_t mark) {
  const Bytes made = contents(number, bytes);
  if (std::byte* room = port.room(to, bytes)) {
    std::memcpy(room, made.data(), bytes);
    port.send_room(to, bytes, mark);
  } else {
    port.send(to, made, mark);
  }
}

// Where they lie, if they came by a line; else as a message. True: they are what they should be.
bool is_received(DataPort& port, ShardId from, std::uint64_t number, std::size_t bytes, std::uint32_t mark) {
  const Bytes wanted = contents(number, bytes);
  if (const std::byte* come = port.come(from, bytes, mark)) {
    const bool is_right = std::memcmp(come, wanted.data(), bytes) == 0;
    port.took(from);
    return is_right;
  }
  return port.wait(
             from, [] {}, mark) == wanted;
}

// Mostly alike, so that one is not told from another by that; some are too long for a line. In bursts that are longer
// than it has room for.
std::size_t length_of(std::uint64_t number) { return number % 11 == 0 ? ContentLine::longest + 1 : 8; }

}  // namespace

TEST_CASE("[lines] contents come in the order of their numbers, by a line or as messages") {
  for (const std::size_t shards : {2, 3, 5}) {
    CAPTURE(shards);
    const auto wrong = run_in_threads(shards, [](Transport& transport) {
      Collectives collectives(transport);
      DataPort port(collectives);
      std::mt19937_64 random(transport.self().index());
      constexpr std::uint64_t all = 3000;
      std::uint64_t sent = 0, wrong = 0, came_as_message = 0;
      for (std::uint64_t taken = 0; taken < all; ++taken) {
        for (std::uint64_t burst = taken == sent ? 1 + random() % 90 : 0; burst > 0 && sent < all; --burst, ++sent)
          for (std::size_t to = 0; to < transport.shards(); ++to)
            if (to != transport.self().index()) send(port, ShardId(to), sent, length_of(sent), 17);
        for (std::size_t from = 0; from < transport.shards(); ++from)
          if (from != transport.self().index()) wrong += !is_received(port, ShardId(from), taken, length_of(taken), 17);
        // What has come by a line is also received as any other message.
        if (random() % 16 == 0) came_as_message += collectives.poll();
      }
      const bool is_counted = port.counts().messages == all * (transport.shards() - 1);
      return Bytes{static_cast<std::byte>(wrong > 0), static_cast<std::byte>(is_counted)};
    });
    for (const Bytes& end : wrong) CHECK(end == Bytes{std::byte{0}, std::byte{1}});
  }
}

TEST_CASE("[lines] what found no room comes before what found some later") {
  RankNetwork network({.shards = 2}, nullptr);
  Collectives one(network.at(ShardId(0))), other(network.at(ShardId(1)));
  DataPort from(one), to(other);
  std::uint64_t sent = 0, taken = 0;
  while (from.room(ShardId(1), 8)) send(from, ShardId(1), sent++, 8, 0);
  send(from, ShardId(1), sent++, 8, 0);  // as a message
  for (; taken < 3; ++taken) CHECK(is_received(to, ShardId(0), taken, 8, 0));
  while (from.room(ShardId(1), 8)) send(from, ShardId(1), sent++, 8, 0);
  CHECK(sent > taken + 3);
  for (; taken < sent; ++taken) CHECK(is_received(to, ShardId(0), taken, 8, 0));
}

TEST_CASE("[lines] other contents than are waited for are seen by mark and length") {
  RankNetwork network({.shards = 2}, nullptr);
  Collectives one(network.at(ShardId(0))), other(network.at(ShardId(1)));
  DataPort from(one), to(other);
  send(from, ShardId(1), 0, 8, 17);
  CHECK_FALSE(to.come(ShardId(0), 8, 18));
  CHECK_FALSE(to.come(ShardId(0), 9, 17));
  CHECK_THROWS_AS((void)to.wait(
                      ShardId(0), [] {}, 18),
                  ContentsDiffer);
}

// A sleeper that nobody wakes is a minute late, and that is seen.
TEST_CASE("[lines] who sleeps is woken by contents that come by a line") {
  const SteadyClock clock;
  const std::int64_t start = clock.nanoseconds();
  const auto rounds = run_in_threads(4, [](Transport& transport) {
    Collectives collectives(transport);
    DataPort port(collectives);
    const ShardId next((transport.self().index() + 1) % 4), before((transport.self().index() + 3) % 4);
    constexpr std::uint64_t all = 2000;
    for (std::uint64_t round = 0; round < all; ++round) {
      if (transport.self() == ShardId(0)) send(port, next, round, 8, 0);
      std::optional<Bytes> come;
      while (!(come = port.take(before)))
        if (!collectives.poll()) transport.wait(60'000'000'000);
      if (*come != contents(round, 8)) return Bytes{};
      if (transport.self() != ShardId(0)) send(port, next, round, 8, 0);
    }
    return Bytes{std::byte{1}};
  });
  CHECK(rounds == std::vector<Bytes>(4, Bytes{std::byte{1}}));
  CHECK(clock.nanoseconds() - start < 50'000'000'000);
}

namespace {

// Two ranks of one machine, in one thread: what MPI would carry, and the lines that they share.
struct Machine {
  struct Sent {
    int tag;
    std::vector<std::byte> bytes;
  };
  std::mutex mutex;                // of what follows
  std::vector<Sent> under_way[2];  // by rank that they go to
  std::size_t messages = 0;
  ContentLine lines[2];
};

class Port final : public MpiPort {
 public:
  Port(Machine& machine, int rank) : machine_(machine), rank_(rank) {}
  Facts facts() const override { return {rank_, 2, true, INT32_MAX}; }
  void send(int rank, int tag, std::vector<std::byte> bytes) override {
    const std::lock_guard lock(machine_.mutex);
    ++machine_.messages;
    machine_.under_way[rank].push_back({tag, std::move(bytes)});
  }
  bool look(const Sink& sink) override {
    const std::vector<Machine::Sent> come = taken();
    for (const Machine::Sent& sent : come) sink(sent.tag, sent.bytes);
    return !come.empty();
  }
  bool have_all_left() const override { return true; }
  void finalise() override {}
  void abort(int) override {}
  ContentLine* line_to(int rank) override { return &machine_.lines[rank]; }
  ContentLine* line_from(int) override { return &machine_.lines[rank_]; }

 private:
  std::vector<Machine::Sent> taken() {
    const std::lock_guard lock(machine_.mutex);
    return std::exchange(machine_.under_way[rank_], {});
  }
  Machine& machine_;
  const int rank_;
};

struct Rank {
  Rank(Machine& machine, int rank) : place(static_cast<std::size_t>(rank)) {
    line.port = std::make_unique<Port>(machine, rank);
  }
  // A network of two shards, and the port of the one that is here.
  struct Run {
    Run(MpiLine& line, std::size_t rank)
        : network({.shards = 2, .ranks = 2, .rank = rank}, &line),
          collectives(network.at(ShardId(rank))),
          port(collectives) {}
    RankNetwork network;
    Collectives collectives;
    DataPort port;
  };
  std::unique_ptr<Run> begin() { return std::make_unique<Run>(line, place); }
  std::size_t place;
  MpiLine line;
};

// Each rank waits for the other one.
void end(Rank::Run& one, Rank::Run& other) {
  std::thread thread([&] { one.network.finish(); });
  other.network.finish();
  thread.join();
}

}  // namespace

TEST_CASE("[lines] ranks of one machine use a line, and what a run leaves behind in it is no matter of the next one") {
  Machine machine;
  Rank a(machine, 0), b(machine, 1);
  auto first_a = a.begin(), first_b = b.begin();
  send(first_a->port, ShardId(1), 0, 8, 0);
  CHECK(is_received(first_b->port, ShardId(0), 0, 8, 0));
  send(first_a->port, ShardId(1), 1, 8, 0);  // nobody takes that
  CHECK(machine.messages == 0);
  end(*first_a, *first_b);
  machine.messages = 0;
  auto second_a = a.begin(), second_b = b.begin();
  send(second_a->port, ShardId(1), 0, 16, 0);
  CHECK(is_received(second_b->port, ShardId(0), 0, 16, 0));
  CHECK(machine.messages == 0);
}

TEST_CASE("[lines] a rank with several networks at once sends contents as messages") {
  Machine machine;
  Rank a(machine, 0), b(machine, 1);
  auto outer_a = a.begin(), outer_b = b.begin();
  send(outer_a->port, ShardId(1), 0, 8, 0);
  auto inner_a = a.begin(), inner_b = b.begin();
  send(inner_a->port, ShardId(1), 0, 16, 0);
  CHECK(machine.messages == 1);
  CHECK(is_received(inner_b->port, ShardId(0), 0, 16, 0));
  CHECK_FALSE(inner_b->collectives.poll());
  end(*inner_a, *inner_b);
  machine.messages = 0;
  send(outer_a->port, ShardId(1), 1, 8, 0);
  CHECK(is_received(outer_b->port, ShardId(0), 0, 8, 0));
  CHECK(is_received(outer_b->port, ShardId(0), 1, 8, 0));
  CHECK(machine.messages == 0);
}

}  // namespace taskspec::lines_test
