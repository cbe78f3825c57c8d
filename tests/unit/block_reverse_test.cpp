// Reverses of block graphs against their twins: exact differences of plain loops for what is linear, the gradients of
// the same graph of tensors, plain loops over time for neurons.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "interp/exact/engine.hpp"
#include "interp/exact/real.hpp"
#include "ir/blocks/check.hpp"
#include "ir/blocks/reverse.hpp"
#include "ir/gradient/reverse.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/block_graphs.hpp"
#include "tests/unit/block_oracle.hpp"
#include "tests/unit/op_list_cases.hpp"
#include "tests/unit/random_blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::block_reverse_test {
using tests::BlockGraphMaker;

namespace {

using Reals = std::vector<double>;

Reals reals(const Array& array) {
  Reals values;
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(array.number(i));
  return values;
}

struct Reversed {
  BlockReversed made;
  RealEngine engine;
  // By name; contents of inputs by name.
  std::map<std::string, Reals> run(const std::map<std::string, Array>& given) {
    std::vector<Array> inputs;
    for (const BlockId id : engine.inputs()) inputs.push_back(given.at(made.graph[id].name));
    const std::vector<Array> out = engine.run(inputs);
    std::map<std::string, Reals> found;
    for (std::size_t i = 0; i < out.size(); ++i) found[made.graph[made.graph.outputs()[i]].name] = reals(out[i]);
    return found;
  }
};

Reversed reversed(const BlockGraph& graph, const BlockReverseOptions& options = {}) {
  BlockReversed made = reverse(graph, standard_blocks(), options).value_or_throw();
  RealEngine engine = RealEngine::make(std::make_shared<BlockGraph>(made.graph), standard_blocks()).value_or_throw();
  CHECK(engine.inputs().size() == made.inputs.size());
  return {std::move(made), std::move(engine)};
}

// The storage that feeds a cluster, as the records want it.
std::string_view storage_for(std::string_view block, std::string_view cluster) {
  if (cluster == "bias" || cluster == "alpha") return "SB";
  if (cluster == "weight") return block == "CVM" ? "SWFC" : block == "CC2D" ? "SW2D" : "SW";
  return block == "CC" ? "SIC" : block == "CC2D" ? "SIC2D" : block == "CVM" ? "SIFC" : "SI";
}

// A compute block with a storage for each cluster, named after it, and an output z.
BlockGraph around(const RandomBlock& one) {
  BlockGraphMaker make("g");
  const BlockId block = make.block("c", one.block.def->name, one.block.precision, one.block.shape);
  make.graph.blocks[block.index()] = one.block;
  for (std::size_t c = 0; c < one.in.size(); ++c) {
    if (!one.in[c].valid()) continue;
    const ClusterDef& cluster = one.block.in_cluster(c);
    const std::string name = one.block.in_cluster_name(c);
    BlockShape shape;
    const Extents extents = cluster_extents(one.block, cluster);
    std::size_t k = 0;
    for (const BlockAxis axis : cluster.axes) {
      const bool there = cluster.windowed && axis == BlockAxis::y   ? read_extent(one.block, axis) != 0
                         : cluster.windowed && axis == BlockAxis::x ? read_extent(one.block, axis) != 0
                                                                    : one.block.shape[axis] != 0;
      if (there) shape[axis] = extents[k++];
    }
    const BlockId storage =
        make.block(name, storage_for(one.block.def->name, cluster.name), one.in[c].precision(), shape);
    make.edge(storage, block, name);
  }
  const BlockShape& s = one.block.shape;
  const BlockId out = make.block("z", "OUTPUT", one.block.precision, {.y = s.y, .x = s.x, .f = s.f});
  make.edge(block, out);
  return make.graph;
}

Array moved(const Array& from, std::int64_t place, std::int64_t by) {
  Array made = Array::make(from.type());
  for (std::int64_t i = 0; i < from.elements(); ++i) made.set_integer(i, from.integer(i) + (i == place ? by : 0));
  return made;
}

double weighted(const RandomBlock& one, const Array& dy) {
  const std::vector<std::int64_t> out = plain_block(one.block, one.in, BlockMode::chip);
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    sum += static_cast<double>(out[i]) * static_cast<double>(dy.integer(static_cast<std::int64_t>(i)));
  return sum;
}

}  // namespace

