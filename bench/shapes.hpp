// The graphs that schedulers are measured on, as lists of predecessors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace taskspec::bench {

struct Shape {
  std::string name;
  std::vector<std::uint32_t> starts{0}, predecessors;  // of task t: predecessors[starts[t]..starts[t + 1])
  std::size_t size() const { return starts.size() - 1; }
  std::span<const std::uint32_t> before(std::size_t task) const {
    return std::span(predecessors).subspan(starts[task], starts[task + 1] - starts[task]);
  }
};

Shape chain_shape(std::size_t tasks);  // 0 -> 1 -> 2 ...
Shape fan_shape(std::size_t tasks);    // 0 -> all others but the last -> the last
Shape dag_shape(std::size_t tasks);    // 1 to 3 of the 1024 before, the same for everybody

}  // namespace taskspec::bench
