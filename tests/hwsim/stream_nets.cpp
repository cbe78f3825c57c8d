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
  const BlockId made =
      make_.block(id, "CC", Precision::i32,
                  {.y = y, .x = x, .f = c.f, .r = in.f, .ky = c.kernel, .kx = c.kernel, .iy = in.y, .ix = in.x},
                  {{"pad_up", c.pad},
                   {"pad_down", c.pad},
                   {"pad_left", c.pad},
                   {"pad_right", c.pad},
                   {"stride_y", c.stride},
                   {"stride_x", c.stride}});
  make_.edge(held, made, "input");
  make_.edge(weight, made, "weight");
  if (c.bias) make_.edge(filled(id + "b", "SB", Precision::i32, {.f = c.f}), made, "bias");
  if (!c.cuts) return made;
  std::int64_t shift = 7;  // sums of random products grow with the root of their number
  for (std::int64_t n = in.f * c.kernel * c.kernel; n > 4; n /= 4) ++shift;
  return bytes(made, shift / 2 * 2, c.relu);
}

BlockId NetBuilder::depthwise(BlockId from, std::int64_t stride) {
  const BlockShape in = plane(from);
  const std::int64_t y = (in.y - 1) / stride + 1, x = (in.x - 1) / stride + 1;
  const BlockId all = make_.block(name("s"), "SI", Precision::i8, {.y = y, .x = x, .f = in.f});
  for (std::int64_t begin = 0; begin < in.f; begin += 32) {
    const std::int64_t f = std::min<std::int64_t>(32, in.f - begin);
    const std::string id = name("dw");
    const BlockId held = make_.block(id + "h", "SIC", Precision::i8, {.y = in.y, .x = in.x, .r = f});
    make_.edge(from, held).from.box = {{0, 0, begin}, {in.y, in.x, f}};
    const BlockId weight = filled(id + "w", "SW", Precision::i8, {.f = f, .r = f, .ky = 3, .kx = 3});
    Array& data = *make_.graph.blocks[weight.index()].data;
    for (std::int64_t i = 0; i < data.elements(); ++i)
      if (i / (f * 9) != i / 9 % f) data.set_integer(i, 0);
    const BlockId made = make_.block(id, "CC", Precision::i32,
                                     {.y = y, .x = x, .f = f, .r = f, .ky = 3, .kx = 3, .iy = in.y, .ix = in.x},
                                     {{"pad_up", 1},
                                      {"pad_down", 1},
                                      {"pad_left", 1},
                                      {"pad_right", 1},
                                      {"stride_y", stride},
                                      {"stride_x", stride}});
    make_.edge(held, made, "input");
    make_.edge(weight, made, "weight");
    make_.edge(bytes(made, 8, true), all).to.box = {{0, 0, begin}, {y, x, f}};
  }
  return all;
}

BlockId NetBuilder::by_tokens(BlockId from, BlockId others, bool transposed) {
  const BlockShape in = plane(from), other = plane(others);
  const std::int64_t f = transposed ? other.f : other.y, r = transposed ? other.y : other.f;
  const std::string id = name("mix");
  const BlockId held = make_.block(id + "h", "SIC", Precision::i8, {.y = in.y, .x = 1, .r = r});
  make_.edge(from, held);
  const BlockId weight = make_.block(id + "w", "SW", Precision::i8, {.f = f, .r = r, .ky = 1, .kx = 1});
  if (transposed)
    make_.edge(others, weight, "input", {{"permute", {2, 0, 1}}, {"reshape", {}}});
  else
    make_.edge(others, weight, "input", {{"reshape", {}}});
  const BlockId made =
      make_.block(id, "CC", Precision::i32, {.y = in.y, .x = 1, .f = f, .r = r, .ky = 1, .kx = 1, .iy = in.y, .ix = 1});
  make_.edge(held, made, "input");
  make_.edge(weight, made, "weight");
  return bytes(made, 8, false);
}

BlockId NetBuilder::table(BlockId from) {
  const std::string id = name("table");
  const BlockId entries = make_.block(id + "e", "SB", Precision::i8, {.f = 256});
  Array data = Array::make({Precision::i8, {256}});
  for (std::int64_t i = 0; i < 256; ++i) {
    const std::int64_t score = i < 128 ? i : i - 256;  // 127 * 2^((score - 127) / 16), in whole numbers
    data.set_integer(i, 127 >> std::min<std::int64_t>(7, (127 - score) / 16));
  }
  make_.graph.blocks[entries.index()].data = std::move(data);
  const BlockId made = make_.block(id, "CLUT", Precision::i8, plane(from), {{"lut_dw", 8}});
  make_.edge(from, made, "input");
  make_.edge(entries, made, "table");
  const BlockId held = make_.block(name("s"), "SI", Precision::i8, plane(from));
  make_.edge(made, held);
  return held;
}

