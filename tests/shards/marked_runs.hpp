// Programs of several processes, started as a person would and watched from outside: what they say, how they end, and
// who of them outlives the run. Each run has a mark in its environment, which all of its processes inherit.
//
//   const MarkedOutcome outcome = run_marked("exec mpirun -np 2 true", "", [](pid_t starter, const std::string& mark) {
//   ...
//   }); CHECK(outcome.left == 0);
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace marked {

namespace fs = std::filesystem;

inline std::string file_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string new_mark() {
  static std::atomic<int> count{0};
  return "TASKSPEC_TEST_RUN=" + std::to_string(::getpid()) + "-" + std::to_string(++count) + ".";
}

inline std::vector<pid_t> processes_of(const std::string& mark) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process > 0 && file_of(entry.path() / "environ").find(mark) != std::string::npos) found.push_back(process);
  }
  return found;
}

inline pid_t process_of(const std::string& mark, const char* name) {
  for (const pid_t process : processes_of(mark)) {
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/" + std::to_string(process) + "/exe", none);
    if (program.filename() == name) return process;
  }
  return 0;
}

struct MarkedOutcome {
  int status = -1;  // 128 + the signal that ended it
  std::string out, err;
  std::size_t left = 0;  // processes that outlived it
};

using Happens = std::function<void(pid_t starter, const std::string& mark)>;

// Long enough for a machine that does much else; who takes longer hangs.
inline constexpr auto hangs_after = std::chrono::seconds(60);

template <class Done>
bool comes_true(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + hangs_after;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

inline std::string text_in(int memory) {
  std::string text(static_cast<std::size_t>(::lseek(memory, 0, SEEK_END)), '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::pread(memory, text.data(), text.size(), 0))));
  ::close(memory);
  return text;
}

// A line for the shell, in which $0 is the program.
inline MarkedOutcome run_marked(const std::string& command, const std::string& program, const Happens& happens = {}) {
  const std::string mark = new_mark();
  const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
  // Those who are told of leaks by a sanitizer need not hear of MPI's.
  const char* const old = std::getenv("ASAN_OPTIONS");
  const std::string options = "ASAN_OPTIONS=" + std::string(old ? old : "") + ":detect_leaks=0";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::execl("/usr/bin/env", "env", mark.c_str(), options.c_str(), "/bin/sh", "-c", command.c_str(), program.c_str(),
            nullptr);
    ::_exit(127);
  }
  if (happens) happens(child, mark);
  int status = 0;
  if (!comes_true([&] { return ::waitpid(child, &status, WNOHANG) == child; })) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  MarkedOutcome outcome;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // The system takes a moment to take down those that were killed.
  comes_true([&] { return processes_of(mark).empty(); });
  for (const pid_t process : processes_of(mark)) {
    ++outcome.left;
    ::kill(process, SIGKILL);
  }
  outcome.out = text_in(out);
  outcome.err = text_in(err);
  return outcome;
}

}  // namespace marked
