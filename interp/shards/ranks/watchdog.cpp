#include "interp/shards/ranks/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "interp/shards/ranks/call_notes.hpp"
#include "interp/shards/ranks/rank_process.hpp"
#include "ir/base/render.hpp"

namespace taskspec {
namespace {

enum class Word : std::uint8_t { beat, show_waits, waits };

constexpr int silent_status = 3, own_fault_status = 70;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

}  // namespace

// What a rank says to the next one.
struct Watchdog::Beat {
  State state;
  std::uint64_t quiet = 0;  // ranks in a row, up to the one that says it, that do nothing

  Bytes bytes() const {
    Bytes made;
    ByteWriter out(made);
    out.put(Word::beat).put(state.steps).put(static_cast<std::uint8_t>(state.is_running)).put(state.call);
    out.text(state.what).text(state.place).put(quiet);
    return made;
  }
  static Beat of(ByteReader& in) {
    Beat made;
    made.state.steps = in.get<std::uint64_t>();
    made.state.is_running = in.get<std::uint8_t>() != 0;
    made.state.call = in.get<std::uint64_t>();
    made.state.what = in.text();
    made.state.place = in.text();
    made.quiet = in.get<std::uint64_t>();
    return made;
  }
};

Watchdog::Watchdog(RankGroup& group, Options options)
    : group_(group),
      options_(std::move(options)),
      patience_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds))),
      heard_at_(Clock::now()),
      changed_at_(heard_at_),
      starter_(::getppid()) {
  group_.network().on_rank_message([this](Bytes bytes) {
    const std::lock_guard lock(mutex_);
    come_.push_back(std::move(bytes));
  });
  thread_ = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  stop_.notify_one();
  thread_.join();
  group_.network().on_rank_message({});
}

// A second, or less where patience is short.
void Watchdog::run() {
  const auto most = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.pause));
  const auto pause = std::min<Clock::duration>(most, patience_ / 8);
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, pause, [&] { return is_over_; })) {
    lock.unlock();
    turn();
    lock.lock();
  }
}

void Watchdog::turn() {
  // Started by mpirun, and it is gone: nobody would end this rank.
  if (group_.layout().ranks > 1 && ::getppid() != starter_) std::_Exit(silent_status);
  if (options_.turn) options_.turn();
  group_.network().look();
  for (std::deque<Bytes> come = taken(); !come.empty(); come.pop_front()) hear(come.front());
  if (const std::optional<Diags> why = options_.overdue ? options_.overdue() : std::nullopt) end_with(*why);
  const State own = options_.state ? options_.state() : State{};
  const auto now = Clock::now();
  if (own.steps != steps_ || own.is_running) changed_at_ = now;
  steps_ = own.steps;
  const std::size_t ranks = group_.layout().ranks;
  const bool is_quiet = now - changed_at_ >= patience_;
  // Twice round: each has said it again after all others had said it.
  const std::uint64_t quiet = !is_quiet    ? 0
                              : ranks == 1 ? 3
                                           : std::min<std::uint64_t>(quiet_before_ + 1, 2 * ranks + 1);
  if (ranks > 1) {
    group_.network().send_to_rank((group_.layout().rank + 1) % ranks, Beat{own, quiet}.bytes());
    // Before its first beat it may still be on its way here.
    if (now - heard_at_ >= (has_heard_ ? patience_ : 2 * patience_)) tell_silence();
  }
  if (quiet > 2 * ranks) tell_deadlock();
}

std::deque<Bytes> Watchdog::taken() {
  const std::lock_guard lock(mutex_);
  return std::exchange(come_, {});
}

void Watchdog::hear(const Bytes& bytes) {
  ByteReader in(bytes);
  switch (in.get<Word>()) {
    case Word::beat: {
      const Beat beat = Beat::of(in);
      if (!in.ok()) return;
      theirs_ = beat.state;
      quiet_before_ = beat.quiet;
      has_heard_ = true;
      heard_at_ = Clock::now();
      return;
    }
    case Word::show_waits: {
      const auto asks = in.get<std::uint64_t>();
      Bytes answer;
      ByteWriter(answer).put(Word::waits).put(std::uint64_t{group_.layout().rank}).text(own_waits());
      group_.network().send_to_rank(asks, std::move(answer));
      return;
    }
    case Word::waits: {
      const auto rank = in.get<std::uint64_t>();
      if (rank < waits_.size()) waits_[rank] = in.text();
      return;
    }
  }
}

std::string Watchdog::own_waits() const { return options_.waits ? options_.waits() : std::string(); }

void Watchdog::tell_silence() {
  const std::size_t ranks = group_.layout().ranks;
  const std::size_t silent = (group_.layout().rank + ranks - 1) % ranks;
  CallNotes::Call last{theirs_.call, theirs_.what, theirs_.place};
  if (starter_notes()) last = starter_notes()->rank(silent).call();
  std::string text = "rank " + std::to_string(silent) + " is alive and has not answered for " +
                     seconds_text(options_.seconds) + " s" + text_of(last);
  Diags diags;
  diags.error("E6003", {}, std::move(text)).help("look at what that process does, or give it more time: --timeout");
  end_with(diags);
}

void Watchdog::end_with(const Diags& why) {
  if (claim_last_word()) {
    std::fflush(stdout);
    if (options_.tell)
      options_.tell(why);
    else
      std::fputs(render(Sources(), why).c_str(), stderr);
  }
  group_.network().abort(silent_status);
}

// Asks every rank once, and tells what is there by the next turn but one.
void Watchdog::tell_deadlock() {
  const std::size_t ranks = group_.layout().ranks;
  if (waits_.empty()) {
    waits_.resize(ranks);
    waits_[group_.layout().rank] = own_waits();
    Bytes question;
    ByteWriter(question).put(Word::show_waits).put(std::uint64_t{group_.layout().rank});
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (rank != group_.layout().rank) group_.network().send_to_rank(rank, question);
    asked_at_ = Clock::now();
    if (ranks > 1) return;
  }
  const bool has_all = std::none_of(waits_.begin(), waits_.end(), [](const std::string& text) { return text.empty(); });
  if (!has_all && ranks > 1 && Clock::now() - asked_at_ < patience_ / 2) return;
  if (claim_last_word()) {
    std::string text = "taskspec: all shards wait, and none can go on; this is a mistake of taskspec\n";
    for (const std::string& waits : waits_) text += waits;
    std::fflush(stdout);
    std::fputs(text.c_str(), stderr);
  }
  group_.network().abort(own_fault_status);
}

}  // namespace taskspec
