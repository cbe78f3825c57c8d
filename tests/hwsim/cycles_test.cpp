// Cycles and bytes of primitives: the worked cases, and random shapes beside a slow walk that does every access to a
// port by itself. The figures are those of the preset.
#include <doctest/doctest.h>

#include <random>

#include "hwsim/chip/chip.hpp"
#include "tests/hwsim/hw_blocks.hpp"

namespace taskspec::cycles_test {
using tests::hw_block;

namespace {

const Chip& tianjicx() {
  static const Chip chip = load_chip("tianjicx").value_or_throw();
  return chip;
}

std::int64_t clk_of(const TaskBlock& block, const BlockUse& use = {}) { return cycles(block, use, tianjicx().cycles); }

// One primitive, access by access. Ports: 32 bytes of weights, bias and sums, 16 of the soma unit.
struct PortWalk {
  std::int64_t clk = 6, products = 0, read = 0, written = 0, most_axon = 0, most_soma = 0;

  void axon(std::int64_t reads, std::int64_t writes, std::int64_t width) {
    ++clk;
    read += reads;
    written += writes;
    most_axon = std::max(most_axon, width);
  }
  void soma(std::int64_t width = 16) {
    ++clk;
    most_soma = std::max(most_soma, width);
  }
  // A bias of four bytes for each of `lanes` outputs, of which `real` are there.
  void bias(const TaskBlock& block, std::int64_t lanes, std::int64_t real) {
    if (block.bias != BiasKind::vector) return axon(0, 0, 4);
    for (std::int64_t byte = 0; byte < 4 * lanes; byte += 32) {
      std::int64_t there = 0;
      for (std::int64_t k = 0; k < 32 && byte + k < 4 * lanes; ++k) there += byte + k < 4 * real ? 1 : 0;
      axon(there, 0, 32);
    }
  }
  // Sums of `lanes` outputs; `real` of them are there.
  void sums(std::int64_t lanes, std::int64_t real) {
    for (std::int64_t byte = 0; byte < 4 * lanes; byte += 32) axon(0, 0, std::min<std::int64_t>(32, 4 * lanes - byte));
    written += 4 * real;
  }
};

std::int64_t bits(Precision precision) {
  switch (precision) {
    case Precision::tern:
      return 2;
    case Precision::i32:
      return 32;
    default:
      return 8;
  }
}
std::int64_t lines(std::int64_t elements, Precision precision) {
  std::int64_t count = 0;
  for (std::int64_t bit = 0; bit < elements * bits(precision); bit += 128) ++count;
  return count;
}
std::int64_t whole_bytes(std::int64_t elements, Precision precision) { return (elements * bits(precision) + 7) / 8; }

// CC, CC2D: four pixels times 32 outputs, an input of each pixel per clk.
PortWalk walk_convolution(const TaskBlock& b, const BlockUse& use, bool plane) {
  PortWalk walk;
  const BlockShape& s = b.shape;
  for (std::int64_t y = 0; y < s.y; ++y)
    for (std::int64_t x = 0; x < s.x; x += 4)
      for (std::int64_t f = 0; f < s.f; f += 32) {
        const std::int64_t pixels = std::min<std::int64_t>(4, s.x - x), outputs = std::min<std::int64_t>(32, s.f - f);
        walk.bias(b, 32, outputs);
        if (plane) {
          const int per_row = s.x < 16 ? 1 : s.x < 32 ? 2 : 3;
          for (std::int64_t row = 0; row < s.ky * s.r; ++row)
            for (int line = 0; line < per_row; ++line) walk.axon(16, 0, 16);
        } else {
          for (int pixel = 0; pixel < 4; ++pixel) {
            std::int64_t all = 0;
            for (std::int64_t tap = 0; tap < s.ky * s.kx; ++tap) all += lines(s.r, use.in);
            // From another bank only the first is waited for.
            for (std::int64_t line = 0; line < (use.same_bank ? all : 1); ++line) walk.axon(0, 0, 16);
            walk.read += pixel < pixels ? 16 * all : 0;
          }
        }
        for (std::int64_t tap = 0; tap < s.ky * s.kx; ++tap)
          for (std::int64_t r = 0; r < s.r; ++r) {
            walk.axon(32, 0, 32);
            walk.products += pixels * outputs;
          }
        walk.sums(128, pixels * outputs);
      }
  return walk;
}

PortWalk walk_vector(const TaskBlock& b, const BlockUse& use) {
  PortWalk walk;
  const std::int64_t lanes = use.weight == Precision::tern ? 128 : 32;
  const std::int64_t in_line = use.in == Precision::tern ? 64 : 16;
  walk.read = whole_bytes(b.shape.f * b.shape.r, use.weight);
  for (std::int64_t f = 0; f < b.shape.f; f += lanes) {
    const std::int64_t outputs = std::min(lanes, b.shape.f - f);
    walk.bias(b, lanes, outputs);
    for (std::int64_t r = 0; r < b.shape.r; r += in_line) {
      walk.axon(0, 0, 16);
      for (std::int64_t k = 0; k < in_line; ++k) {
        walk.axon(0, 0, 32);
        walk.products += r + k < b.shape.r ? outputs : 0;
      }
    }
    walk.read += whole_bytes(b.shape.r, use.in);
    walk.sums(lanes, outputs);
  }
  return walk;
}

// CADD, CAVG: `operands` of each output one after the other.
PortWalk walk_sum(const TaskBlock& b, const BlockUse& use, std::int64_t operands) {
  PortWalk walk;
  const std::int64_t lanes = 32 * 8 / bits(use.in);
  for (std::int64_t pixel = 0; pixel < b.shape.y * b.shape.x; ++pixel)
    for (std::int64_t f = 0; f < b.shape.f; f += lanes) {
      const std::int64_t outputs = std::min(lanes, b.shape.f - f);
      walk.bias(b, lanes, outputs);
      walk.axon(0, 0, 0);
      for (std::int64_t k = 0; k < operands; ++k) walk.axon(0, 0, 32);
      walk.sums(lanes, outputs);
    }
  walk.read += whole_bytes(b.shape.y * b.shape.x * b.shape.f * operands, use.in);
  return walk;
}

PortWalk walk_product(const TaskBlock& b, const BlockUse& use, std::int64_t operand_bytes) {
  PortWalk walk;
  (void)use;
  for (std::int64_t pixel = 0; pixel < b.shape.y * b.shape.x; ++pixel)
    for (std::int64_t f = 0; f < b.shape.f; f += 32) {
      const std::int64_t outputs = std::min<std::int64_t>(32, b.shape.f - f);
      walk.bias(b, 32, outputs);
      walk.axon(0, 0, 32);
      walk.axon(0, 0, 32);
      for (int clk = 0; clk < 16; ++clk) walk.axon(0, 0, 32);
      walk.written += 4 * outputs;
    }
  walk.read += operand_bytes;
  return walk;
}

PortWalk walk_compare(const TaskBlock& b, const BlockUse& use) {
  PortWalk walk;
  for (std::int64_t pixel = 0; pixel < b.shape.y * b.shape.x; ++pixel)
    for (std::int64_t line = 0; line < lines(b.shape.f, b.precision); ++line) {
      for (std::int64_t tap = 0; tap < b.shape.ky * b.shape.kx; ++tap)
        for (std::int64_t part = 0; part < bits(use.in); part += bits(b.precision)) walk.soma();
      walk.soma();
    }
  for (std::int64_t i = 0; i < b.shape.y * b.shape.x; ++i) {
    walk.written += b.shape.f * bits(b.precision);
    walk.read += b.shape.f * b.shape.ky * b.shape.kx * bits(use.in);
  }
  walk.read = (walk.read + 7) / 8;
  walk.written = (walk.written + 7) / 8;
  return walk;
}

PortWalk walk_table(const TaskBlock& b, const BlockUse& use) {
  PortWalk walk;
  const std::int64_t entry = bits(b.precision) / 8;
  for (std::int64_t pixel = 0; pixel < b.shape.y * b.shape.x; ++pixel) {
    for (std::int64_t line = 0; line < lines(b.shape.f, use.in); ++line) walk.soma();
    for (std::int64_t line = 0; line < lines(b.shape.f, b.precision); ++line) {
      for (std::int64_t byte = 0; byte < 16; byte += entry) {
        walk.soma(entry);
        walk.read += entry;
      }
      walk.soma();
    }
    walk.read += b.shape.f * bits(use.in) / 8;
    walk.written += b.shape.f * entry;
  }
  return walk;
}

// Four neurons: input, potential, threshold, mask; then potential, threshold, result.
PortWalk walk_neurons(const TaskBlock& b) {
  PortWalk walk;
  std::int64_t out_bits = 0;
  for (std::int64_t pixel = 0; pixel < b.shape.y * b.shape.x; ++pixel) {
    for (std::int64_t f = 0; f < b.shape.f; f += 4)
      for (int line = 0; line < 7; ++line) walk.soma();
    for (std::int64_t f = 0; f < b.shape.f; ++f) {
      walk.read += 4 + 4 + (b.attribute("vtheta_const_en") == 0 ? 4 : 0) + (b.attribute("vm_const_en") == 0 ? 4 : 0);
      walk.written += 4 + (b.attribute("vtheta_const_en") == 0 ? 4 : 0);
      out_bits += bits(b.precision);
    }
  }
  walk.written += (out_bits + 7) / 8;
  return walk;
}

struct RandomPrimitive {
  TaskBlock block;
  BlockUse use;
  PortWalk walk;
  bool is_axon = true;
};

class RandomPrimitives {
 public:
  explicit RandomPrimitives(std::uint64_t seed) : random_(seed) {}

