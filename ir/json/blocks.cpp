#include "ir/json/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/json/body.hpp"
#include "ir/json/read.hpp"

namespace taskspec {

namespace {

constexpr std::string_view comes_with_each_run = "given";

void put_list(JsonText& out, std::string_view key, const Extents& numbers) {
  out.key(key).open('[');
  for (std::int64_t number : numbers) out.number(number);
  out.close(']');
}

void put_port(JsonText& out, std::string_view key, const BlockGraph& graph, const BlockPort& port, bool input) {
  out.key(key).open('{').member("block", static_cast<std::int64_t>(port.block.index()));
  const TaskBlock& block = graph[port.block];
  out.member("cluster", input ? block.in_cluster_name(port.cluster) : block.out_cluster_name(port.cluster));
  put_list(out, "position", port.box.position);
  put_list(out, "size", port.box.size);
  out.close('}');
}

void put_edge(JsonText& out, const BlockGraph& graph, std::size_t id) {
  const BlockEdge& edge = graph.edges[id];
  out.line().open('{').member("id", static_cast<std::int64_t>(id));
  put_port(out, "from", graph, edge.from, false);
  put_port(out, "to", graph, edge.to, true);
  out.key("moves").open('[');
  for (const Rearrangement& move : edge.moves) {
    out.open('{').member("name", move.def->name);
    put_list(out, "numbers", move.numbers);
    out.close('}');
  }
  out.close(']');
  if (edge.delay > 0) out.member("delay", edge.delay);
  if (edge.initial) {
    out.key("initial");
    put_value(out, Value(*edge.initial), Type(), [](const Type& type) { return type.text(); });
  }
  if (edge.trigger) out.key("trigger").boolean(true);
  if (edge.number >= 0) out.member("number", edge.number);
  out.close('}');
}

void put_file_fields(JsonText& out, const TaskBlock& block) {
  if (block.number >= 0) out.member("number", block.number);
  if (block.bias != BiasKind::none) out.member("bias", static_cast<std::int64_t>(block.bias));
  if (block.is_virtual) out.key("virtual").boolean(*block.is_virtual);
  if (block.major_task) out.member("major_task", *block.major_task);
  if (block.pipeline) out.member("pipeline", *block.pipeline);
  if (block.socket) out.member("socket", *block.socket);
}

void put_block(JsonText& out, const BlockGraph& graph, std::size_t id) {
  const TaskBlock& block = graph.blocks[id];
  out.line().open('{').member("id", static_cast<std::int64_t>(id)).member("name", block.name);
  out.member("type", block.def->name).member("precision", info(block.precision).name);
  out.key("shape").open('{');
  for (std::size_t axis = 0; axis < block_axes; ++axis)
    if (const std::int64_t extent = block.shape[static_cast<BlockAxis>(axis)]; extent > 0)
      out.member(text(static_cast<BlockAxis>(axis)), extent);
  out.close('}').key("attributes").open('[');  // in their order
  for (const BlockAttribute& attribute : block.attributes)
    out.open('[').string(attribute.def->name).number(attribute.value).close(']');
  out.close(']');
  if (block.branches > 1) out.member("branches", block.branches);
  put_file_fields(out, block);
  if (block.data && !block.data->valid()) out.key("data").string(comes_with_each_run);
  if (block.data && block.data->valid()) {
    out.key("data");
    put_value(out, Value(*block.data), Type(), [](const Type& type) { return type.text(); });
  }
  out.close('}');
}

}  // namespace

void put_block_graph(JsonText& out, const BlockGraph& graph) {
  out.open('{').member("name", graph.name).key("blocks").open('[');
  for (std::size_t id = 0; id < graph.blocks.size(); ++id) put_block(out, graph, id);
  out.close(']').key("edges").open('[');
  for (std::size_t id = 0; id < graph.edges.size(); ++id) put_edge(out, graph, id);
  out.close(']');
  if (!graph.groups.empty()) {
    out.key("groups").open('[');
    for (const BlockGroup& group : graph.groups) {
      out.open('{').member("number", group.number).key("blocks").open('[');
      for (BlockId block : group.blocks) out.number(block.value);
      out.close(']');
      if (group.approx) out.key("approx").real(*group.approx).member("metric", group.metric);
      out.close('}');
    }
    out.close(']');
  }
  if (const auto& test = graph.test) {
    out.key("test").open('{');
    if (test->mode) out.member("mode", *test->mode);
    if (test->random_seed) out.member("seed", *test->random_seed);
    if (test->name) out.member("name", *test->name);
    out.close('}');
  }
  out.close('}');
}

// ---- back -----------------------------------------------------------------------------------------

namespace {

class BlockGraphReader {
 public:
  explicit BlockGraphReader(const BlockTable& table) : table_(table) {}

  std::shared_ptr<const BlockGraph> read(const Item& item) {
    graph_->name = item["name"].text();
    each(item["blocks"], [this](const Item& block) { add_block(block); });
    each(item["edges"], [this](const Item& edge) { add_edge(edge); });
    if (auto groups = item.find("groups")) each(*groups, [this](const Item& group) { add_group(group); });
    if (auto test = item.find("test")) read_test(*test);
    return graph_;
  }

 private:
  template <class F>
  static void each(const Item& list, F&& read) {
    for (std::size_t i = 0; i < list.size(); ++i) read(list[i]);
  }

  static std::int32_t small(const Item& item) {
    const std::int64_t value = item.integer();
    if (value != static_cast<std::int32_t>(value)) item.expected("a number of 32 bits");
    return static_cast<std::int32_t>(value);
  }

  static Extents numbers(const Item& list) {
    Extents read;
    each(list, [&](const Item& number) { read.push_back(number.integer()); });
    return read;
  }

