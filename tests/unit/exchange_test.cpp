// The channels between the two programs: order, waiting, endings, and both sides under stress. These run under
// ThreadSanitizer too.
#include "interp/control/exchange.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <future>
#include <thread>

#include "tests/unit/random_cases.hpp"

namespace taskspec::exchange_test {

namespace {

using namespace std::chrono_literals;

constexpr auto long_enough_to_sleep = 20ms;

// As many channels as letters: 'g' to the graph, 'h' to the host.
std::vector<Channel> channels(const std::string& directions) {
  std::vector<Channel> list;
  for (char direction : directions) list.emplace_back().to_host = direction == 'h';
  return list;
}

constexpr ChannelId first(0), second(1);

Message number(std::int64_t value, std::uint64_t activation = 0) { return {activation, {Value(value)}}; }

// The number of the next message, -1 if there is none.
std::int64_t taken(Exchange& exchange, ChannelId channel) {
  std::optional<Message> message = exchange.take(channel);
  return message ? message->values[0].integer() : -1;
}

// Until the other side waits, and a little longer, so that it sleeps.
void until_waiting(const Exchange& exchange, std::uint64_t Exchange::Count::*what, ChannelId channel = first) {
  while (exchange.count(channel).*what == 0) std::this_thread::yield();
  std::this_thread::sleep_for(long_enough_to_sleep);
}

// Both sides on threads of their own. One that hangs is a fault, and must not hang the tests: first the waits are
// interrupted, and if that does not help either, nothing can go on.
template <class Host, class Graph>
void run_both(Exchange& exchange, Host&& host, Graph&& graph) {
  std::future<void> sides[] = {std::async(std::launch::async, host), std::async(std::launch::async, graph)};
  auto both_end = [&](std::chrono::seconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    return sides[0].wait_until(until) == std::future_status::ready &&
           sides[1].wait_until(until) == std::future_status::ready;
  };
  const bool in_time = both_end(120s);
  CHECK_MESSAGE(in_time, "a side waits for ever");
  if (in_time) return;
  exchange.interrupt();
  if (both_end(5s)) return;
  std::fputs("exchange_test: a side waits for ever, and cannot be interrupted\n", stderr);
  std::_Exit(1);
}

// Now and then a side is slow: for some turns of a loop, or so long that the other falls asleep.
class Delays {
 public:
  explicit Delays(std::uint64_t seed) : random_(seed) {}
  void operator()() {
    const std::int64_t kind = between(random_, 0, 2000);
    if (kind == 0) std::this_thread::sleep_for(std::chrono::microseconds(between(random_, 1, 300)));
    if (kind > 1900) std::this_thread::yield();
    for (std::int64_t i = kind > 1000 ? kind % 50 : 0; i > 0; --i) std::atomic_signal_fence(std::memory_order_seq_cst);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("the values of a message are a list, whether one or many [queues]") {
  Values values;
  CHECK(values.empty());
  for (std::int64_t n = 0; n < 5; ++n) {
    values.push_back(Value(n));
    CHECK(values.size() == static_cast<std::size_t>(n) + 1);
    std::int64_t expected = 0;
    for (const Value& value : values) CHECK(value.integer() == expected++);
    CHECK(expected == n + 1);
    const Values copy = values;
    Values moved = std::move(values);
    CHECK(values.empty());
    CHECK(values.begin() == values.end());
    CHECK(moved[static_cast<std::size_t>(n)].integer() == copy[static_cast<std::size_t>(n)].integer());
    values = std::move(moved);
    CHECK(moved.empty());
  }
  CHECK(Values(List{Value(true), Value(false)})[1].boolean() == false);
  CHECK(Values(List{}).empty());
  Values again(List{Value(true)});
  again.push_back(Value(false));
  CHECK(again.size() == 2);
  CHECK(again[0].boolean());
}

TEST_CASE("messages come in the order in which they were put, in each channel [queues]") {
  Exchange exchange(channels("gg"), 64);
  for (std::int64_t n = 0; n < 64; ++n) {  // more and more at a time: the queue grows
    for (std::int64_t i = 0; i <= n; ++i) {
      exchange.put(first, number(100 * n + i, static_cast<std::uint64_t>(n)));
      exchange.put(second, number(-i - 1));
    }
    for (std::int64_t i = 0; i <= n; ++i) {
      std::optional<Message> message = exchange.take(first);
      REQUIRE(message);
      CHECK(message->activation == static_cast<std::uint64_t>(n));
      CHECK(message->values[0].integer() == 100 * n + i);
      CHECK(taken(exchange, second) == -i - 1);
    }
    CHECK(!exchange.ready(first));
  }
  CHECK(exchange.count(first).messages == 64 * 65 / 2);
  CHECK(exchange.count(first).waits_to_put == 0);
  CHECK(exchange.count(first).waits_to_take == 0);
}

TEST_CASE("a message may hold several values, and nothing of it stays behind [queues]") {
  auto name = std::make_shared<const std::string>("left");
  struct Named final : Object {
    explicit Named(std::shared_ptr<const std::string> name) : name(std::move(name)) {}
    std::string text() const override { return *name; }
    std::shared_ptr<const std::string> name;
  };
  auto object = [&] { return Value(std::static_pointer_cast<Object>(std::make_shared<Named>(name))); };
  {
    Exchange exchange(channels("h"), 3);
    for (int turn = 0; turn < 10; ++turn) {
      exchange.put(first, {7, {object(), Value(true), object()}});
      exchange.put(first, {8, {object()}});
      CHECK(name.use_count() == 4);
      CHECK(exchange.take(first)->values.size() == 3);
      CHECK(name.use_count() == 2);
      CHECK(exchange.take(first)->activation == 8);
      CHECK(name.use_count() == 1);
    }
    exchange.put(first, {9, {object()}});
    CHECK(name.use_count() == 2);
  }
  CHECK(name.use_count() == 1);  // what nobody took goes with the exchange
}

TEST_CASE("who puts into a full channel waits until there is room [queues]") {
  for (std::size_t capacity : {0, 1, 2, 3, 64}) {  // 0 counts as 1
    CAPTURE(capacity);
    Exchange exchange(channels("g"), capacity);
    const auto room = static_cast<std::int64_t>(std::max<std::size_t>(capacity, 1));
    std::atomic<std::int64_t> put{0};
    std::int64_t put_before_taking = -1, sum = 0;
    run_both(
        exchange,
        [&] {
          for (std::int64_t i = 0; i < room + 2; ++i, ++put) exchange.put(first, number(i));
          exchange.end(Part::host);
        },
        [&] {
          until_waiting(exchange, &Exchange::Count::waits_to_put);
          put_before_taking = put;
          for (std::int64_t got; (got = taken(exchange, first)) >= 0;) sum += got;
        });
    CHECK(put_before_taking == room);
    CHECK(sum == (room + 1) * (room + 2) / 2);
    CHECK(exchange.count(first).waits_to_put >= 1);
  }
}

TEST_CASE("who takes from an empty channel waits for a message, whatever else comes [queues]") {
  Exchange exchange(channels("ggg"), 4);
  std::vector<std::int64_t> got;
  bool ready_before = true, ready_after = false;
  run_both(
      exchange,
      [&] {
        until_waiting(exchange, &Exchange::Count::waits_to_take, second);
        exchange.put(first, number(1));
        std::this_thread::sleep_for(long_enough_to_sleep);
        exchange.put(second, number(2));
      },
      [&] {
        ready_before = exchange.ready(second);
        got.push_back(taken(exchange, second));
        ready_after = exchange.ready(first);
        got.push_back(taken(exchange, first));
      });
  CHECK(got == std::vector<std::int64_t>{2, 1});
  CHECK(!ready_before);
  CHECK(ready_after);
  CHECK(exchange.count(second).waits_to_take == 1);
  CHECK(exchange.count(first).waits_to_take == 0);
}

TEST_CASE("when the writer's side ends, its reader gets what is there and then nothing [queues]") {
  for (bool to_host : {false, true}) {
    CAPTURE(to_host);
    Exchange exchange(channels(to_host ? "h" : "g"), 8);
    std::vector<std::int64_t> got;
    auto writer = [&] {
      for (std::int64_t i = 0; i < 3; ++i) exchange.put(first, number(i));
      until_waiting(exchange, &Exchange::Count::waits_to_take);
      exchange.end(to_host ? Part::graph : Part::host);
    };
    auto reader = [&] {
      do {
        got.push_back(taken(exchange, first));
      } while (got.back() >= 0);
    };
    if (to_host)
      run_both(exchange, reader, writer);
    else
      run_both(exchange, writer, reader);
    CHECK(got == std::vector<std::int64_t>{0, 1, 2, -1});
    CHECK(exchange.ready(first));  // for nothing
    CHECK(taken(exchange, first) == -1);
  }
}

TEST_CASE("what is put right before the end is not lost, whenever the reader looks [queues]") {
  constexpr std::size_t rounds = 20'000;
  const std::vector<Channel> one = channels("g");
  std::deque<Exchange> exchanges;
  for (std::size_t i = 0; i < rounds; ++i) exchanges.emplace_back(one, 1);
  std::atomic<std::size_t> reading{0};
  std::size_t lost = 0;
  run_both(
      exchanges.back(),
      [&] {
        for (std::size_t i = 0; i < rounds; ++i) {
          while (reading < i) std::this_thread::yield();
          exchanges[i].put(first, number(1));
          exchanges[i].end(Part::host);
        }
      },
      [&] {
        for (Exchange& exchange : exchanges) {
          if (taken(exchange, first) != 1) ++lost;
          if (exchange.take(first)) ++lost;
          ++reading;
        }
      });
  CHECK(lost == 0);
}

TEST_CASE("when the reader's side ends, messages are dropped, also the one that waits [queues]") {
  Exchange exchange(channels("gh"), 2);
  run_both(
      exchange,
      [&] {
        for (std::int64_t i = 0; i < 10; ++i) exchange.put(first, number(i));
      },
      [&] {
        until_waiting(exchange, &Exchange::Count::waits_to_put);
        exchange.end(Part::graph);
      });
  CHECK(exchange.count(first).messages == 2);  // what was there
  CHECK(exchange.count(first).waits_to_put == 1);
  CHECK(taken(exchange, second) == -1);  // the side that ended writes that one
}

TEST_CASE("an interrupt ends all waits on both sides, and what follows does not wait [queues]") {
  Exchange exchange(channels("hgg"), 1);
  std::atomic<int> over{0};
  int over_before = -1;
  const ChannelId third(2);
  exchange.put(third, number(1));
  std::thread other([&] {
    until_waiting(exchange, &Exchange::Count::waits_to_take, first);
    until_waiting(exchange, &Exchange::Count::waits_to_take, second);
    over_before = over;
    exchange.interrupt();
  });
  run_both(
      exchange,
      [&] {  // waits to take, then would wait to put
        if (!exchange.take(first)) ++over;
        exchange.put(third, number(2));
        ++over;
      },
      [&] {
        if (!exchange.take(second)) ++over;
        if (exchange.ready(third) && !exchange.take(third)) ++over;
      });
  other.join();
  CHECK(over_before == 0);
  CHECK(over == 4);
  CHECK(exchange.count(third).messages == 1);
}

TEST_CASE("an interrupt ends the wait for room [queues]") {
  Exchange exchange(channels("g"), 1);
  run_both(
      exchange, [&] { exchange.put(first, number(1)), exchange.put(first, number(2)); },
      [&] {
        until_waiting(exchange, &Exchange::Count::waits_to_put);
        exchange.interrupt();
      });
  CHECK(exchange.count(first).messages == 1);
}

TEST_CASE("a hundred thousand messages go both ways, whoever is slow [queues]") {
  constexpr std::int64_t count = 100'000;
  std::uint64_t seed = random_seeds(1, 1)[0];
  for (std::size_t capacity : {1, 2, 64})
    for (bool delays : {false, true}) {
      CAPTURE(capacity);
      CAPTURE(delays);
      CAPTURE(++seed);
      Exchange exchange(channels("gh"), capacity);
      std::int64_t wrong = 0, answered = 0;
      // Some questions are asked before the first is answered, not more than the channels hold.
      const std::int64_t ahead = static_cast<std::int64_t>(capacity);
      run_both(
          exchange,
          [&] {
            Delays delay(seed);
            for (std::int64_t i = 0; i < count + ahead; ++i) {
              if (delays) delay();
              if (i < count) exchange.put(first, number(i, static_cast<std::uint64_t>(i)));
              if (i < ahead) continue;
              std::optional<Message> answer = exchange.take(second);
              if (!answer || answer->values.size() != 2 || answer->values[1].integer() != 3 * (i - ahead)) ++wrong;
            }
            exchange.end(Part::host);
          },
          [&] {
            Delays delay(seed + 1000);
            while (std::optional<Message> question = exchange.take(first)) {
              if (delays) delay();
              const std::int64_t value = question->values[0].integer();
              if (value != answered++ || question->activation != static_cast<std::uint64_t>(value)) ++wrong;
              exchange.put(second, {question->activation, {Value(true), Value(3 * value)}});
            }
            exchange.end(Part::graph);
          });
      CHECK(wrong == 0);
      CHECK(answered == count);
      CHECK(exchange.count(second).messages == count);
    }
}

// Both sides do the same operations of one program, each its own end of them.
TEST_CASE("communications in program order come to an end at any capacity [queues]") {
  constexpr std::size_t count = 10'000;
  for (std::uint64_t seed : random_seeds(6, 60))
    for (std::size_t capacity : {1, 2, 64}) {
      CAPTURE(seed);
      CAPTURE(capacity);
      std::mt19937_64 random(seed);
      const std::string directions = "ghgghhgh";
      std::vector<std::size_t> program(count);  // channels; mostly runs of one, which fill it
      for (std::size_t i = 0; i < count; ++i)
        program[i] = i > 0 && between(random, 0, 3) > 0 ? program[i - 1] : random() % directions.size();
      Exchange exchange(channels(directions), capacity);
      std::atomic<int> wrong{0};
      auto side = [&](bool host) {
        Delays delay(seed + (host ? 0 : 1000));
        for (std::size_t i = 0; i < count; ++i) {
          delay();
          const ChannelId channel(program[i]);
          if ((directions[program[i]] == 'g') == host)
            exchange.put(channel, number(static_cast<std::int64_t>(i)));
          else if (taken(exchange, channel) != static_cast<std::int64_t>(i))
            ++wrong;
        }
      };
      run_both(
          exchange, [&] { side(true); }, [&] { side(false); });
      CHECK(wrong == 0);
    }
}

}  // namespace taskspec::exchange_test
