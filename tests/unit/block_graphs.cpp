#include "tests/unit/block_graphs.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/unit/random_cases.hpp"

namespace taskspec::tests {

BlockId BlockGraphMaker::block(std::string name, std::string_view kind, Precision precision, BlockShape shape,
                               std::vector<std::pair<std::string_view, std::int64_t>> attributes) {
  static const BlockTable table = standard_blocks();
  TaskBlock block;
  block.def = table.find(kind);
  block.name = std::move(name);
  block.precision = precision;
  block.shape = shape;
  for (const auto& [attribute, value] : attributes) block.attributes.push_back({table.attribute(attribute), value});
  graph.blocks.push_back(std::move(block));
  return BlockId(graph.blocks.size() - 1);
}

Array BlockGraphMaker::data(BlockId block, std::int64_t first) {
  Array array = Array::make(value_type(graph[block]));
  const PrecisionInfo& precision = info(array.precision());
  const std::int64_t range = precision.is_float ? 1000 : precision.maximum - precision.minimum + 1;
  for (std::int64_t i = 0; i < array.elements(); ++i)
    array.set_integer(i, precision.minimum + (((i + 1) * 7919 + first) % range + range) % range);
  return array;
}

BlockEdge& BlockGraphMaker::edge(BlockId from, BlockId to, std::string_view cluster,
                                 std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> moves) {
  TaskBlock& target = graph.blocks[to.index()];
  const std::size_t position = target.in_cluster_named(cluster).value();
  const bool is_branch = target.def->in[0].repeated && cluster.starts_with(target.def->in[0].name);
  target.branches = std::max(target.branches, static_cast<std::uint16_t>(is_branch ? position + 1 : 1));
  if (cluster == "bias") target.bias = BiasKind::vector;
  BlockEdge edge;
  edge.from = {from, 0, whole(value_type(graph[from]).extents)};
  edge.to = {to, static_cast<std::uint16_t>(*target.in_cluster_named(cluster)), {}};
  edge.to.box = whole(cluster_extents(target, target.in_cluster(edge.to.cluster)));
  for (auto& [name, numbers] : moves) edge.moves.push_back({rearrangement_named(name), std::move(numbers)});
  graph.edges.push_back(std::move(edge));
  return graph.edges.back();
}

// ---- equality --------------------------------------------------------------------------------------

namespace {

bool same_array(const std::optional<Array>& a, const std::optional<Array>& b) {
  if (!a || !b) return !a && !b;
  return a->type() == b->type() && std::memcmp(a->raw(), b->raw(), a->bytes()) == 0;
}

bool same_block(const TaskBlock& a, const TaskBlock& b) {
  return a.def == b.def && a.name == b.name && a.precision == b.precision && a.shape == b.shape &&
         a.attributes == b.attributes && a.bias == b.bias && a.branches == b.branches && same_array(a.data, b.data) &&
         a.number == b.number && a.is_virtual == b.is_virtual && a.major_task == b.major_task &&
         a.pipeline == b.pipeline && a.socket == b.socket;
}

bool same_port(const BlockPort& a, const BlockPort& b) {
  return a.block == b.block && a.cluster == b.cluster && a.box == b.box;
}

bool same_edge(const BlockEdge& a, const BlockEdge& b) {
  return same_port(a.from, b.from) && same_port(a.to, b.to) && a.moves == b.moves && a.delay == b.delay &&
         same_array(a.initial, b.initial) && a.trigger == b.trigger && a.number == b.number;
}

bool same_group(const BlockGroup& a, const BlockGroup& b) {
  return a.number == b.number && a.blocks == b.blocks && a.approx == b.approx && a.metric == b.metric;
}

bool same_test(const BlockTestConfig& a, const BlockTestConfig& b) {
  return a.random_seed == b.random_seed && a.name == b.name && a.mode == b.mode;
}

}  // namespace

bool same(const BlockGraph& a, const BlockGraph& b) {
  const bool same_tests = a.test.has_value() == b.test.has_value() && (!a.test || same_test(*a.test, *b.test));
  return a.name == b.name && same_tests && std::ranges::equal(a.blocks, b.blocks, same_block) &&
         std::ranges::equal(a.edges, b.edges, same_edge) && std::ranges::equal(a.groups, b.groups, same_group);
}

// ---- random graphs ---------------------------------------------------------------------------------

namespace {

class RandomGraph {
 public:
  explicit RandomGraph(std::mt19937_64& random) : random_(random), make_("net") {}

