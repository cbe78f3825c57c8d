// What check_blocks says of block graphs that are not well formed; random well formed ones:
// tests/unit/task_ir_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/blocks/check.hpp"
#include "tests/unit/block_graphs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::check_blocks_test {
using namespace taskspec::tests;

namespace {

std::string said(const BlockGraph& graph, BlockMode mode = BlockMode::chip) {
  std::vector<std::string> all;
  const Diags diags = check_blocks(graph, standard_blocks(), mode);
  for (const Diag& diag : diags.items()) all.push_back(diag.code.text() + " " + diag.message);
  return joined(all, "\n");
}

// img -> pad -> conv (w, b) -> held -> out
struct Front {
  BlockGraphMaker make{"front"};
  BlockId img = make.block("img", "SI", Precision::i8, {.y = 6, .x = 6, .f = 2});
  BlockId pad = make.block("pad", "SIC", Precision::i8, {.y = 6, .x = 6, .r = 2});
  BlockId w = make.block("w", "SW", Precision::i8, {.f = 3, .r = 2, .ky = 3, .kx = 3});
  BlockId b = make.block("b", "SB", Precision::i32, {.f = 3});
  BlockId conv = make.block("conv", "CC", Precision::i32, {.y = 4, .x = 4, .f = 3, .r = 2, .ky = 3, .kx = 3});
  BlockId held = make.block("held", "SI", Precision::i32, {.y = 4, .x = 4, .f = 3});
  BlockId out = make.block("out", "OUTPUT", Precision::i32, {.y = 4, .x = 4, .f = 3});
  std::vector<BlockEdge>& edges = make.graph.edges;

  Front() {
    make.edge(img, pad);
    make.edge(pad, conv);
    make.edge(w, conv, "weight");
    make.edge(b, conv, "bias");
    make.edge(conv, held);
    make.edge(held, out);
    make.graph.blocks[w.index()].data = make.data(w);
    make.graph.blocks[b.index()].data = make.data(b);
  }
  TaskBlock& block(BlockId id) { return make.graph.blocks[id.index()]; }
  std::string said(BlockMode mode = BlockMode::chip) const { return check_blocks_test::said(make.graph, mode); }
};

}  // namespace

TEST_CASE("a block graph that is well formed has no diagnostics [ir-blocks]") {
  CHECK(Front().said() == "");
  Front moved;  // rearranged on the way, and the sizes fit behind it
  moved.edges[0].moves = {{rearrangement_named("rotate"), {90}, {}}, {rearrangement_named("shift"), {0, -1, 1}, {}}};
  CHECK(moved.said() == "");
  Front whole_vector;  // extents of 1 may be left out at one end
  whole_vector.block(whole_vector.out).shape = {.y = 4, .x = 4, .f = 3};
  CHECK(whole_vector.said() == "");
}

TEST_CASE("clusters are tiled exactly, else both places are told [ir-blocks]") {
  BlockGraphMaker make("join");
  const BlockId a = make.block("a", "SI", Precision::i8, {.y = 4, .x = 4, .f = 2});
  const BlockId b = make.block("b", "SI", Precision::i8, {.y = 4, .x = 4, .f = 2});
  const BlockId both = make.block("both", "SI", Precision::i8, {.y = 4, .x = 4, .f = 4});
  make.edge(a, both).to.box = Box{{0, 0, 0}, {4, 4, 2}};
  make.edge(b, both).to.box = Box{{0, 0, 2}, {4, 4, 2}};
  CHECK(said(make.graph) == "");
  make.graph.edges[1].to.box.position[2] = 1;
  CHECK(said(make.graph) ==
        "E4003 two edges fill [0..4, 0..4, 1..2] of 'both': [0..4, 0..4, 0..2] and [0..4, 0..4, 1..3]\n"
        "E4003 no edge fills place [0, 0, 3] of 'both'");
  make.graph.edges[1].to.box.position[2] = 3;
  CHECK(said(make.graph) ==
        "E4003 [0..4, 0..4, 3..5] lies outside of 'both', which is [4, 4, 4]\n"
        "E4003 no edge fills place [0, 0, 2] of 'both'");
  make.graph.edges.pop_back();
  CHECK(said(make.graph) == "E4003 no edge fills place [0, 0, 2] of 'both'");
  make.graph.edges[0].from.box.size = {4, 4, 1};
  CHECK(said(make.graph).starts_with("E4003 'a' gives [4, 4, 1], and 'both' takes [4, 4, 2]"));
  Front front;
  std::erase_if(front.edges,
                [&](const BlockEdge& edge) { return edge.from.block == front.w || edge.from.block == front.b; });
  CHECK(front.said() == "E4003 nothing fills weight of CC 'conv'\nE4003 nothing fills bias of CC 'conv'");
}

