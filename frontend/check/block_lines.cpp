#include "frontend/check/block_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/check/block_nests.hpp"
#include "frontend/check/block_reader.hpp"
#include "frontend/check/messages.hpp"
#include "ir/base/text.hpp"
#include "ir/blocks/check.hpp"

namespace taskspec::checking {

namespace {

class BlockLines : BlockMoves {
 public:
  BlockLines(Body& file, const ast::IrDecl& declaration)
      : BlockMoves(file), table_(file.world.options.blocks), declaration_(declaration) {}

  std::shared_ptr<const BlockGraph> read() {
    graph_->name = declaration_.name.text;
    for (const ast::IrLine& line : declaration_.lines)
      if (auto* block = std::get_if<ast::IrBlock>(&line.node)) add(*block, line.span);
    for (const Nest& nest : nests_) find_primitive(nest);
    // Blocks may stand below the edges that name them, and where a cluster stands depends on how many there are.
    for (const ast::IrLine& line : declaration_.lines)
      if (auto* edge = std::get_if<ast::IrEdge>(&line.node)) count_branches(edge->to);
    for (const ast::IrLine& line : declaration_.lines)
      if (auto* edge = std::get_if<ast::IrEdge>(&line.node)) add(*edge, line.span);
    for (const auto& [axon, parts] : neurons_) connect(parts);
    for (std::size_t id = 0; id < graph_->blocks.size(); ++id) set_bias(BlockId(id));
    if (failed_) return nullptr;
    // Files of others may say that storage is narrower than what comes; a chip cuts it there. Odd shifts it has none.
    const bool is_of_file =
        std::ranges::any_of(graph_->blocks, [](const TaskBlock& block) { return block.number >= 0; });
    Diags found = check_blocks(*graph_, table_, is_of_file ? BlockMode::rabbit : BlockMode::chip);
    if (is_of_file)
      for (const Diag& diag : check_blocks(*graph_, table_).items())
        if (diag.code == Code("E4007")) found.add(diag);
    failed_ = found.has_errors();
    diags_.append(found);
    return failed_ ? nullptr : graph_;
  }

 private:
  // ---- blocks ----

  void add(const ast::IrBlock& line, Span span) {
    if (line.kind.text == "TEST") return add_test(line);
    if (line.kind.text == "NEST") return add_nest(line, span);
    const auto neuron = std::ranges::find_if(
        line.attributes, [](const ast::Arg& argument) { return argument.name && argument.name->text == "neuron"; });
    if (neuron != line.attributes.end()) return add_neurons(line, *neuron, span);
    Written written{line, line.name.text, table_.find(line.kind.text), precision_of(line.precision.text), {}, {}, span};
    for (const ast::Arg& extent : line.dims) written.dims.push_back(&extent);
    for (const ast::Arg& attribute : line.attributes) written.attributes.push_back(&attribute);
    if (!written.def) {
      std::vector<std::string> kinds;
      for (const BlockDef* def : table_.all()) kinds.emplace_back(def->name);
      unknown(line.kind, "kind of block", kinds);
    }
    if (!written.precision) unknown_type(diags_, line.precision), failed_ = true;
    add(written);
    if (line.init) graph_->blocks.back().data.emplace();  // comes with each run
  }

  // A block, as it is written in a line, or in a part of it.
  struct Written {
    const ast::IrBlock& line;
    std::string name;
    const BlockDef* def;
    std::optional<Precision> precision;
    std::vector<const ast::Arg*> dims, attributes;
    Span span;
  };

  void add(const Written& written) {
    TaskBlock block;
    block.name = written.name;
    block.span = written.span;
    block.def = written.def;
    if (written.precision) block.precision = *written.precision;
    if (block.def) {
      for (const ast::Arg* extent : written.dims) add_extent(block, *extent);
      for (const ast::Arg* attribute : written.attributes) add_attribute(block, written.line, *attribute);
    }
    auto known = std::ranges::find(graph_->blocks, block.name, &TaskBlock::name);
    if (known != graph_->blocks.end()) {
      defined_twice(diags_, block.name, known->span, written.line.name.span);
      failed_ = true;
    }
    graph_->blocks.push_back(std::move(block));
  }