  BlockGraph make() {
    const BlockShape extents{.y = any(1, 9), .x = any(1, 9), .f = any(1, 6)};
    const BlockId input = block("INPUT", Precision::i8, extents);
    at_ = block("SI", Precision::i8, extents);
    if (any(0, 3) == 0)
      make_.graph.blocks[at_.index()].data = make_.data(at_);
    else
      make_.edge(input, at_);
    for (std::int64_t stages = any(0, 6); stages > 0; --stages) stage();
    const BlockId output = block("OUTPUT", precision(), shape());
    make_.edge(at_, output);
    file_numbers();
    return std::move(make_.graph);
  }

 private:
  std::int64_t any(std::int64_t low, std::int64_t high) { return between(random_, low, high); }
  BlockId block(std::string_view kind, Precision precision, BlockShape shape,
                std::vector<std::pair<std::string_view, std::int64_t>> attributes = {}) {
    return make_.block("b" + std::to_string(make_.graph.blocks.size()), kind, precision, shape, std::move(attributes));
  }
  BlockId filled(std::string_view kind, Precision precision, BlockShape shape) {
    const BlockId id = block(kind, precision, shape);
    make_.graph.blocks[id.index()].data = make_.data(id, any(0, 1000));
    return id;
  }
  const BlockShape& shape() const { return make_.graph[at_].shape; }
  Precision precision() const { return make_.graph[at_].precision; }
  void store(BlockId made) {
    const TaskBlock& block_made = make_.graph[made];
    const BlockShape extents{.y = block_made.shape.y, .x = block_made.shape.x, .f = block_made.shape.f};
    const Precision of = block_made.precision;
    at_ = block("SI", of, extents);
    make_.edge(made, at_);
  }

  void stage() {
    switch (any(0, 7)) {
      case 0:
        return pool();
      case 1:
        return convolution();
      case 2:
        return sum();
      case 3:
        return table();
      case 4:
        return cut_and_join();
      case 5:
        return neurons();
      default:
        return rearranged();
    }
  }

  void cut_to_i8() {
    if (precision() == Precision::i8) return;
    const BlockShape extents = shape();
    const BlockId cut = block("CCMPB", Precision::i8, extents, {{"cmp", -128}, {"shift", 2 * any(0, 8)}});
    make_.edge(at_, cut);
    store(cut);
  }

  void pool() {
    const std::int64_t ky = any(1, shape().y), kx = any(1, shape().x), sy = any(1, 3), sx = any(1, 3);
    const BlockShape extents{.y = (shape().y - ky) / sy + 1,
                             .x = (shape().x - kx) / sx + 1,
                             .f = shape().f,
                             .ky = ky,
                             .kx = kx,
                             .iy = shape().y,
                             .ix = shape().x};
    const BlockId pool = block(any(0, 1) == 0 ? "CCMPB" : "CCMPS", Precision::i8, extents,
                               {{"kernel_x", kx}, {"kernel_y", ky}, {"stride_y", sy}, {"stride_x", sx}});
    make_.edge(at_, pool);
    store(pool);
  }

