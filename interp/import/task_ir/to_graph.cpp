#include "interp/import/task_ir/to_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "interp/import/task_ir/graph_names.hpp"
#include "interp/import/task_ir/tensor.hpp"
#include "ir/base/text.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec::task_ir {

namespace {

using google::protobuf::Message;

struct FilePort {
  BlockPort port;
  const Message* message = nullptr;
  int count = 0;  // of interfaces that say so
};

class GraphReader {
 public:
  GraphReader(const tianjic_ir::TaskGraph& file, TextReader* text, SourceId source, const BlockTable& blocks)
      : file_(file), text_(text), source_(source), table_(blocks) {}

  Result<BlockGraph> read(const std::string& name) {
    graph_.name = name;
    if (file_.blocks().empty()) refuse(file_, "a Task IR file has blocks, and here are none");
    for (const tianjic_ir::TaskBlock& block : file_.blocks()) block_of(block);
    for (const tianjic_ir::Edge& edge : file_.edges()) edge_ids(edge);
    for (int i = 0; i < file_.blocks_size(); ++i) ports_of(file_.blocks(i));
    for (const tianjic_ir::Edge& edge : file_.edges()) edge_of(edge);
    for (const tianjic_ir::Group& group : file_.groups()) group_of(group);
    std::ranges::stable_sort(graph_.groups, {}, &BlockGroup::number);
    test_of(file_.test_config());
    if (diags_.has_errors()) return diags_;
    return Result<BlockGraph>(std::move(graph_), std::move(diags_));
  }

 private:
  Span place(const Message& message) const { return text_ ? text_->place(message) : Span{source_, 0, 0}; }
  Span place(const Message& message, std::string_view field, std::size_t index = 0) const {
    return text_ ? text_->place(message, field, index) : Span{source_, 0, 0};
  }
  Diag& refuse(const Message& at, std::string what) { return diags_.error("E7003", place(at), std::move(what)); }
  Diag& refuse(const Message& at, std::string_view field, std::string what, std::size_t index = 0) {
    return diags_.error("E7003", place(at, field, index), std::move(what));
  }

  void block_of(const tianjic_ir::TaskBlock& message);
  bool number_of_block(const tianjic_ir::TaskBlock& message);
  bool kind_of_block(const tianjic_ir::TaskBlock& message, TaskBlock& block);
  void shape_of_block(const tianjic_ir::TaskBlock& message, TaskBlock& block);
  void attributes_of(const tianjic_ir::TaskBlock& message, TaskBlock& block);
  void extras_of(const tianjic_ir::TaskBlock& message, TaskBlock& block);
  void branches_of(const tianjic_ir::TaskBlock& message, TaskBlock& block);

  void ports_of(const tianjic_ir::TaskBlock& message);
  void ports_of(const tianjic_ir::EdgeCluster& cluster, BlockId block, std::size_t position, bool is_input);
  void check_cluster_shape(const tianjic_ir::Shape& shape, const std::string& which, const Extents& extents,
                           const std::vector<BlockAxis>& axes, bool windowed);
  Extents box_extents(const tianjic_ir::Shape& shape, const std::vector<BlockAxis>& axes, bool windowed);

  void edge_ids(const tianjic_ir::Edge& message);
  void edge_of(const tianjic_ir::Edge& message);
  bool check_end(const tianjic_ir::Edge& message, bool is_input);
  void move_of(const tianjic_ir::RearrangeInfo& message, std::int32_t edge, BlockEdge& into);
  void group_of(const tianjic_ir::Group& message);
  void test_of(const tianjic_ir::TestConfig& message);

