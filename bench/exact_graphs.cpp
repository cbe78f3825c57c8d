#include "bench/exact_graphs.hpp"

#include <random>

#include "stdlib/blocks.hpp"

namespace taskspec::bench {

Array random_bytes(const Extents& extents, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Array array = Array::make({Precision::i8, extents});
  for (std::int8_t& value : array.data<std::int8_t>()) value = static_cast<std::int8_t>(random() % 256);
  return array;
}

namespace {

class GraphOfBlocks {
 public:
  BlockId add(std::string_view type, const BlockShape& shape, Precision precision) {
    TaskBlock block;
    block.def = blocks_.find(type);
    block.name = "b" + std::to_string(graph_->blocks.size());
    block.shape = shape;
    block.precision = precision;
    graph_->blocks.push_back(std::move(block));
    return BlockId(graph_->blocks.size() - 1);
  }
  BlockId data(std::string_view type, const BlockShape& shape, const Array& contents) {
    const BlockId id = add(type, shape, contents.precision());
    at(id).data = contents;
    return id;
  }
  TaskBlock& at(BlockId id) { return graph_->blocks[id.index()]; }
  void set(BlockId id, std::string_view attribute, std::int64_t value) {
    at(id).set(*at(id).def->find_attribute(attribute), value);
  }
  void connect(BlockId from, BlockId to, std::size_t cluster = 0) {
    BlockEdge edge;
    edge.from = {from, 0, whole(value_type(at(from)).extents)};
    edge.to = {to, static_cast<std::uint16_t>(cluster), whole(cluster_extents(at(to), at(to).in_cluster(cluster)))};
    if (edge.from.box.size != edge.to.box.size) edge.moves = {{.def = rearrangement_named("reshape"), .numbers = {}}};
    graph_->edges.push_back(std::move(edge));
  }
  // A sum over `in` with weights and a bias, and the storage behind it.
  BlockId sum(std::string_view type, const BlockShape& shape, BlockId in, std::string_view weights) {
    const BlockId c = add(type, shape, Precision::i32);
    at(c).bias = BiasKind::vector;
    const bool is_matrix = shape.ky == 0;
    const Extents extents = is_matrix ? Extents{shape.f, shape.r} : Extents{shape.f, shape.r, shape.ky, shape.kx};
    const BlockShape kernel{.f = shape.f, .r = shape.r, .ky = shape.ky, .kx = shape.kx};
    connect(in, c, 0);
    connect(data(weights, kernel, random_bytes(extents, graph_->blocks.size())), c, 1);
    connect(data("SB", {.f = shape.f}, Array::make({Precision::i32, {shape.f}})), c, 2);
    const BlockId kept = add("SI", {.y = shape.y, .x = shape.x, .f = shape.f}, Precision::i32);
    connect(c, kept);
    return kept;
  }
  BlockId relu(BlockId in, const BlockShape& shape, std::int64_t stride, std::string_view storage,
               const BlockShape& kept) {
    const BlockId c = add("CCMPB", shape, Precision::i8);
    set(c, "shift", 10);
    set(c, "stride_y", stride);
    set(c, "stride_x", stride);
    connect(in, c);
    const BlockId id = add(storage, kept, Precision::i8);
    connect(c, id);
    return id;
  }
  std::shared_ptr<BlockGraph> finish(BlockId from) {
    BlockShape shape = at(from).shape;
    connect(from, add("OUTPUT", shape, at(from).precision));
    return graph_;
  }

 private:
  BlockTable blocks_ = standard_blocks();
  std::shared_ptr<BlockGraph> graph_ = std::make_shared<BlockGraph>();
};

}  // namespace

std::shared_ptr<const BlockGraph> convolution_graph(const Array& weights, const Array& bias) {
  GraphOfBlocks g;
  const BlockId in = g.add("SIC", {.y = 56, .x = 56, .r = 64}, Precision::i8);
  const BlockId c = g.add("CC", {.y = 56, .x = 56, .f = 64, .r = 64, .ky = 3, .kx = 3}, Precision::i32);
  for (const char* pad : {"pad_up", "pad_down", "pad_left", "pad_right"}) g.set(c, pad, 1);
  g.at(c).bias = BiasKind::vector;
  g.connect(in, c, 0);
  g.connect(g.data("SW", {.f = 64, .r = 64, .ky = 3, .kx = 3}, weights), c, 1);
  g.connect(g.data("SB", {.f = 64}, bias), c, 2);
  const BlockId kept = g.add("SI", {.y = 56, .x = 56, .f = 64}, Precision::i32);
  g.connect(c, kept);
  return g.finish(kept);
}

std::shared_ptr<const BlockGraph> lenet_graph() {
  GraphOfBlocks g;
  const BlockId in = g.add("SIC2D", {.y = 32, .x = 32, .r = 1}, Precision::i8);
  BlockId at = g.sum("CC2D", {.y = 28, .x = 28, .f = 6, .r = 1, .ky = 5, .kx = 5}, in, "SW2D");
  at = g.relu(at, {.y = 14, .x = 14, .f = 6, .ky = 2, .kx = 2}, 2, "SIC", {.y = 14, .x = 14, .r = 6});
  at = g.sum("CC", {.y = 10, .x = 10, .f = 16, .r = 6, .ky = 5, .kx = 5}, at, "SW");
  at = g.relu(at, {.y = 5, .x = 5, .f = 16, .ky = 2, .kx = 2}, 2, "SIFC", {.r = 400});
  at = g.sum("CVM", {.f = 120, .r = 400}, at, "SWFC");
  at = g.relu(at, {.f = 120}, 1, "SIFC", {.r = 120});
  at = g.sum("CVM", {.f = 84, .r = 120}, at, "SWFC");
  at = g.relu(at, {.f = 84}, 1, "SIFC", {.r = 84});
  return g.finish(g.sum("CVM", {.f = 10, .r = 84}, at, "SWFC"));
}

std::shared_ptr<const BlockGraph> table_graph(Precision in, std::int64_t bits, std::int64_t count) {
  GraphOfBlocks g;
  const BlockId x = g.add("SI", {.f = count}, in), c = g.add("CLUT", {.f = count}, Precision::i8);
  g.set(c, "lut_dw", bits);
  g.set(c, "shift", in == Precision::i8 ? 0 : 4);
  g.connect(x, c, 0);
  const std::int64_t length = std::int64_t{1} << bits;
  g.connect(g.data("SB", {.f = length}, random_bytes({length}, 9)), c, 1);
  const BlockId kept = g.add("SI", {.f = count}, Precision::i8);
  g.connect(c, kept);
  return g.finish(kept);
}

}  // namespace taskspec::bench
