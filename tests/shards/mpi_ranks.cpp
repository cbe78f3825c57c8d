// A program on shards, for the tests of ranks: it does what its first argument names, on `--shards S` shards and, by
// `--ranks R`, that many processes. Shard 0 prints what came out.
//
//   mpi_ranks collectives --shards 8 --ranks 2
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "interp/shards/collectives/tree.hpp"
#include "interp/shards/control/control_watch.hpp"
#include "interp/shards/ranks/rank_process.hpp"
#include "interp/shards/ranks/watchdog.hpp"
#include "interp/shards/transport/hostile.hpp"
#include "ir/base/render.hpp"

using namespace taskspec;

namespace {

struct Wanted {
  std::string what;
  std::size_t shards = 0;
  std::optional<std::size_t> ranks;
  double seconds = 30;            // of the watchdog
  std::size_t who = 1;            // a rank
  std::int64_t microseconds = 0;  // until it happens
};

// Collectives of every kind, many in flight, by messages that are held and overtaken.
bool is_right(Collectives& c) {
  const std::size_t shards = c.shards(), self = c.self().index();
  std::size_t ended = 0, begun = 0;
  bool is_right = true;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const std::size_t size = number % 10 == 0 ? 200'000 / shards : number;
    c.all_gather({Purpose::value, number}, Bytes(size + self, static_cast<std::byte>(self)),
                 [&, size](const std::vector<Bytes>& all) {
                   for (std::size_t of = 0; of < shards; ++of)
                     is_right = is_right && all[of] == Bytes(size + of, static_cast<std::byte>(of));
                   ++ended;
                 });
    c.barrier({Purpose::fence, number}, [&] { ++ended; });
    begun += 2;
  }
  const auto points = static_cast<std::int64_t>(10 * shards);
  const Run own{static_cast<std::int64_t>(10 * self), static_cast<std::int64_t>(10 * self + 10)};
  Bytes rows;
  for (std::int64_t i = own.lo; i < own.hi; ++i) ByteWriter(rows).put(i);
  reduce_map(c, {Purpose::value, 1000}, {Precision::i64, ReduceOp::sum, points, 1}, {&own, 1}, rows,
             [&](const Bytes& sum) {
               is_right = is_right && ByteReader(sum).get<std::int64_t>() == points * (points - 1) / 2;
               ++ended;
             });
  ++begun;
  while (ended < begun)
    if (!c.poll()) c.transport().wait(100'000'000'000);
  return is_right;
}

// One shard of a program that makes the same call again and again, each with a barrier, and agrees on all of them.
class Program {
 public:
  Program(const Wanted& wanted, RankGroup& group, ShardId self, std::atomic<std::uint64_t>& steps)
      : wanted_(wanted),
        group_(group),
        self_(self),
        steps_(steps),
        collectives_(group.transport(self)),
        log_(CallLog::Hashes::chained),
        watch_(collectives_, log_, {}) {}

  void run() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    auto is_time = [&] { return Clock::now() - begin >= std::chrono::microseconds(wanted_.microseconds); };
    const bool lasts = wanted_.what != "calls" && wanted_.what != "diverge" && wanted_.what != "echo";
    for (std::uint64_t number = 1; lasts || number <= 300; ++number) {
      const bool is_here = group_.layout().rank == wanted_.who && group_.layout().here().front() == self_;
      if (lasts && is_here && number > 2 && is_time()) happen();
      arguments_.clear();
      const bool differs = wanted_.what == "diverge" && number == 212 && self_.index() == wanted_.who;
      arguments_.argument("domain").domain(Rect::of({differs ? 5 : 4}));
      log_.record(CallKind::launch, "step", arguments_, {});
      watch_.called();
      if (group_.notes_calls()) group_.note_call(self_, number, "launch step", "f.task:31");
      ++steps_;
      bool is_open = false;
      collectives_.barrier({Purpose::fence, number}, [&] { is_open = true; });
      until([&] { return is_open || watch_.difference(); });
      if (watch_.difference()) return;
    }
    watch_.ended();
    until([&] { return watch_.is_done() || watch_.difference(); });
  }

  const Difference* difference() const { return watch_.difference(); }

 private:
  template <class Done>
  void until(const Done& done) {
    while (!done())
      if (!collectives_.poll()) collectives_.transport().wait(1'000'000'000);
  }

  // What ends a rank.
  void happen() {
    const std::string& what = wanted_.what;
    if (what == "kill") ::raise(SIGKILL);
    if (what == "fault") ::raise(SIGSEGV);
    if (what == "exit") std::exit(0);
    if (what == "stop") ::raise(SIGSTOP);
    if (what == "kill-waits" || what == "kill-computes")
      std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ::raise(SIGKILL);
      }).detach();
    if (what == "kill-computes")
      for (;;) ++steps_;
    if (what == "kill-waits" || what == "hang")
      for (;;) collectives_.transport().wait(1'000'000'000);
  }

