#include "tests/hwsim/chip_nets.hpp"

#include <doctest/doctest.h>

#include "tests/unit/random_cases.hpp"

namespace taskspec::tests {

namespace {

class ChipNetMaker {
 public:
  ChipNetMaker(std::mt19937_64& random, const ChipNetKinds& kinds) : random_(random), kinds_(kinds), make_("net") {}

  BlockGraph make() {
    const BlockShape extents{.y = any(1, kinds_.planes), .x = any(1, kinds_.planes), .f = any(1, kinds_.features)};
    for (std::int64_t inputs = any(1, 2); inputs > 0; --inputs) {
      const BlockId input = block("INPUT", Precision::i8, extents);
      storage(input);
    }
    for (std::int64_t stages = any(1, kinds_.stages); stages > 0; --stages) stage();
    for (std::int64_t outputs = any(1, 3); outputs > 0; --outputs) {
      const BlockId from = outputs == 1 ? values_.back() : value();
      const BlockId output = block("OUTPUT", of(from).precision, plane(from));
      BlockEdge& edge = make_.edge(from, output);
      if (kinds_.delays && any(0, 9) == 0) delay(edge, from);
    }
    return std::move(make_.graph);
  }

 private:
  std::int64_t any(std::int64_t low, std::int64_t high) { return between(random_, low, high); }
  const TaskBlock& of(BlockId id) const { return make_.graph[id]; }
  BlockShape plane(BlockId id) const { return {.y = of(id).shape.y, .x = of(id).shape.x, .f = of(id).shape.f}; }
  BlockId block(std::string_view kind, Precision precision, BlockShape shape,
                std::vector<std::pair<std::string_view, std::int64_t>> attributes = {}) {
    return make_.block("b" + std::to_string(make_.graph.blocks.size()), kind, precision, shape, std::move(attributes));
  }
  BlockId filled(std::string_view kind, Precision precision, BlockShape shape) {
    const BlockId id = block(kind, precision, shape);
    make_.graph.blocks[id.index()].data = make_.data(id, any(0, 1000));
    return id;
  }
  BlockId value() { return values_[random_() % values_.size()]; }
  BlockId storage(BlockId made) {
    const BlockId id = block("SI", of(made).precision, plane(made));
    make_.edge(made, id);
    values_.push_back(id);
    return id;
  }
  void delay(BlockEdge& edge, BlockId from) {
    edge.delay = static_cast<std::int32_t>(any(1, 3));
    const ArrayType type = value_type(of(from));
    if (any(0, 1) == 0) return;
    edge.initial = Array::make(type);
    for (std::int64_t i = 0; i < type.elements(); ++i) edge.initial->set_integer(i, any(-100, 100));
  }
  BlockId bytes(BlockId from) {
    if (of(from).precision == Precision::i8) return from;
    const BlockId cut = block("CCMPB", Precision::i8, plane(from), {{"cmp", -128}, {"shift", 2 * any(0, 6)}});
    make_.edge(from, cut);
    return storage(cut);
  }

  void stage() {
    switch (any(0, 9)) {
      case 0:
        return pool();
      case 1:
      case 2:
        return convolution();
      case 3:
        return sum();
      case 4:
        return table();
      case 5:
        return join();
      case 6:
        return kinds_.neurons ? neurons() : sum();
      case 7:
        return kinds_.delays ? delayed() : pool();
      case 8:
        return kinds_.delays ? loop() : table();
      default:
        return products();
    }
  }

  void pool() {
    const BlockId from = value();
    const BlockShape in = plane(from);
    if (in.y == 0) return;
    const std::int64_t ky = any(1, in.y), kx = any(1, in.x), sy = any(1, 3), sx = any(1, 3);
    const BlockShape extents{
        .y = (in.y - ky) / sy + 1, .x = (in.x - kx) / sx + 1, .f = in.f, .ky = ky, .kx = kx, .iy = in.y, .ix = in.x};
    const BlockId pool = block("CCMPB", Precision::i8, extents,
                               {{"kernel_x", kx}, {"kernel_y", ky}, {"stride_y", sy}, {"stride_x", sx}});
    make_.edge(from, pool);
    storage(pool);
  }

