// A call of a graph of blocks among ops of tensors: its blocks become part of the graph that is made, its borders
// edges.
#include <fmt/format.h>

#include <algorithm>

#include "ir/blocks/value.hpp"
#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

// Tensors of such a call are laid out as blocks are.
BlockLayout own_layout(std::size_t rank) {
  if (rank == 1) return {.f = 0};
  return {.y = rank == 3 ? 0 : no_axis, .x = rank - 2, .f = rank - 1};
}

class Splicer {
 public:
  Splicer(BlockBuilder::State& state, BlockBuilder& builder, const OpList::Line& line, const BlockGraph& inner)
      : s_(state), builder_(builder), line_(line), inner_(inner), call_(call_of(inner)) {}

  void splice(std::span<const LoweredPort> inputs, std::span<const LoweredPort> outputs) {
    has_borders_ = true;
    if (!call_.written.empty() || call_.memory > 0) builder_.refuse("it keeps something from call to call");
    add_blocks();
    for (std::size_t k = 0; k < inputs.size(); ++k) begin(line_.in[k], inputs[k]);
    for (std::size_t k = 0; k < outputs.size(); ++k) end(line_.out[k], outputs[k]);
  }

  void splice() {
    add_blocks();
    for (std::size_t i = 0; i < call_.given.size(); ++i) give_contents(call_.given[i], call_.inputs.size() + i);
    for (std::size_t k = 0; k < call_.inputs.size(); ++k) bring(k);
    for (std::size_t k = 0; k < call_.outputs.size(); ++k) take(k);
    for (std::size_t k = 0; k < call_.written.size(); ++k) note_state(k);
    if (call_.memory > 0) note_memory();
  }

 private:
  BlockId id(BlockId inner) const { return ids_[inner.index()]; }

  void add_blocks() {
    for (const TaskBlock& block : inner_.blocks) ids_.push_back(add(block));
    for (const BlockEdge& edge : inner_.edges) {
      BlockEdge copy = edge;
      copy.from.block = id(edge.from.block);
      copy.to.block = id(edge.to.block);
      s_.made.graph.edges.push_back(std::move(copy));
    }
    for (const BlockGroup& group : inner_.groups) add_group(group);
  }

  // Numbers are unique: of a call that comes later another one.
  void add_group(BlockGroup group) {
    std::vector<BlockGroup>& all = s_.made.graph.groups;
    for (BlockId& block : group.blocks) block = id(block);
    while (std::ranges::find(all, group.number, &BlockGroup::number) != all.end()) ++group.number;
    all.insert(std::ranges::upper_bound(all, group.number, {}, &BlockGroup::number), std::move(group));
  }

  // A tensor of the list itself, in numbers of the net.
  void begin(ValueId tensor, const LoweredPort& port) {
    LoweredValue& value = s_.value(tensor);
    if (value.kind != LoweredValue::Kind::input)
      builder_.refuse("its input is made by other ops", "call it with a tensor that is there");
    value.kind = LoweredValue::Kind::missing;  // nobody else may read it
    for (std::size_t k = 0, open = 0; k < s_.list.inputs.size(); ++k) {
      if (k < s_.options.known.size() && s_.options.known[k]) continue;
      if (k == tensor.index()) s_.made.inputs[open] = moved(port, tensor);
      ++open;
    }
  }

  void end(ValueId tensor, const LoweredPort& port) { s_.made.outputs.push_back(moved(port, tensor)); }

  LoweredPort moved(LoweredPort port, ValueId value) const {
    port.block = id(port.block);
    port.name = s_.block(port.block).name;
    port.value = value;
    return port;
  }

  // What was the border is storage now.
  BlockId add(const TaskBlock& block) {
    TaskBlock copy = block;
    if (!has_borders_ && (block.def->kind == BlockKind::input || block.def->kind == BlockKind::output))
      copy.def = s_.options.blocks.find("SI");
    copy.name = s_.name_for(block.name);
    s_.made.graph.blocks.push_back(std::move(copy));
    return BlockId(s_.made.graph.blocks.size() - 1);
  }

  void give_contents(BlockId storage, std::size_t operand) {
    const LoweredValue& value = s_.value(line_.in[operand]);
    if (value.kind != LoweredValue::Kind::fixed)
      builder_.refuse(fmt::format("the contents of '{}' are not known", inner_[storage].name),
                      "weights and first states come from slots");
    s_.block(id(storage)).data = value.contents;
  }

  void bring(std::size_t k) {
    const TaskBlock& block = inner_[call_.inputs[k]];
    const ArrayType type = value_type(block);
    const BlockLayout layout = own_layout(type.extents.size());
    if (s_.value(line_.in[k]).kind == LoweredValue::Kind::fixed) {
      s_.block(id(call_.inputs[k])).data = s_.value(line_.in[k]).contents;
      return;
    }
    s_.ready(line_.in[k], &layout);
    const LoweredValue value = block.precision == Precision::i8    ? s_.narrowed(line_.in[k], block.name)
                               : block.precision == Precision::i32 ? s_.widened(s_.ready(line_.in[k]))
                                                                   : s_.ready(line_.in[k]);
    s_.fill(id(call_.inputs[k]), s_.arranged(value, layout), value.precision);
  }

  void take(std::size_t k) {
    const BlockId from = id(call_.outputs[k]);
    const ArrayType type = value_type(s_.block(from));
    LoweredValue made;
    made.kind = LoweredValue::Kind::made;
    made.id = made.base = line_.out[k];
    made.gather = BlockGather::of(from, type.extents);
    made.layout = own_layout(type.extents.size());
    made.precision = type.precision;
    made.range = range_of(type.precision);
    made.name = s_.block(from).name;
    s_.keep(std::move(made));
  }

  void note_state(std::size_t k) {
    const BlockId storage = call_.written[k];
    std::size_t operand = call_.inputs.size();
    while (call_.given[operand - call_.inputs.size()] != storage) ++operand;
    LoweredPort port{
        .name = s_.block(id(storage)).name, .tensor = value_type(inner_[storage]), .extents = {}, .axes = {}};
    port.precision = port.tensor.precision;
    port.extents = port.tensor.extents;
    for (std::size_t axis = 0; axis < port.extents.size(); ++axis) port.axes.push_back(axis);
    port.block = id(storage);
    port.value = line_.in[operand];
    s_.made.states.push_back({line_.in[operand], line_.out[call_.outputs.size() + k], id(storage), std::move(port)});
  }

  void note_memory() { s_.made.states.push_back({line_.in.back(), line_.out.back(), {}, {}}); }

  BlockBuilder::State& s_;
  BlockBuilder& builder_;
  const OpList::Line& line_;
  const BlockGraph& inner_;
  const BlockCall call_;
  std::vector<BlockId> ids_;  // by block of the inner graph
  bool has_borders_ = false;
};

}  // namespace

void BlockBuilder::splice(const BlockGraph& graph) {
  if (state_.scales()) refuse("its blocks hold integers, and this net is of floats", "a net of i8 and i32");
  Splicer(state_, *this, line_, graph).splice();
}

void BlockBuilder::splice(const BlockGraph& graph, std::span<const LoweredPort> inputs,
                          std::span<const LoweredPort> outputs) {
  if (state_.scales()) refuse("it is made of blocks already");
  Splicer(state_, *this, line_, graph).splice(inputs, outputs);
}

}  // namespace taskspec