BlockId NetBuilder::pool(BlockId from, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  const BlockShape in = plane(from);
  const std::int64_t y = (in.y + 2 * pad - kernel) / stride + 1, x = (in.x + 2 * pad - kernel) / stride + 1;
  const BlockId made = make_.block(name("pool"), "CCMPB", Precision::i8,
                                   {.y = y, .x = x, .f = in.f, .ky = kernel, .kx = kernel, .iy = in.y, .ix = in.x},
                                   {{"kernel_x", kernel},
                                    {"kernel_y", kernel},
                                    {"stride_y", stride},
                                    {"stride_x", stride},
                                    {"pad_up", pad},
                                    {"pad_down", pad},
                                    {"pad_left", pad},
                                    {"pad_right", pad},
                                    {"cmp", -128}});
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
  const BlockId made = make_.block(name("average"), "CAVG", Precision::i32,
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

BlockId NetBuilder::neurons(BlockId sums) {
  const BlockId held = make_.block(name("sums"), "SI", Precision::i32, plane(sums));
  make_.edge(sums, held);
  const BlockId state = make_.block(name("v"), "SI", Precision::i28, plane(sums));
  const BlockId made = make_.block(name("lif"), "CLIF", Precision::i8, plane(sums),
                                   {{"vth0", 20000}, {"reset_mode", 1}, {"vm_const_en", 1}, {"vtheta_const_en", 1}});
  make_.edge(held, made, "input");
  make_.edge(state, made, "state");
  const BlockId spikes = make_.block(name("s"), "SI", Precision::i8, plane(sums));
  make_.edge(made, spikes);
  return spikes;
}

BlockId NetBuilder::held(BlockId like) { return make_.block(name("late"), "SI", Precision::i8, plane(like)); }

void NetBuilder::delay(BlockId from, BlockId to, std::int32_t steps, bool has_initial) {
  BlockEdge& edge = make_.edge(from, to);
  edge.delay = steps;
  if (!has_initial) return;
  edge.initial = Array::make(value_type(make_.graph[from]));
  for (std::int64_t i = 0; i < edge.initial->elements(); ++i) edge.initial->set_integer(i, i % 200 - 100);
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

std::shared_ptr<const BlockGraph> mobilenet(std::int64_t side) {
  struct Stage {
    std::int64_t grows, features, blocks, stride;
  };
  NetBuilder net("mobilenet");
  BlockId at = net.conv(net.input(side, side, 3), {.f = 32, .kernel = 3, .stride = 2, .pad = 1});
  std::int64_t features = 32;
  for (const Stage& stage : {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                             Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}})
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      const std::int64_t stride = block == 0 ? stage.stride : 1;
      BlockId main = stage.grows > 1 ? net.conv(at, {.f = stage.grows * features}) : at;
      main = net.conv(net.depthwise(main, stride), {.f = stage.features, .relu = false});
      at = stride == 1 && features == stage.features ? net.sum(main, at, false) : main;
      features = stage.features;
    }
  net.output(net.products(net.average(net.conv(at, {.f = 1280})), 1000));
  return std::move(net).graph();
}

std::shared_ptr<const BlockGraph> attention(std::int64_t tokens, std::int64_t width) {
  NetBuilder net("attention");
  const BlockId x = net.input(tokens, 1, width);
  const BlockId queries = net.conv(x, {.f = width, .relu = false}), keys = net.conv(x, {.f = width, .relu = false}),
                values = net.conv(x, {.f = width, .relu = false});
  const BlockId scores = net.table(net.by_tokens(queries, keys, false));
  const BlockId context = net.by_tokens(scores, values, true);
  const BlockId mixed = net.sum(net.conv(context, {.f = width, .relu = false}), x, false);
  const BlockId wide = net.conv(net.conv(mixed, {.f = 4 * width}), {.f = width, .relu = false});
  net.output(net.sum(wide, mixed, false));
  return std::move(net).graph();
}

}  // namespace taskspec::tests
