// examples/04_photo.task
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

using namespace taskspec;

std::string find_edges_json() {
  Task grey = task("grey").in("photo", u8("H", "W", "C")).out("g", f32("H", "W")).body([](Tensor photo) {
    return photo.as(f32("H", "W", "C")).mean(2).drop(2);
  });
  Fn window =
      fn("window").in("g", f32("H", "W")).in("k", f32(3, 3)).returns(f32("H", "W")).body([](Tensor g, Tensor k) {
        return conv2d(g.reshape(1, 1, dim("H"), dim("W")), k.reshape(1, 1, 3, 3), arg("pad", 1))
            .reshape(dim("H"), dim("W"));
      });
  Task blur = task("blur").in("g", f32("H", "W")).out("soft", f32("H", "W")).body([&](Tensor g) {
    return window(g, as({{1.0, 2.0, 1.0}, {2.0, 4.0, 2.0}, {1.0, 2.0, 1.0}}, f32(3, 3)) / 16.0);
  });
  Task across = task("across").in("g", f32("H", "W")).out("gx", f32("H", "W")).body([&](Tensor g) {
    return window(g, as({{-1.0, 0.0, 1.0}, {-2.0, 0.0, 2.0}, {-1.0, 0.0, 1.0}}, f32(3, 3)));
  });
  Task down = task("down").in("g", f32("H", "W")).out("gy", f32("H", "W")).body([&](Tensor g) {
    return window(g, as({{-1.0, -2.0, -1.0}, {0.0, 0.0, 0.0}, {1.0, 2.0, 1.0}}, f32(3, 3)));
  });
  Task strength = task("strength")
                      .in("gx", f32("H", "W"))
                      .in("gy", f32("H", "W"))
                      .out("m", f32("H", "W"))
                      .body([](Tensor gx, Tensor gy) { return (gx * gx + gy * gy).sqrt(); });
  Task threshold =
      task("threshold")
          .in("m", f32("H", "W"))
          .in("level", real)
          .out("edges", u8("H", "W"))
          .body([](Tensor m, Tensor level) { return ((m > level).as(f32("H", "W")) * 255.0).as(u8("H", "W")); });
  Task histogram = task("histogram").in("g", f32("H", "W")).out("counts", i32[8]).body([](Tensor g) {
    Tensor bin = (g / 32.0).floor().reshape(1, dim("H") * dim("W")).as(i64(1, "H * W"));
    return (bin == iota(8).reshape(8, 1)).as(i32(8, "H * W")).sum(1).drop(1);
  });
  Graph find_edges = graph("find_edges")
                         .in("photo", u8("H", "W", "C"))
                         .in("level", real)
                         .out("edges", u8("H", "W"))
                         .out("counts", i32[8])
                         .body([&](Tensor photo, Tensor level) {
                           Tensor g = grey(photo)["g"];
                           Tensor soft = blur(g)["soft"];
                           Tensor m = strength(across(soft)["gx"], down(soft)["gy"]);
                           return results("edges", threshold(m["m"], level)["edges"], "counts", histogram(g)["counts"]);
                         });
  return to_json(find_edges);
}
