// Block graphs for tests: one compute block with the storage around it, made from arrays; random contents.
//
//   BlockCase c = block_case("CC", {.y = 8, .x = 8, .f = 32, .r = 32, .ky = 3, .kx = 3}, Precision::i32);
//   c.set("pad_up", 1);  c.feed(0, input);  c.feed(1, weights);
//   Array out = c.run(BlockMode::chip);
#pragma once
#include <random>
#include <string_view>

#include "interp/exact/engine.hpp"

namespace taskspec {

class BlockCase {
 public:
  BlockCase(std::string_view block, const BlockShape& shape, Precision made);

  TaskBlock& block() { return graph_->blocks[0]; }
  const TaskBlock& block() const { return graph_->blocks[0]; }
  const BlockGraph& graph() const { return *graph_; }
  void set(std::string_view attribute, std::int64_t value);
  // A cluster's contents: static data, or of states their first value. `is_input`: given anew in each run.
  void feed(std::size_t cluster, const Array& contents, bool is_input = false);
  ExactEngine engine(const ExactOptions& options) const;
  Array run(const ExactOptions& options) const;  // one step
  std::vector<Array> inputs;                     // of those fed as such

 private:
  std::shared_ptr<BlockGraph> graph_;
};

Array make_array(Precision precision, const Extents& extents, const std::vector<std::int64_t>& values);
std::vector<std::int64_t> integers_of(const Array& array);
// Values from `least` to `most`, the type's bounds where they are wider.
Array random_array(std::mt19937_64& random, Precision precision, const Extents& extents, std::int64_t least = INT64_MIN,
                   std::int64_t most = INT64_MAX);

}  // namespace taskspec
