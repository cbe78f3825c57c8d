#include "tests/fuzz/apart.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ir/base/diag.hpp"

namespace taskspec::fuzz {

Fate fate_of(const Error& error) {
  const Code code = error.diags().items().front().code;
  return code == Code("E7003") || code == Code("E5008") ? Fate::refused : Fate::contradicted;
}

bool read_apart(FunctionRef<Fate()> read, Crash crash, const char* contradiction) {
  const pid_t child = fork();
  if (child < 0) throw Odd("no process could be started");
  if (child == 0) {
    for (int fault : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(fault, SIG_DFL);
    const rlimit second{1, 2};
    setrlimit(RLIMIT_CPU, &second);
    alarm(30);  // what waits for ever ends by a signal that no crash has
    try {
      _exit(static_cast<int>(read()));
    } catch (...) {
      _exit(static_cast<int>(Fate::contradicted));
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGALRM) throw Odd("it waits for ever");
    if (crash == Crash::is_odd) throw Odd("it crashed");
    return false;
  }
  const auto fate = static_cast<Fate>(WEXITSTATUS(status));
  if (fate == Fate::contradicted) throw Odd(contradiction);
  if (fate != Fate::accepted && fate != Fate::refused) throw Odd("it ended in the middle");
  return fate == Fate::accepted;
}

}  // namespace taskspec::fuzz