  BlockId block_id(const Item& item) const {
    const std::int64_t id = item.integer();
    if (id < 0 || id >= static_cast<std::int64_t>(graph_->blocks.size())) item.expected("the number of a block");
    return BlockId(static_cast<std::size_t>(id));
  }

  void add_block(const Item& item) {
    TaskBlock block;
    block.name = item["name"].text();
    block.def = table_.find(item["type"].text());
    if (!block.def) item["type"].expected("a kind of block");
    const std::optional<Precision> precision = precision_of(item["precision"].text());
    if (!precision) item["precision"].expected("a precision");
    block.precision = *precision;
    for (BlockAxis axis : block.def->axes)
      if (auto extent = item["shape"].find(text(axis))) {
        block.shape[axis] = extent->integer();
        if (block.shape[axis] < 1) extent->expected("an extent from 1 on");
      }
    each(item["attributes"], [&](const Item& attribute) {
      if (attribute.size() != 2) attribute.expected("a name and a number");
      const BlockAttributeDef* def = table_.attribute(attribute[0].text());
      if (!def) attribute[0].expected("an attribute of blocks");
      block.attributes.push_back({def, attribute[1].integer()});
    });
    if (auto branches = item.find("branches")) {
      if (branches->integer() < 1 || branches->integer() > UINT16_MAX) branches->expected("1 to 65535");
      block.branches = static_cast<std::uint16_t>(branches->integer());
    }
    read_file_fields(item, block);
    if (auto data = item.find("data")) read_data(*data, block);
    graph_->blocks.push_back(std::move(block));
  }

  static void read_data(const Item& data, TaskBlock& block) {
    block.data.emplace();
    if (data.is_text()) {
      if (data.text() != comes_with_each_run) data.expected("an array, or \"given\"");
      return;
    }
    block.data = read_array(data);
  }

  static Array read_array(const Item& item) {
    const Value value = read_value(
        item, Type(), {[](std::string_view) { return std::nullopt; }, [](std::size_t) { return std::nullopt; }});
    if (!value.is_array()) item.expected("an array");
    return value.array();
  }

  static void read_file_fields(const Item& item, TaskBlock& block) {
    if (auto number = item.find("number")) block.number = small(*number);
    if (auto bias = item.find("bias")) {
      if (bias->integer() < 0 || bias->integer() > 2) bias->expected("0, 1 or 2");
      block.bias = static_cast<BiasKind>(bias->integer());
    }
    if (auto value = item.find("virtual")) block.is_virtual = value->boolean();
    if (auto value = item.find("major_task")) block.major_task = small(*value);
    if (auto value = item.find("pipeline")) block.pipeline = small(*value);
    if (auto value = item.find("socket")) block.socket = small(*value);
  }

  static const ClusterDef& cluster_of(const Item& item, const TaskBlock& block, bool input, BlockPort& port) {
    const std::string& name = item.text();
    if (input) {
      const std::optional<std::size_t> position = block.in_cluster_named(name);
      if (!position || *position >= block.in_clusters()) item.expected("an input of " + std::string(block.def->name));
      port.cluster = static_cast<std::uint16_t>(*position);
      return block.in_cluster(*position);
    }
    const std::optional<std::size_t> position = block.out_cluster_named(name);
    if (!position || *position >= block.out_clusters()) item.expected("an output of " + std::string(block.def->name));
    port.cluster = static_cast<std::uint16_t>(*position);
    return block.out_cluster(*position);
  }

  BlockPort port(const Item& item, bool input) const {
    BlockPort made;
    made.block = block_id(item["block"]);
    const TaskBlock& block = (*graph_)[made.block];
    const ClusterDef& cluster = cluster_of(item["cluster"], block, input, made);
    made.box = {numbers(item["position"]), numbers(item["size"])};
    const std::size_t rank = cluster_extents(block, cluster).size();
    if (made.box.position.size() != rank || made.box.size.size() != rank)
      item["position"].expected(fmt::format("{} numbers", rank));
    return made;
  }

  void add_edge(const Item& item) {
    BlockEdge edge;
    edge.from = port(item["from"], false);
    edge.to = port(item["to"], true);
    each(item["moves"], [&](const Item& move) {
      const RearrangeDef* def = rearrangement_named(move["name"].text());
      if (!def) move["name"].expected("a rearrangement");
      edge.moves.push_back({def, numbers(move["numbers"]), {}});
    });
    if (auto delay = item.find("delay")) edge.delay = small(*delay);
    if (auto initial = item.find("initial")) edge.initial = read_array(*initial);
    if (auto trigger = item.find("trigger")) edge.trigger = trigger->boolean();
    if (auto number = item.find("number")) edge.number = small(*number);
    graph_->edges.push_back(std::move(edge));
  }

  void read_test(const Item& item) {
    BlockTestConfig& test = graph_->test.emplace();
    if (auto mode = item.find("mode")) test.mode = small(*mode);
    if (auto seed = item.find("seed")) test.random_seed = seed->integer();
    if (auto name = item.find("name")) test.name = name->text();
  }

  void add_group(const Item& item) {
    BlockGroup group;
    group.number = small(item["number"]);
    each(item["blocks"], [&](const Item& block) { group.blocks.push_back(block_id(block)); });
    if (auto approx = item.find("approx")) group.approx = approx->real();
    if (auto metric = item.find("metric")) group.metric = metric->text();
    graph_->groups.push_back(std::move(group));
  }

  const BlockTable& table_;
  std::shared_ptr<BlockGraph> graph_ = std::make_shared<BlockGraph>();
};

}  // namespace

std::shared_ptr<const BlockGraph> read_block_graph(const Item& item, const BlockTable& table) {
  return BlockGraphReader(table).read(item);
}

}  // namespace taskspec