  // ---- nests of loops: the primitive that computes them (block_nests.hpp) ----

  struct Nest {
    BlockId block;
    const ast::IrBlock& line;
    NestLine written;
    std::vector<const ast::Arg*> attributes;  // of the primitive
  };

  void add_nest(const ast::IrBlock& line, Span span) {
    Nest nest{BlockId(graph_->blocks.size()), line, {}, {}};
    TaskBlock block;
    block.name = line.name.text;
    block.span = span;
    if (const std::optional<Precision> precision = precision_of(line.precision.text))
      nest.written.precision = *precision;
    else
      unknown_type(diags_, line.precision), failed_ = true;
    for (const ast::Arg& extent : line.dims) {
      const ast::Name* name = named(extent, "loops of a nest");
      const std::optional<BlockAxis> axis = name ? block_axis_of(name->text) : std::nullopt;
      const std::optional<std::int64_t> count = name ? integer(*extent.value) : std::nullopt;
      if (name && !axis) unknown(*name, "loop of a nest", {"y", "x", "f", "r", "ky", "kx", "iy", "ix"});
      if (!axis || !count) continue;
      if (*count < 1)
        refuse("E2001", extent.value->span, fmt::format("a loop runs once or more, not {} times", *count));
      else
        nest.written.loops.emplace_back(*axis, *count);
    }
    for (const ast::Arg& attribute : line.attributes) read_nest_word(nest, block, attribute);
    if (!nest.written.statement && !failed_)
      refuse("E1003", line.name.span, fmt::format("nest '{}' computes nothing", line.name.text))
          .help("(sum: input[r] * weight[f, r])");
    if (const auto known = std::ranges::find(graph_->blocks, block.name, &TaskBlock::name);
        known != graph_->blocks.end())
      defined_twice(diags_, block.name, known->span, line.name.span), failed_ = true;
    graph_->blocks.push_back(std::move(block));
    if (!failed_) nests_.push_back(std::move(nest));
  }

  void read_nest_word(Nest& nest, TaskBlock& block, const ast::Arg& attribute) {
    constexpr std::string_view reduces[] = {"sum", "most", "least"};  // as in NestReduce
    const ast::Name* name = named(attribute, "attributes of a block");
    if (!name) return;
    const auto reduce = std::ranges::find(reduces, name->text);
    if (reduce != std::end(reduces)) {
      nest.written.reduce = static_cast<NestReduce>(reduce - std::begin(reduces));
      nest.written.statement = attribute.value.get();
    } else if (name->text == "cmp") {
      nest.written.start = integer(*attribute.value);
    } else if (!file_attribute(block, *name, *attribute.value)) {
      nest.attributes.push_back(&attribute);
    }
  }

  // A storage on its way in may feed it.
  bool may_be(const BlockDef& def, const std::string& name) const {
    for (const ast::IrLine& line : declaration_.lines) {
      auto* edge = std::get_if<ast::IrEdge>(&line.node);
      if (!edge || edge->to.block.text != name) continue;
      const auto from = std::ranges::find(graph_->blocks, edge->from.block.text, &TaskBlock::name);
      const bool refuses = from != graph_->blocks.end() && from->def && !from->def->feeds.empty() &&
                           std::ranges::find(from->def->feeds, def.name) == from->def->feeds.end();
      if (refuses) return false;
    }
    return true;
  }

  void find_primitive(const Nest& nest) {
    std::vector<TaskBlock> found;
    try {
      found = blocks_of_nest(nest.written, table_, [this](const ast::Expr& expr) { return integer(expr); });
    } catch (const NestProblem& problem) {
      if (!problem.text.empty()) refuse("E1003", problem.span, problem.text).help(problem.help);
      failed_ = true;
      return;
    }
    const auto chosen =
        std::ranges::find_if(found, [&](const TaskBlock& block) { return may_be(*block.def, nest.line.name.text); });
    if (chosen == found.end()) {
      Diag& diag = refuse("E4038", nest.written.statement->span,
                          fmt::format("no block computes the nest '{}'", nest.line.name.text));
      for (const TaskBlock& block : found)
        diag.note(fmt::format("{} does, but the storage in front of it may not feed it", block.def->name));
      diag.help("sums run over r, ky, kx in this order; taskspec doc CC has the formula of a block");
      return;
    }
    TaskBlock& block = graph_->blocks[nest.block.index()];
    block.def = chosen->def;
    block.precision = nest.written.precision;
    block.shape = chosen->shape;
    block.attributes = chosen->attributes;
    block.branches = chosen->branches;
    for (const ast::Arg* attribute : nest.attributes) add_attribute(block, nest.line, *attribute);
  }

