// The exact engine: several edges into one cluster, delays, states, reports, and which loop a sum takes.
#include <doctest/doctest.h>

#include "stdlib/blocks.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/failing_memory.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::exact_engine_test {

namespace {

using Numbers = std::vector<std::int64_t>;

// A graph by hand.
struct GraphMaker {
  std::shared_ptr<BlockGraph> graph = std::make_shared<BlockGraph>();

  BlockId add(std::string_view type, const BlockShape& shape, Precision precision) {
    TaskBlock block;
    block.def = standard_blocks().find(type);
    block.name = "b" + std::to_string(graph->blocks.size());
    block.shape = shape;
    block.precision = precision;
    graph->blocks.push_back(block);
    return BlockId(graph->blocks.size() - 1);
  }
  BlockId data(std::string_view type, const BlockShape& shape, const Array& contents) {
    const BlockId id = add(type, shape, contents.precision());
    graph->blocks[id.index()].data = contents;
    return id;
  }
  void set(BlockId id, std::string_view attribute, std::int64_t value) {
    TaskBlock& block = graph->blocks[id.index()];
    block.set(*block.def->find_attribute(attribute), value);
  }
  BlockEdge& connect(BlockId from, BlockId to, std::size_t cluster = 0) {
    BlockEdge edge;
    edge.from = {from, 0, whole(value_type(graph->blocks[from.index()]).extents)};
    const TaskBlock& target = graph->blocks[to.index()];
    edge.to = {to, static_cast<std::uint16_t>(cluster), whole(cluster_extents(target, target.in_cluster(cluster)))};
    graph->edges.push_back(edge);
    return graph->edges.back();
  }
  ExactEngine engine(const ExactOptions& options = {}) const {
    return ExactEngine::make(graph, options).value_or_throw();
  }
};

Array bytes(const Numbers& values) {
  return make_array(Precision::i8, {static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("edges concatenate, take parts and rearrange [ir-loops]") {
  GraphMaker m;
  const BlockId a = m.add("INPUT", {.f = 2}, Precision::i8), b = m.add("INPUT", {.f = 3}, Precision::i8);
  const BlockId joined = m.add("SI", {.f = 4}, Precision::i8), out = m.add("OUTPUT", {.f = 4}, Precision::i8);
  m.connect(a, joined).to.box = {{2}, {2}};
  BlockEdge& part = m.connect(b, joined);
  part.from.box = {{1}, {2}};
  part.to.box = {{0}, {2}};
  part.moves = {{.def = rearrangement_named("shuffle"), .numbers = {1, 0}}};
  m.connect(joined, out);
  ExactEngine engine = m.engine();
  CHECK(integers_of(engine.run(std::vector{bytes({1, 2}), bytes({3, 4, 5})})[0]) == Numbers{5, 4, 1, 2});
  CHECK(integers_of(engine.value(joined)) == Numbers{5, 4, 1, 2});
}

TEST_CASE("a delayed edge brings what was there so many steps ago [ir-loops]") {
  for (std::int32_t delay = 1; delay <= 3; ++delay) {
    CAPTURE(delay);
    GraphMaker m;
    const BlockId in = m.add("SI", {.f = 2}, Precision::i8), sum = m.add("CADD", {.f = 2}, Precision::i32);
    const BlockId kept = m.add("SI", {.f = 2}, Precision::i32), out = m.add("OUTPUT", {.f = 2}, Precision::i32);
    m.graph->blocks[sum.index()].branches = 2;
    m.connect(in, sum, 0);
    BlockEdge& back = m.connect(kept, sum, 1);
    back.delay = delay;
    back.initial = make_array(Precision::i32, {2}, {100, 200});
    m.connect(sum, kept);
    m.connect(kept, out);
    ExactEngine engine = m.engine();
    for (int round = 0; round < 2; ++round) {
      std::vector<Numbers> made;
      for (std::int64_t step = 0; step < 8; ++step) {
        const auto before = static_cast<std::size_t>(step - delay);
        const Numbers past = step < delay ? Numbers{100, 200} : made[before];
        made.push_back(integers_of(engine.run(std::vector{bytes({step, 1})})[0]));
        CHECK(made.back() == Numbers{past[0] + step, past[1] + 1});
      }
      engine.reset();
    }
  }
}

TEST_CASE("storage of a narrower precision cuts on a chip and keeps in rabbit mode [ir-loops]") {
  GraphMaker m;
  const BlockId in = m.add("SI", {.f = 2}, Precision::i8), sum = m.add("CADD", {.f = 2}, Precision::i32);
  const BlockId kept = m.add("SI", {.f = 2}, Precision::i8), out = m.add("OUTPUT", {.f = 2}, Precision::i8);
  m.graph->blocks[sum.index()].branches = 2;
  m.connect(in, sum, 0);
  m.connect(in, sum, 1);
  m.connect(sum, kept);
  m.connect(kept, out);
  ExactEngine chip = m.engine(), rabbit = m.engine({.mode = BlockMode::rabbit});
  CHECK(integers_of(chip.run(std::vector{bytes({-100, 60})})[0]) == Numbers{-128, 120});
  CHECK(chip.report().rows[kept.index()].saturations == 1);
  CHECK(integers_of(rabbit.run(std::vector{bytes({-100, 60})})[0]) == Numbers{-200, 120});
  CHECK(rabbit.output_types()[0].precision == Precision::i32);
}

TEST_CASE("neurons keep their state in the storage that feeds them [ir-loops]") {
  GraphMaker m;
  const BlockId u = m.add("SI", {.f = 2}, Precision::i32);
  const BlockId v = m.data("SI", {.f = 2}, make_array(Precision::i28, {2}, {0, 90}));
  const BlockId fire = m.add("CLIF", {.f = 2}, Precision::i8), out = m.add("OUTPUT", {.f = 2}, Precision::i8);
  m.set(fire, "vth0", 100);
  m.set(fire, "vleaky_beta", -2);
  m.connect(u, fire, 0);
  m.connect(v, fire, 1);
  m.connect(fire, out);
  CHECK(m.graph->inputs() == std::vector{u});
  ExactEngine engine = m.engine();
  const std::vector input{make_array(Precision::i32, {2}, {30, 30})};
  CHECK(integers_of(engine.run(input)[0]) == Numbers{0, 1});
  CHECK(integers_of(engine.value(v)) == Numbers{28, -2});
  CHECK(integers_of(engine.run(input)[0]) == Numbers{0, 0});
  CHECK(integers_of(engine.value(v)) == Numbers{56, 26});
  engine.reset();
  CHECK(integers_of(engine.value(v)) == Numbers{0, 90});
  CHECK(integers_of(engine.run(input)[0]) == Numbers{0, 1});
}

namespace {

// A product of 2^18 terms of at most 127 * 127 is beyond 2^31; whether one is depends on the weights and the input.
BlockCase long_product(std::int64_t weight, std::int64_t bias, std::int64_t input) {
  constexpr std::int64_t r = 1 << 18;
  BlockCase c("CVM", {.f = 1, .r = r}, Precision::i32);
  c.block().bias = BiasKind::vector;
  c.feed(0, make_array(Precision::i8, {r}, Numbers(static_cast<std::size_t>(r), input)), true);
  c.feed(1, make_array(Precision::i8, {1, r}, Numbers(static_cast<std::size_t>(r), weight)));
  c.feed(2, make_array(Precision::i32, {1}, {bias}));
  return c;
}

BlockRow row_of(const BlockCase& c, const ExactOptions& options = {}) {
  ExactEngine engine = c.engine(options);
  engine.run(c.inputs);
  return engine.report().rows[0];
}

}  // namespace

TEST_CASE("a sum that cannot overflow takes the fast loop, any other the ordered one [overflow]") {
  CHECK(row_of(long_product(63, 0, 100)).ordered_steps == 0);  // 63 * 128 * 2^18 < 2^31
  CHECK(row_of(long_product(64, 0, 100)).ordered_steps == 0);  // only with the actual input
  CHECK(row_of(long_product(64, 0, 127)).ordered_steps == 0);  // 64 * 127 * 2^18 < 2^31
  const BlockRow full = row_of(long_product(64, 0, -128));     // exactly 2^31
  CHECK(full.ordered_steps == 1);
  CHECK(full.reason == "a sum may reach 2147483648 (output 0): |bias| + sum |w| * 128 is not below 2^31");
  CHECK(row_of(long_product(1, INT32_MAX, 0)).ordered_steps == 0);  // a bias at the end, and nothing added
  CHECK(row_of(long_product(1, INT32_MAX, 1)).ordered_steps == 1);
  CHECK(row_of(long_product(127, 0, 127)).saturations > 0);
  CHECK(long_product(127, 0, 127).run({}).integer(0) == INT32_MAX);
  CHECK(long_product(127, 0, 127).run({.mode = BlockMode::rabbit}).integer(0) == INT32_MIN);
}

TEST_CASE("a sum that leaves 32 bits and comes back was cut on its way [overflow]") {
  BlockCase c("CVM", {.f = 1, .r = 4}, Precision::i32);
  c.block().bias = BiasKind::vector;
  c.feed(0, bytes({100, 100, -100, -100}), true);
  c.feed(1, make_array(Precision::i8, {1, 4}, {100, 100, 100, 100}));
  c.feed(2, make_array(Precision::i32, {1}, {INT32_MAX - 5'000}));
  CHECK(c.run({}).integer(0) == INT32_MAX - 20'000);
  CHECK(c.run({.mode = BlockMode::rabbit}).integer(0) == INT32_MAX - 5'000);
  CHECK(row_of(c).saturations == 2);
}

TEST_CASE("a report has work, bytes, ranges, zeros and who was in order [ir-loops]") {
  BlockCase c("CC", {.y = 2, .x = 2, .f = 1, .r = 1, .ky = 1, .kx = 1}, Precision::i32);
  c.feed(0, make_array(Precision::i8, {4}, {0, 1, -2, 3}), true);
  c.feed(1, make_array(Precision::i8, {1}, {5}));
  ExactEngine engine = c.engine({.statistics = true});
  engine.run(c.inputs);
  engine.run(c.inputs);
  const ExactReport report = engine.report();
  CHECK(report.steps == 2);
  CHECK(report.rows[0].multiply_adds == 4);
  CHECK(report.rows[0].range == ValueRange{-10, 15});
  CHECK(report.rows[0].zeros == 2);
  CHECK(report.rows[0].elements == 8);
  CHECK(report.total().multiply_adds == 4);
  CHECK(report.text().find("CC") != std::string::npos);
  engine.reset();
  CHECK(engine.report().steps == 0);
}

TEST_CASE("a run takes no memory [ir-loops]") {
  std::mt19937_64 random(1);
  GraphMaker m;
  const BlockId in = m.add("INPUT", {.y = 9, .x = 9, .f = 3}, Precision::i8);
  const BlockId turned = m.add("SIC", {.y = 9, .x = 9, .r = 3}, Precision::i8);
  const BlockId w = m.data("SW", {.f = 5, .r = 3, .ky = 3, .kx = 3}, random_array(random, Precision::i8, {5, 3, 3, 3}));
  const BlockId conv = m.add("CC", {.y = 7, .x = 7, .f = 5, .r = 3, .ky = 3, .kx = 3}, Precision::i32);
  const BlockId sums = m.add("SI", {.y = 7, .x = 7, .f = 5}, Precision::i32);
  const BlockId relu = m.add("CCMPB", {.y = 7, .x = 7, .f = 5}, Precision::i8);
  const BlockId kept = m.add("SI", {.y = 7, .x = 7, .f = 5}, Precision::i8);
  const BlockId out = m.add("OUTPUT", {.y = 7, .x = 7, .f = 5}, Precision::i8);
  m.set(relu, "shift", 8);
  m.connect(in, turned).moves = {{.def = rearrangement_named("reflect"), .numbers = {1}}};
  m.connect(turned, conv, 0);
  m.connect(w, conv, 1);
  m.connect(conv, sums);
  m.connect(sums, relu);
  m.connect(relu, kept);
  m.connect(kept, out);
  ExactEngine engine = m.engine({.statistics = true});
  const std::vector inputs{random_array(random, Precision::i8, {9, 9, 3})};
  std::vector<Array> outputs = engine.run(inputs);
  const Numbers first = integers_of(outputs[0]);
  FailingMemory memory(INT64_MAX);
  const std::int64_t before = memory.counted();
  engine.run(inputs, outputs);
  const std::int64_t after = memory.counted();
  memory.stop();
  CHECK(after == before);
  CHECK(integers_of(outputs[0]) == first);
}

// ---- all of CLIF, beside a plain population ----------------------------------------------------------

namespace {

std::int64_t cut_28(std::int64_t x) {
  return std::min<std::int64_t>(std::max<std::int64_t>(x, -(1LL << 27)), (1LL << 27) - 1);
}
std::int64_t floor_by(std::int64_t x, std::int64_t by) { return x >= 0 ? x / by : -((-x + by - 1) / by); }

struct PlainNeurons {
  BlockCase& block;
  Numbers v, count, theta, masks;
  std::uint32_t l = 1;
  std::int64_t tw = 0;
  std::int64_t a(const char* name) const { return block.block().attribute(name); }

  Numbers step(const Numbers& u) {
    Numbers out;
    const bool ends = tw >= a("tw_len");
    for (std::size_t i = 0; i < v.size(); ++i) {
      const std::uint32_t b = (l ^ l >> 1 ^ l >> 2 ^ l >> 3 ^ l >> 5 ^ l >> 7) & 1;
      l = b << 31 | l >> 1;
      const auto r = static_cast<std::int32_t>(l);
      const auto vm = static_cast<std::int32_t>(masks[i % masks.size()]);
      const auto m = static_cast<std::int32_t>(
          r >= 0 ? r & vm : static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(~r & vm)));
      std::int64_t m28 = m & 0xfffffff;
      if (m28 >= 1 << 27) m28 -= 1 << 28;
      const std::int64_t vth = std::max(cut_28(a("vth0") + theta[i] + m28), a("vl"));
      const std::int64_t v1 = cut_28(v[i] + (count[i] == 0 ? u[i] : 0));
      const bool spike = v1 > vth;
      const std::int64_t reset[] = {a("vr"), v1 - vth, v1 - a("dv"), v1};
      const std::int64_t kept = spike ? reset[a("reset_mode")] : v1;
      const std::int64_t leaked =
          (a("vleaky_adpt_en") ? floor_by(kept * a("vleaky_alpha"), 256) : kept) + a("vleaky_beta");
      v[i] = std::max(cut_28(ends ? a("vinit") : leaked), a("vl"));
      theta[i] = cut_28((a("vth_adpt_en") ? floor_by(theta[i] * a("vth_alpha"), 256) : theta[i]) + a("vth_beta") +
                        (spike ? a("vth_incre") : 0));
      count[i] = spike ? a("ref_len") : std::max<std::int64_t>(0, count[i] - 1);
      const std::int64_t by = std::int64_t{1} << a("shift");
      auto byte = [](std::int64_t x) { return std::min<std::int64_t>(127, std::max<std::int64_t>(-128, x)); };
      const std::int64_t fires[] = {v1,    v[i], byte(floor_by(v1, by)),           byte(floor_by(v[i], by)), spike,
                                    spike, m,    static_cast<std::int8_t>(m & 255)};
      out.push_back(fires[a("fire_type")]);
    }
    if (a("tw_en")) tw = tw == a("tw_len") ? 0 : tw + 1;
    return out;
  }
};

BlockCase random_neurons(std::mt19937_64& random, std::int64_t n, std::int64_t fire_type) {
  const Precision made[] = {Precision::i32, Precision::i32,  Precision::i8,  Precision::i8,
                            Precision::i8,  Precision::tern, Precision::i32, Precision::i8};
  BlockCase c("CLIF", {.f = n}, made[fire_type]);
  const auto maybe = [&] { return between(random, 0, 1); };
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"fire_type", fire_type},
      {"reset_mode", between(random, 0, 3)},
      {"vth0", between(random, 0, 400)},
      {"vr", between(random, -20, 20)},
      {"dv", between(random, 0, 200)},
      {"vl", -between(random, 0, 2'000)},
      {"vleaky_adpt_en", maybe()},
      {"vleaky_alpha", between(random, 200, 256)},
      {"vleaky_beta", between(random, -9, 2)},
      {"vth_adpt_en", maybe()},
      {"vth_alpha", between(random, 200, 256)},
      {"vth_beta", between(random, -3, 1)},
      {"vth_incre", maybe() * between(random, 0, 90)},
      {"ref_len", maybe() * between(random, 0, 3)},
      {"tw_en", maybe()},
      {"tw_len", between(random, 0, 6)},
      {"vinit", between(random, -9, 9)},
      {"seed", between(random, 1, INT32_MAX)},
      {"shift", 2 * between(random, 0, 4)},
      {"vtheta_const_en", maybe()},
      {"vtheta_const", between(random, -50, 50)},
      {"vm_const_en", maybe()},
      {"vm_const", maybe() * between(random, INT32_MIN, INT32_MAX)}};
  for (auto [name, value] : numbers) c.set(name, value);
  return c;
}

}  // namespace

TEST_CASE("neurons with all that they can do are plain loops [ir-loops]") {
  for (std::uint64_t seed : random_seeds(160, 4'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::int64_t n = between(random, 1, 20), fire_type = static_cast<std::int64_t>(seed % 8);
    CAPTURE(fire_type);
    BlockCase c = random_neurons(random, n, fire_type);
    const bool own_theta = c.block().attribute("vtheta_const_en") == 1,
               one_mask = c.block().attribute("vm_const_en") == 1;
    const Array v = random_array(random, Precision::i28, {n}, -300, 300),
                theta = random_array(random, Precision::i28, {n}, -50, 50);
    const Array masks = random_array(random, Precision::i32, {n}),
                count = random_array(random, Precision::u4, {n}, 0, 3);
    const bool has_count = between(random, 0, 1) == 1;
    c.feed(0, Array::make({Precision::i32, {n}}), true);
    c.feed(1, v);
    if (has_count) c.feed(2, count);
    if (!own_theta) c.feed(3, theta);
    if (!one_mask) c.feed(4, masks);
    PlainNeurons plain{.block = c, .v = integers_of(v), .count = {}, .theta = {}, .masks = {}};
    const auto count_of = static_cast<std::size_t>(n);
    plain.count = has_count ? integers_of(count) : Numbers(count_of, 0);
    plain.theta = own_theta ? Numbers(count_of, c.block().attribute("vtheta_const")) : integers_of(theta);
    plain.masks = one_mask ? Numbers{c.block().attribute("vm_const")} : integers_of(masks);
    plain.l = static_cast<std::uint32_t>(c.block().attribute("seed"));
    ExactEngine engine = c.engine({});
    for (int step = 0; step < 12; ++step) {
      const Array u = random_array(random, Precision::i32, {n}, -100, 300);
      REQUIRE(integers_of(engine.run(std::vector{u})[0]) == plain.step(integers_of(u)));
      REQUIRE(integers_of(engine.value(BlockId(2))) == plain.v);
    }
  }
}

}  // namespace taskspec::exact_engine_test