TEST_CASE("reverses of sums and products are the differences of plain loops [reverse]") {
  constexpr std::string_view names[] = {"CC", "CC2D", "CVM", "CADD", "CAVG", "CVVH", "CAX", "CVS"};
  int compared = 0, refused = 0;
  for (std::uint64_t seed : random_seeds(160, 2000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomBlock one = random_block(random, names[seed % std::size(names)], false);
    CAPTURE(std::string(one.block.def->name));
    CAPTURE(one.block.shape.text());
    for (std::size_t c = 0; c < one.in.size(); ++c) {
      if (!one.in[c].valid()) continue;
      const bool is_signed = one.in[c].precision() != Precision::u8;
      const std::int64_t most = one.in[c].precision() == Precision::tern ? 0 : 5;
      one.in[c] = random_array(random, one.in[c].precision(), one.in[c].type().extents, is_signed ? -most : 1, most);
    }
    if (one.block.has("constant_a"))
      one.block.set(*one.block.def->find_attribute("constant_a"), between(random, -9, 9));
    if (one.block.has("constant_b"))
      one.block.set(*one.block.def->find_attribute("constant_b"), between(random, -9, 9));
    const BlockGraph graph = around(one);
    const Result<BlockReversed> tried = reverse(graph, standard_blocks(), {});
    if (!tried) {
      for (const Diag& diag : tried.diags().items())
        CHECK(diag.message.ends_with("all of its windows lie in the padding"));  // E4035
      ++refused;
      continue;
    }
    Reversed made = reversed(graph);
    const Array dy = random_array(random, Precision::i32, value_type(one.block).extents, -3, 3);
    std::map<std::string, Array> given{{"d_z", dy}};
    for (std::size_t c = 0; c < one.in.size(); ++c)
      if (one.in[c].valid()) given[one.block.in_cluster_name(c)] = one.in[c];
    const std::map<std::string, Reals> found = made.run(given);
    for (std::size_t c = 0; c < one.in.size(); ++c) {
      if (!one.in[c].valid()) continue;
      const std::string name = one.block.in_cluster_name(c);
      CAPTURE(name);
      const Reals& gradient = found.at("d_" + name);
      REQUIRE(static_cast<std::int64_t>(gradient.size()) == one.in[c].elements());
      // Some places are enough: one loop each.
      for (int k = 0; k < 6; ++k) {
        const std::int64_t place = between(random, 0, one.in[c].elements() - 1);
        RandomBlock up = one, down = one;
        up.in[c] = moved(one.in[c], place, 1), down.in[c] = moved(one.in[c], place, -1);
        const double wanted = (weighted(up, dy) - weighted(down, dy)) / 2;
        REQUIRE(gradient[static_cast<std::size_t>(place)] == wanted);
        ++compared;
      }
    }
  }
  CHECK(compared > 500);
  CHECK(refused < compared / 100);
}

namespace {

Value number(std::int64_t value) { return Value(value); }

// x -> CC -> relu -> CAVG -> CVM -> z, with weights w and v.
BlockGraph small_net(Precision held, std::int64_t shift) {
  BlockGraphMaker make("net");
  const Precision wide = held == Precision::f32 ? held : Precision::i32;
  const BlockId x = make.block("x", "SIC", held, {.y = 6, .x = 6, .r = 2});
  const BlockId w = make.block("w", "SW", held, {.f = 3, .r = 2, .ky = 3, .kx = 3});
  const BlockId conv =
      make.block("conv", "CC", wide, {.y = 4, .x = 4, .f = 3, .r = 2, .ky = 3, .kx = 3, .iy = 6, .ix = 6});
  const BlockId sum = make.block("sum", "SI", wide, {.y = 4, .x = 4, .f = 3});
  const BlockId relu = make.block("relu", "CCMPB", held, {.y = 4, .x = 4, .f = 3}, {{"cmp", 0}, {"shift", shift}});
  const BlockId kept = make.block("kept", "SI", held, {.y = 4, .x = 4, .f = 3});
  const BlockId pool = make.block("pool", "CAVG", wide, {.y = 2, .x = 2, .f = 3, .ky = 2, .kx = 2, .iy = 4, .ix = 4},
                                  {{"stride_y", 2}, {"stride_x", 2}});
  const BlockId pooled = make.block("pooled", "SI", wide, {.y = 2, .x = 2, .f = 3});
  const BlockId cut = make.block("cut", "CCMPB", held, {.y = 2, .x = 2, .f = 3}, {{"cmp", -128}, {"shift", shift / 2}});
  const BlockId line = make.block("line", "SIFC", held, {.r = 12});
  const BlockId v = make.block("v", "SWFC", held, {.f = 4, .r = 12});
  const BlockId dense = make.block("dense", "CVM", wide, {.f = 4, .r = 12});
  const BlockId z = make.block("z", "OUTPUT", wide, {.f = 4});
  make.edge(x, conv, "input");
  make.edge(w, conv, "weight");
  make.edge(conv, sum);
  make.edge(sum, relu);
  make.edge(relu, kept);
  make.edge(kept, pool);
  make.edge(pool, pooled);
  make.edge(pooled, cut);
  make.edge(cut, line, "input", {{"reshape", {}}});
  make.edge(line, dense, "input");
  make.edge(v, dense, "weight");
  make.edge(dense, z);
  return make.graph;
}

Array changed(const Array& from, const Extents& extents, const std::vector<std::size_t>& order) {
  // Axis k of the result is axis order[k].
  Array made = Array::make({from.precision(), extents});
  const Extents source = from.type().extents;
  for (std::int64_t i = 0; i < made.elements(); ++i) {
    Extents at(extents.size());
    std::int64_t left = i;
    for (std::size_t k = extents.size(); k-- > 0;) at[order[k]] = left % extents[k], left /= extents[k];
    std::int64_t place = 0;
    for (std::size_t k = 0; k < source.size(); ++k) place = place * source[k] + at[k];
    made.set_number(i, from.number(place));
  }
  return made;
}

Array seen_as(const Array& from, const Extents& extents) {
  return Array::wrap({from.precision(), extents}, from.storage());
}

}  // namespace

TEST_CASE("the reverse of a network is that of its tensors [reverse]") {
  OpListBuilder list;
  const ValueId x = list.input({"x", Privilege::in, {}}, f64_type({1, 2, 6, 6}));
  const ValueId w = list.input({"w", Privilege::in, {}}, f64_type({3, 2, 3, 3}));
  const ValueId v = list.input({"v", Privilege::in, {}}, f64_type({4, 12}));
  const ValueId conv = emit(list, "conv2d", {x, w, Value(), number(1), number(0), number(1), number(1)});
  const ValueId pool = emit(list, "avg_pool", {emit(list, "relu", {conv}), number(2), number(2), number(0)});
  const ValueId y = emit(list, "matmul", {v, emit(list, "reshape", {pool, number(12), number(1)})});
  const OpList net = std::move(list).finish(FunctionId(0), "net", {{"y", y}});
  const Array xs = random_array(ArrayType{Precision::f64, {1, 2, 6, 6}}, 1);
  const Array ws = random_array(ArrayType{Precision::f64, {3, 2, 3, 3}}, 2);
  const Array vs = random_array(ArrayType{Precision::f64, {4, 12}}, 3);
  const Array dy = random_array(ArrayType{Precision::f64, {4, 1}}, 4);
  const Reverse twin = reverse(net, {{true}, {true, true, true}}, standard_ops());
  const std::vector<Array> forward = run_list(net, {xs, ws, vs});
  std::vector<Array> given{dy};
  for (ValueId value : twin.reads) given.push_back(forward[value.index()]);
  const std::vector<Array> values = run_list(twin.list, given);
  auto wanted = [&](std::size_t input) { return values[twin.list.outputs[input].value.index()]; };

  // Blocks have (y, x, f), and sums in place of means: 4 times the gradient of the mean. They cut nothing: shift 0.
  Reversed blocks = reversed(small_net(Precision::i8, 0));
  const Array v_blocks = changed(seen_as(vs, {4, 3, 2, 2}), {4, 2, 2, 3}, {0, 2, 3, 1});
  Array quarter = Array::make({Precision::f64, {4}});
  for (std::int64_t i = 0; i < 4; ++i) quarter.set_number(i, dy.number(i) / 4);
  const std::map<std::string, Reals> found =
      blocks.run({{"x", changed(xs, {6, 6, 2, 1}, {2, 3, 1, 0})}, {"w", ws}, {"v", v_blocks}, {"d_z", quarter}});
  auto compare = [&](const Reals& ours, const Array& theirs, double factor) {
    REQUIRE(static_cast<std::int64_t>(ours.size()) == theirs.elements());
    for (std::size_t i = 0; i < ours.size(); ++i)
      CHECK(ours[i] * factor == doctest::Approx(theirs.number(static_cast<std::int64_t>(i))).epsilon(1e-5));
  };
  compare(found.at("d_x"), changed(wanted(0), {6, 6, 2, 1}, {2, 3, 1, 0}), 1);
  compare(found.at("d_w"), wanted(1), 1);
  compare(found.at("d_v"), changed(seen_as(wanted(2), {4, 3, 2, 2}), {4, 2, 2, 3}, {0, 2, 3, 1}), 1);
}

TEST_CASE("a fake-quantised network computes as the chip, and its gradients pass what is not cut off [reverse]") {
  std::mt19937_64 random(11);
  const BlockGraph graph = small_net(Precision::i8, 4);
  const Array x = random_array(random, Precision::i8, {6, 6, 2}, -60, 60);
  const Array w = random_array(random, Precision::i8, {3, 2, 3, 3}, -20, 20);
  const Array v = random_array(random, Precision::i8, {4, 12}, -5, 5), dy = random_array(random, Precision::i8, {4});
  auto chip_graph = std::make_shared<BlockGraph>(graph);
  for (TaskBlock& block : chip_graph->blocks) {
    if (block.name == "w") block.data = w;
    if (block.name == "v") block.data = v;
  }
  CHECK(check_blocks(*chip_graph, standard_blocks()).items().empty());
  ExactEngine chip = ExactEngine::make(chip_graph, {}).value_or_throw();
  chip.run(std::vector{x});
  Reversed made = reversed(graph, {.fake_quant = true, .wanted = {}});
  const auto found = made.run({{"x", x}, {"w", w}, {"v", v}, {"d_z", dy}});
  auto id = [&](std::string_view name) {
    return BlockId(
        static_cast<std::size_t>(std::ranges::find(graph.blocks, name, &TaskBlock::name) - graph.blocks.begin()));
  };
  for (const char* name : {"sum", "kept", "pooled", "line", "z"}) {
    const auto ours = made.engine.values(id(name));
    const Reals theirs = reals(chip.value(id(name)));
    CHECK(std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end()));
  }
  // Back by hand to the sums of the convolution.
  const Array sum = chip.value(id("sum")), pooled = chip.value(id("pooled"));
  Reals d_sum(48);
  int cut_off = 0;
  for (std::int64_t i = 0; i < 48; ++i) {
    const std::int64_t f = i % 3, px = i / 3 % 4 / 2, py = i / 12 / 2, p = (py * 2 + px) * 3 + f;
    double back = 0;
    for (std::int64_t o = 0; o < 4; ++o) back += static_cast<double>(dy.integer(o) * v.integer(o * 12 + p));
    const bool second = pooled.integer(p) > -128 * 4 && pooled.integer(p) < 128 * 4;
    const bool first = sum.integer(i) > 0 && sum.integer(i) < 128 * 16;
    cut_off += sum.integer(i) >= 128 * 16 ? 1 : 0;
    d_sum[static_cast<std::size_t>(i)] = first && second ? back / 4 / 16 : 0;
  }
  CHECK(cut_off > 0);
  Reals d_x(72);
  for (std::int64_t oy = 0; oy < 4; ++oy)
    for (std::int64_t ox = 0; ox < 4; ++ox)
      for (std::int64_t f = 0; f < 3; ++f)
        for (std::int64_t k = 0; k < 18; ++k)
          d_x[static_cast<std::size_t>(((oy + k % 9 / 3) * 6 + ox + k % 3) * 2 + k / 9)] +=
              d_sum[static_cast<std::size_t>((oy * 4 + ox) * 3 + f)] * static_cast<double>(w.integer(f * 18 + k));
  CHECK(found.at("d_x") == d_x);
}

