// 20_stencil.task in C++: regions, and a task whose body is real C++ over their memory
#include <taskspec/taskspec.hpp>

using namespace taskspec;

const Fields Cell = fields("Cell", {{"state", f64}, {"flux", f64}});

int main() {
  // bodies over views are recorded: a loop over one stands for all its points
  Task add_one = task("add_one").inout("c", Cell, {"state"}).body([](View c) {
    for (Tensor i : c) c[i]["state"] += 1.0;
  });
  Task mul_two = task("mul_two").inout("c", Cell, {"flux"}).body([](View c) {
    for (Tensor i : c) c[i]["flux"] *= 2.0;
  });
  // or they are C++: each field of each view is a parameter, the memory of the region itself
  Task stencil = task("stencil")
                     .inout("own", Cell, {"flux"})
                     .in("ghost", Cell, {"state"})
                     .native([](FieldView<double> flux, FieldView<const double> state) {
                       flux.rows([&](std::array<std::int64_t, 1> first, std::span<double> row) {
                         const double* left = &state[first[0] - 1];
                         for (std::size_t i = 0; i < row.size(); ++i) row[i] += 0.5 * (left[i] + left[i + 2]);
                       });
                     });

  constexpr int tiles = 4;
  Region cells = region("cells", Cell, 64);
  Partition owned = blocks(cells, tiles);         // every cell in one piece
  Partition interior = owned & shrink(cells, 1);  // without the two at the ends
  Partition ghost = halo(owned, 1);               // pieces that overlap by one cell on each side
  print(owned);
  print(interior);
  print(ghost[1]);
  fill(cells["state"], 1.0);
  fill(cells["flux"], 1.0);
  for (int t = 0; t < 10; ++t) {
    launch(add_one, owned).over(0, tiles);
    launch(mul_two, interior).over(0, tiles);
    launch(stencil, interior, ghost).over(0, tiles);  // who waits for whom is found from the points they touch
  }
  print(cells["flux"].sum(0).scalar<double>());
}