  void convolution() {
    const BlockId from = bytes(value());
    const BlockShape in = plane(from);
    if (in.y == 0) return;
    const std::int64_t k = any(1, 3), pad = k / 2, f = any(1, 2 * kinds_.features);
    const BlockShape extents{.y = in.y + 2 * pad - k + 1,
                             .x = in.x + 2 * pad - k + 1,
                             .f = f,
                             .r = in.f,
                             .ky = k,
                             .kx = k,
                             .iy = in.y,
                             .ix = in.x};
    if (extents.y < 1 || extents.x < 1) return;
    const bool in_planes = any(0, 2) == 0;  // channel by channel
    const BlockId held = block(in_planes ? "SIC2D" : "SIC", Precision::i8, {.y = in.y, .x = in.x, .r = in.f});
    make_.edge(from, held);
    const BlockId weight = filled(in_planes ? "SW2D" : "SW", Precision::i8, {.f = f, .r = in.f, .ky = k, .kx = k});
    const BlockId conv = block(in_planes ? "CC2D" : "CC", Precision::i32, extents,
                               {{"pad_up", pad}, {"pad_down", pad}, {"pad_left", pad}, {"pad_right", pad}});
    make_.edge(held, conv, "input");
    make_.edge(weight, conv, "weight");
    if (any(0, 1) == 0) make_.edge(filled("SB", Precision::i32, {.f = f}), conv, "bias");
    finish(conv);
  }

  // Sums become bytes at once, or later.
  void finish(BlockId made) {
    const BlockId stored = storage(made);
    if (any(0, 3) != 0) bytes(stored);
  }

  void sum() {
    const BlockId from = value();
    const BlockShape in = plane(from);
    const BlockId total = block("CADD", Precision::i32, in);
    make_.edge(from, total, "input");
    int branches = 1;
    for (const BlockId other : std::vector<BlockId>(values_)) {
      const BlockShape shape = plane(other);
      if (branches == 4 || of(other).precision != of(from).precision || shape != in || any(0, 1) == 0) continue;
      make_.edge(other, total, "input" + std::to_string(++branches));
    }
    finish(total);
  }

  void table() {
    const BlockId from = bytes(value());
    const BlockId entries = filled("SB", Precision::i8, {.f = 256});
    const BlockId look_up = block("CLUT", Precision::i8, plane(from), {{"lut_dw", 8}});
    make_.edge(from, look_up, "input");
    make_.edge(entries, look_up, "table");
    storage(look_up);
  }

  void join() {
    const BlockId a = value();
    for (const BlockId b : std::vector<BlockId>(values_)) {
      const BlockShape one = plane(a), other = plane(b);
      if (one.y == 0 || one.y != other.y || one.x != other.x || of(a).precision != of(b).precision) continue;
      if (one.f + other.f > 4 * kinds_.features) return;
      const BlockId both = block("SI", of(a).precision, {.y = one.y, .x = one.x, .f = one.f + other.f});
      make_.edge(a, both).to.box = {{0, 0, 0}, {one.y, one.x, one.f}};
      make_.edge(b, both).to.box = {{0, 0, one.f}, {one.y, one.x, other.f}};
      values_.push_back(both);
      return;
    }
  }

  void neurons() {
    BlockId from = value();
    if (of(from).precision != Precision::i32) {
      const BlockId wide = block("CADD", Precision::i32, plane(from));
      make_.edge(from, wide, "input");
      from = storage(wide);
    }
    const BlockShape in = plane(from);
    const BlockId state = any(0, 1) == 0 ? filled("SI", Precision::i28, in) : block("SI", Precision::i28, in);
    const BlockId neurons =
        block("CLIF", Precision::i8, in,
              {{"vth0", any(1, 100)}, {"reset_mode", any(0, 3)}, {"vm_const_en", 1}, {"vtheta_const_en", 1}});
    make_.edge(from, neurons, "input");
    make_.edge(state, neurons, "state");
    if (any(0, 1) == 0) make_.edge(block("SI", Precision::u4, in), neurons, "refractory");
    storage(neurons);
  }

  void delayed() {
    const BlockId from = value();
    const BlockId late = block("SI", of(from).precision, plane(from));
    delay(make_.edge(from, late), from);
    is_late_.push_back(late);
    values_.push_back(late);
  }

  // y(t) = cut(x(t) + y(t - d))
  void loop() {
    const BlockId from = bytes(value());
    const BlockShape in = plane(from);
    const BlockId late = block("SI", Precision::i8, in), total = block("CADD", Precision::i32, in);
    make_.edge(from, total, "input");
    make_.edge(late, total, "input2");
    const BlockId back = bytes(storage(total));
    delay(make_.edge(back, late), back);
  }

