// Shards on ranks, through a small program (mpi_ranks.cpp) that is started as a person would: what they compute, and
// how a run ends in which a rank dies, hangs, leaves or differs. Each ends with one message and leaves no process
// behind.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "interp/shards/ranks/call_notes.hpp"
#include "interp/shards/ranks/rank_process.hpp"
#include "interp/shards/ranks/watchdog.hpp"
#include "ir/base/text.hpp"
#include "tests/shards/marked_runs.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/temporary_folder.hpp"

// What no sanitizer knows from the inside: MPI's own threads.
#if defined(TASKSPEC_HAS_MPI) && !defined(__SANITIZE_THREAD__)
#define TASKSPEC_TEST_RANKS 1
#else
#define TASKSPEC_TEST_RANKS 0
#endif

namespace taskspec::ranks_test {
using namespace marked;

namespace {

// Beside this program, or below it.
std::string ranks_program() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"mpi_ranks", "shards/mpi_ranks"})
    if (fs::exists(here / place)) return (here / place).string();
  return {};
}

MarkedOutcome run_ranks(const std::string& words, const Happens& happens = {}) {
  return run_marked(words.find("$0") == std::string::npos ? "exec \"$0\" " + words : words, ranks_program(), happens);
}

// Runs wait more than they compute: all at once.
std::vector<MarkedOutcome> run_all(const std::vector<std::pair<std::string, Happens>>& runs) {
  std::vector<MarkedOutcome> outcomes(runs.size());
  std::vector<std::thread> threads;
  for (std::size_t at = 0; at < runs.size(); ++at)
    threads.emplace_back([&, at] { outcomes[at] = run_ranks(runs[at].first, runs[at].second); });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace

TEST_CASE("[ranks] shard k lives on rank floor(k*R/S), and no rank is without one") {
  for (std::size_t shards = 1; shards <= 16; ++shards)
    for (std::size_t ranks = 1; ranks <= shards; ++ranks) {
      std::vector<std::size_t> seen;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const RankLayout layout{shards, ranks, rank};
        CHECK_FALSE(layout.here().empty());
        for (const ShardId shard : layout.here()) {
          CHECK(layout.rank_of(shard) == shard.index() * ranks / shards);
          seen.push_back(shard.index());
        }
      }
      REQUIRE(seen.size() == shards);
      CHECK(std::is_sorted(seen.begin(), seen.end()));
    }
}