  const Wanted& wanted_;
  RankGroup& group_;
  const ShardId self_;
  std::atomic<std::uint64_t>& steps_;
  CallArguments arguments_;
  Collectives collectives_;
  CallLog log_;
  ControlWatch watch_;
};

template <class Body>
void on_each_shard(RankGroup& group, const Body& body) {
  std::vector<std::thread> threads;
  for (const ShardId shard : group.layout().here()) threads.emplace_back([&, shard] { body(shard); });
  for (std::thread& thread : threads) thread.join();
}

int run_collectives(RankGroup& group, std::uint64_t seed) {
  std::atomic<bool> all_right{true};
  on_each_shard(group, [&](ShardId shard) {
    HostileTransport transport(group.transport(shard), {.seed = seed + shard.index(), .longest_hold = 6});
    Collectives collectives(transport);
    if (!is_right(collectives)) all_right = false;
  });
  return all_right ? 0 : 1;
}

int run_program(const Wanted& wanted, RankGroup& group) {
  std::atomic<std::uint64_t> steps{0};
  std::atomic<bool> computes{false};
  Watchdog watchdog(group, {.seconds = wanted.seconds,
                            .state =
                                [&] {
                                  Watchdog::State state;
                                  state.steps = state.call = steps;
                                  state.is_running = computes;
                                  state.what = "launch step";
                                  state.place = "f.task:31";
                                  return state;
                                },
                            .waits =
                                [&] {
                                  std::string text;
                                  for (const ShardId shard : group.layout().here())
                                    text += "shard " + std::to_string(shard.index()) + " waits for a fence\n";
                                  return text;
                                }});
  std::mutex mutex;
  std::optional<Difference> found;
  on_each_shard(group, [&](ShardId shard) {
    Program program(wanted, group, shard, steps);
    program.run();
    const std::lock_guard lock(mutex);
    if (program.difference() && shard.index() == 0) found = *program.difference();
  });
  if (found) {
    if (claim_last_word()) std::fputs(render(Sources(), diagnostic(*found, nullptr)).c_str(), stderr);
  }
  group.close();
  return found ? 3 : wanted.what == "diverge" ? 3 : 0;
}

std::string first_of_input() {
  char bytes[5] = "";
  return std::fread(bytes, 1, 4, stdin) == 4 ? bytes : "";
}

int run(const Wanted& wanted) {
  auto opened = RankGroup::open(wanted.shards, wanted.ranks);
  if (!opened) {
    // Whoever comes first: mpirun ends the others as soon as one has left.
    const bool tells = starter_notes() ? claim_last_word() : is_first_rank();
    if (tells) std::fputs(render(Sources(), opened.diags()).c_str(), stderr);
    return 3;
  }
  RankGroup& group = **opened;
  const RankLayout& layout = group.layout();
  int status = 0;
  if (wanted.what == "collectives") {
    // A second group of the same processes: nothing of the first one may be heard in it.
    status = run_collectives(group, 1);
    group.close();
    auto again = RankGroup::open(layout.shards + 1, wanted.ranks);
    status = again ? status | run_collectives(**again, 2) : 1;
    if (again) (*again)->close();
  } else {
    if (wanted.what == "echo" && layout.rank == 0) std::printf("%.4s\n", first_of_input().c_str());
    status = run_program(wanted, group);
  }
  if (layout.rank == 0 && status == 0)
    std::printf("%s: %zu shards, %zu ranks\n", wanted.what.c_str(), layout.shards, layout.ranks);
  return std::fflush(stdout) == 0 ? status : 5;
}

}  // namespace

int main(int argc, char** argv) {
  join_starter();
  take_part_as_rank();
  Wanted wanted;
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string value = at + 1 < words.size() ? words[at + 1] : "";
    if (words[at] == "--shards")
      wanted.shards = std::stoul(value), ++at;
    else if (words[at] == "--ranks")
      wanted.ranks = std::stoul(value), ++at;
    else if (words[at] == "--timeout")
      wanted.seconds = std::stod(value), ++at;
    else if (words[at] == "--who")
      wanted.who = std::stoul(value), ++at;
    else if (words[at] == "--after")
      wanted.microseconds = std::stol(value), ++at;
    else
      wanted.what = words[at];
  }
  if (wanted.ranks && !started_by_mpirun()) return run_under_mpirun(*wanted.ranks, words);
  return run(wanted);
}