  // ---- neurons: a block of sums with its CLIF, the storage between them and the state, in one line ----

  struct Neurons {
    BlockId axon, sum, fire;
    BlockShape shape;
    Span span;
  };

  // c : CVM i8 [f: 8, r: 16] (neuron: true, vth0: 64)   ->   c, c_sum, c_fire; and c_state where no edge brings a state
  void add_neurons(const ast::IrBlock& line, const ast::Arg& word, Span span) {
    const std::optional<Value> value = known(*word.value);
    const BlockDef *axon = table_.find(line.kind.text), *fire = table_.find("CLIF");
    if (!value) return;
    if (!value->is_bool() || !axon || axon->kind != BlockKind::axon) {
      refuse("E1003", word.span, "'neuron' is true or false, of a block that sums up: CC, CC2D, CVM, CADD, ...");
      return;
    }
    Written sums{line, line.name.text, axon, Precision::i32, {}, {}, span};
    Written spikes{line, line.name.text + "_fire", fire, precision_of(line.precision.text), {}, {}, span};
    if (!spikes.precision) unknown_type(diags_, line.precision), failed_ = true;
    if (!value->boolean()) sums.precision = spikes.precision;
    for (const ast::Arg& argument : line.attributes) {
      if (&argument == &word) continue;
      const std::string name = argument.name ? argument.name->text : std::string();
      const bool is_of_neurons = value->boolean() && fire->find_attribute(name) && !axon->find_attribute(name);
      if (!is_of_neurons) sums.attributes.push_back(&argument);
      if (is_of_neurons || name == "group") spikes.attributes.push_back(&argument);
    }
    for (const ast::Arg& extent : line.dims) {
      const auto axis = extent.name ? block_axis_of(extent.name->text) : std::nullopt;
      sums.dims.push_back(&extent);
      if (axis == BlockAxis::y || axis == BlockAxis::x || axis == BlockAxis::f) spikes.dims.push_back(&extent);
    }
    Neurons made{.axon = BlockId(graph_->blocks.size()), .sum = {}, .fire = {}, .shape = {}, .span = span};
    add(sums);
    if (!value->boolean()) return;
    const BlockShape& shape = graph_->blocks.back().shape;
    made.shape = {.y = shape.y, .x = shape.x, .f = shape.f};
    made.sum = add_storage(line.name.text + "_sum", Precision::i32, made);
    made.fire = BlockId(graph_->blocks.size());
    add(spikes);
    neurons_.emplace(line.name.text, made);
  }

  BlockId add_storage(std::string name, Precision precision, const Neurons& of) {
    TaskBlock storage;
    storage.def = table_.find("SI");
    storage.name = std::move(name);
    storage.precision = precision;
    storage.shape = of.shape;
    storage.span = of.span;
    graph_->blocks.push_back(std::move(storage));
    return BlockId(graph_->blocks.size() - 1);
  }

  void connect(const Neurons& parts) {
    const std::string name = (*graph_)[parts.axon].name;
    join(parts.axon, parts.sum, 0, parts.span);
    join(parts.sum, parts.fire, 0, parts.span);
    const std::size_t state = (*graph_)[parts.fire].in_cluster_named("state").value();
    if (graph_->into(parts.fire, state).empty())
      join(add_storage(name + "_state", Precision::i28, parts), parts.fire, state, parts.span);
  }

  void join(BlockId from, BlockId to, std::size_t cluster, Span span) {
    const TaskBlock& target = (*graph_)[to];
    BlockEdge edge;
    edge.from = {from, 0, whole(value_type((*graph_)[from]).extents)};
    edge.to = {to, static_cast<std::uint16_t>(cluster), whole(cluster_extents(target, target.in_cluster(cluster)))};
    edge.span = span;
    graph_->edges.push_back(std::move(edge));
  }

