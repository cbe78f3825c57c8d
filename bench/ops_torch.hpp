// PyTorch as a peer: a Python process that measures an expression on one thread, whenever it is asked.
#pragma once
#include <sys/types.h>

#include <cstdio>
#include <optional>
#include <span>
#include <string>

#include "ir/types/array.hpp"

namespace taskspec::bench {

class Torch {
 public:
  Torch();  // starts the process; without PyTorch it is not there
  Torch(const Torch&) = delete;
  ~Torch();

  bool there() const { return there_; }
  const std::string& version() const { return version_; }
  // Makes x0, x1, ... of these types, with random contents.
  void set_inputs(std::span<const ArrayType> types);
  // Seconds for one evaluation, the mean of `count`; nothing when it failed.
  std::optional<double> seconds(const std::string& expression, int count);

 private:
  std::string ask(const std::string& line);

  pid_t process_ = -1;
  FILE *to_ = nullptr, *from_ = nullptr;
  bool there_ = false;
  std::string version_;
};

}  // namespace taskspec::bench