  RandomPrimitive next() {
    const Precision narrow[] = {Precision::i8, Precision::u8, Precision::tern};
    const Precision any[] = {Precision::i32, Precision::i8, Precision::u8, Precision::tern};
    const BlockShape plane{.y = up_to(7), .x = up_to(40), .f = up_to(70)};
    RandomPrimitive made;
    BlockShape windowed = plane;
    windowed.ky = up_to(4), windowed.kx = up_to(4);
    BlockShape convolution = windowed;
    convolution.r = up_to(40);
    const BiasKind bias = static_cast<BiasKind>(up_to(3) - 1);
    switch (up_to(11)) {
      case 1:
      case 2:
        made.use = {narrow[up_to(3) - 1], narrow[up_to(3) - 1], up_to(2) == 1};
        made.block = hw_block("CC", convolution, Precision::i32, bias);
        made.walk = walk_convolution(made.block, made.use, false);
        break;
      case 3:
        convolution.r = up_to(4);
        made.block = hw_block("CC2D", convolution, Precision::i32, bias);
        made.walk = walk_convolution(made.block, made.use, true);
        break;
      case 4:
        made.use = {narrow[up_to(3) - 1], narrow[up_to(3) - 1], false};
        made.block = hw_block("CVM", {.f = up_to(400), .r = up_to(400)}, Precision::i32, bias);
        made.walk = walk_vector(made.block, made.use);
        break;
      case 5:
        made.use.in = any[up_to(4) - 1];
        made.block = hw_block("CADD", plane, Precision::i32, bias);
        made.block.branches = static_cast<std::uint16_t>(1 + up_to(4));
        made.walk = walk_sum(made.block, made.use, made.block.branches);
        break;
      case 6:
        made.use.in = any[up_to(4) - 1];
        made.block = hw_block("CAVG", windowed, Precision::i32, bias);
        made.walk = walk_sum(made.block, made.use, windowed.ky * windowed.kx);
        break;
      case 7:
        made.block = hw_block("CVVH", plane, Precision::i32, bias);
        made.walk = walk_product(made.block, made.use, 2 * plane.y * plane.x * plane.f);
        break;
      case 8: {
        made.use.in = narrow[up_to(3) - 1];
        const bool by_channel = up_to(2) == 1;
        const std::int64_t elements = plane.y * plane.x * plane.f;
        made.block = hw_block(by_channel ? "CAX" : "CVS", plane, Precision::i32, bias);
        made.walk =
            walk_product(made.block, made.use, whole_bytes(elements, made.use.in) + (by_channel ? elements : 0));
        break;
      }
      case 9: {
        const std::pair<Precision, Precision> pairs[] = {
            {Precision::i32, Precision::i32}, {Precision::i32, Precision::i8},  {Precision::i32, Precision::tern},
            {Precision::i8, Precision::i8},   {Precision::i8, Precision::tern}, {Precision::tern, Precision::tern}};
        const auto [in, out] = pairs[up_to(6) - 1];
        made.use.in = in;
        made.block = hw_block(up_to(2) == 1 ? "CCMPB" : "CCMPS", windowed, out);
        made.walk = walk_compare(made.block, made.use);
        made.is_axon = false;
        break;
      }
      case 10:
        made.use.in = up_to(2) == 1 ? Precision::i32 : Precision::i8;
        made.block = hw_block("CLUT", plane, up_to(2) == 1 ? Precision::i32 : Precision::i8);
        made.walk = walk_table(made.block, made.use);
        made.is_axon = false;
        break;
      default:
        made.use.in = Precision::i32;
        made.block = hw_block("CLIF", plane, up_to(2) == 1 ? Precision::tern : Precision::i8);
        made.block.set(*made.block.def->find_attribute("vtheta_const_en"), up_to(2) - 1);
        made.block.set(*made.block.def->find_attribute("vm_const_en"), up_to(2) - 1);
        made.walk = walk_neurons(made.block);
        made.is_axon = false;
    }
    return made;
  }

