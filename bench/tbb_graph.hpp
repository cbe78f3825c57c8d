// The peer: oneTBB's flow graph with a continue_node per task, built once and run again and again.
#pragma once
#include <memory>

#include "bench/shapes.hpp"

namespace taskspec::bench {

class TbbGraph {
 public:
  // `runs`: by task, counts its executions; empty for tasks that do nothing at all.
  explicit TbbGraph(const Shape& shape, std::span<std::uint8_t> runs = {});
  ~TbbGraph();
  void run(int threads);

 private:
  struct Nodes;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace taskspec::bench