// Element by element.
TEST_CASE("covers of random boxes are what counting says [ir-blocks]") {
  std::size_t exact = 0;
  for (const std::uint64_t seed : random_seeds(2000, 50'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto rank = static_cast<std::size_t>(between(random, 1, 3));
    Extents extents;
    for (std::size_t k = 0; k < rank; ++k) extents.push_back(between(random, 1, 4));
    // Cut into two again and again; then perhaps one more, one less, or one moved.
    std::vector<Box> boxes{whole(extents)};
    for (std::int64_t cuts = between(random, 0, 5); cuts > 0; --cuts) {
      const auto which = static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(boxes.size()) - 1));
      const auto axis = static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(rank) - 1));
      if (boxes[which].size[axis] < 2) continue;
      const std::int64_t at = between(random, 1, boxes[which].size[axis] - 1);
      Box rest = boxes[which];
      rest.position[axis] += at, rest.size[axis] -= at;
      boxes[which].size[axis] = at;
      boxes.push_back(rest);
    }
    const std::int64_t change = between(random, 0, 3);
    if (change == 1) boxes.push_back(boxes[0]);
    if (change == 2) boxes.pop_back();
    if (change == 3) boxes.back().position.assign(rank, 0);
    const std::int64_t count = places_of(extents);
    std::vector<int> filled(static_cast<std::size_t>(count));
    for (const Box& box : boxes)
      for (std::int64_t i = 0; i < count; ++i) {
        bool inside = true;
        std::int64_t rest = i;
        for (std::size_t k = rank; k-- > 0; rest /= extents[k])
          inside = inside && rest % extents[k] >= box.position[k] && rest % extents[k] < box.position[k] + box.size[k];
        filled[static_cast<std::size_t>(i)] += inside;
      }
    const Cover found = cover(extents, boxes);
    CHECK(found.overlap.has_value() == std::ranges::any_of(filled, [](int n) { return n > 1; }));
    const auto hole = std::ranges::find(filled, 0);
    CHECK(found.has_gap == (hole != filled.end()));
    if (hole != filled.end()) {
      std::int64_t place = 0;
      for (std::size_t k = 0; k < rank; ++k) place = place * extents[k] + (*found.gap)[k];
      CHECK(place == hole - filled.begin());
    }
    if (found.overlap) {
      std::int64_t place = 0;
      for (std::size_t k = 0; k < rank; ++k) place = place * extents[k] + found.shared.position[k];
      CHECK(filled[static_cast<std::size_t>(place)] > 1);
    }
    exact += !found.overlap && !found.has_gap;
  }
  CHECK(exact > 100);
}

TEST_CASE("storage and compute blocks alternate, each with its own kind [ir-blocks]") {
  Front direct;  // img feeds the convolution itself
  direct.edges[1].from = direct.edges[0].from;
  CHECK(direct.said() == "E4004 SI 'img' cannot feed CC 'conv'");
  Front twice;
  const BlockId pool = twice.make.block("pool", "CCMPB", Precision::i8, {.y = 4, .x = 4, .f = 3});
  twice.make.edge(twice.conv, pool);
  const Diags diags = check_blocks(twice.make.graph, standard_blocks());
  CHECK(diags.items().front().message == "CC 'conv' feeds CCMPB 'pool', but only storage feeds a compute block");
  CHECK(diags.items().front().help_text ==
        "put storage between them, here SI: conv -> held, held -> pool, with held : SI i32");
  CHECK(diags.size() == 1);
  Front from_output;
  from_output.edges.push_back(from_output.edges[5]);
  std::swap(from_output.edges[6].from.block, from_output.edges[6].to.block);
  CHECK(from_output.said().find("E4004 OUTPUT 'out' gives nothing") != std::string::npos);
  Front to_input;
  to_input.block(to_input.img).def = standard_blocks().find("INPUT");
  std::swap(to_input.edges[0].from, to_input.edges[0].to);
  CHECK(to_input.said().find("E4004 INPUT 'img' takes nothing") != std::string::npos);
  Front input_to_compute;
  input_to_compute.block(input_to_compute.pad).def = standard_blocks().find("INPUT");
  CHECK(input_to_compute.said().find("INPUT 'pad'") != std::string::npos);
}