  std::int64_t up_to(std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most));
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("the worked cases, with the figures of the preset [chip-cycles]") {
  const BiasKind vector = BiasKind::vector, constant = BiasKind::constant;
  const BlockUse wide{.in = Precision::i32};
  const auto cc = [&](std::int64_t side, std::int64_t f, std::int64_t r, std::int64_t k, BiasKind bias) {
    return hw_block("CC", {.y = side, .x = side, .f = f, .r = r, .ky = k, .kx = k}, Precision::i32, bias);
  };
  CHECK(clk_of(hw_block("CC", {.y = 1, .x = 4, .f = 32, .r = 16, .ky = 1, .kx = 1}, Precision::i32, constant)) == 43);
  CHECK(clk_of(cc(8, 32, 16, 1, constant)) == 598);
  CHECK(clk_of(cc(8, 32, 32, 3, vector)) == 4'998);
  CHECK(multiply_adds(cc(8, 32, 32, 3, vector)) / 4'998 == 118);
  CHECK(clk_of(cc(8, 32, 32, 3, vector), {.same_bank = true}) == 6 + 16 * (4 + 4 * 2 * 9 + 288 + 16));
  CHECK(clk_of(cc(10, 16, 6, 5, vector)) == 5'226);
  CHECK(clk_of(hw_block("CC2D", {.y = 28, .x = 28, .f = 6, .r = 1, .ky = 5, .kx = 5}, Precision::i32, vector)) ==
        10'786);
  CHECK(clk_of(hw_block("CVM", {.f = 120, .r = 400}, Precision::i32, vector)) == 1'738);
  CHECK(clk_of(hw_block("CVM", {.f = 128, .r = 64}, Precision::i32),
               {.in = Precision::tern, .weight = Precision::tern}) == 6 + 1 * (1 + 1 + 64 + 16));
  CHECK(clk_of(hw_block("CCMPB", {.y = 14, .x = 14, .f = 6, .ky = 2, .kx = 2}, Precision::i8), wide) == 3'338);
  CHECK(clk_of(hw_block("CLUT", {.y = 8, .x = 8, .f = 32}, Precision::i8)) == 2'310);
  TaskBlock sum = hw_block("CADD", {.y = 8, .x = 8, .f = 32}, Precision::i32);
  sum.branches = 2;
  CHECK(clk_of(sum) == 518);
  CHECK(clk_of(sum, wide) == 6 + 64 * 4 * (1 + 1 + 2 + 1));
  CHECK(clk_of(hw_block("CAX", {.y = 2, .x = 2, .f = 33}, Precision::i32, vector)) == 6 + 4 * 2 * (4 + 1 + 1 + 16));
  CHECK(clk_of(hw_block("CLIF", {.f = 128}, Precision::i8), wide) == 230);
}

// What the chip team measured, per output or group of 4 pixels x 32 outputs.
TEST_CASE("what is known of the hardware [chip-cycles]") {
  for (std::int64_t n = 1; n <= 20; ++n)
    CHECK(clk_of(hw_block("CC", {.y = n, .x = 4, .f = 32, .r = 16, .ky = 1, .kx = 1}, Precision::i32,
                          BiasKind::constant)) == 6 + 37 * n);
  const auto table = [](Precision in, Precision out, std::int64_t f) {
    return clk_of(hw_block("CLUT", {.f = f}, out), {.in = in}) - 6;
  };
  CHECK(table(Precision::i32, Precision::i8, 16) == 21);
  CHECK(table(Precision::i32, Precision::i32, 4) == 6);
  CHECK(table(Precision::i8, Precision::i8, 16) == 18);
  CHECK(table(Precision::i8, Precision::i32, 16) == 21);
  const auto compare = [](Precision in) {
    return clk_of(hw_block("CCMPB", {.f = 16, .ky = 1, .kx = 1}, Precision::i8), {.in = in}) - 6;
  };
  CHECK(compare(Precision::i8) == 2);
  CHECK(compare(Precision::i32) == 5);
}

TEST_CASE("random primitives cost what a walk over each access counts [chip-cycles]") {
  constexpr std::uint64_t seed = 20'260'815;
  RandomPrimitives primitives(seed);
  for (int i = 0; i < 1'000; ++i) {
    const RandomPrimitive p = primitives.next();
    const std::int64_t clk = clk_of(p.block, p.use);
    const PortBytes bytes = port_bytes(p.block, p.use, tianjicx().cycles);
    INFO("case " << i << " of seed " << seed << ": " << p.block.def->name << " " << p.block.shape.text());
    REQUIRE(clk == p.walk.clk);
    CHECK(multiply_adds(p.block) == p.walk.products);
    CHECK(bytes.read == p.walk.read);
    CHECK(bytes.written == p.walk.written);
    CHECK(p.walk.most_axon <= 32);
    CHECK(p.walk.most_soma <= 16);
    CHECK(bytes.written <= (p.is_axon ? 32 : 16) * clk);
    if (!p.is_axon) CHECK(bytes.read + bytes.written <= 16 * clk);
    const bool is_vector = p.block.def->name == "CVM";
    CHECK(multiply_adds(p.block) <= (is_vector && p.use.weight != Precision::tern ? 32 : 128) * clk);
    // On chips with other multipliers, too.
    for (const auto& [pixels, outputs] : {std::pair(1, 1), std::pair(2, 8), std::pair(8, 32)}) {
      CycleFigures other = tianjicx().cycles;
      other.pixels = pixels;
      other.outputs = outputs;
      CHECK(multiply_adds(p.block) <= pixels * outputs * cycles(p.block, p.use, other));
    }
  }
}

TEST_CASE("every compute block has its cycles and its bytes at the ports [chip-cycles]") {
  for (const BlockDef* def : standard_blocks().all()) {
    CAPTURE(std::string(def->name));
    CHECK((def->cost->cycles != nullptr) == def->computes());
    CHECK((def->cost->port_bytes != nullptr) == def->computes());
    CHECK((def->cost->multiply_adds != nullptr || def->cost->operations != nullptr) == def->computes());
  }
}

// Row by row: each begins at the next multiple of the alignment.
TEST_CASE("random storages take what a walk over their rows counts [chip-cycles]") {
  struct Kind {
    const char* name;
    std::int64_t alignment, wide;
    BlockAxis axis;
  };
  const Kind kinds[] = {{"SI", 16, 128, BlockAxis::f},  {"SIC", 16, 16, BlockAxis::r}, {"SIC2D", 16, 16, BlockAxis::x},
                        {"SIFC", 16, 16, BlockAxis::r}, {"SB", 16, 16, BlockAxis::f},  {"SW", 32, 32, BlockAxis::f},
                        {"SW2D", 32, 32, BlockAxis::f}, {"SWFC", 32, 32, BlockAxis::f}};
  const Precision precisions[] = {Precision::i8, Precision::u8, Precision::tern, Precision::i32};
  RandomPrimitives random(7);
  for (int i = 0; i < 1'000; ++i) {
    const Kind& kind = kinds[random.up_to(8) - 1];
    TaskBlock block = hw_block(kind.name, {}, precisions[random.up_to(4) - 1]);
    std::int64_t rows = 1;
    for (const BlockAxis axis : block.def->axes) {
      block.shape[axis] = random.up_to(axis == kind.axis ? 150 : 9);
      rows *= axis == kind.axis ? 1 : block.shape[axis];
    }
    const std::int64_t step = block.precision == Precision::i32 ? kind.wide : kind.alignment;
    std::int64_t end = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0, bit = 0; k < block.shape[kind.axis]; ++k, bit += bits(block.precision))
        if (bit % (8 * step) == 0) end += step;
    }
    INFO(kind.name << " " << block.shape.text());
    CHECK(stored_bytes(block) == end);
    if (block.shape.y > 1) {
      block.pipeline = static_cast<std::int32_t>(random.up_to(block.shape.y));
      CHECK(stored_bytes(block) == end / block.shape.y * *block.pipeline);
    }
  }
}

TEST_CASE("storages of LeNet and of the case cc [chip-cycles]") {
  const Precision i8 = Precision::i8, i32 = Precision::i32;
  CHECK(stored_bytes(hw_block("SI", {.y = 28, .x = 28, .f = 6}, i32)) == 100'352);
  CHECK(stored_bytes(hw_block("SW2D", {.f = 6, .r = 1, .ky = 5, .kx = 5}, i8)) == 800);
  CHECK(stored_bytes(hw_block("SWFC", {.f = 120, .r = 400}, i8)) == 51'200);
  const TaskBlock lenet[] = {hw_block("SIC2D", {.y = 32, .x = 32, .r = 1}, i8),
                             hw_block("SW2D", {.f = 6, .r = 1, .ky = 5, .kx = 5}, i8),
                             hw_block("SB", {.f = 6}, i32),
                             hw_block("SI", {.y = 28, .x = 28, .f = 6}, i32),
                             hw_block("SIC", {.y = 14, .x = 14, .r = 6}, i8),
                             hw_block("SW", {.f = 16, .r = 6, .ky = 5, .kx = 5}, i8),
                             hw_block("SB", {.f = 16}, i32),
                             hw_block("SI", {.y = 10, .x = 10, .f = 16}, i32),
                             hw_block("SIFC", {.r = 400}, i8),
                             hw_block("SWFC", {.f = 120, .r = 400}, i8),
                             hw_block("SB", {.f = 120}, i32),
                             hw_block("SI", {.f = 120}, i32),
                             hw_block("SIFC", {.r = 120}, i8),
                             hw_block("SWFC", {.f = 84, .r = 120}, i8),
                             hw_block("SB", {.f = 84}, i32),
                             hw_block("SI", {.f = 84}, i32),
                             hw_block("SIFC", {.r = 84}, i8),
                             hw_block("SWFC", {.f = 10, .r = 84}, i8),
                             hw_block("SB", {.f = 10}, i32),
                             hw_block("SI", {.f = 10}, i32)};
  std::int64_t bytes = 0;
  for (const TaskBlock& block : lenet) bytes += stored_bytes(block);
  CHECK(bytes == 190'928);
  const TaskBlock cc[] = {hw_block("SIC", {.y = 8, .x = 8, .r = 32}, i8),
                          hw_block("SW", {.f = 32, .r = 32, .ky = 3, .kx = 3}, i8), hw_block("SB", {.f = 32}, i32),
                          hw_block("SI", {.y = 8, .x = 8, .f = 32}, i32)};
  bytes = 0;
  for (const TaskBlock& block : cc) bytes += stored_bytes(block);
  CHECK(bytes == 19'584);
}

}  // namespace taskspec::cycles_test