  // Of a line that is several blocks, the one that an edge means.
  std::string meant(const ast::IrPort& written, bool input) const {
    const auto found = neurons_.find(written.block.text);
    if (found == neurons_.end()) return written.block.text;
    const TaskBlock& fire = (*graph_)[found->second.fire];
    const bool is_of_axon =
        input && (!written.member || written.member->text == "input" || !fire.in_cluster_named(written.member->text));
    return is_of_axon ? written.block.text : fire.name;
  }

  void add_extent(TaskBlock& block, const ast::Arg& extent) {
    const ast::Name* name = named(extent, "extents of a block");
    if (!name) return;
    const std::optional<BlockAxis> axis = block_axis_of(name->text);
    if (!axis || std::ranges::find(block.def->axes, *axis) == block.def->axes.end()) {
      std::vector<std::string> axes;
      for (BlockAxis one : block.def->axes) axes.emplace_back(taskspec::text(one));
      unknown(*name, fmt::format("axis of {}", block.def->name), axes).note("it has " + joined(axes, ", "));
      return;
    }
    const std::optional<std::int64_t> value = integer(*extent.value);
    if (!value) return;
    if (*value < -1)
      refuse("E2001", extent.value->span,
             fmt::format("an extent is 1 or more, or -1 where there is none, not {}", *value));
    else if (*value > 0)
      block.shape[*axis] = *value;
  }

  // A block of a file may have attributes that it does nothing with.
  const BlockAttributeDef* attribute_named(const BlockDef& def, const ast::IrBlock& line, std::string_view name) const {
    auto own = std::ranges::find(def.attributes, name, [](const BlockAttributeDef* d) { return d->name; });
    if (own != def.attributes.end()) return *own;
    const bool of_file = std::ranges::any_of(
        line.attributes, [](const ast::Arg& argument) { return argument.name && argument.name->text == "number"; });
    return of_file ? table_.attribute(name) : nullptr;
  }

  void add_attribute(TaskBlock& block, const ast::IrBlock& line, const ast::Arg& attribute) {
    const ast::Name* name = named(attribute, "attributes of a block");
    if (!name) return;
    if (file_attribute(block, *name, *attribute.value)) return;
    const BlockAttributeDef* def = attribute_named(*block.def, line, name->text);
    if (!def) {
      std::vector<std::string> names;
      for (const BlockAttributeDef* one : block.def->attributes) names.emplace_back(one->name);
      unknown(*name, fmt::format("attribute of {}", block.def->name), names);
    } else if (const std::optional<std::int64_t> value = attribute_value(*def, *attribute.value)) {
      block.attributes.push_back({def, *value});
    }
  }

  // A number, or one of the words that stand for 0, 1, ...
  std::optional<std::int64_t> attribute_value(const BlockAttributeDef& def, const ast::Expr& written) {
    if (def.words.empty()) return integer(written);
    const std::optional<Value> value = known(written);
    if (!value) return std::nullopt;
    if (value->is_integer()) return value->integer();
    const auto found = value->is_string() ? std::ranges::find(def.words, value->string()) : def.words.end();
    if (found != def.words.end()) return found - def.words.begin();
    std::vector<std::string> words;
    for (const std::string_view word : def.words) words.push_back(in_quotes(word));
    refuse("E1003", written.span, fmt::format("'{}' is {}, not {}", def.name, joined(words, ", "), print(*value)));
    return std::nullopt;
  }

  // ---- edges ----

  void add(const ast::IrEdge& line, Span span) {
    BlockEdge edge;
    edge.span = span;
    const bool from = read_port(line.from, false, edge.from), to = read_port(line.to, true, edge.to);
    if (!from || !to) return;
    for (const ast::IrMove& move : line.moves) add_move(edge, move);
    graph_->edges.push_back(std::move(edge));
  }

  // `add.input3` makes it a block of three inputs.
  void count_branches(const ast::IrPort& to) {
    auto found = std::ranges::find(graph_->blocks, to.block.text, &TaskBlock::name);
    if (found == graph_->blocks.end() || !found->def || !to.member || found->def->in.empty()) return;
    const ClusterDef& first = found->def->in.front();
    if (!first.repeated || !to.member->text.starts_with(first.name)) return;
    if (const std::optional<std::size_t> position = found->in_cluster_named(to.member->text))
      found->branches = std::max(found->branches, static_cast<std::uint16_t>(*position + 1));
  }