TEST_CASE("a cycle needs a delay, and is told with its path [ir-blocks]") {
  Front front;
  BlockEdge& back = front.make.edge(front.pad, front.img);
  back.from.box = whole({6, 6, 2});
  CHECK(front.said() == "E3002 block graph has a cycle: img -> pad -> img");
  front.edges.back().delay = 1;
  CHECK(front.said() == "");
  front.edges.back().delay = -1;
  CHECK(front.said() == "E4004 a delay is 0 steps or more, not -1");
}

TEST_CASE("precisions, values and attributes that do not fit are told by block and field [ir-blocks]") {
  Front wide;
  wide.block(wide.pad).precision = wide.block(wide.img).precision = Precision::i16;
  CHECK(wide.said() == "E4005 CC 'conv' does not compute i32 from i16");
  Front mixed;
  mixed.block(mixed.held).precision = mixed.block(mixed.out).precision = Precision::i8;
  CHECK(mixed.said() == "E4005 CC 'conv' gives i32, and SI 'held' holds i8");
  CHECK(mixed.said(BlockMode::rabbit) == "");
  Front weight;
  weight.block(weight.w).precision = Precision::i32;
  weight.block(weight.w).data = weight.make.data(weight.w);
  CHECK(weight.said() == "E4005 'w' holds i32, and weight of CC 'conv' takes i8 or u8 or tern");
  Front values;
  values.block(values.w).precision = Precision::tern;
  values.block(values.w).data = values.make.data(values.w);
  values.block(values.w).data->set_integer(5, 2);
  CHECK(values.said() == "E4006 SW 'w': element 5 of its data is 2, outside -1..1 of tern");
  Front type;
  type.block(type.b).data = Array::make({Precision::i32, {4}});
  type.block(type.conv).data = type.make.data(type.conv);
  CHECK(type.said() == "E4006 SB 'b': its data is i32[4], it holds i32[3]\nE4006 CC 'conv': only storage holds data");
  const BlockTable table = standard_blocks();
  Front bounds;
  bounds.block(bounds.conv).attributes = {
      {table.attribute("stride_x"), 40000}, {table.attribute("pad_up"), 0}, {table.attribute("pad_up"), 0}};
  CHECK(bounds.said().starts_with(
      "E4001 CC 'conv': stride_x is 40000, outside 0..32767\nE4001 CC 'conv': pad_up is given twice"));
  Front extents;
  extents.block(extents.img).shape.r = 2;
  extents.block(extents.b).shape.f = -3;
  extents.block(extents.w).shape.kx = 1LL << 40;
  CHECK(extents.said() ==
        "E4001 SI 'img': it has no extent r, but y, x, f\nE4001 SW 'w': kx is 1099511627776, no extent\n"
        "E4001 SB 'b': f is -3, no extent");
  Front large;
  large.block(large.img).shape = {.y = 1 << 30, .x = 1 << 30, .f = 1 << 30};
  CHECK(large.said().starts_with("E4001 SI 'img': [1073741824, 1073741824, 1073741824] is too large"));
  Front kernel;
  kernel.block(kernel.conv).shape.y = 3;
  kernel.block(kernel.conv).shape.iy = 6;
  CHECK(kernel.said().starts_with("E4001 CC 'conv': windows over 6 rows make 4, its shape says y: 3"));
  Front twins;
  twins.block(twins.b).name = "w";
  CHECK(twins.said() == "E1005 'w' is defined twice");
}

TEST_CASE("an odd shift needs a table on a chip [ir-blocks]") {
  BlockGraphMaker make("cut");
  const BlockId x = make.block("x", "SI", Precision::i32, {.f = 4});
  const BlockId cut = make.block("m", "CCMPB", Precision::i8, {.f = 4}, {{"shift", 7}});
  const BlockId held = make.block("h", "SI", Precision::i8, {.f = 4});
  make.edge(x, cut);
  make.edge(cut, held);
  const Diags diags = check_blocks(make.graph, standard_blocks());
  CHECK(diags.items().front().code.text() == "E4007");
  CHECK(diags.items().front().help_text ==
        "a CLUT with lut_dw: 12, shift: 6 and the table floor(a / 2) shifts by 7 and is exact");
  CHECK(said(make.graph, BlockMode::rabbit) == "");
}

TEST_CASE("rearrangements that do not fit are told at their edge [ir-blocks]") {
  Front front;
  front.edges[0].moves = {{rearrangement_named("rotate"), {45}, {}}};
  front.edges[5].moves = {{rearrangement_named("scale"), {2, 1}, {}}};
  CHECK(front.said() ==
        "E2005 rotate turns by a multiple of 90 degrees, not by 45\n"
        "E2001 shapes differ: what arrives has [8, 4, 3], 96 elements, and the box there has [4, 4, 3]");
}

}  // namespace taskspec::check_blocks_test
