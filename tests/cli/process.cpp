#include "tests/cli/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "tests/guard/paths.hpp"

namespace {

// The environment without what a terminal or another test may have set.
std::vector<std::string> environment() {
  std::vector<std::string> kept{"NO_COLOR=1", "LC_ALL=C.UTF-8"};
  for (char** entry = environ; *entry; ++entry) {
    const std::string text(*entry);
    if (!text.starts_with("TASKSPEC_") && !text.starts_with("LC_") && !text.starts_with("NO_COLOR="))
      kept.push_back(text);
  }
  return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Process::Process(const ProcessOptions& options) {
  const std::filesystem::path tool = taskspec_binary();
  std::vector<std::string> arguments{(options.program.empty() ? tool : tool.parent_path() / options.program).string()};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> variables = environment();

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, options.input.c_str(), O_RDONLY, 0);
  const std::string output = options.output.empty() ? aside_ / "out" : options.output;
  if (options.output_descriptor >= 0)
    posix_spawn_file_actions_adddup2(&actions, options.output_descriptor, STDOUT_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (aside_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());

  // A test runner may ignore SIGINT or SIGPIPE; the program starts as from a shell.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t standard;
  sigemptyset(&standard);
  posix_spawnattr_setsigmask(&attributes, &standard);
  sigaddset(&standard, SIGINT);
  sigaddset(&standard, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &standard);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  const int problem = posix_spawn(&id_, arguments[0].c_str(), &actions, &attributes, pointers(arguments).data(),
                                  pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) throw std::runtime_error("cannot start " + arguments[0]);
}

Process::~Process() {
  if (ended()) return;
  signal(SIGKILL);
  waitpid(id_, nullptr, 0);
}

bool Process::ended() {
  if (code_ >= 0) return true;
  int status = 0;
  if (waitpid(id_, &status, WNOHANG) != id_) return false;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

int Process::wait(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!ended()) {
    if (std::chrono::steady_clock::now() > end) {
      signal(SIGKILL);
      waitpid(id_, nullptr, 0);
      return code_ = 124;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return code_;
}

void Process::signal(int number) const {
  if (code_ < 0) kill(id_, number);
}

std::string Process::out() const { return read_file(aside_ / "out"); }

std::string Process::err() const { return read_file(aside_ / "err"); }
