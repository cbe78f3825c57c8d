// Programs as a whole, and the files that they need, for benchmarks of what a person waits for.
//
//   Folder folder;
//   Sample s = process({"python3", folder.file("hello.py", "print(1)")});
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace taskspec::bench {

// A folder that goes when the benchmark ends.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // The path of a file in it, written when there is a text.
  std::string file(const std::string& name, const std::string& text = "") const;

 private:
  std::filesystem::path path_;
};

// Runs a program to its end, its output thrown away or in the file `output`: wall time, and CPU time of it and of all
// that it started. The status, where asked for, is 0 when all went well.
Sample process(std::vector<std::string> words, int* status = nullptr, const std::string& output = "/dev/null");

}  // namespace taskspec::bench
