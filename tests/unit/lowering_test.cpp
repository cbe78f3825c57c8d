// Lowering of nets of integers: equal to the host bit for bit, and what has no blocks is said at once.
#include <doctest/doctest.h>

#include "ir/lowering/lower.hpp"
#include "tests/unit/lowered_nets.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::lowering_test {

namespace {

constexpr Precision i8 = Precision::i8, i32 = Precision::i32;

std::string errors_of(const Result<LoweredGraph>& made) {
  std::string text;
  for (const Diag& diag : made.diags().items())
    text += diag.code.text() + " @" + std::to_string(diag.primary.span.begin) + ": " + diag.message + "\n";
  return text;
}

void check_equal(NetOf& net, std::mt19937_64& random, std::size_t runs = 3) {
  const Result<LoweredGraph> made = net.lowered();
  REQUIRE_MESSAGE(made, errors_of(made));
  for (std::size_t run = 0; run < runs; ++run) {
    std::vector<Array> in;
    for (const ArrayType& type : net.inputs()) in.push_back(random_integers(type, random, -128, 127));
    const std::vector<Array> wanted = net.run(in), got = run_blocks(*made, in);
    REQUIRE(wanted.size() == got.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      CAPTURE(print(wanted[k]));
      CAPTURE(print(got[k]));
      CHECK(same_contents(wanted[k], got[k]));
    }
  }
}

}  // namespace

TEST_CASE("[lowering] an integer net of convolution, relu, pool, cut and dense layer is the same to the bit") {
  std::mt19937_64 random(1);
  for (const std::int64_t shift : {6, 7}) {
    NetOf net;
    ValueId x = net.input({i8, {1, 3, 10, 9}});
    ValueId w = net.weight(random_integers({i8, {5, 3, 3, 3}}, random, -20, 20));
    ValueId b = net.weight(random_integers({i32, {5}}, random, -300, 300));
    ValueId y = net.emit("conv2d", {x, w, b, Value(std::int64_t{1}), Value(std::int64_t{1})});
    y = net.emit("max_pool", {net.emit("relu", {y}), Value(std::int64_t{2})});
    y = net.cast(net.emit("shift_right", {y, Value(shift)}), i8);
    y = net.emit("reshape", {y, Value(std::int64_t{1}), Value(std::int64_t{5 * 5 * 4})});
    y = net.emit("linear", {y, net.weight(random_integers({i8, {7, 100}}, random, -128, 127)),
                            net.weight(random_integers({i32, {7}}, random, -1000, 1000))});
    net.give(y);
    check_equal(net, random);
    std::map<std::string, int> blocks = blocks_by_type(net.lowered()->graph);
    CHECK(blocks["CC2D"] == 1);
    CHECK(blocks["CVM"] == 1);
    // Relu, pool, shift and saturation are one block; an odd shift takes a table besides.
    CHECK(blocks["CCMPB"] == 1);
    CHECK(blocks["CLUT"] == shift % 2);
    // The columns of the weights were permuted, so the image is read as it lies.
    const LoweredGraph made = *net.lowered();
    for (const BlockEdge& edge : made.graph.edges)
      for (const Rearrangement& move : edge.moves) CHECK(move.numbers.empty());
  }
}