  void convolution() {
    cut_to_i8();
    const std::int64_t k = any(1, 3), pad = k / 2, f = any(1, 5);
    const BlockShape in{.y = shape().y, .x = shape().x, .r = shape().f};
    const BlockId held = block("SIC", Precision::i8, in);
    if (any(0, 1) == 0)
      make_.edge(at_, held);
    else
      make_.edge(at_, held, "input", {{"reflect", {any(0, 2)}}, {"shift", {any(-2, 2), any(-2, 2), any(0, 1)}}});
    const BlockId weight = filled("SW", Precision::i8, {.f = f, .r = in.r, .ky = k, .kx = k});
    const BlockShape extents{.y = in.y + 2 * pad - k + 1,
                             .x = in.x + 2 * pad - k + 1,
                             .f = f,
                             .r = in.r,
                             .ky = k,
                             .kx = k,
                             .iy = in.y,
                             .ix = in.x};
    if (extents.y < 1 || extents.x < 1) return store_back(held);
    const BlockId conv = block("CC", Precision::i32, extents,
                               {{"pad_up", pad}, {"pad_down", pad}, {"pad_left", pad}, {"pad_right", pad}});
    make_.edge(held, conv, "input");
    make_.edge(weight, conv, "weight");
    if (any(0, 1) == 0) make_.edge(filled("SB", Precision::i32, {.f = f}), conv, "bias");
    store(conv);
  }

  void store_back(BlockId held) {
    const TaskBlock& from = make_.graph[held];
    const BlockShape extents{.y = from.shape.y, .x = from.shape.x, .f = from.shape.r};
    at_ = block("SI", Precision::i8, extents);
    make_.edge(held, at_);
  }

  void sum() {
    const BlockShape extents = shape();
    const Precision of = precision();
    const std::int64_t branches = any(1, 4);
    std::vector<BlockId> others;
    for (std::int64_t k = 1; k < branches; ++k) others.push_back(filled("SI", of, extents));
    const BlockId total = block("CADD", Precision::i32, extents);
    make_.edge(at_, total, "input");
    for (std::size_t k = 0; k < others.size(); ++k) make_.edge(others[k], total, "input" + std::to_string(k + 2));
    if (any(0, 1) == 0) {
      make_.edge(filled("SB", Precision::i32, {.f = extents.f}), total, "bias");
    } else if (any(0, 1) == 0) {
      make_.graph.blocks[total.index()].bias = BiasKind::constant;
      make_.graph.blocks[total.index()].set(*standard_blocks().attribute("constant_b"), any(-9, 9));
    }
    store(total);
  }

  void table() {
    cut_to_i8();
    const BlockShape extents = shape();
    const BlockId entries = filled("SB", Precision::i8, {.f = 256});
    const BlockId look_up = block("CLUT", Precision::i8, extents, {{"lut_dw", 8}});
    make_.edge(at_, look_up, "input");
    make_.edge(entries, look_up, "table");
    store(look_up);
  }

  void cut_and_join() {
    if (shape().f < 2) return;
    const BlockShape extents = shape();
    const Precision of = precision();
    const std::int64_t at = any(1, extents.f - 1);
    const BlockId low = block("SI", of, {.y = extents.y, .x = extents.x, .f = at});
    const BlockId high = block("SI", of, {.y = extents.y, .x = extents.x, .f = extents.f - at});
    const BlockId both = block("SI", of, extents);
    const Box low_box{{0, 0, 0}, {extents.y, extents.x, at}},
        high_box{{0, 0, at}, {extents.y, extents.x, extents.f - at}};
    make_.edge(at_, low).from.box = low_box;
    make_.edge(at_, high).from.box = high_box;
    make_.edge(high, both).to.box = high_box;
    make_.edge(low, both).to.box = low_box;
    at_ = both;
  }

  void neurons() {
    if (precision() != Precision::i32) return;
    const BlockShape extents = shape();
    const bool has_mask = any(0, 1) == 0, has_threshold = any(0, 1) == 0, has_rest = any(0, 1) == 0;
    const BlockId v = any(0, 1) == 0 ? filled("SI", Precision::i28, extents) : block("SI", Precision::i28, extents);
    const BlockId rest = block("SI", Precision::u4, extents), threshold = filled("SI", Precision::i28, extents),
                  mask = filled("SI", Precision::i32, extents);
    const BlockId neurons = block("CLIF", Precision::i8, extents,
                                  {{"vth0", any(1, 100)},
                                   {"reset_mode", any(0, 3)},
                                   {"vm_const_en", !has_mask},
                                   {"vtheta_const_en", !has_threshold}});
    make_.edge(at_, neurons, "input");
    make_.edge(v, neurons, "state");
    if (has_rest) make_.edge(rest, neurons, "refractory");
    if (has_threshold) make_.edge(threshold, neurons, "threshold");
    if (has_mask) make_.edge(mask, neurons, "mask");
    store(neurons);
  }