TEST_CASE("[ranks] without mpirun all shards are threads of this process, four if nobody says how many") {
  auto group = RankGroup::open(0, std::nullopt);
  REQUIRE(group);
  CHECK((*group)->layout().shards == 4);
  CHECK((*group)->layout().here().size() == 4);
  CHECK_FALSE((*group)->notes_calls());
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (const ShardId shard : (*group)->layout().here())
    threads.emplace_back([&, shard] {
      Collectives collectives((*group)->transport(shard));
      bool is_open = false;
      collectives.barrier({Purpose::fence, 1}, [&] { is_open = true; });
      poll_until(collectives, [&] { return is_open; });
      ++ended;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(ended == 4);
  (*group)->close();
}

TEST_CASE("[ranks] an MPI that lets one thread call it, or has few tags, is refused") {
  auto said = [](MpiPort::Facts facts) { return error_of([&] { fit_facts(facts); }); };
  const long enough = (1L << 31) - 1;
  CHECK(said({0, 2, false, enough}) == "E6002 this MPI library lets only one thread of a process call it");
  CHECK(said({0, 2, true, 32767}) == "E6002 this MPI library has tags up to 32767, and shards need 2147483647");
  CHECK_NOTHROW(fit_facts({0, 2, true, enough}));
}

TEST_CASE("[ranks] notes of calls are read by who shares them; the last word is one rank's") {
  auto notes = CallNotes::make(3);
  REQUIRE(notes);
  CHECK(text_of(notes->rank(1).call()) == "; it has made no call");
  auto theirs = CallNotes::at(::dup(notes->descriptor()));
  REQUIRE(theirs);
  CHECK(theirs->ranks() == 3);
  theirs->rank(1).note(7, "launch step", "");
  CHECK(text_of(notes->rank(1).call()) == "; last call seen 7 'launch step'");
  theirs->rank(1).note(212, "launch " + std::string(200, 'x'), "f.task:31");
  theirs->rank(1).note(211, "fill a", "f.task:1");  // of a shard that is behind
  CHECK(text_of(notes->rank(1).call()) == "; last call seen 212 'launch " + std::string(56, 'x') + "' (f.task:31)");
  CHECK_FALSE(notes->has_last_word());
  CHECK(theirs->claim_last_word());
  CHECK_FALSE(notes->claim_last_word());
  CHECK(notes->has_last_word());
}

TEST_CASE("[dead-rank] shards of one process that all wait are told apart from one that computes") {
  const std::string program = ranks_program();
  REQUIRE_FALSE(program.empty());
  const auto outcomes = run_all({{"hang --shards 2 --who 0 --timeout 0.4", {}}, {"calls --shards 3", {}}});
  CHECK(outcomes[0].status == 70);
  CHECK(outcomes[0].err ==
        "taskspec: all shards wait, and none can go on; this is a mistake of taskspec\n"
        "shard 0 waits for a fence\nshard 1 waits for a fence\n");
  CHECK(outcomes[1].status == 0);
  CHECK(outcomes[1].out == "calls: 3 shards, 1 ranks\n");
}

#if TASKSPEC_TEST_RANKS
TEST_CASE("[ranks] a module of MPI from another build is refused at once: E6002, status 3") {
  const TemporaryFolder folder;
  const std::string module = file_of(mpi_module());
  const auto place = [&](const std::string& old, const std::string& now) {
    std::string changed = module;
    const std::size_t at = changed.find(old);
    REQUIRE(at != std::string::npos);
    fs::create_directories(folder.path() / "share/taskspec");
    folder.put("share/taskspec/taskspec-mpi.so", changed.replace(at, now.size(), now));
  };
  fs::create_directories(folder.path() / "bin");
  fs::copy_file(ranks_program(), folder.path() / "bin/mpi_ranks");
  const auto run = [&](const std::string& words) {
    return run_marked("exec \"$0\" calls --shards 2 " + words, folder / "bin/mpi_ranks");
  };
  place("taskspec-mpi ", "taskspec-mpi ");
  const MarkedOutcome same = run("--ranks 2");
  CHECK(same.out == "calls: 2 shards, 2 ranks\n");
  CHECK(same.status == 0);
  // One that was compiled with other headers, and one from before there were stamps.
  for (const auto& [old, now] :
       {std::pair("taskspec-mpi ", "taskspec-mpi!"), std::pair("taskspec_mpi_stamp", "taskspec_mpi_stomp")}) {
    place(old, now);
    const MarkedOutcome outcome = run("--ranks 2");
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.err == "error E6002: MPI cannot be loaded: '" + folder / "share/taskspec/./taskspec-mpi.so" +
                             "' belongs to another build of taskspec\n  = help: build both again (./dev build), or "
                             "install them together\n");
    CHECK(outcome.out.empty());
    CHECK(outcome.left == 0);
    CHECK(run("").status == 0);  // without ranks nobody loads it
  }
}

TEST_CASE("[ranks] collectives in hostile order over ranks, several shards on each") {
  std::vector<std::pair<std::string, Happens>> runs;
  std::vector<std::string> wanted;
  for (const auto& [shards, ranks] : std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {5, 2}, {7, 3}, {16, 4}}) {
    const std::string s = std::to_string(shards), r = std::to_string(ranks);
    runs.push_back({"collectives --shards " + s + " --ranks " + r, {}});
    wanted.push_back("collectives: " + s + " shards, " + r + " ranks\n");
  }
  const auto outcomes = run_all(runs);
  for (std::size_t at = 0; at < runs.size(); ++at) {
    CAPTURE(runs[at].first);
    CAPTURE(outcomes[at].err);
    CHECK(outcomes[at].status == 0);
    CHECK(outcomes[at].out == wanted[at]);
    CHECK(outcomes[at].err.empty());
    CHECK(outcomes[at].left == 0);
  }
}

