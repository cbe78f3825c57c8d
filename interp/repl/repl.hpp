// The prompt: reads entries, hands them to a Workspace, prints its answers. Written on the public API alone.
//
//   > let x = fill(f32[3], 2.0)
//   > x * 2.0
//   [4, 4, 4]
//   + new task mul#0; new chain [mul]
#pragma once
#include <string>
#include <vector>

namespace taskspec::repl {

struct Settings {
  std::string version;
  std::string backend = "host";
  std::vector<std::string> arguments;
  std::vector<std::string> search_path;
};

int run(const Settings& settings);  // the exit code

inline constexpr int unheard = 3;  // that is: standard output can not be written any more, so the prompt left

}  // namespace taskspec::repl