TEST_CASE("what an edge has moved goes back where it came from [reverse]") {
  using Moves = std::vector<std::pair<std::string_view, std::vector<std::int64_t>>>;
  struct Case {
    Moves moves;
    BlockShape to;
  };
  const Case cases[] = {{{{"reflect", {1}}, {"shift", {1, -1}}}, {.y = 3, .x = 4, .f = 2}},
                        {{{"shift", {2, 3, 1}}}, {.y = 3, .x = 4, .f = 2}},
                        {{{"rotate", {90}}}, {.y = 4, .x = 3, .f = 2}},
                        {{{"permute", {2, 0, 1}}, {"reflect", {0}}}, {.y = 2, .x = 3, .f = 4}},
                        {{{"affine", {2, 0, 1, 0, 1, 0}}}, {.y = 3, .x = 9, .f = 2}},
                        {{{"affine", {0, -1, 2, 1, 0, 1}}}, {.y = 5, .x = 4, .f = 2}},
                        {{{"shear", {1, 0}}}, {.y = 3, .x = 7, .f = 2}},
                        {{{"reshape", {0, 1, 2}}}, {.f = 24}},
                        {{{"reshape", {}}}, {.y = 6, .x = 2, .f = 2}}};
  for (const Case& one : cases) {
    CAPTURE(std::string(one.moves[0].first));
    BlockGraphMaker make("g");
    // Twice: one part alone, and all of it, so that gradients add.
    const BlockId x = make.block("x", "SI", Precision::i8, {.y = 3, .x = 4, .f = 2});
    const BlockId a = make.block("a", "SI", Precision::i8, one.to),
                  part = make.block("part", "SI", Precision::i8, {.y = 2, .x = 2, .f = 1});
    const BlockId z = make.block("z", "OUTPUT", Precision::i8, one.to),
                  q = make.block("q", "OUTPUT", Precision::i8, {.y = 2, .x = 2, .f = 1});
    make.edge(x, a, "input", one.moves);
    make.edge(a, z);
    make.edge(x, part).from.box = Box{{1, 1, 1}, {2, 2, 1}};
    make.edge(part, q);
    const IndexMap map =
        compose(make.graph.edges[0].moves, {3, 4, 2}, value_type(make.graph[a]).extents, {}).value_or_throw();
    std::mt19937_64 random(3);
    const Array dz = random_array(random, Precision::i8, value_type(make.graph[a]).extents);
    const Array dq = random_array(random, Precision::i8, {2, 2, 1});
    Reals wanted(24);
    for (std::int64_t i = 0; i < dz.elements(); ++i)
      if (map.place(i) >= 0) wanted[static_cast<std::size_t>(map.place(i))] += static_cast<double>(dz.integer(i));
    for (std::int64_t i = 0; i < 4; ++i)
      wanted[static_cast<std::size_t>(((1 + i / 2) * 4 + 1 + i % 2) * 2 + 1)] += static_cast<double>(dq.integer(i));
    Reversed made = reversed(make.graph);
    const Array any = random_array(random, Precision::i8, {3, 4, 2});
    CHECK(made.run({{"x", any}, {"d_z", dz}, {"d_q", dq}}).at("d_x") == wanted);
  }
}

