#include "tests/guard/tool.hpp"

#include <sys/wait.h>

#include <cstdlib>

#include "tests/guard/paths.hpp"

ToolOutcome in_shell(const std::string& command, const TemporaryFolder& folder, int seconds) {
  // The script stands beside the working folder, so that no program under test sees it or its output files.
  TemporaryFolder aside;
  aside.put("script", "export PATH=\"" + taskspec_binary().parent_path().string() + ":$PATH\" NO_COLOR=1\ncd '" +
                          folder.path().string() + "' || exit 125\n" + command + "\n");
  const std::string line = "timeout -k 5 " + std::to_string(seconds) + " bash '" + aside / "script" + "' >'" +
                           aside / "out" + "' 2>'" + aside / "err" + "' </dev/null";
  const int status = std::system(line.c_str());
  ToolOutcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_file(aside / "out");
  outcome.err = read_file(aside / "err");
  return outcome;
}
