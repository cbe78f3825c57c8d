#include "tests/hwsim/stream_nets.hpp"

#include <random>

namespace taskspec::tests {

BlockShape NetBuilder::plane(BlockId id) const {
  const BlockShape& shape = make_.graph[id].shape;
  return {.y = shape.y, .x = shape.x, .f = shape.f};
}

BlockId NetBuilder::filled(std::string name, std::string_view kind, Precision precision, BlockShape shape) {
  const BlockId id = make_.block(std::move(name), kind, precision, shape);
  Array data = Array::make(value_type(make_.graph[id]));
  std::mt19937 random(static_cast<std::uint32_t>(id.index()));
  if (precision == Precision::i8) {
    for (std::int8_t& value : data.data<std::int8_t>()) value = static_cast<std::int8_t>(random() % 256 - 128);
  } else {
    for (std::int64_t i = 0; i < data.elements(); ++i) data.set_integer(i, static_cast<int>(random() % 2000) - 1000);
  }
  make_.graph.blocks[id.index()].data = std::move(data);
  return id;
}

BlockId NetBuilder::input(std::int64_t y, std::int64_t x, std::int64_t f) {
  const BlockId from = make_.block(name("x"), "INPUT", Precision::i8, {.y = y, .x = x, .f = f});
  const BlockId held = make_.block(name("in"), "SI", Precision::i8, {.y = y, .x = x, .f = f});
  make_.edge(from, held);
  return held;
}

BlockId NetBuilder::bytes(BlockId sums, std::int64_t shift, bool relu) {
  const BlockId held = make_.block(name("sums"), "SI", Precision::i32, plane(sums));
  make_.edge(sums, held);
  const BlockId cut =
      make_.block(name("cut"), "CCMPB", Precision::i8, plane(sums), {{"cmp", relu ? 0 : -128}, {"shift", shift}});
  make_.edge(held, cut);
  const BlockId made = make_.block(name("s"), "SI", Precision::i8, plane(sums));
  make_.edge(cut, made);
  return made;
}

BlockId NetBuilder::conv(BlockId from, const Conv& c) {
  const BlockShape in = plane(from);
  const std::int64_t y = (in.y + 2 * c.pad - c.kernel) / c.stride + 1, x = (in.x + 2 * c.pad - c.kernel) / c.stride + 1;
  const std::string id = name("conv");
  const BlockId held = make_.block(id + "h", "SIC", Precision::i8, {.y = in.y, .x = in.x, .r = in.f});
  make_.edge(from, held);
  const BlockId weight = filled(id + "w", "SW", Precision::i8, {.f = c.f, .r = in.f, .ky = c.kernel, .kx = c.kernel});
  const BlockId made = make_.block(
      id, "CC", Precision::i32,
      {.y = y, .x = x, .f = c.f, .r = in.f, .ky = c.kernel, .kx = c.kernel, .iy = in.y, .ix = in.x},
      {{"pad_up", c.pad}, {"pad_down", c.pad}, {"pad_left", c.pad}, {"pad_right", c.pad}, {"stride_y", c.stride},
       {"stride_x", c.stride}});
  make_.edge(held, made, "input");
  make_.edge(weight, made, "weight");
  if (c.bias) make_.edge(filled(id + "b", "SB", Precision::i32, {.f = c.f}), made, "bias");
  if (!c.cuts) return made;
  std::int64_t shift = 7;  // sums of random products grow with the root of their number
  for (std::int64_t n = in.f * c.kernel * c.kernel; n > 4; n /= 4) ++shift;
  return bytes(made, shift / 2 * 2, c.relu);
}

BlockId NetBuilder::pool(BlockId from, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  const BlockShape in = plane(from);
  const std::int64_t y = (in.y + 2 * pad - kernel) / stride + 1, x = (in.x + 2 * pad - kernel) / stride + 1;
  const BlockId made = make_.block(
      name("pool"), "CCMPB", Precision::i8, {.y = y, .x = x, .f = in.f, .ky = kernel, .kx = kernel, .iy = in.y, .ix = in.x},
      {{"kernel_x", kernel}, {"kernel_y", kernel}, {"stride_y", stride}, {"stride_x", stride}, {"pad_up", pad},
       {"pad_down", pad}, {"pad_left", pad}, {"pad_right", pad}, {"cmp", -128}});
  make_.edge(from, made);
  const BlockId held = make_.block(name("s"), "SI", Precision::i8, plane(made));
  make_.edge(made, held);
  return held;
}

BlockId NetBuilder::sum(BlockId a, BlockId b, bool relu) {
  const BlockId made = make_.block(name("add"), "CADD", Precision::i32, plane(a));
  make_.edge(a, made, "input");
  make_.edge(b, made, "input2");
  return bytes(made, 0, relu);
}

BlockId NetBuilder::average(BlockId from) {
  const BlockShape in = plane(from);
  const BlockId made = make_.block(
      name("average"), "CAVG", Precision::i32,
      {.y = 1, .x = 1, .f = in.f, .ky = in.y, .kx = in.x, .iy = in.y, .ix = in.x},
      {{"kernel_x", in.x}, {"kernel_y", in.y}});
  make_.edge(from, made);
  return bytes(made, 4, true);
}

BlockId NetBuilder::products(BlockId from, std::int64_t f) {
  const BlockShape in = plane(from);
  const std::int64_t r = in.y * in.x * in.f;
  const std::string id = name("fc");
  const BlockId flat = make_.block(id + "h", "SIFC", Precision::i8, {.r = r});
  make_.edge(from, flat, "input", {{"reshape", {}}});
  const BlockId made = make_.block(id, "CVM", Precision::i32, {.f = f, .r = r});
  make_.edge(flat, made, "input");
  make_.edge(filled(id + "w", "SWFC", Precision::i8, {.f = f, .r = r}), made, "weight");
  return made;
}

void NetBuilder::output(BlockId from) {
  const TaskBlock& made = make_.graph[from];
  const BlockId output = make_.block(name("y"), "OUTPUT", made.precision, plane(from));
  make_.edge(from, output);
}

std::shared_ptr<const BlockGraph> resnet(const ResNetKind& kind) {
  NetBuilder net("resnet");
  BlockId at = net.conv(net.input(kind.side, kind.side, 3), {.f = kind.width, .kernel = 7, .stride = 2, .pad = 3});
  at = net.pool(at, 3, 2, 1);
  std::int64_t width = kind.width, features = kind.width;
  for (std::size_t stage = 0; stage < kind.blocks.size(); ++stage, width *= 2)
    for (int block = 0; block < kind.blocks[stage]; ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1, out = kind.bottleneck ? 4 * width : width;
      BlockId skip = at;
      if (stride > 1 || features != out) skip = net.conv(at, {.f = out, .stride = stride, .relu = false});
      BlockId main = at;
      if (kind.bottleneck) {
        main = net.conv(main, {.f = width});
        main = net.conv(main, {.f = width, .kernel = 3, .stride = stride, .pad = 1});
        main = net.conv(main, {.f = out, .relu = false});
      } else {
        main = net.conv(main, {.f = width, .kernel = 3, .stride = stride, .pad = 1});
        main = net.conv(main, {.f = width, .kernel = 3, .pad = 1, .relu = false});
      }
      at = net.sum(main, skip);
      features = out;
    }
  net.output(net.products(net.average(at), kind.classes));
  return std::move(net).graph();
}

}  // namespace taskspec::tests
