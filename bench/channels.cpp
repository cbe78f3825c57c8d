#include "bench/channels.hpp"

#include <fmt/format.h>

#include <thread>

#include "bench/queues.hpp"
#include "bench/two_programs.hpp"

namespace taskspec::bench {

namespace {

constexpr double channel_bar = 1000;  // ns, a message sent and received

Message message(std::int64_t value) { return {0, {Value(value)}}; }

// One thread alone, so that nobody waits: 64 messages put, then taken. With room for less there are more queues.
struct Alone {
  static constexpr std::size_t at_once = 64;
  double put = 0, take = 0;  // seconds

  Alone(Queues& queues, std::size_t capacity, std::size_t count) {
    const std::size_t width = at_once / capacity;
    for (std::size_t done = 0; done < count; done += at_once) {
      const double begin = wall_clock();
      for (std::size_t i = 0; i < at_once; ++i) queues.put(i % width, message(7));
      const double middle = wall_clock();
      for (std::size_t i = 0; i < at_once; ++i) queues.take(i % width);
      put += middle - begin;
      take += wall_clock() - middle;
    }
  }
};

// One thread puts, the other takes.
void stream(Queues& queues, std::size_t count) {
  std::jthread writer([&] {
    for (std::size_t i = 0; i < count; ++i) queues.put(0, message(7));
  });
  for (std::size_t i = 0; i < count; ++i) queues.take(0);
}

// Every message is answered before the next one.
void round_trips(Queues& queues, std::size_t count) {
  std::jthread other([&] {
    for (std::size_t i = 0; i < count; ++i) queues.put(1, queues.take(0));
  });
  for (std::size_t i = 0; i < count; ++i) {
    queues.put(0, message(7));
    queues.take(1);
  }
}

struct Peer {
  const char* name;
  std::unique_ptr<Queues> (*make)(std::size_t count, std::size_t capacity);
};
constexpr Peer peers[] = {
    {"taskspec", make_exchange}, {"mutex and condition", make_locked_queues}, {"oneTBB", make_tbb_queues}};

enum Measure : std::uint8_t { send, receive, streaming, round_trip };
constexpr const char* names[] = {"send", "receive", "send and receive, streaming", "round trip"};

// Nanoseconds per message of one peer, by measure.
struct Costs {
  Repeats repeats[4];

  void add(const Peer& peer, std::size_t capacity, std::size_t count) {
    auto note = [&](Measure what, Sample sample, std::size_t messages) {
      const double ns = 1e9 / static_cast<double>(messages);
      repeats[what].add({sample.wall * ns, sample.cpu * ns});
    };
    {
      auto queues = peer.make(2 + Alone::at_once, capacity);
      const double cpu = cpu_clock();
      const Alone alone(*queues, capacity, count);
      const double share = (cpu_clock() - cpu) / (alone.put + alone.take);
      note(send, {alone.put, alone.put * share}, count);
      note(receive, {alone.take, alone.take * share}, count);
    }
    auto queues = peer.make(2, capacity);
    note(streaming, measure([&] { stream(*queues, count); }), count);
    note(round_trip, measure([&] { round_trips(*queues, count / 10); }), count / 10);
  }
};

void add_rows(Table& table, std::size_t capacity, std::span<const Costs> costs) {
  for (Measure what : {send, receive, streaming, round_trip})
    for (std::size_t p = 0; p < costs.size(); ++p) {
      const Repeats& ours = costs[0].repeats[what];
      const Repeats& here = costs[p].repeats[what];
      table.add({fmt::format("capacity {}: {}", capacity, names[what]), peers[p].name,
                 fmt::format("{:.1f}", here.min_wall()), fmt::format("{:.1f}", here.median_wall()),
                 fmt::format("{:.1f}", here.median_cpu()),
                 p == 0 ? "" : fmt::format("{:.2f}", ours.median_wall() / here.median_wall()),
                 p == 0 && what == streaming ? fmt::format("{:.2f}", here.median_wall() / channel_bar) : ""});
    }
}

}  // namespace

int channels(const Settings& settings) {
  const std::size_t count = std::max<std::size_t>(settings.tasks / 10, 1000) / Alone::at_once * Alone::at_once;
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  fmt::print("{} messages of one value; ns per message of {} interleaved runs\n", count, repeats);
  fmt::print("bar for a send and its receive: {:.0f}\n\n", channel_bar);
  Table table({"", "", "min", "median", "CPU median", "ours of it", "of the bar"});
  for (std::size_t capacity : {1, 64}) {
    Costs costs[std::size(peers)];
    for (int i = 0; i < repeats; ++i)
      for (std::size_t p = 0; p < std::size(peers); ++p) costs[p].add(peers[p], capacity, count);
    add_rows(table, capacity, costs);
  }
  fmt::print("{}", table.text());
  show_program_costs(settings);
  show_overlap(settings);
  return 0;
}

}  // namespace taskspec::bench
