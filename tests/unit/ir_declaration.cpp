#include "tests/unit/ir_declaration.hpp"

#include <algorithm>
#include <map>

#include "ir/types/value.hpp"
#include "stdlib/blocks.hpp"

namespace taskspec::tests {

namespace {

class IrReader {
 public:
  explicit IrReader(std::span<const NamedArray> arrays) : arrays_(arrays), table_(standard_blocks()) {}

  BlockGraph read(const ast::IrDecl& declaration) {
    graph_.name = declaration.name.text;
    for (const ast::IrLine& line : declaration.lines)
      if (const auto* block = std::get_if<ast::IrBlock>(&line.node)) {
        if (block->kind.text == "TEST")
          test(*block);
        else
          blocks(*block);
      }
    for (const ast::IrLine& line : declaration.lines)
      if (const auto* edge = std::get_if<ast::IrEdge>(&line.node)) edges(*edge);
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) bias(graph_.blocks[b]);
    for (auto& [number, group] : groups_) graph_.groups.push_back(group);
    for (const ast::IrLine& line : declaration.lines)  // whole only now that their branches are known
      if (const auto* edge = std::get_if<ast::IrEdge>(&line.node)) boxes(*edge);
    return std::move(graph_);
  }

 private:
  static Value value(const ast::Expr& expr) {
    if (const auto* number = std::get_if<ast::IntLit>(&expr.node)) return number->value;
    if (const auto* number = std::get_if<ast::FloatLit>(&expr.node)) return number->value;
    if (const auto* text = std::get_if<ast::StringLit>(&expr.node)) return text->value;
    if (const auto* truth = std::get_if<ast::BoolLit>(&expr.node)) return truth->value;
    if (const auto* minus = std::get_if<ast::Unary>(&expr.node)) return Value(-value(*minus->operand).integer());
    List items;
    for (const ast::Expr& part : std::get<ast::ListExpr>(expr.node).parts) items.push_back(value(part));
    return items;
  }

  // file("x.npz", name: "w"), in the precision that is wanted.
  Array data(const ast::Expr& expr) const {
    const std::string name = value(*std::get<ast::Call>(expr.node).args[1].value).string();
    return std::ranges::find(arrays_, name, &NamedArray::name)->array;
  }

  // What a delayed edge begins with: nested lists, or one number for all.
  static Array initial(const TaskBlock& source, const Value& given) {
    if (given.is_list()) return array_of(given, source.precision);
    Array all = Array::make(value_type(source));
    for (std::int64_t i = 0; i < all.elements(); ++i) all.set_integer(i, given.integer());
    return all;
  }

  void blocks(const ast::IrBlock& line) {
    TaskBlock block;
    block.def = table_.find(line.kind.text);
    block.name = line.name.text;
    block.precision = *precision_of(line.precision.text);
    for (const ast::Arg& extent : line.dims)
      block.shape[*block_axis_of(extent.name->text)] = value(*extent.value).integer();
    graph_.blocks.push_back(std::move(block));
    for (const ast::Arg& arg : line.attributes) word(graph_.blocks.back(), arg.name->text, value(*arg.value));
    if (line.init) graph_.blocks.back().data = data(*line.init);
  }

  void word(TaskBlock& block, const std::string& name, const Value& value) {
    const BlockId id(graph_.blocks.size() - 1);
    const auto number = [&] { return static_cast<std::int32_t>(value.integer()); };
    if (const BlockAttributeDef* attribute = table_.attribute(name))
      block.attributes.push_back(
          {attribute, value.is_string() ? std::ranges::find(attribute->words, value.string()) - attribute->words.begin()
                                        : value.integer()});
    else if (name == "bias")
      biases_[id.index()] = value.string();
    else if (name == "number")
      block.number = number();
    else if (name == "virtual")
      block.is_virtual = value.boolean();
    else if (name == "major_task")
      block.major_task = number();
    else if (name == "pipeline")
      block.pipeline = number();
    else if (name == "socket")
      block.socket = number();
    else if (name == "group")
      for (const Value& item : value.is_list() ? value.list() : List{value}) join(id, item.integer());
    else if (name == "approx")
      for (BlockGroup* group : led_by(id)) group->approx = value.real();
    else if (name == "metric")
      for (BlockGroup* group : led_by(id)) group->metric = value.string();
    else
      bug("a word that no declaration has: " + name);
  }

  void join(BlockId block, std::int64_t group) {
    groups_[group].number = static_cast<std::int32_t>(group);
    groups_[group].blocks.push_back(block);
  }

  std::vector<BlockGroup*> led_by(BlockId block) {
    std::vector<BlockGroup*> led;
    for (auto& [number, group] : groups_)
      if (group.blocks[0] == block) led.push_back(&group);
    return led;
  }

  void test(const ast::IrBlock& line) {
    const std::string_view modes[] = {"MEMORY_STATE", "PRIM_OUTPUT", "CASE_OUTPUT"};
    graph_.test.emplace();
    for (const ast::Arg& arg : line.dims) {
      const Value given = value(*arg.value);
      if (arg.name->text == "mode")
        graph_.test->mode = static_cast<std::int32_t>(std::ranges::find(modes, given.string()) - std::begin(modes));
      if (arg.name->text == "seed") graph_.test->random_seed = given.integer();
      if (arg.name->text == "name") graph_.test->name = given.string();
    }
  }

