// onnxruntime as a peer of the exact engine: LeNet of bytes, on one thread, in a Node process.
#pragma once
#include "bench/bench.hpp"
#include "bench/python.hpp"

namespace taskspec::bench {

class OnnxruntimeLenet {
 public:
  OnnxruntimeLenet();
  bool there() const { return node_.there(); }
  const std::string& version() const { return node_.first(); }
  // One pass, as the mean of many.
  Sample pass(int turns);

 private:
  Node node_;
};

}  // namespace taskspec::bench
