#include <utility>

#include "bench/turns.hpp"
#include "include/taskspec/taskspec.hpp"

namespace taskspec::bench {

void host_values(Table& table) {
  Task inc = task("inc").in("a", f32["N"]).out("y", f32["N"]).body([](Tensor a) { return a + 1.0; });
  std::vector<Tensor> held{tensor({1, 2, 3, 4}, f32)};
  Turns values, dropped, contents;
  for (std::size_t i = 0; i < many; ++i) {
    values.add(measure([&] { held.push_back(inc(held.back())); }).wall);
    dropped.add(measure([&] { (void)inc(held[i / 2]); }).wall);
    if (i % 8 == 0) contents.add(measure([&] { (void)held.back().array<float>(); }).wall);
  }
  add_row(table, "C++: value that is held", values);
  add_row(table, "C++: value that goes again", dropped);
  add_row(table, "C++: contents of a tensor", contents);
}

}  // namespace taskspec::bench
