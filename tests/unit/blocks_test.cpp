// The records of blocks, what they cost on a chip, and precisions in its memory.
#include "stdlib/blocks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "ir/blocks/cost.hpp"
#include "ir/blocks/pack.hpp"
#include "ir/blocks/rewrites.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::blocks_test {

namespace {

TaskBlock block_of(std::string_view name, const BlockShape& shape, Precision precision,
                   BiasKind bias = BiasKind::none) {
  TaskBlock block;
  block.def = standard_blocks().find(name);
  block.name = "b";
  block.shape = shape;
  block.precision = precision;
  block.bias = bias;
  return block;
}

}  // namespace

TEST_CASE("every block of the schema has its number, clusters and attributes [ir-blocks]") {
  const BlockTable blocks = standard_blocks();
  const std::pair<std::string_view, int> numbers[] = {
      {"SI", 0},      {"SW", 1},       {"SIC2D", 2},       {"SIFC", 3},   {"SIC", 4},   {"SB", 5},    {"SWFC", 6},
      {"SW2D", 7},    {"CADD", 8},     {"CVVH", 9},        {"CVM", 10},   {"CC", 11},   {"CAX", 12},  {"CC2D", 13},
      {"CVS", 14},    {"CCMPB", 15},   {"CAVG", 16},       {"CCMPS", 17}, {"CLUT", 18}, {"CLIF", 19}, {"INPUT", 50},
      {"OUTPUT", 51}, {"SWITCH", 200}, {"PREDICATE", 201}, {"SS", 202}};  // ours
  CHECK(blocks.all().size() == std::size(numbers));
  for (auto [name, number] : numbers) {
    CAPTURE(std::string(name));
    REQUIRE(blocks.find(name));
    CHECK(blocks.find(name)->number == number);
    CHECK(blocks.find(number) == blocks.find(name));
  }
  CHECK(blocks.find("SO") == blocks.find("OUTPUT"));
  CHECK(blocks.find("TASK_NULL") == nullptr);
  CHECK(blocks.attributes().size() == 43);
  for (int i = 100; i < 105; ++i) CHECK(blocks.attribute(i)->number == i);  // ours
  for (int i = 0; i < 38; ++i) CHECK(blocks.attribute(i)->number == i);
  CHECK(blocks.attribute("BIT_SHIGT_NUM") == blocks.attribute("shift"));
}

TEST_CASE("clusters by name, by position and with their extents [ir-blocks]") {
  TaskBlock conv = block_of("CC2D", {.y = 24, .x = 24, .f = 6, .r = 1, .ky = 5, .kx = 5}, Precision::i32);
  CHECK(cluster_extents(conv, conv.in_cluster(0)) == Extents{28, 28, 1});
  CHECK(cluster_extents(conv, conv.in_cluster(*conv.in_cluster_named("weight"))) == Extents{6, 1, 5, 5});
  CHECK(value_type(conv).extents == Extents{24, 24, 6});
  conv.shape.iy = 29;  // a row that no window reaches
  CHECK(cluster_extents(conv, conv.in_cluster(0)) == Extents{29, 28, 1});
  TaskBlock sum = block_of("CADD", {.f = 8}, Precision::i32, BiasKind::vector);
  sum.branches = 3;
  CHECK(sum.in_clusters() == 4);
  CHECK(sum.in_cluster_named("input") == 0);
  CHECK(sum.in_cluster_named("input3") == 2);
  CHECK(sum.in_cluster_named("bias") == 3);
  CHECK(sum.in_cluster_name(1) == "input2");
  CHECK(sum.in_cluster(3).name == "bias");
  for (const char* wrong : {"input1", "input0", "input02", "inputs", "weight", ""}) CHECK(!sum.in_cluster_named(wrong));
  const TaskBlock table = block_of("CLUT", {.f = 8}, Precision::i8);
  CHECK(cluster_extents(table, table.in_cluster(1)) == Extents{256});
}

