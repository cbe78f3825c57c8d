// Nets with real sizes for streams: bodies of ResNets and MobileNets in bytes, with random weights.
#pragma once
#include "tests/unit/block_graphs.hpp"

namespace taskspec::tests {

// A net put together layer by layer; values are storages of bytes [y, x, f].
class NetBuilder {
 public:
  explicit NetBuilder(std::string name) : make_(std::move(name)) {}

  struct Conv {
    std::int64_t f = 32, kernel = 1, stride = 1, pad = 0;
    bool cuts = true;  // to bytes, and no less than 0 if `relu`
    bool relu = true;
    bool bias = true;
  };
  BlockId input(std::int64_t y, std::int64_t x, std::int64_t f);
  BlockId conv(BlockId from, const Conv& conv);
  BlockId depthwise(BlockId from, std::int64_t stride);  // 3 x 3, in slices of 32 features, each with a CC of its own
  BlockId pool(BlockId from, std::int64_t kernel, std::int64_t stride, std::int64_t pad);
  BlockId sum(BlockId a, BlockId b, bool relu = true);
  BlockId average(BlockId from);  // over the whole plane
  // Each token by the values of others: weights are what is computed.
  BlockId by_tokens(BlockId from, BlockId others, bool transposed);
  BlockId table(BlockId from);
  BlockId products(BlockId from, std::int64_t f);  // sums of 32 bits
  BlockId neurons(BlockId sums);                   // spikes as bytes
  BlockId held(BlockId like);                      // bytes that something is to bring
  void delay(BlockId from, BlockId to, std::int32_t steps, bool has_initial);
  void output(BlockId from);
  std::shared_ptr<const BlockGraph> graph() && { return std::make_shared<const BlockGraph>(std::move(make_.graph)); }

 private:
  BlockShape plane(BlockId id) const;
  std::string name(std::string_view kind) { return std::string(kind) + std::to_string(++count_); }
  BlockId bytes(BlockId sums, std::int64_t shift, bool relu);
  BlockId filled(std::string name, std::string_view kind, Precision precision, BlockShape shape);

  BlockGraphMaker make_;
  int count_ = 0;
};

// Stem, stages and head; `blocks` of each stage, `width` features of the first one.
struct ResNetKind {
  std::int64_t side = 224, width = 64, classes = 1000;
  std::vector<int> blocks = {2, 2, 2, 2};
  bool bottleneck = false;
};
std::shared_ptr<const BlockGraph> resnet(const ResNetKind& kind);
std::shared_ptr<const BlockGraph> mobilenet(std::int64_t side);  // MobileNetV2
// Tokens in rows: queries, keys, values, scores, a table for their weights, context, projection, two layers behind it.
std::shared_ptr<const BlockGraph> attention(std::int64_t tokens, std::int64_t width);

}  // namespace taskspec::tests
