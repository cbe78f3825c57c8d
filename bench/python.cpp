#include "bench/python.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace taskspec::bench {

PeerProcess::PeerProcess(const std::vector<const char*>& words) {
  int request[2], reply[2];
  if (pipe2(request, O_CLOEXEC) != 0) return;
  if (pipe2(reply, O_CLOEXEC) != 0) {
    close(request[0]), close(request[1]);
    return;
  }
  process_ = fork();
  if (process_ == 0) {
    dup2(request[0], 0), dup2(reply[1], 1);
    std::vector<char*> arguments;
    for (const char* word : words) arguments.push_back(const_cast<char*>(word));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(request[0]), close(reply[1]);
  to_ = fdopen(request[1], "w"), from_ = fdopen(reply[0], "r");
  if (process_ > 0) first_ = answer();
}

PeerProcess::~PeerProcess() {
  if (to_) fclose(to_);
  if (from_) fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string PeerProcess::ask(const std::string& line) {
  auto* before = signal(SIGPIPE, SIG_IGN);  // when the process is gone, writing must not end ours
  std::fputs((line + "\n").c_str(), to_);
  std::fflush(to_);
  signal(SIGPIPE, before);
  return answer();
}

std::string PeerProcess::answer() {
  std::string line;
  for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_)) line += static_cast<char>(c);
  return line;
}

}  // namespace taskspec::bench