TEST_CASE("neurons over time have the slope of a rectangle around their threshold [reverse]") {
  for (const std::int64_t mode : {0, 1, 3}) {
    CAPTURE(mode);
    BlockGraphMaker make("g");
    const BlockId u = make.block("u", "SI", Precision::i32, {.f = 5}),
                  v = make.block("v", "SI", Precision::i28, {.f = 5});
    const BlockId c = make.block("c", "CLIF", Precision::i8, {.f = 5},
                                 {{"vth0", 40}, {"reset_mode", mode}, {"vleaky_adpt_en", 1}, {"vleaky_alpha", 192}});
    const BlockId z = make.block("z", "OUTPUT", Precision::i8, {.f = 5});
    make.edge(u, c, "input");
    make.edge(v, c, "state");
    make.edge(c, z);
    const std::int64_t window = 16, steps = 6;
    Reversed made = reversed(make.graph, {.window = window, .wanted = {}});
    std::mt19937_64 random(9);
    // Forward by hand, in reals.
    std::vector<Reals> potential(1, Reals(5)), charged;
    std::vector<Array> inputs, upstream;
    for (std::int64_t t = 0; t < steps; ++t) {
      inputs.push_back(random_array(random, Precision::i32, {5}, -20, 60));
      upstream.push_back(random_array(random, Precision::i32, {5}, -9, 9));
      Reals all(5), left(5);
      for (std::size_t i = 0; i < 5; ++i) {
        all[i] = potential.back()[i] + static_cast<double>(inputs.back().integer(static_cast<std::int64_t>(i)));
        left[i] = (all[i] > 40 ? (mode == 0 ? 0 : mode == 1 ? all[i] - 40 : all[i]) : all[i]) * 0.75;
      }
      charged.push_back(all), potential.push_back(left);
    }
    Array next = Array::make({Precision::f64, {5}});
    Reals wanted_next(5);
    for (std::int64_t t = steps; t-- > 0;) {
      Array state = Array::make({Precision::f64, {5}});
      for (std::int64_t i = 0; i < 5; ++i)
        state.set_number(i, potential[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)]);
      const auto found = made.run({{"u", inputs[static_cast<std::size_t>(t)]},
                                   {"v", state},
                                   {"d_z", upstream[static_cast<std::size_t>(t)]},
                                   {"next_v", next}});
      for (std::size_t i = 0; i < 5; ++i) {
        const double v1 = charged[static_cast<std::size_t>(t)][i];
        const double near = v1 > 40 - window && v1 <= 40 + window ? 1.0 / (2 * window) : 0;
        const double stays = mode == 0 && v1 > 40 ? 0 : 0.75;
        wanted_next[i] =
            near * static_cast<double>(upstream[static_cast<std::size_t>(t)].integer(static_cast<std::int64_t>(i))) +
            stays * wanted_next[i];
        CHECK(found.at("d_u")[i] == doctest::Approx(wanted_next[i]).epsilon(1e-5));
        CHECK(found.at("d_v")[i] == doctest::Approx(wanted_next[i]).epsilon(1e-5));
        next.set_number(static_cast<std::int64_t>(i), found.at("d_v")[i]);
      }
    }
  }
}