  BlockId named(const std::string& name) const {
    return BlockId(
        static_cast<std::size_t>(std::ranges::find(graph_.blocks, name, &TaskBlock::name) - graph_.blocks.begin()));
  }

  void edges(const ast::IrEdge& line) {
    BlockEdge edge;
    edge.from.block = named(line.from.block.text);
    if (line.from.member)
      edge.from.cluster =
          static_cast<std::uint16_t>(*graph_[edge.from.block].out_cluster_named(line.from.member->text));
    edge.to.block = named(line.to.block.text);
    TaskBlock& to = graph_.blocks[edge.to.block.index()];
    const std::string cluster = line.to.member ? line.to.member->text : std::string(to.def->in[0].name);
    if (to.def->in[0].repeated && cluster.starts_with(to.def->in[0].name))
      to.branches = std::max(to.branches, static_cast<std::uint16_t>(*to.in_cluster_named(cluster) + 1));
    clusters_.push_back(cluster);
    for (const ast::IrMove& move : line.moves) moves(edge, move);
    graph_.edges.push_back(std::move(edge));
  }

  void moves(BlockEdge& edge, const ast::IrMove& move) {
    if (move.name.text == "delay") {
      edge.delay = static_cast<std::int32_t>(value(*move.args[0].value).integer());
      if (move.args.size() > 1) edge.initial = initial(graph_[edge.from.block], value(*move.args[1].value));
    } else if (move.name.text == "trigger") {
      edge.trigger = true;
    } else if (move.name.text == "number") {
      edge.number = static_cast<std::int32_t>(value(*move.args[0].value).integer());
    } else {
      const RearrangeDef& def = *rearrangement_named(move.name.text);
      edge.moves.push_back({&def, def.numbers(arguments(def, move.args), {}).value_or_throw(), {}});
    }
  }

  static std::vector<Value> arguments(const RearrangeDef& def, const std::vector<ast::Arg>& args) {
    std::vector<Value> given;
    for (const Operand& operand : def.operands) given.push_back(operand.standard.value());
    if (def.operands.size() == 1 && def.operands[0].variadic) {
      List items;
      for (const ast::Arg& arg : args) items.push_back(value(*arg.value));
      given[0] = items;
      return given;
    }
    for (std::size_t k = 0; k < args.size(); ++k) {
      std::size_t at = k;
      if (args[k].name)
        at = static_cast<std::size_t>(std::ranges::find(def.operands, args[k].name->text, &Operand::name) -
                                      def.operands.begin());
      given[at] = value(*args[k].value);
    }
    return given;
  }

  void bias(TaskBlock& block) {
    const auto b = static_cast<std::size_t>(&block - graph_.blocks.data());
    bool is_filled = false;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e)
      is_filled = is_filled || (graph_.edges[e].to.block.index() == b && clusters_[e] == "bias");
    block.bias = is_filled ? BiasKind::vector : block.has("constant_b") ? BiasKind::constant : BiasKind::none;
    if (!biases_.contains(b)) return;
    block.bias = biases_[b] == "vector"     ? BiasKind::vector
                 : biases_[b] == "constant" ? BiasKind::constant
                                            : BiasKind::none;
  }

  void boxes(const ast::IrEdge& line) {
    BlockEdge& edge = graph_.edges[next_edge_];
    const TaskBlock &from = graph_[edge.from.block], &to = graph_[edge.to.block];
    edge.to.cluster = static_cast<std::uint16_t>(*to.in_cluster_named(clusters_[next_edge_++]));
    edge.from.box = box(line.from, whole(cluster_extents(from, from.def->out[0])));
    edge.to.box = box(line.to, whole(cluster_extents(to, to.in_cluster(edge.to.cluster))));
  }

  static Box box(const ast::IrPort& port, Box all) {
    for (std::size_t k = 0; k < port.index.size(); ++k) {
      const auto range = [&]() -> std::pair<std::int64_t, std::int64_t> {
        if (port.index[k].is_slice) return {value(*port.index[k].low).integer(), value(*port.index[k].high).integer()};
        const auto& dots = std::get<ast::RangeExpr>(port.index[k].at->node);
        return {value(*dots.low).integer(), value(*dots.high).integer()};
      }();
      all.position[k] = range.first;
      all.size[k] = range.second - range.first;
    }
    return all;
  }

  std::span<const NamedArray> arrays_;
  BlockTable table_;
  BlockGraph graph_;
  std::map<std::int64_t, BlockGroup> groups_;
  std::map<std::size_t, std::string> biases_;
  std::vector<std::string> clusters_;  // of the targets of edges
  std::size_t next_edge_ = 0;
};

}  // namespace

BlockGraph block_graph_of(const ast::IrDecl& declaration, std::span<const NamedArray> arrays) {
  return IrReader(arrays).read(declaration);
}

}  // namespace taskspec::tests
