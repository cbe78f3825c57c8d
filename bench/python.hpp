// A peer that is written in Python: a process that reads one line and answers with one line, so that it is measured in
// turns with ours.
//
//   Python torch(script);              // which first says what it is, or "none"
//   if (torch.there()) torch.ask("step\t10");
#pragma once
#include <sys/types.h>

#include <cstdio>
#include <string>

namespace taskspec::bench {

class Python {
 public:
  explicit Python(const char* script);
  Python(const Python&) = delete;
  ~Python();

  bool there() const { return !first_.empty() && first_ != "none"; }
  const std::string& first() const { return first_; }  // what it said of itself
  std::string ask(const std::string& line);            // empty when the process is gone

 private:
  std::string answer();

  pid_t process_ = -1;
  FILE *to_ = nullptr, *from_ = nullptr;
  std::string first_;
};

}  // namespace taskspec::bench