  void products() {
    const BlockId from = bytes(value());
    const BlockShape in = plane(from);
    const std::int64_t r = std::max<std::int64_t>(1, in.y) * std::max<std::int64_t>(1, in.x) * in.f, f = any(1, 100);
    if (r > 2000) return;
    const BlockId flat = block("SIFC", Precision::i8, {.r = r});
    make_.edge(from, flat, "input", {{"reshape", {}}});
    const BlockId weight = filled("SWFC", Precision::i8, {.f = f, .r = r});
    const BlockId vector = block("CVM", Precision::i32, {.f = f, .r = r});
    make_.edge(flat, vector, "input");
    make_.edge(weight, vector, "weight");
    if (any(0, 1) == 0) make_.edge(filled("SB", Precision::i32, {.f = f}), vector, "bias");
    finish(vector);
  }

  std::mt19937_64& random_;
  const ChipNetKinds kinds_;
  BlockGraphMaker make_;
  std::vector<BlockId> values_, is_late_;  // storage that others may read
};

}  // namespace

BlockGraph random_chip_net(std::mt19937_64& random, const ChipNetKinds& kinds) {
  return ChipNetMaker(random, kinds).make();
}

BlockGraph lenet_blocks() {
  BlockGraphMaker make("lenet");
  auto filled = [&](const std::string& name, std::string_view kind, Precision precision, const BlockShape& shape) {
    const BlockId id = make.block(name, kind, precision, shape);
    make.graph.blocks[id.index()].data = make.data(id, 1);
    return id;
  };
  BlockId at = make.block("x", "INPUT", Precision::i8, {.y = 32, .x = 32, .f = 1});
  struct Layer {
    std::string name;
    std::string_view storage, kind, weight;
    std::int64_t side, r, f;
  };
  for (const Layer& l : {Layer{"conv1", "SIC2D", "CC2D", "SW2D", 32, 1, 6}, {"conv2", "SIC", "CC", "SW", 14, 6, 16}}) {
    const std::int64_t made = l.side - 4, half = made / 2;
    const BlockId held = make.block(l.name + "h", l.storage, Precision::i8, {.y = l.side, .x = l.side, .r = l.r});
    const BlockId weight = filled(l.name + "w", l.weight, Precision::i8, {.f = l.f, .r = l.r, .ky = 5, .kx = 5});
    const BlockId conv =
        make.block(l.name, l.kind, Precision::i32,
                   {.y = made, .x = made, .f = l.f, .r = l.r, .ky = 5, .kx = 5, .iy = l.side, .ix = l.side});
    const BlockId pool =
        make.block(l.name + "p", "CCMPB", Precision::i8,
                   {.y = half, .x = half, .f = l.f, .ky = 2, .kx = 2, .iy = made, .ix = made},
                   {{"kernel_x", 2}, {"kernel_y", 2}, {"stride_y", 2}, {"stride_x", 2}, {"cmp", 0}, {"shift", 8}});
    const BlockId sums = make.block(l.name + "i", "SI", Precision::i32, {.y = made, .x = made, .f = l.f});
    const BlockId bytes = make.block(l.name + "s", "SI", Precision::i8, {.y = half, .x = half, .f = l.f});
    make.edge(at, held);
    make.edge(held, conv, "input");
    make.edge(weight, conv, "weight");
    make.edge(filled(l.name + "b", "SB", Precision::i32, {.f = l.f}), conv, "bias");
    make.edge(conv, sums);
    make.edge(sums, pool);
    make.edge(pool, bytes);
    at = bytes;
  }
  std::int64_t r = 400;
  for (const auto& [name, f] : {std::pair{std::string("fc1"), 120}, {"fc2", 84}, {"fc3", 10}}) {
    const BlockId held = make.block(name + "h", "SIFC", Precision::i8, {.r = r});
    const BlockId weight = filled(name + "w", "SWFC", Precision::i8, {.f = f, .r = r});
    const BlockId fc = make.block(name, "CVM", Precision::i32, {.f = f, .r = r});
    const BlockId sums = make.block(name + "i", "SI", Precision::i32, {.f = f});
    if (r == 400)
      make.edge(at, held, "input", {{"reshape", {}}});
    else
      make.edge(at, held);
    make.edge(held, fc, "input");
    make.edge(weight, fc, "weight");
    make.edge(filled(name + "b", "SB", Precision::i32, {.f = f}), fc, "bias");
    make.edge(fc, sums);
    at = sums;
    if (f != 10) {
      const BlockId cut = make.block(name + "c", "CCMPB", Precision::i8, {.f = f}, {{"cmp", 0}, {"shift", 8}});
      at = make.block(name + "s", "SI", Precision::i8, {.f = f});
      make.edge(sums, cut);
      make.edge(cut, at);
    }
    r = f;
  }
  make.edge(at, make.block("y", "OUTPUT", Precision::i32, {.f = 10}));
  return std::move(make.graph);
}

std::shared_ptr<const Chip> chip_variant(std::string_view preset,
                                         const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = find_chip(preset).value_or_throw().text;
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from << " is not in the file");
    text.replace(at, from.size(), to);
  }
  return std::make_shared<const Chip>(read_chip(text, "variant.json").value_or_throw());
}

