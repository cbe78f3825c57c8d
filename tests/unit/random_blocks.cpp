#include "tests/unit/random_blocks.hpp"

#include "ir/blocks/windows.hpp"
#include "stdlib/blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec {

namespace {

class BlockMaker {
 public:
  BlockMaker(std::mt19937_64& random, std::string_view name, bool overflows) : random_(random), overflows_(overflows) {
    made_.block.def = standard_blocks().find(name);
    made_.block.name = "c";
  }

  RandomBlock make() {
    const BlockDef& def = *made_.block.def;
    const BlockPrecisions pair = def.precisions[pick(def.precisions.size())];
    made_.block.precision = pair.out;
    in_ = pair.in;
    shape();
    numbers();
    for (std::size_t c = 0; c < made_.block.in_clusters(); ++c) made_.in.push_back(operand(c));
    return made_;
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  bool maybe() { return random_() % 2 == 0; }
  bool has(BlockAxis axis) const {
    const auto axes = made_.block.def->axes;
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }
  void set(std::string_view attribute, std::int64_t value) {
    if (const BlockAttributeDef* def = made_.block.def->find_attribute(attribute)) made_.block.set(*def, value);
  }

  void shape() {
    BlockShape& s = made_.block.shape;
    s.f = between(random_, 1, 40);
    if (has(BlockAxis::r)) s.r = between(random_, 1, 24);
    const bool is_vector = !has(BlockAxis::y) || (!has(BlockAxis::r) && random_() % 4 == 0);
    if (is_vector) return;
    s.ky = has(BlockAxis::ky) ? between(random_, 1, 4) : 0;
    s.kx = has(BlockAxis::kx) ? between(random_, 1, 4) : 0;
    if (maybe()) set("stride_y", between(random_, 0, 3));
    if (maybe()) set("stride_x", between(random_, 0, 3));
    if (maybe()) set("dilation_y", between(random_, 0, 2));
    if (maybe()) set("dilation_x", between(random_, 0, 2));
    for (const char* pad : {"pad_up", "pad_down", "pad_left", "pad_right"})
      if (maybe()) set(pad, between(random_, 0, 2));
    s.y = between(random_, 1, 7);
    s.x = between(random_, 1, 9);
    if (!has(BlockAxis::iy)) return;
    // Of the rows that the windows do not reach some are left over.
    for (BlockAxis axis : {BlockAxis::y, BlockAxis::x}) {
      BlockWindow window = window_of(made_.block, axis);
      window.in += static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(window.stride));
      (axis == BlockAxis::y ? s.iy : s.ix) = window.in;
      s[axis] = window.outputs();
    }
  }

  void numbers() {
    TaskBlock& block = made_.block;
    if (block.def->in[0].repeated) block.branches = static_cast<std::uint16_t>(between(random_, 1, 5));
    const bool takes_bias = block.def->kind == BlockKind::axon;
    if (takes_bias) block.bias = static_cast<BiasKind>(random_() % 3);
    set("constant_b", near_the_end());
    set("constant_a", between(random_, -200, 200));
    const std::int64_t choices[] = {
        0, -128, 127, -1, between(random_, -128, 127), between(random_, INT32_MIN, INT32_MAX)};
    set("cmp", choices[pick(6)]);
    set("shift", 2 * between(random_, 0, 12));
    if (block.def->find_attribute("lut_dw"))
      set("lut_dw", in_ == Precision::i8 ? (maybe() ? 4 : 8) : 4 * between(random_, 1, 3));
  }

  std::int64_t near_the_end() {
    if (!overflows_ || random_() % 3 == 0) return between(random_, -1'000'000, 1'000'000);
    const std::int64_t away = between(random_, 0, 40'000);
    return maybe() ? INT32_MAX - away : INT32_MIN + away;
  }

  Array operand(std::size_t position) {
    const ClusterDef& cluster = made_.block.in_cluster(position);
    if (cluster.present && !cluster.present(made_.block)) return {};
    const Extents extents = cluster_extents(made_.block, cluster);
    if (cluster.name == "bias") {
      Array bias = Array::make({Precision::i32, extents});
      for (std::int64_t i = 0; i < bias.elements(); ++i) bias.set_integer(i, near_the_end());
      return bias;
    }
    if (cluster.name == "table") return random_array(random_, made_.block.precision, extents);
    const Precision precision = position == 0 || cluster.repeated || cluster.precisions.empty()
                                    ? in_
                                    : cluster.precisions[pick(cluster.precisions.size())];
    // Sums of wide inputs overflow by themselves; where they shall not, they are small.
    const std::int64_t most = precision == Precision::i32 && !overflows_ ? 1 << 20 : INT64_MAX;
    return random_array(random_, precision, extents, -most, most);
  }

  std::mt19937_64& random_;
  bool overflows_;
  Precision in_ = Precision::i8;
  RandomBlock made_;
};

}  // namespace

BlockCase RandomBlock::block_case() const {
  BlockCase made(block.def->name, block.shape, block.precision);
  made.block() = block;
  for (std::size_t c = 0; c < in.size(); ++c)
    if (in[c].valid()) made.feed(c, in[c], c == 0);
  return made;
}

RandomBlock random_block(std::mt19937_64& random, std::string_view name, bool overflows) {
  return BlockMaker(random, name, overflows).make();
}

}  // namespace taskspec
