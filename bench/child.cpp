#include "bench/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/files/files.hpp"

extern char** environ;

namespace taskspec::bench {

namespace fs = std::filesystem;

Folder::Folder() : path_(fs::temp_directory_path() / fmt::format("taskspec-bench-{}", getpid())) {
  fs::create_directories(path_);
}

Folder::~Folder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string Folder::file(const std::string& name, const std::string& text) const {
  const std::string path = (path_ / name).string();
  if (!text.empty()) write_text(path, text);
  return path;
}

Sample process(std::vector<std::string> words, int* status, const std::string& output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const double begin = wall_clock();
  pid_t id = 0;
  rusage used{};
  int ended = -1;
  if (posix_spawnp(&id, arguments[0], &actions, nullptr, arguments.data(), environ) == 0) wait4(id, &ended, 0, &used);
  posix_spawn_file_actions_destroy(&actions);
  if (status) *status = ended;
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return {wall_clock() - begin, seconds(used.ru_utime) + seconds(used.ru_stime)};
}

}  // namespace taskspec::bench
