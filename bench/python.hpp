// A peer that is written in another language: a process that reads one line and answers with one line, so that it is
// measured in turns with ours.
//
//   Python torch(script);              // which first says what it is, or "none"
//   if (torch.there()) torch.ask("step\t10");
#pragma once
#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace taskspec::bench {

class PeerProcess {
 public:
  explicit PeerProcess(const std::vector<const char*>& words);  // of its command line
  PeerProcess(const PeerProcess&) = delete;
  ~PeerProcess();

  bool there() const { return !first_.empty() && first_ != "none"; }
  const std::string& first() const { return first_; }  // what it said of itself
  std::string ask(const std::string& line);            // empty when the process is gone

 private:
  std::string answer();

  pid_t process_ = -1;
  FILE *to_ = nullptr, *from_ = nullptr;
  std::string first_;
};

class Python : public PeerProcess {
 public:
  // The interpreter of the distribution has its packages.
  explicit Python(const char* script) : PeerProcess({"/usr/bin/python3", "-c", script}) {}
};

// Packages of npm are looked for from the folder on, in which the benchmark runs, and in NODE_PATH.
class Node : public PeerProcess {
 public:
  explicit Node(const char* script) : PeerProcess({"node", "-e", script}) {}
};

}  // namespace taskspec::bench
