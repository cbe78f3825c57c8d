// Steps of training in PyTorch: a Python process that has one network.
#pragma once
#include <optional>
#include <string>

#include "bench/bench.hpp"
#include "bench/python.hpp"

namespace taskspec::bench {

class TorchTraining {
 public:
  // Makes the network of this name ready, with the layout of its images that takes less time.
  TorchTraining(const std::string& net, int threads);

  bool there() const { return python_.there(); }
  const std::string& about() const { return python_.first(); }  // version, and whose BLAS it uses
  std::optional<Sample> steps(int count);                       // of `count` steps; nothing when that failed
  double peak_bytes();                                          // of the process, above what it has without a network

 private:
  Python python_;
};

}  // namespace taskspec::bench
