#include "bench/shapes.hpp"

#include <algorithm>
#include <random>

namespace taskspec::bench {

namespace {

void end_task(Shape& shape) { shape.starts.push_back(static_cast<std::uint32_t>(shape.predecessors.size())); }

}  // namespace

Shape chain_shape(std::size_t tasks) {
  Shape shape;
  shape.name = "chain";
  for (std::uint32_t t = 0; t < tasks; ++t) {
    if (t > 0) shape.predecessors.push_back(t - 1);
    end_task(shape);
  }
  return shape;
}

Shape fan_shape(std::size_t tasks) {
  Shape shape;
  shape.name = "fan";
  for (std::uint32_t t = 0; t < tasks; ++t) {
    bool last = t > 0 && t + 1 == tasks;
    if (last)
      for (std::uint32_t p = 1; p < t; ++p) shape.predecessors.push_back(p);
    else if (t > 0)
      shape.predecessors.push_back(0);
    end_task(shape);
  }
  return shape;
}

Shape dag_shape(std::size_t tasks) {
  constexpr std::size_t window = 1024;
  std::mt19937_64 random(2024);
  Shape shape;
  shape.name = "random DAG";
  for (std::size_t t = 0; t < tasks; ++t) {
    std::size_t count = t == 0 ? 0 : 1 + random() % 3, reach = std::min(t, window);
    std::size_t begin = shape.predecessors.size();
    for (std::size_t k = 0; k < count; ++k)
      shape.predecessors.push_back(static_cast<std::uint32_t>(t - 1 - random() % reach));
    auto own = shape.predecessors.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(own, shape.predecessors.end());
    shape.predecessors.erase(std::unique(own, shape.predecessors.end()), shape.predecessors.end());
    end_task(shape);
  }
  return shape;
}

}  // namespace taskspec::bench