std::shared_ptr<const Chip> random_chip(std::mt19937_64& random) {
  if (random() % 4 == 0) return chip_variant(random() % 2 == 0 ? "tianjicx" : "tiny");
  const std::int64_t side = between(random, 1, 6), kb = between(random, 2, 8) * 8;
  const std::string count = "{\"v\": " + std::to_string(side), bytes = std::to_string(kb * 1024);
  return chip_variant("tiny",
                      {{"[{\"v\": 2, \"unit\": \"1\", \"src\": \"assumed\"}, {\"v\": 2",
                        "[" + count + ", \"unit\": \"1\", \"src\": \"assumed\"}, {\"v\": 8"},
                       {"\"bytes\": {\"v\": 32768", "\"bytes\": {\"v\": " + bytes},
                       {"\"base\": 32768, \"bytes\": {\"v\": 32768", "\"base\": 65536, \"bytes\": {\"v\": " + bytes},
                       {"\"mem2\", \"base\": 65536", "\"mem2\", \"base\": 131072"},
                       {"\"soft_bytes\": {\"v\": 65536", "\"soft_bytes\": {\"v\": 16384"}});
}

BlockGraph products_in_turn(const std::vector<std::string>& names, std::int64_t f) {
  BlockGraphMaker make("products");
  BlockId at = make.block("x", "INPUT", Precision::i8, {.f = f});
  for (const std::string& name : names) {
    const BlockId held = make.block(name + "h", "SIFC", Precision::i8, {.r = f}),
                  weight = make.block(name + "w", "SWFC", Precision::i8, {.f = f, .r = f}),
                  fc = make.block(name, "CVM", Precision::i32, {.f = f, .r = f}),
                  cut = make.block(name + "c", "CCMPB", Precision::i8, {.f = f}, {{"cmp", -128}, {"shift", 10}}),
                  bytes = make.block(name + "s", "SI", Precision::i8, {.f = f});
    make.graph.blocks[weight.index()].data = make.data(weight, 1);
    make.edge(at, held);
    make.edge(held, fc, "input");
    make.edge(weight, fc, "weight");
    make.edge(fc, cut);
    make.edge(cut, bytes);
    at = bytes;
  }
  make.edge(at, make.block("y", "OUTPUT", Precision::i8, {.f = f}));
  return std::move(make.graph);
}

BlockGraph conv_graph(std::int64_t y, std::int64_t x, std::int64_t r, std::int64_t f, bool cuts) {
  BlockGraphMaker make("conv");
  const BlockId input = make.block("x", "INPUT", Precision::i8, {.y = y, .x = x, .f = r});
  const BlockId held = make.block("h", "SIC", Precision::i8, {.y = y, .x = x, .r = r});
  const BlockId weight = make.block("w", "SW", Precision::i8, {.f = f, .r = r, .ky = 3, .kx = 3});
  const BlockId conv =
      make.block("conv", "CC", Precision::i32, {.y = y, .x = x, .f = f, .r = r, .ky = 3, .kx = 3, .iy = y, .ix = x},
                 {{"pad_up", 1}, {"pad_down", 1}, {"pad_left", 1}, {"pad_right", 1}});
  const BlockId sums = make.block("sums", "SI", Precision::i32, {.y = y, .x = x, .f = f});
  make.graph.blocks[weight.index()].data = make.data(weight, 3);
  make.edge(input, held);
  make.edge(held, conv, "input");
  make.edge(weight, conv, "weight");
  make.edge(conv, sums);
  BlockId made = sums;
  if (cuts) {
    const BlockId cut =
        make.block("cut", "CCMPB", Precision::i8, {.y = y, .x = x, .f = f}, {{"cmp", -128}, {"shift", 10}});
    made = make.block("bytes", "SI", Precision::i8, {.y = y, .x = x, .f = f});
    make.edge(sums, cut);
    make.edge(cut, made);
  }
  const BlockId output = make.block("y", "OUTPUT", make.graph[made].precision, {.y = y, .x = x, .f = f});
  make.edge(made, output);
  return std::move(make.graph);
}

}  // namespace taskspec::tests