  const tianjic_ir::TaskGraph& file_;
  TextReader* text_;
  SourceId source_;
  const BlockTable& table_;
  BlockGraph graph_;
  std::unordered_map<std::int32_t, BlockId> blocks_;  // by their ids in the file
  std::unordered_map<std::int32_t, const tianjic_ir::Edge*> edges_;
  std::unordered_map<std::int32_t, FilePort> from_, to_;  // by id of the edge
  std::unordered_set<std::int32_t> groups_;
  Diags diags_;
};

// ---- blocks ----------------------------------------------------------------------------------------

bool GraphReader::number_of_block(const tianjic_ir::TaskBlock& message) {
  if (!message.has_id()) return refuse(message, "this block has no id"), false;
  if (message.id() < 0) return refuse(message, "id", fmt::format("ids are 0 or more, not {}", message.id())), false;
  const auto [first, is_new] = blocks_.emplace(message.id(), BlockId(graph_.blocks.size()));
  if (is_new) return true;
  Diag& diag = refuse(message, "id", fmt::format("two blocks have the id {}", message.id()));
  if (first->second.index() < graph_.blocks.size()) diag.label(graph_[first->second].span, "the other one");
  return false;
}

bool GraphReader::kind_of_block(const tianjic_ir::TaskBlock& message, TaskBlock& block) {
  const std::string who = fmt::format("block {}", message.id());
  if (!message.has_type() || !message.has_precision())
    return refuse(message, who + (message.has_type() ? " has no precision" : " has no type")), false;
  if (message.type() == tianjic_ir::TaskBlock::TASK_NULL) {
    refuse(message, "type", who + " is TASK_NULL, which stands for what a converter has not finished")
        .help("convert the model again: Flatten, Cut and Concat become edges before a file is written");
    return false;
  }
  block.def = table_.find(static_cast<int>(message.type()));
  if (!block.def)
    return refuse(
               message, "type",
               who + " is of a kind that is not known: " + tianjic_ir::TaskBlock::TaskBlockType_Name(message.type())),
           false;
  block.precision = *precision_of(message.precision());
  return true;
}

void GraphReader::shape_of_block(const tianjic_ir::TaskBlock& message, TaskBlock& block) {
  const tianjic_ir::Shape& shape = message.shape();
  if (!message.has_shape()) {
    refuse(message, fmt::format("block {} has no shape", message.id()));
    return;
  }
  for (std::size_t k = 0; k < block_axes; ++k) {
    const auto axis = static_cast<BlockAxis>(k);
    if (extent_of(shape, axis) < 0)
      refuse(shape, fmt::format("block {}: n{} is {}; extents are 1 or more, 0 and -1 are \"none\"", message.id(),
                                text(axis), extent_of(shape, axis)));
  }
  block.shape = block_shape(shape);
  if (shape.extra_dimensions() > 0)
    refuse(shape, "extra_dimensions", fmt::format("block {}: blocks have no further dimensions", message.id()));
  const bool repeats = !block.def->in.empty() && block.def->in[0].repeated;
  if (shape.n_branch() > 1 && !(repeats && shape.n_branch() == block.branches))
    refuse(shape, "n_branch",
           fmt::format("block {}: {} has no branches: n_branch vectors are written as its rows, ny", message.id(),
                       block.def->name));
}

// A file has no number for it: as many inputs as there are.
void GraphReader::branches_of(const tianjic_ir::TaskBlock& message, TaskBlock& block) {
  if (block.def->in.empty() || !block.def->in[0].repeated) return;
  int others = 0;
  for (const ClusterDef& cluster : block.def->in.subspan(1))
    if (!cluster.present || cluster.present(block)) ++others;
  block.branches = static_cast<std::uint16_t>(std::clamp(message.input_clusters_size() - others, 1, 65535));
}

void GraphReader::attributes_of(const tianjic_ir::TaskBlock& message, TaskBlock& block) {
  for (const tianjic_ir::Attribute& given : message.attributes()) {
    const BlockAttributeDef* def = given.has_type() ? table_.attribute(static_cast<int>(given.type())) : nullptr;
    if (!def) {
      refuse(given, fmt::format("block {}: an attribute has no type", message.id()));
      continue;
    }
    const std::string who = fmt::format("block {}: {}", message.id(), def->label);
    if (block.has(def->name)) {
      refuse(given, who + " is given twice");
    } else if (given.has_int_value() == given.has_float_value()) {
      refuse(given, who + " has " + (given.has_int_value() ? "two values" : "no value"));
    } else if (given.has_float_value()) {
      const double value = given.float_value();
      if (std::floor(value) != value || std::abs(value) > 2147483647.0)
        refuse(given, "float_value", fmt::format("{} is an integer, not {}", who, value));
      else
        block.attributes.push_back({def, static_cast<std::int64_t>(value)});
    } else {
      block.attributes.push_back({def, given.int_value()});
    }
  }
}

void GraphReader::extras_of(const tianjic_ir::TaskBlock& message, TaskBlock& block) {
  block.bias = static_cast<BiasKind>(message.bias_type());
  block.number = message.id();
  if (message.has_is_virtual()) block.is_virtual = message.is_virtual();
  if (message.has_major_task_id()) block.major_task = message.major_task_id();
  if (message.has_pipeline_num()) block.pipeline = message.pipeline_num();
  if (message.has_socket_id()) block.socket = message.socket_id();
}

void GraphReader::block_of(const tianjic_ir::TaskBlock& message) {
  TaskBlock block;
  block.span = place(message);
  const bool is_numbered = number_of_block(message);
  if (!kind_of_block(message, block)) {
    if (is_numbered) blocks_[message.id()] = BlockId();  // so that edges to it are not refused, too
    return;
  }
  extras_of(message, block);
  branches_of(message, block);
  const std::size_t before = diags_.size();
  shape_of_block(message, block);
  attributes_of(message, block);
  if (message.has_data() && diags_.size() == before) {
    const TensorPlace at = [&](std::string_view field, std::size_t index) {
      return place(message.data(), field, index);
    };
    block.data =
        array_of(message.data(), value_type(block), fmt::format("block {}: its data", message.id()), at, diags_);
  }
  block.name = fmt::format("b{}", message.id());
  if (is_numbered) graph_.blocks.push_back(std::move(block));
}

// ---- clusters and their interfaces -----------------------------------------------------------------

// Of a box or shape: the extents along these axes. What the windows read may be called niy, nix or ny, nx.
Extents GraphReader::box_extents(const tianjic_ir::Shape& shape, const std::vector<BlockAxis>& axes, bool windowed) {
  Extents extents;
  for (const BlockAxis axis : axes) {
    std::int64_t extent = extent_of(shape, axis);
    if (windowed && axis == BlockAxis::y && extent == 0) extent = extent_of(shape, BlockAxis::iy);
    if (windowed && axis == BlockAxis::x && extent == 0) extent = extent_of(shape, BlockAxis::ix);
    extents.push_back(extent);
  }
  return extents;
}

void GraphReader::check_cluster_shape(const tianjic_ir::Shape& shape, const std::string& which, const Extents& extents,
                                      const std::vector<BlockAxis>& axes, bool windowed) {
  const Extents given = box_extents(shape, axes, windowed);
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (given[k] != 0 && given[k] != extents[k]) {
      refuse(shape, fmt::format("{} has {}, its block makes it {}", which, extents_text(given), extents_text(extents)));
      return;
    }
}

void GraphReader::ports_of(const tianjic_ir::EdgeCluster& cluster, BlockId id, std::size_t position, bool is_input) {
  const TaskBlock& block = graph_[id];
  const ClusterDef& def = is_input ? block.in_cluster(position) : block.def->out[position];
  const Extents extents = cluster_extents(block, def);
  const std::vector<BlockAxis> axes = axes_of(block, def);
  if (extents.size() != axes.size()) return;  // of extents that were refused
  const std::string which =
      fmt::format("block {}: {}", block.number, is_input ? block.in_cluster_name(position) : "output");
  if (cluster.has_shape()) check_cluster_shape(cluster.shape(), which, extents, axes, def.windowed);
  for (const tianjic_ir::EdgeInterface& interface : cluster.interfaces()) {
    if (!interface.has_edge_id()) {
      refuse(interface, which + " has an interface without an edge");
      continue;
    }
    Box box{box_extents(interface.position(), axes, def.windowed), box_extents(interface.size(), axes, def.windowed)};
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (box.size[k] == 0) box.size[k] = extents[k] - box.position[k];
    FilePort& port = (is_input ? to_ : from_)[interface.edge_id()];
    if (port.count++ == 0) port = {{id, static_cast<std::uint16_t>(position), std::move(box)}, &interface, 1};
    if (port.count == 2)
      refuse(interface,
             fmt::format("edge {} {} two interfaces", interface.edge_id(), is_input ? "ends in" : "begins in"))
          .label(place(*port.message), "the other one");
    if (!edges_.contains(interface.edge_id()))
      refuse(interface, "edge_id", fmt::format("{} names edge {}, which is not there", which, interface.edge_id()));
  }
}

void GraphReader::ports_of(const tianjic_ir::TaskBlock& message) {
  const auto found = blocks_.find(message.id());
  if (found == blocks_.end() || !found->second.valid() || found->second.index() >= graph_.blocks.size()) return;
  const TaskBlock& block = graph_[found->second];
  if (message.output_clusters_size() > static_cast<int>(block.def->out.size()))
    refuse(message.output_clusters(static_cast<int>(block.def->out.size())),
           fmt::format("block {}: {} has {}", block.number, block.def->name, plural(block.def->out.size(), "output")));
  for (int c = 0; c < std::min(message.output_clusters_size(), static_cast<int>(block.def->out.size())); ++c)
    ports_of(message.output_clusters(c), found->second, static_cast<std::size_t>(c), false);
  const auto count = static_cast<std::size_t>(message.input_clusters_size());
  const auto listed = listed_clusters(block, count);
  if (!listed) {
    const std::size_t most = possible_clusters(block).size();
    refuse(message.input_clusters(static_cast<int>(most)),
           fmt::format("block {}: {} has {} as its attributes are, not {}", block.number, block.def->name,
                       plural(most, "input"), count));
    return;
  }
  for (std::size_t c = 0; c < count; ++c)
    ports_of(message.input_clusters(static_cast<int>(c)), found->second, (*listed)[c], true);
}

// ---- edges -----------------------------------------------------------------------------------------

void GraphReader::edge_ids(const tianjic_ir::Edge& message) {
  if (!message.has_id()) {
    refuse(message, "this edge has no id");
  } else if (message.id() < 0) {
    refuse(message, "id", fmt::format("ids are 0 or more, not {}", message.id()));
  } else if (const auto [first, is_new] = edges_.emplace(message.id(), &message); !is_new) {
    refuse(message, "id", fmt::format("two edges have the id {}", message.id()))
        .label(place(*first->second), "the other one");
  }
}

// The block that the edge names has an interface that names the edge.
bool GraphReader::check_end(const tianjic_ir::Edge& message, bool is_input) {
  const std::string_view field = is_input ? "dst_block_id" : "src_block_id";
  const bool has_id = is_input ? message.has_dst_block_id() : message.has_src_block_id();
  const std::int32_t id = is_input ? message.dst_block_id() : message.src_block_id();
  const std::string who = fmt::format("edge {}", message.id());
  if (!has_id) return refuse(message, fmt::format("{} has no {}", who, field)), false;
  const auto block = blocks_.find(id);
  if (block == blocks_.end())
    return refuse(message, field,
                  fmt::format("{} {} block {}, which is not there", who, is_input ? "leads to" : "comes from", id)),
           false;
  if (!block->second.valid()) return false;  // refused already
  const auto& ports = is_input ? to_ : from_;
  const auto port = ports.find(message.id());
  if (port == ports.end())
    return refuse(message, fmt::format("no {} of block {} names {}", is_input ? "input" : "output", id, who)), false;
  if (port->second.port.block == block->second) return true;
  refuse(message, field,
         fmt::format("{} names block {}, but it is block {} that names the edge", who, id,
                     graph_[port->second.port.block].number))
      .label(place(*port->second.message), "there");
  return false;
}

void GraphReader::move_of(const tianjic_ir::RearrangeInfo& message, std::int32_t edge, BlockEdge& into) {
  const RearrangeDef* def = message.has_type() ? rearrangement_numbered(static_cast<int>(message.type())) : nullptr;
  if (!def) {
    refuse(message, fmt::format("edge {}: a rearrangement has no type", edge));
    return;
  }
  Rearrangement move{def, {}, place(message)};
  if (message.matrix_size() > 1)
    refuse(message.matrix(1), fmt::format("edge {}: a rearrangement has one matrix", edge));
  if (message.matrix_size() > 0) {
    const tianjic_ir::Tensor& matrix = message.matrix(0);
    move.numbers.assign(matrix.int32_data().begin(), matrix.int32_data().end());
    for (const std::uint32_t number : matrix.uint32_data()) move.numbers.push_back(number);
    for (const float number : matrix.float_data()) {
      if (std::floor(number) != number || std::abs(number) > 2147483520.0f) {
        refuse(matrix, fmt::format("edge {}: the numbers of {} are integers, not {}", edge, def->label, number));
        break;
      }
      move.numbers.push_back(static_cast<std::int64_t>(number));
    }
  }
  into.moves.push_back(std::move(move));
}

void GraphReader::edge_of(const tianjic_ir::Edge& message) {
  const auto first = edges_.find(message.id());
  if (!message.has_id() || first == edges_.end() || first->second != &message) return;
  BlockEdge edge;
  edge.number = message.id();
  edge.span = place(message);
  for (const tianjic_ir::RearrangeInfo& move : message.rearrange_info()) move_of(move, message.id(), edge);
  const bool has_from = check_end(message, false), has_to = check_end(message, true);
  if (!has_from || !has_to) return;
  edge.from = from_.at(message.id()).port;
  edge.to = to_.at(message.id()).port;
  graph_.edges.push_back(std::move(edge));
}

// ---- groups, test ----------------------------------------------------------------------------------

void GraphReader::group_of(const tianjic_ir::Group& message) {
  if (!message.has_group_id()) {
    refuse(message, "this group has no group_id");
    return;
  }
  const std::int32_t number = message.group_id();
  if (!groups_.insert(number).second) refuse(message, "group_id", fmt::format("two groups have the id {}", number));
  BlockGroup group{.number = number, .blocks = {}, .approx = {}, .metric = {}};
  for (int k = 0; k < message.block_ids_size(); ++k) {
    const auto block = blocks_.find(message.block_ids(k));
    if (block == blocks_.end())
      refuse(message, "block_ids",
             fmt::format("group {} has block {}, which is not there", number, message.block_ids(k)),
             static_cast<std::size_t>(k));
    else if (block->second.valid())
      group.blocks.push_back(block->second);
  }
  std::ranges::sort(group.blocks);
  const auto repeated = std::ranges::unique(group.blocks);
  group.blocks.erase(repeated.begin(), repeated.end());
  if (group.blocks.empty())
    diags_.warning("E7003", place(message), fmt::format("group {} has no blocks: it is left out", number));
  else
    graph_.groups.push_back(std::move(group));
}

void GraphReader::test_of(const tianjic_ir::TestConfig& message) {
  if (!message.has_random_seed() && !message.has_test_case_name() && !message.has_test_mode()) return;
  BlockTestConfig& test = graph_.test.emplace();
  if (message.has_random_seed()) test.random_seed = message.random_seed();
  if (message.has_test_case_name()) test.name = message.test_case_name();
  if (message.has_test_mode()) test.mode = static_cast<std::int32_t>(message.test_mode());
}

}  // namespace

Result<BlockGraph> to_graph(const tianjic_ir::TaskGraph& file, TextReader* text, SourceId source,
                            const std::string& name, const BlockTable& blocks) {
  return GraphReader(file, text, source, blocks).read(name);
}

}  // namespace taskspec::task_ir
