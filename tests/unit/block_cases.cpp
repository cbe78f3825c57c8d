#include "tests/unit/block_cases.hpp"

#include <algorithm>

#include "stdlib/blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec {

namespace {

// Storage that holds what a cluster reads, whatever its rank: edges go by elements.
TaskBlock holder(const std::string& name, const Array& contents) {
  TaskBlock block;
  block.def = standard_blocks().find("SI");
  block.name = name;
  block.precision = contents.precision();
  block.shape.f = contents.elements();
  return block;
}

}  // namespace

BlockCase::BlockCase(std::string_view name, const BlockShape& shape, Precision made)
    : graph_(std::make_shared<BlockGraph>()) {
  TaskBlock block;
  block.def = standard_blocks().find(name);
  block.name = "c";
  block.precision = made;
  block.shape = shape;
  graph_->blocks.push_back(block);
}

void BlockCase::set(std::string_view attribute, std::int64_t value) {
  const BlockAttributeDef* def = block().def->find_attribute(attribute);
  if (!def) bug("a test sets an attribute that the block lacks");
  block().set(*def, value);
}

void BlockCase::feed(std::size_t cluster, const Array& contents, bool is_input) {
  const BlockId id(graph_->blocks.size());
  TaskBlock storage = holder("s" + std::to_string(cluster), contents);
  if (is_input)
    inputs.push_back(contents);
  else
    storage.data = Array::wrap({contents.precision(), {contents.elements()}}, contents.storage());
  graph_->blocks.push_back(storage);
  const Extents target = cluster_extents(block(), block().in_cluster(cluster));
  BlockEdge edge;
  edge.from = {id, 0, Box{{0}, {contents.elements()}}};
  edge.to = {BlockId(0), static_cast<std::uint16_t>(cluster), whole(target)};
  graph_->edges.push_back(edge);
}

ExactEngine BlockCase::engine(const ExactOptions& options) const {
  auto graph = std::make_shared<BlockGraph>(*graph_);
  TaskBlock out = holder("out", Array::make(value_type(block())));
  out.def = standard_blocks().find("OUTPUT");
  out.precision = block().precision;
  graph->blocks.push_back(out);
  BlockEdge edge;
  edge.from = {BlockId(0), 0, whole(value_type(block()).extents)};
  edge.to = {BlockId(graph->blocks.size() - 1), 0, Box{{0}, {out.shape.f}}};
  graph->edges.push_back(edge);
  return ExactEngine::make(graph, options).value_or_throw();
}

Array BlockCase::run(const ExactOptions& options) const {
  ExactEngine ready = engine(options);
  return ready.run(inputs)[0];
}

Array make_array(Precision precision, const Extents& extents, const std::vector<std::int64_t>& values) {
  Array array = Array::make({precision, extents});
  for (std::size_t i = 0; i < values.size(); ++i) array.set_integer(static_cast<std::int64_t>(i), values[i]);
  return array;
}

std::vector<std::int64_t> integers_of(const Array& array) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(array.integer(i));
  return values;
}

Array random_array(std::mt19937_64& random, Precision precision, const Extents& extents, std::int64_t least,
                   std::int64_t most) {
  Array array = Array::make({precision, extents});
  const std::int64_t low = std::max(least, info(precision).minimum), high = std::min(most, info(precision).maximum);
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_integer(i, between(random, low, high));
  return array;
}

}  // namespace taskspec
