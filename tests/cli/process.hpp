// A program run without a shell in between: files stand for its three streams, and it can be watched and
// signalled while it runs.
//
//   Process tool({.arguments = {"run", "x.task"}, .folder = folder.path()});
//   CHECK(tool.wait() == 0);      tool.out(), tool.err()
#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.hpp"

struct ProcessOptions {
  std::vector<std::string> arguments;  // of the tool that was built with these tests
  std::filesystem::path folder;        // where it works; empty: where we are
  std::string input = "/dev/null";     // file that becomes its standard input
  std::string output = "";             // file for its standard output; empty: kept, see out()
  int output_descriptor = -1;          // instead of `output`, e.g. one end of a pipe
  std::string program = "";            // beside the tool, instead of it
};

class Process {
 public:
  explicit Process(const ProcessOptions& options);
  Process(const Process&) = delete;
  ~Process();  // a process that still runs is killed

  // The exit code, 128 + signal as in a shell, 124 if it did not end in time (then it is killed).
  int wait(std::chrono::milliseconds limit = std::chrono::seconds(60));
  void signal(int number) const;
  std::string out() const;  // so far
  std::string err() const;

 private:
  bool ended();
  TemporaryFolder aside_;  // outside of the working folder, so that the program sees no file of ours
  pid_t id_ = -1;
  int code_ = -1;
};
