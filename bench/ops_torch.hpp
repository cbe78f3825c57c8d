// PyTorch as a peer: a Python process that measures an expression on one thread, whenever it is asked.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "bench/python.hpp"
#include "ir/types/array.hpp"

namespace taskspec::bench {

class Torch {
 public:
  Torch();  // starts the process; without PyTorch it is not there

  bool there() const { return python_.there(); }
  const std::string& version() const { return python_.first(); }
  // Makes x0, x1, ... of these types, with random contents.
  void set_inputs(std::span<const ArrayType> types);
  // Seconds for one evaluation, the mean of `count`; nothing when it failed.
  std::optional<double> seconds(const std::string& expression, int count);

 private:
  Python python_;
};

}  // namespace taskspec::bench