TEST_CASE("what has no reverse is named, all of it [reverse]") {
  BlockGraphMaker make("g");
  const BlockId x = make.block("x", "SI", Precision::i8, {.y = 4, .x = 4, .f = 2});
  const BlockId pool =
      make.block("pool", "CCMPB", Precision::i8, {.y = 2, .x = 2, .f = 2, .ky = 2, .kx = 2, .iy = 4, .ix = 4},
                 {{"stride_y", 2}, {"stride_x", 2}, {"cmp", -128}});
  const BlockId h = make.block("h", "SI", Precision::i8, {.y = 2, .x = 2, .f = 2});
  const BlockId t = make.block("t", "SB", Precision::i8, {.f = 256}),
                look = make.block("look", "CLUT", Precision::i8, {.y = 2, .x = 2, .f = 2});
  const BlockId z = make.block("z", "OUTPUT", Precision::i8, {.y = 2, .x = 2, .f = 2});
  make.edge(x, pool);
  make.edge(pool, h);
  make.edge(h, look, "input");
  make.edge(t, look, "table");
  make.edge(look, z);
  const Result<BlockReversed> refused = reverse(make.graph, standard_blocks(), {});
  REQUIRE(!refused);
  REQUIRE(refused.diags().items().size() == 1);
  CHECK(refused.diags().items()[0].message == "CLUT 'look' has no reverse: a table has no slope");
  make.graph.blocks[look.index()].def = standard_blocks().find("CVS");
  make.graph.edges.erase(make.graph.edges.begin() + 3);
  const Result<BlockReversed> pooled = reverse(make.graph, standard_blocks(), {});
  REQUIRE(!pooled);
  CHECK(pooled.diags().items()[0].message ==
        "CCMPB 'pool' has no reverse: no block says which place of a window the largest came from");
}

}  // namespace taskspec::block_reverse_test