  void rearranged() {
    const BlockShape from = shape();
    const Precision of = precision();
    std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> moves;
    BlockShape to = from;
    switch (any(0, 5)) {
      case 0:
        moves = {{"rotate", {90}}}, to = {.y = from.x, .x = from.y, .f = from.f};
        break;
      case 1:
        moves = {{"reshape", {2, 1, 0}}}, to = {.f = from.y * from.x * from.f};
        break;
      case 2:
        moves = {{"permute", {2, 0, 1}}}, to = {.y = from.f, .x = from.y, .f = from.x};
        break;
      case 3:
        moves = {{"scale", {1, 2}}, {"identity", {}}, {"affine", {1, 0, 0, 0, 1, 0}}}, to.x *= 2;
        break;
      case 4:
        moves = {{"shear", {1, 0}}}, to.x += from.y;
        break;
      default:
        moves = {{"project", {1, 0, 1, 0, 1, 0, 0, 0, 1}}};
    }
    const BlockId held = block("SI", of, to);
    make_.edge(at_, held, "input", moves);
    at_ = held;
    if (to.y != 0 && to.x < 20) return;
    // Back to a plane.
    const std::int64_t count = (to.y == 0 ? 1 : to.y * to.x) * to.f;
    const BlockId plane = block("SI", of, {.y = 1, .x = count, .f = 1});
    make_.edge(at_, plane, "input", {{"reshape", {}}});
    at_ = plane;
  }

  // Blocks of files have numbers in any order, and are called after them.
  void file_numbers() {
    BlockGraph& graph = make_.graph;
    std::vector<std::int32_t> numbers(graph.blocks.size() + 5);
    std::iota(numbers.begin(), numbers.end(), 0);
    for (std::size_t k = numbers.size(); k > 1; --k)
      std::swap(numbers[k - 1], numbers[static_cast<std::size_t>(any(0, static_cast<std::int64_t>(k) - 1))]);
    for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
      TaskBlock& block = graph.blocks[b];
      block.number = numbers[b];
      block.name = "b" + std::to_string(block.number);
      if (any(0, 5) == 0) block.is_virtual = any(0, 1) == 0;
      if (any(0, 5) == 0) block.major_task = static_cast<std::int32_t>(any(-1, 9));
      if (any(0, 5) == 0) block.pipeline = static_cast<std::int32_t>(any(0, 9));
      if (any(0, 5) == 0) block.socket = 0;
    }
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      graph.edges[e].number = static_cast<std::int32_t>(2 * graph.edges.size() - e);
    for (std::int32_t g = 0; g < any(0, 3); ++g) {
      BlockGroup group{.number = 3 * g, .blocks = {}, .approx = {}, .metric = {}};
      for (std::size_t b = 0; b < graph.blocks.size(); ++b)
        if (any(0, 2) == 0) group.blocks.push_back(BlockId(b));
      if (!group.blocks.empty()) graph.groups.push_back(group);
    }
    if (any(0, 3) == 0)
      graph.test = BlockTestConfig{
          .random_seed = any(-5, 1LL << 40), .name = "a \"case\"\n", .mode = static_cast<std::int32_t>(any(0, 2))};
  }

  std::mt19937_64& random_;
  BlockGraphMaker make_;
  BlockId at_;  // storage with what was made last
};

}  // namespace

BlockGraph random_block_graph(std::mt19937_64& random) { return RandomGraph(random).make(); }

}  // namespace taskspec::tests