  void set_bias(BlockId id) {
    TaskBlock& block = graph_->blocks[id.index()];
    if (!block.def) return;
    const std::optional<std::size_t> cluster = block.in_cluster_named("bias");
    if (says_bias(block)) return;
    if (cluster && !graph_->into(id, *cluster).empty())
      block.bias = BiasKind::vector;
    else if (cluster && block.has("constant_b"))
      block.bias = BiasKind::constant;
  }

  bool read_port(const ast::IrPort& written, bool input, BlockPort& port) {
    auto found = std::ranges::find(graph_->blocks, meant(written, input), &TaskBlock::name);
    if (found == graph_->blocks.end()) {
      std::vector<std::string> names;
      for (const TaskBlock& block : graph_->blocks) names.push_back(block.name);
      unknown(written.block, "block", names);
      return false;
    }
    if (!found->def) return false;
    port.block = BlockId(static_cast<std::size_t>(found - graph_->blocks.begin()));
    const std::optional<std::size_t> cluster = read_cluster(*found, written, input);
    if (!cluster) return false;
    port.cluster = static_cast<std::uint16_t>(*cluster);
    const ClusterDef& def = input ? found->in_cluster(*cluster) : found->out_cluster(*cluster);
    return read_box(written, cluster_extents(*found, def), port.box);
  }

  // By its name; the first where none is written. `input2` is the second of a cluster that is repeated.
  std::optional<std::size_t> read_cluster(const TaskBlock& block, const ast::IrPort& written, bool input) {
    const std::span<const ClusterDef> clusters = input ? block.def->in : block.def->out;
    if (clusters.empty()) {
      refuse("E1003", written.span,
             fmt::format("{} '{}' has no {}", block.def->name, block.name, input ? "input" : "output"));
      return std::nullopt;
    }
    if (!written.member) return 0;
    const std::string& name = written.member->text;
    if (const auto found = input ? block.in_cluster_named(name) : block.out_cluster_named(name)) return found;
    std::vector<std::string> names;
    for (const ClusterDef& cluster : clusters) names.emplace_back(cluster.name);
    no_member(diags_, *written.member, fmt::format("{} '{}'", block.def->name, block.name), "cluster", names);
    failed_ = true;
    return std::nullopt;
  }

  bool read_box(const ast::IrPort& written, const Extents& extents, Box& box) {
    box = whole(extents);
    if (written.index.empty()) return true;
    if (written.index.size() != extents.size()) {
      refuse("E2004", written.span,
             fmt::format("a part of {} is written with {}", ArrayType{Precision::i8, extents}.text().substr(2),
                         plural(extents.size(), "range")));
      return false;
    }
    for (std::size_t k = 0; k < extents.size(); ++k)
      if (!read_range(written.index[k], extents[k], box.position[k], box.size[k])) return false;
    return true;
  }

  bool read_range(const ast::IndexItem& item, std::int64_t extent, std::int64_t& position, std::int64_t& size) {
    std::optional<std::int64_t> low = 0, high = extent;
    if (item.at) low = integer(*item.at), high = low ? std::optional(*low + 1) : std::nullopt;
    if (item.low) low = integer(*item.low);
    if (item.high) high = integer(*item.high);
    if (!low || !high) return false;
    if (*low < 0 || *high > extent || *low >= *high) {
      refuse("E2004", item.span, fmt::format("{}..{} does not lie within 0..{}", *low, *high, extent));
      return false;
    }
    position = *low, size = *high - *low;
    return true;
  }

  const BlockTable& table_;
  const ast::IrDecl& declaration_;
  std::map<std::string, Neurons> neurons_;  // by the name of their line
  std::vector<Nest> nests_;
};

}  // namespace

std::shared_ptr<const BlockGraph> read_block_lines(Body& file, const ast::IrDecl& declaration) {
  return BlockLines(file, declaration).read();
}

}  // namespace taskspec::checking