TEST_CASE("[lowering] a net of groups, slices, concatenations, pads, sums and tables is the same to the bit") {
  std::mt19937_64 random(2);
  NetOf net;
  ValueId x = net.input({i8, {1, 8, 6, 6}});
  ValueId w = net.weight(random_integers({i8, {8, 1, 3, 3}}, random, -9, 9));
  ValueId y = net.emit("conv2d", {x, w, Value(), Value(std::int64_t{1}), Value(std::int64_t{1}), Value(std::int64_t{1}),
                                  Value(std::int64_t{8})});
  y = net.cast(net.emit("shift_right", {y, Value(std::int64_t{4})}), i8);
  y = net.emit("add", {net.cast(y, i32), net.cast(x, i32)});
  y = net.cast(net.emit("shift_right", {y, Value(std::int64_t{2})}), i8);
  net.give(y);
  net.give(net.emit("reverse", {x, Value(std::int64_t{3})}));
  net.give(net.emit(
      "permute", {x, Value(std::int64_t{0}), Value(std::int64_t{2}), Value(std::int64_t{3}), Value(std::int64_t{1})}));
  net.give(net.emit(
      "pad", {x, Value(std::int64_t{2}), Value(std::int64_t{1}), Value(std::int64_t{2}), Value(std::int64_t{-7})}));
  net.give(net.emit("sum", {x, Value(std::int64_t{2})}));
  net.give(net.emit("relu", {x}));
  net.give(net.emit("mul", {net.cast(x, i32), Value(std::int64_t{-3})}));
  net.give(net.emit("max", {x, Value(std::int64_t{1})}));
  Array table = random_integers({i8, {256}}, random, -128, 127);
  net.give(net.emit("lookup", {net.weight(table), x}));
  check_equal(net, random);
}

TEST_CASE("[lowering] neurons keep their state from step to step") {
  std::mt19937_64 random(3);
  NetOf net;
  ValueId x = net.input({i8, {5}});
  ValueId v = net.weight(Array::make({i32, {5}}));
  ValueId spikes =
      net.emit("lif", {net.cast(x, i32), v, Value(std::int64_t{64}), Value(std::int64_t{2}), Value("subtract")});
  net.give(spikes);
  const Result<LoweredGraph> made = net.lowered();
  REQUIRE_MESSAGE(made, errors_of(made));
  const Array in =
      array_of(List{std::int64_t{40}, std::int64_t{100}, std::int64_t{10}, std::int64_t{-5}, std::int64_t{64}}, i8);
  CHECK(print(run_blocks(*made, {in}, 1)[0]) == "[0, 1, 0, 0, 0]");
  CHECK(print(run_blocks(*made, {in}, 2)[0]) == "[1, 1, 0, 0, 1]");
}

TEST_CASE("[lowering] all that has no blocks is said at once, with place, reason and help") {
  NetOf net;
  ValueId x = net.input({i8, {1, 4}});
  ValueId wide = net.cast(x, i32);
  net.give(net.emit("prod", {wide}, 3));
  net.give(net.emit("topk", {x, Value(std::int64_t{2})}, 7));
  const Result<LoweredGraph> made = net.lowered();
  REQUIRE(!made);
  CHECK(made.diags().size() == 2);
  const std::string text = errors_of(made);
  CAPTURE(text);
  CHECK(text.find("E4011 @30: 'prod' cannot be made of blocks: ") != std::string::npos);
  CHECK(text.find("E4011 @70: 'topk' cannot be made of blocks: ") != std::string::npos);
  for (const Diag& diag : made.diags().items()) CHECK(!diag.help_text.empty());
}

TEST_CASE("[lowering] a sum that may overflow is refused with the bound") {
  NetOf net;
  ValueId x = net.input({i8, {1, 4}});
  ValueId y = net.emit(
      "linear",
      {x, net.weight(call_op("fill", {Value(Type::of(ArrayType{i8, {2, 4}}.type())), Value(std::int64_t{127})})),
       net.weight(call_op("fill", {Value(Type::of(ArrayType{i32, {2}}.type())), Value(std::int64_t{2147483000})}))},
      4);
  net.give(y);
  const Result<LoweredGraph> made = net.lowered();
  REQUIRE(!made);
  CHECK(errors_of(made) ==
        "E4012 @40: 'linear' cannot be made of blocks: sums of linear may reach 2147548024, and blocks hold at most "
        "2147483647: the host wraps around, they saturate\n");
}

TEST_CASE("[lowering] additions of bytes wrap around on the host: refused where the sum may leave them") {
  NetOf net;
  ValueId x = net.input({i8, {4}});
  net.give(net.emit("add", {x, x}, 2));
  const Result<LoweredGraph> made = net.lowered();
  REQUIRE(!made);
  CHECK(errors_of(made).find("E4012 @20") == 0);
  NetOf half;
  ValueId h = half.cast(half.emit("shift_right", {half.cast(half.input({i8, {4}}), i32), Value(std::int64_t{1})}), i8);
  half.give(half.emit("add", {h, h}));
  std::mt19937_64 random(4);
  check_equal(half, random);
}

