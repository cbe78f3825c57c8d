// Runs a script of this folder that wants packages of Python, with the tool as its first argument. It ends with 77
// where they are not there.
//
//   if (std::optional<Said> said = run_numpy_script("ops.py")) CHECK_MESSAGE(said->code == 0, said->text);
#pragma once
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "tests/guard/paths.hpp"

struct Said {
  int code = -1;
  std::string text;
};

// Nothing, and a line that says so, where the packages are not there.
inline std::optional<Said> run_script(const std::string& name, const std::string& packages) {
  constexpr int not_there = 77, no_python = 127;
  const std::string script = (source_root() / "tests/peers" / name).string();
  Said said;
  // The interpreter of the distribution has its packages, another one that comes first may not.
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string command =
        std::string("timeout 300 ") + python + " '" + script + "' '" + taskspec_binary().string() + "' 2>&1";
    said = {};
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    std::array<char, 4096> buffer{};
    while (std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) said.text.append(buffer.data(), count);
    const int status = pclose(pipe);
    said.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (said.code == 0 || said.code == 1) break;
  }
  if (said.code != not_there && said.code != no_python) return said;
  MESSAGE("skipped: there is no " << packages);
  return std::nullopt;
}

inline std::optional<Said> run_numpy_script(const std::string& name) {
  return run_script(name, "numpy (Debian: python3-numpy)");
}