TEST_CASE("[ranks] more ranks than shards, another count than mpirun's, no mpirun: E6002, status 3") {
  const std::string root = ::geteuid() == 0 ? " --allow-run-as-root" : "";
  const auto outcomes = run_all({{"calls --shards 2 --ranks 3", {}},
                                 {"calls --ranks 0", {}},
                                 {"PATH=/nowhere exec \"$0\" calls --ranks 2", {}},
                                 {"exec mpirun --oversubscribe" + root + " -np 2 \"$0\" calls --ranks 3", {}}});
  CHECK(outcomes[0].status == 3);
  CHECK(outcomes[0].err ==
        "error E6002: 2 shards on 3 ranks: a rank would have none\n  = help: ask for at least 3 shards\n");
  CHECK(outcomes[1].status == 3);
  CHECK(outcomes[1].err ==
        "error E6002: a run has at least one rank\n  = help: --shards 4 runs that many shards in one process\n");
  CHECK(outcomes[2].status == 3);
  CHECK(outcomes[2].err.starts_with("error E6002: there is no mpirun in PATH\n  = help: install Open MPI"));
  CHECK(outcomes[3].status == 3);
  CHECK(outcomes[3].err.find(
            "E6002: 3 ranks asked for, but mpirun started 2\n  = help: leave --ranks out under mpirun\n") !=
        std::string::npos);
  for (const MarkedOutcome& outcome : outcomes) CHECK(outcome.left == 0);
}

TEST_CASE("[dead-rank] a rank that dies, leaves, hangs or differs ends the run, with one message") {
  auto kill_mpirun = [](pid_t, const std::string& mark) {
    comes_true([&] { return process_of(mark, "orterun") > 0 && process_of(mark, "mpi_ranks") > 0; });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(process_of(mark, "orterun"), SIGKILL);
  };
  auto kill_starter = [](pid_t starter, const std::string& mark) {
    comes_true([&] { return process_of(mark, "orterun") > 0; });
    ::kill(starter, SIGKILL);
  };
  const std::string on = " --shards 4 --ranks 2";
  const auto outcomes = run_all({{"kill --after 20000" + on, {}},
                                 {"kill-computes --who 0" + on, {}},
                                 {"kill-waits" + on, {}},
                                 {"fault" + on, {}},
                                 {"exit" + on, {}},
                                 {"stop --timeout 1" + on, {}},
                                 {"diverge" + on, {}},
                                 {"forever" + on, kill_mpirun},
                                 {"forever" + on, kill_starter}});
  const std::vector<std::string> wanted{
      "error E6004: rank 1 died (signal 9); last call seen ... 'launch step' (f.task:31)\n",
      "error E6004: rank 0 died (signal 9); last call seen ... 'launch step' (f.task:31)\n",
      "error E6004: rank 1 died (signal 9); last call seen ... 'launch step' (f.task:31)\n",
      "error E6004: rank 1 died (signal 11); last call seen ... 'launch step' (f.task:31)\n",
      "error E6004: rank 1 ended before the others; last call seen ... 'launch step' (f.task:31)\n",
      "error E6003: rank 1 is alive and has not answered for 1 s; last call seen ... 'launch step' (f.task:31)\n"
      "  = help: look at what that process does, or give it more time: --timeout\n",
      "error E6001: control determinism violated at call 212 'launch step': shards {0,2,3} domain 0..4, shard {1} "
      "domain 0..5\n  = help: let the shards agree on what decides this call: agree(x) takes shard 0's value\n",
      "...error E6004: mpirun died (signal 9)...\n",  // in front of it may stand what Open MPI says of that
      ""};
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    CAPTURE(at);
    CAPTURE(outcomes[at].err);
    CHECK(fits_pattern(wanted[at], outcomes[at].err));
    CHECK(outcomes[at].status == (at + 1 < wanted.size() ? 3 : 128 + SIGKILL));
    CHECK(outcomes[at].left == 0);
  }
}

TEST_CASE("[dead-rank] killed at any moment, a rank takes the run with it") {
  for (const std::uint64_t seed : random_seeds(2, 200)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::size_t ranks = 2 + random() % 2, who = random() % ranks;
    const MarkedOutcome outcome = run_ranks("kill --shards 4 --ranks " + std::to_string(ranks) + " --who " +
                                            std::to_string(who) + " --after " + std::to_string(random() % 400'000));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(std::ranges::count(outcome.err, '\n') == 1);
    CHECK(outcome.err.starts_with("error E6004: rank " + std::to_string(who) + " died (signal 9); "));
    CHECK(outcome.left == 0);
  }
}

TEST_CASE("[ranks] the ranks' input and output are those of who started them") {
  const auto outcomes =
      run_all({{"calls --shards 2 --ranks 2 >/dev/full", {}}, {"exec \"$0\" echo --shards 2 --ranks 2 <\"$0\"", {}}});
  CHECK(outcomes[0].status == 5);  // it saw that nothing could be written
  CHECK(outcomes[1].status == 0);
  CHECK(outcomes[1].out == "\177ELF\necho: 2 shards, 2 ranks\n");
}
#endif

}  // namespace taskspec::ranks_test