// ---- random nets ----------------------------------------------------------------------------------

namespace {

// A chain of what integer nets are made of; x stays i8 between steps.
class RandomNet {
 public:
  explicit RandomNet(std::uint64_t seed) : random_(seed) {
    x_ = net.input({i8, {1, between(random_, 1, 9), between(random_, 2, 9), between(random_, 2, 9)}});
    kept_ = x_;
    const std::int64_t steps = between(random_, 1, 5);
    for (std::int64_t k = 0; k < steps; ++k) step();
    if (random_() % 2 == 0) dense();
    net.give(x_);
  }
  NetOf net;
  std::mt19937_64& random() { return random_; }

 private:
  Extents extents() const { return net.type(x_).extents; }
  static Value number(std::int64_t n) { return Value(n); }

  void cut(ValueId wide, std::int64_t most_bits) {
    if (random_() % 2 == 0) wide = net.emit("relu", {wide});
    x_ = net.cast(net.emit("shift_right", {wide, number(between(random_, 0, most_bits))}), i8);
    if (random_() % 3 == 0) x_ = net.emit("relu", {x_});
  }

  void convolve() {
    const Extents e = extents();
    const bool grouped = random_() % 3 == 0;
    const std::int64_t groups = grouped ? e[1] : 1,
                       outputs = grouped ? e[1] * between(random_, 1, 5) : between(random_, 1, 40);
    const std::int64_t k = between(random_, 1, std::min<std::int64_t>(3, std::min(e[2], e[3])));
    const std::int64_t pad = between(random_, 0, 1), stride = between(random_, 1, 2);
    ValueId w = net.weight(random_integers({i8, {outputs, e[1] / groups, k, k}}, random_, -128, 127));
    ValueId b = net.weight(random_integers({i32, {outputs}}, random_, -5000, 5000));
    cut(net.emit("conv2d", {x_, w, b, number(stride), number(pad), number(1), number(groups)}), 9);
  }

  void dense() {
    const Extents e = extents();
    const std::int64_t count = e[1] * e[2] * e[3], outputs = between(random_, 1, 12);
    const ValueId flat = net.emit("reshape", {x_, number(1), number(count)});
    x_ = net.emit("linear", {flat, net.weight(random_integers({i8, {outputs, count}}, random_, -128, 127))});
  }

  void step() {
    const Extents e = extents();
    switch (random_() % 9) {
      case 0:
      case 1:
        return convolve();
      case 2:
        if (e[2] < 2 || e[3] < 2) return;
        x_ = net.emit("max_pool", {x_, number(2), number(between(random_, 1, 2)), number(between(random_, 0, 1))});
        return;
      case 3:
        x_ = net.emit("reverse", {x_, number(between(random_, 1, 3))});
        return;
      case 4:
        x_ = net.emit("permute", {x_, number(0), number(3), number(1), number(2)});
        return;
      case 5:
        x_ = net.concat({x_, x_}, between(random_, 1, 3));
        return;
      case 6:
        x_ = net.emit("pad", {x_, number(between(random_, 1, 3)), number(1), number(between(random_, 0, 2)),
                              number(between(random_, -128, 127))});
        return;
      case 7:
        return cut(net.emit("add", {net.cast(x_, i32), net.cast(x_, i32)}), 3);
      default:
        return cut(net.emit("mul", {net.cast(x_, i32), number(between(random_, -100, 100))}), 8);
    }
  }

  std::mt19937_64 random_;
  ValueId x_, kept_;
};

}  // namespace

TEST_CASE("[lowering] random integer nets run on the exact engine as on the host") {
  for (const std::uint64_t seed : random_seeds(60, 10'000)) {
    CAPTURE(seed);
    RandomNet made(seed);
    check_equal(made.net, made.random(), 2);
  }
}

}  // namespace taskspec::lowering_test