TEST_CASE("bytes of storage in the memory of a chip [ir-blocks]") {
  CHECK(stored_bytes(block_of("SI", {.y = 28, .x = 28, .f = 6}, Precision::i32)) == 100'352);
  CHECK(stored_bytes(block_of("SW2D", {.f = 6, .r = 1, .ky = 5, .kx = 5}, Precision::i8)) == 800);
  CHECK(stored_bytes(block_of("SWFC", {.f = 120, .r = 400}, Precision::i8)) == 51'200);
  CHECK(stored_bytes(block_of("SIC2D", {.y = 32, .x = 30, .r = 1}, Precision::i8)) == 1'024);
  CHECK(stored_bytes(block_of("SI", {.y = 2, .x = 2, .f = 70}, Precision::tern)) == 4 * 32);
  CHECK(stored_bytes(block_of("SB", {.f = 6}, Precision::i32)) == 32);
  CHECK(stored_bytes(block_of("CC", {.y = 2, .x = 2, .f = 70}, Precision::i32)) == 0);
  TaskBlock rows = block_of("SIC", {.y = 8, .x = 8, .r = 32}, Precision::i8);
  rows.pipeline = 3;
  CHECK(stored_bytes(rows) == 3 * 8 * 32);
}

TEST_CASE("multiply-adds and other operations [ir-blocks]") {
  CHECK(multiply_adds(block_of("CC", {.y = 10, .x = 10, .f = 16, .r = 6, .ky = 5, .kx = 5}, Precision::i32)) ==
        240'000);
  CHECK(multiply_adds(block_of("CVM", {.f = 120, .r = 400}, Precision::i32)) == 48'000);
  CHECK(multiply_adds(block_of("CAVG", {.y = 2, .x = 2, .f = 3, .ky = 2, .kx = 2}, Precision::i32)) == 0);
  CHECK(operations(block_of("CAVG", {.y = 2, .x = 2, .f = 3, .ky = 2, .kx = 2}, Precision::i32)) == 48);
  CHECK(operations(block_of("CLIF", {.f = 10}, Precision::i8)) == 120);
}

TEST_CASE("order of blocks, and a cycle with its path [ir-blocks]") {
  BlockGraph graph;
  for (const char* name : {"a", "b", "c", "d"}) {
    graph.blocks.push_back(block_of("SI", {.f = 1}, Precision::i8));
    graph.blocks.back().name = name;
  }
  auto connect = [&](std::size_t from, std::size_t to, int delay) {
    BlockEdge edge;
    edge.from = {BlockId(from), 0, whole({1})};
    edge.to = {BlockId(to), 0, whole({1})};
    edge.delay = delay;
    graph.edges.push_back(edge);
  };
  connect(3, 0, 0);
  connect(0, 1, 0);
  connect(1, 3, 1);  // back, a step later
  CHECK(*graph.order() == std::vector{BlockId(3), BlockId(0), BlockId(1), BlockId(2)});
  connect(1, 3, 0);
  const Result<std::vector<BlockId>> order = graph.order();
  REQUIRE(!order);
  CHECK(order.diags().items()[0].code.text() == "E3002");
  CHECK(order.diags().items()[0].message == "block graph has a cycle: a -> b -> d -> a");
}

// ---- precisions -----------------------------------------------------------------------------------

TEST_CASE("ranges and bits of precisions [precision]") {
  const std::tuple<Precision, std::int64_t, std::int64_t, std::int64_t> rows[] = {
      {Precision::i8, -128, 127, 8},
      {Precision::u8, 0, 255, 8},
      {Precision::i16, -32768, 32767, 16},
      {Precision::u16, 0, 65535, 16},
      {Precision::i32, INT32_MIN, INT32_MAX, 32},
      {Precision::u32, 0, UINT32_MAX, 32},
      {Precision::tern, -1, 1, 2},
      {Precision::i28, -134217728, 134217727, 32},
      {Precision::u4, 0, 15, 4},
      {Precision::i9, -256, 255, 16}};
  for (auto [precision, least, most, bits] : rows) {
    CAPTURE(std::string(info(precision).name));
    CHECK(info(precision).minimum == least);
    CHECK(info(precision).maximum == most);
    CHECK(packed_bits(precision) == bits);
  }
  CHECK(packed_bits(Precision::f16) == 16);
}

TEST_CASE("packing: low nibbles first, two bits of a tern, and back [precision]") {
  CHECK(pack(make_array(Precision::u4, {3}, {1, 2, 15})) == std::vector{std::byte{0x21}, std::byte{0x0f}});
  CHECK(pack(make_array(Precision::tern, {5}, {0, 1, -1, 1, -1})) ==
        std::vector{std::byte{0b01110100}, std::byte{0b11}});
  CHECK(pack(make_array(Precision::i9, {1}, {-256})) == std::vector{std::byte{0x00}, std::byte{0xff}});
  const std::byte two[] = {std::byte{0b10}}, wide[] = {std::byte{0}, std::byte{1}};
  CHECK(!unpack(two, {Precision::tern, {1}}));  // has no value
  CHECK(!unpack(wide, {Precision::i9, {1}}));   // 256
  CHECK(!unpack(wide, {Precision::u4, {5}}));   // too few
  for (std::uint64_t seed : random_seeds(100, 1'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (const PrecisionInfo& precision : all_precisions()) {
      if (precision.is_float || precision.bytes == 8) continue;
      const Array array = random_array(random, *precision_of(precision.name), {between(random, 0, 20)});
      const std::vector<std::byte> packed = pack(array);
      CHECK(packed.size() == packed_bytes(array.type()));
      CHECK(integers_of(*unpack(packed, array.type())) == integers_of(array));
    }
  }
}

TEST_CASE("conversion saturates, rounds half to even, and knows no nan [precision]") {
  using Numbers = std::vector<std::int64_t>;
  Array floats = Array::make({Precision::f32, {7}});
  const double values[] = {0.5, 1.5, -2.5, 127.5, -1e9, NAN, INFINITY};
  for (int i = 0; i < 7; ++i) floats.set_number(i, values[i]);
  std::int64_t cuts = 0;
  CHECK(integers_of(converted(floats, Precision::i8, &cuts)) == Numbers{0, 2, -2, 127, -128, 0, 127});
  CHECK(cuts == 3);
  CHECK(integers_of(converted(floats, Precision::tern)) == Numbers{0, 1, -1, 1, -1, 0, 1});
  const Array wide = make_array(Precision::i32, {5}, {-300, -2, 0, 9, 1 << 30});
  CHECK(integers_of(converted(wide, Precision::tern)) == Numbers{-1, -1, 0, 1, 1});
  CHECK(integers_of(converted(wide, Precision::u4)) == Numbers{0, 0, 0, 9, 15});
  CHECK(integers_of(converted(wide, Precision::i9)) == Numbers{-256, -2, 0, 9, 255});
  CHECK(integers_of(converted(wide, Precision::i28)) == Numbers{-300, -2, 0, 9, 134217727});
  CHECK(converted(wide, Precision::f16).number(0) == -300);
  CHECK(std::isinf(converted(wide, Precision::f16).number(4)));
}

TEST_CASE("a block is cut only where its record says, into parts that add up [split]") {
  const TaskBlock table = block_of("CLUT", {.f = 4}, Precision::i8);
  CHECK(split(table, BlockAxis::f, {1, 3}));
  for (const auto& wrong : {split(table, BlockAxis::r, {2, 2}), split(table, BlockAxis::f, {1, 2})}) {
    REQUIRE_FALSE(wrong);
    CHECK(wrong.diags().items()[0].code == Code("E4002"));
  }
}

}  // namespace taskspec::blocks_test
