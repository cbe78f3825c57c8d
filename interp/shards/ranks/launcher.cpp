// The process that a person starts with --ranks: it starts mpirun, watches, and says what ended the run. Ranks get its
// own standard input, output and error, so mpirun's hold nothing but what mpirun itself has to say, and that is kept.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "interp/shards/ranks/descriptors.hpp"
#include "interp/shards/ranks/rank_process.hpp"
#include "interp/shards/ranks/ranks.hpp"
#include "ir/base/render.hpp"
#include "ir/base/text.hpp"

namespace taskspec {
namespace {

namespace fs = std::filesystem;
using State = CallNotes::State;

constexpr int failed = 3;                                      // exit status of a run that went wrong
constexpr std::chrono::milliseconds mpirun_ends_within{2500};  // of a rank that dies

std::string find_mpirun() {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string place = std::string(rest.substr(0, end)) + "/mpirun";
    if (end > 0 && ::access(place.c_str(), X_OK) == 0) return place;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::vector<std::string> words_for_mpirun(const std::string& mpirun, std::size_t ranks,
                                          const std::vector<std::string>& arguments) {
  std::error_code none;
  std::vector<std::string> words{mpirun, "-np", std::to_string(ranks), "--oversubscribe"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  // A rank is several threads. What MPI would print of a rank that faults is not asked for.
  for (const char* word : {"--bind-to", "none", "--mca", "opal_signal", ""}) words.emplace_back(word);
  words.push_back(fs::read_symlink("/proc/self/exe", none).string());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

// Signals that end this process are taken one after the other, as everything else that happens.
class Signals {
 public:
  Signals() {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&taken, signal);
    sigprocmask(SIG_BLOCK, &taken, &before_);
    line_ = Descriptor(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Signals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  int line() const { return line_.get(); }
  const sigset_t& before() const { return before_; }
  // The signal that asks for the end, or 0.
  int take() {
    int ends = 0;
    signalfd_siginfo info;
    while (::read(line_.get(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) ends = static_cast<int>(info.ssi_signo);
    return ends;
  }

 private:
  sigset_t before_;
  Descriptor line_;
};

// What was seen of a run, by the one who watches it.
struct Seen {
  std::vector<std::optional<std::size_t>> gone;  // ranks, in the order in which they went; none: one that never said
  std::string said;                              // by mpirun
  int status = 0;                                // of mpirun, as waitpid gives it
  int asked_to_end = 0;                          // a signal
  bool is_given_up = false;                      // mpirun went on without a rank
};

class RanksRun {
 public:
  RanksRun(std::size_t ranks, CallNotes& notes) : ranks_(ranks), notes_(notes) {}

  bool start(const std::vector<std::string>& words) {
    name_ = "taskspec-" + std::to_string(::getpid()) + "-" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
    listener_ = listen_abstract(name_);
    std::array<int, 2> ends{};
    if (!listener_ || pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    said_ = Descriptor(ends[0]);
    const Descriptor says(ends[1]);
    ::setenv(starter_variable, name_.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t self = ::getpid();
    mpirun_ = ::fork();
    if (mpirun_ == 0) become_mpirun(arguments.data(), says.get(), self);
    ::unsetenv(starter_variable);
    return mpirun_ > 0;
  }

  Seen watch() {
    for (bool is_over = false; !is_over;) {
      std::vector<pollfd> lines{{listener_.get(), POLLIN, 0}, {signals_.line(), POLLIN, 0}, {said_.get(), POLLIN, 0}};
      for (const Line& line : lines_) lines.push_back({line.socket.get(), POLLIN, 0});
      ::poll(lines.data(), lines.size(), patience());
      if (patience() == 0 && !seen_.is_given_up) {
        seen_.is_given_up = true;
        ::kill(mpirun_, SIGKILL);
      }
      for (std::size_t at = lines_.size(); at-- > 0;)
        if (lines[at + 3].revents) hear(at);
      if (lines[2].revents) read_said();
      if (lines[0].revents) welcome();
      if (lines[1].revents) is_over = take_signals();
    }
    // Who is left has nobody who would end it.
    while (!lines_.empty()) hear(lines_.size() - 1);
    end_those_left();
    read_said();
    return std::move(seen_);
  }

 private:
  struct Line {
    Descriptor socket;
    std::optional<std::size_t> rank;
  };

  [[noreturn]] void become_mpirun(char** arguments, int says, pid_t starter) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != starter) ::_exit(127);
    sigprocmask(SIG_SETMASK, &signals_.before(), nullptr);
    for (const int signal : {SIGINT, SIGPIPE}) ::signal(signal, SIG_DFL);
    // What stands in a file is read by the first rank itself; a terminal's lines mpirun has to hand on.
    if (!::isatty(STDIN_FILENO)) ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(says, STDERR_FILENO);
    ::dup2(says, STDOUT_FILENO);
    ::execv(arguments[0], arguments);
    ::_exit(127);
  }

  void welcome() {
    Descriptor socket = accept_own(listener_.get());
    if (!socket) return;
    std::vector<int> handed{notes_.descriptor(), STDOUT_FILENO, STDERR_FILENO};
    if (!::isatty(STDIN_FILENO)) handed.push_back(STDIN_FILENO);
    if (send_descriptors(socket.get(), handed)) lines_.push_back({std::move(socket), std::nullopt});
  }

  // A rank says its number, and is heard of again when it is gone.
  void hear(std::size_t at) {
    Line& line = lines_[at];
    std::uint32_t number = 0;
    ssize_t got;
    while ((got = ::recv(line.socket.get(), &number, sizeof number, MSG_DONTWAIT)) < 0 && errno == EINTR) continue;
    if (got == sizeof number && number < ranks_) {
      line.rank = number;
      return;
    }
    seen_.gone.push_back(line.rank);
    const bool has_ended = line.rank && notes_.rank(*line.rank).state == static_cast<std::uint32_t>(State::ended);
    if (!has_ended && !missed_at_) missed_at_ = std::chrono::steady_clock::now();
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // In milliseconds. Who dies while MPI begins, mpirun may miss: the others then wait for ever.
  int patience() const {
    if (!missed_at_ || seen_.is_given_up) return -1;
    const auto left = *missed_at_ + mpirun_ends_within - std::chrono::steady_clock::now();
    return static_cast<int>(
        std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(left).count()));
  }

  void read_said() {
    std::array<char, 4096> part;
    ssize_t got;
    ::fcntl(said_.get(), F_SETFL, O_NONBLOCK);
    while ((got = ::read(said_.get(), part.data(), part.size())) > 0)
      seen_.said.append(part.data(), static_cast<std::size_t>(got));
    if (got == 0) said_ = Descriptor();  // nobody writes any more
  }

  bool take_signals() {
    if (const int signal = signals_.take()) {
      seen_.asked_to_end = signal;
      ::kill(mpirun_, SIGTERM);
    }
    return ::waitpid(mpirun_, &seen_.status, WNOHANG) == mpirun_;
  }

  void end_those_left() {
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      if (const pid_t process = notes_.rank(rank).process; process > 0 && is_ours(process)) ::kill(process, SIGKILL);
  }

  // Still this program: its number may have gone to another one.
  static bool is_ours(pid_t process) {
    std::error_code none;
    const fs::path theirs = fs::read_symlink("/proc/" + std::to_string(process) + "/exe", none);
    return !none && theirs == fs::read_symlink("/proc/self/exe", none);
  }

  const std::size_t ranks_;
  CallNotes& notes_;
  Signals signals_;
  std::string name_;
  Descriptor listener_, said_;
  pid_t mpirun_ = -1;
  std::vector<Line> lines_;
  std::optional<std::chrono::steady_clock::time_point> missed_at_;  // a rank that was not at its end
  Seen seen_;
};

// "rank 1" in what mpirun says of the first one that went.
std::optional<std::size_t> rank_in(std::string_view said) {
  const std::size_t at = said.find("process rank ");
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t rank = 0;
  const char* const begin = said.data() + at + std::strlen("process rank ");
  if (std::from_chars(begin, said.data() + said.size(), rank).ec != std::errc()) return std::nullopt;
  return rank;
}

// The one that went first of those that were not at their end. When one rank has left with a status of its own, mpirun
// ends the others, also in the middle of finalising: those did not die.
std::optional<std::size_t> who_died(const Seen& seen, const CallNotes& notes, int status) {
  const bool another_left = !seen.is_given_up && status > 0 && status < 128;
  auto has_ended = [&](std::size_t rank) {
    const std::uint32_t state = notes.rank(rank).state;
    return state == static_cast<std::uint32_t>(State::ended) ||
           (another_left && state == static_cast<std::uint32_t>(State::ending));
  };
  if (const auto rank = rank_in(seen.said); rank && *rank < notes.ranks() && !has_ended(*rank)) return rank;
  for (const auto& rank : seen.gone)
    if (rank && !has_ended(*rank)) return rank;
  return std::nullopt;
}

std::string in_brackets(int signal) { return " (signal " + std::to_string(signal) + ")"; }

Diags one(Code code, std::string message, std::string help, std::string note = {}) {
  Diags diags;
  Diag& diag = diags.error(code, {}, std::move(message));
  if (!note.empty()) diag.note(std::move(note));
  if (!help.empty()) diag.help(std::move(help));
  return diags;
}

// The first line that is more than a rule.
std::string first_words(std::string_view said) {
  for (const std::string_view line : lines_of(said))
    if (line.find_first_not_of("- \t") != std::string_view::npos) return std::string(line);
  return {};
}

int judge(const Seen& seen, const CallNotes& notes, const std::function<void(const Diags&)>& tell) {
  if (seen.asked_to_end != 0) return 128 + seen.asked_to_end;
  const int status = WIFEXITED(seen.status) && !seen.is_given_up ? WEXITSTATUS(seen.status) : failed;
  if (notes.has_last_word()) return status == 0 ? failed : status;
  if (WIFSIGNALED(seen.status) && !seen.is_given_up) {
    tell(one("E6004", "mpirun died" + in_brackets(WTERMSIG(seen.status)) + text_of(notes.rank(0).call()), {}));
    return failed;
  }
  if (seen.gone.empty()) {
    const std::string said = first_words(seen.said);
    tell(one("E6002", "mpirun started no rank (status " + std::to_string(status) + ")",
             "what it says by hand tells more: mpirun -np 2 true",
             said.empty() ? std::string() : "mpirun says: " + said));
    return failed;
  }
  const auto rank = who_died(seen, notes, status);
  if (!rank) return status;
  const std::string how = seen.is_given_up ? " is gone, which mpirun did not notice"
                          : status > 128   ? " died" + in_brackets(status - 128)
                                           : " ended before the others";
  tell(one("E6004", "rank " + std::to_string(*rank) + how + text_of(notes.rank(*rank).call()), {}));
  return failed;
}

}  // namespace

int run_under_mpirun(std::size_t ranks, const std::vector<std::string>& arguments,
                     const std::function<void(const Diags&)>& tell) {
  const auto say = tell ? tell : [](const Diags& diags) { std::fputs(render(Sources(), diags).c_str(), stderr); };
  auto refuse = [&](std::string what, std::string help) {
    say(one("E6002", std::move(what), std::move(help)));
    return failed;
  };
  const std::string threads =
      "--shards " + std::to_string(std::max<std::size_t>(ranks, 4)) + " runs that many shards in one process";
  if (ranks == 0) return refuse("a run has at least one rank", threads);
  if (mpi_module().empty()) return refuse("this program was built without MPI", threads);
  const std::string mpirun = find_mpirun();
  if (mpirun.empty()) return refuse("there is no mpirun in PATH", "install Open MPI (openmpi-bin); " + threads);
  std::optional<CallNotes> notes = CallNotes::make(ranks);
  if (!notes) return refuse("no memory can be shared with ranks: " + std::string(std::strerror(errno)), threads);
  std::fflush(nullptr);
  RanksRun run(ranks, *notes);
  if (!run.start(words_for_mpirun(mpirun, ranks, arguments)))
    return refuse("mpirun cannot be started: " + std::string(std::strerror(errno)), threads);
  return judge(run.watch(), *notes, say);
}

}  // namespace taskspec
