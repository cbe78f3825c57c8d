#include "interp/exact/tensor_blocks_op.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/exact/engine.hpp"
#include "interp/exact/ready_pool.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/blocks/value.hpp"
#include "ir/lowering/block_builder.hpp"
#include "ir/records/rules.hpp"

namespace taskspec {

namespace {

constexpr Operand tensor_blocks_of[] = {{.name = "graph", .kind = OperandKind::value},
                                        {.name = "borders", .kind = OperandKind::value},
                                        {.name = "tensors", .variadic = true}};
constexpr std::string_view tensor_blocks_outputs[] = {"outputs"};  // the borders say which
constexpr std::int64_t left_out = -1;                              // an axis that no axis of the block is

// ---- borders as values ----------------------------------------------------------------------------

// A tensor and the block that it goes to or comes from.
struct Border {
  std::string name;
  ArrayType tensor;  // of one sample
  double scale = 1;
  std::vector<std::int64_t> axes;  // of the block, by axis of the tensor
  std::size_t place = 0;           // of the block among the graph's inputs, or outputs
};

Value border_value(const LoweredPort& port, const std::vector<BlockId>& order) {
  List axes;
  for (const std::size_t axis : port.axes)
    axes.push_back(Value(axis == SIZE_MAX ? left_out : static_cast<std::int64_t>(axis)));
  const auto place = std::ranges::find(order, port.block) - order.begin();
  return Value(Tuple{{Value(port.name), Value(port.tensor.type()), Value(port.scale), Value(std::move(axes)),
                      Value(static_cast<std::int64_t>(place))}});
}

Value borders_value(const std::vector<LoweredPort>& ports, const std::vector<BlockId>& order) {
  List all;
  for (const LoweredPort& port : ports) all.push_back(border_value(port, order));
  return Value(std::move(all));
}

// A file may say anything.
[[noreturn]] void refuse_border() {
  throw failure("E7003", {}, "'tensor_blocks' has borders that no graph of blocks has");
}

Border border_of(const Value& value) {
  const List* parts = value.is_tuple() ? &value.tuple().items : nullptr;
  const bool is_one = parts && parts->size() == 5 && (*parts)[0].is_string() && (*parts)[1].is_type() &&
                      (*parts)[2].is_number() && (*parts)[3].is_list() && (*parts)[4].is_integer();
  if (!is_one || !(*parts)[1].type().is_tensor() || (*parts)[1].type().has_symbols()) refuse_border();
  Border border{(*parts)[0].string(), concrete((*parts)[1].type()), (*parts)[2].real(), {}, {}};
  for (const Value& axis : (*parts)[3].list()) {
    if (!axis.is_integer()) refuse_border();
    border.axes.push_back(axis.integer());
  }
  border.place = static_cast<std::size_t>((*parts)[4].integer());
  return border;
}

std::vector<Border> borders_of(const Value& list) {
  if (!list.is_list()) refuse_border();
  std::vector<Border> borders;
  for (const Value& item : list.list()) borders.push_back(border_of(item));
  return borders;
}

// Every element of the tensor is one of the block.
void check_border(const Border& border, const std::vector<BlockId>& order, const BlockGraph& graph) {
  if (border.place >= order.size() || border.axes.size() != border.tensor.extents.size()) refuse_border();
  const Extents block = value_type(graph[order[border.place]]).extents;
  std::vector<bool> met(block.size());
  for (std::size_t k = 0; k < border.axes.size(); ++k) {
    const std::int64_t extent = border.tensor.extents[k], axis = border.axes[k];
    if (axis == left_out && extent == 1) continue;
    const auto at = static_cast<std::size_t>(axis);
    if (axis < 0 || at >= block.size() || met[at] || block[at] != extent) refuse_border();
    met[at] = true;
  }
  for (std::size_t k = 0; k < block.size(); ++k)
    if (!met[k] && block[k] != 1) refuse_border();
}

struct Borders {
  std::vector<Border> inputs, outputs;
  Borders(const Value& value, const BlockGraph& graph) {
    if (!value.is_tuple() || value.tuple().items.size() != 2) refuse_border();
    inputs = borders_of(value.tuple().items[0]), outputs = borders_of(value.tuple().items[1]);
    for (const Border& border : inputs) check_border(border, graph.inputs(), graph);
    for (const Border& border : outputs) check_border(border, graph.outputs(), graph);
    if (inputs.size() != graph.inputs().size() || outputs.size() != graph.outputs().size()) refuse_border();
  }
  // Their first axis is that of samples: one for the graph, any number for a call.
  bool take_batches() const {
    const auto has_batch = [](const Border& border) {
      return !border.axes.empty() && border.axes[0] == left_out && border.tensor.extents[0] == 1;
    };
    return std::ranges::all_of(inputs, has_batch) && std::ranges::all_of(outputs, has_batch);
  }
};

// ---- type -----------------------------------------------------------------------------------------

Type tensor_blocks_type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Value* graph = c.constant(0);
  const Value* written = c.constant(1);
  if (!graph || !graph->as<BlockGraphValue>() || !written || !written->is_tuple())
    refuse(c, "E1004", "'tensor_blocks' runs a net that was lowered to Task IR blocks", 0);
  const BlockGraph& blocks = *graph->as<BlockGraphValue>()->graph;
  const Borders borders(*written, blocks);
  const std::string& name = blocks.name;
  if (c.count() != borders.inputs.size() + 2)
    refuse(c, "E1003", fmt::format("'{}' takes {} tensors, not {}", name, borders.inputs.size(), c.count() - 2));
  const bool batches = borders.take_batches();
  std::optional<Dim> samples;
  for (std::size_t k = 0; k < borders.inputs.size(); ++k) {
    Type wanted = borders.inputs[k].tensor.type();
    const Type& given = tensor_operand(c, "tensor_blocks", k + 2);
    if (batches && given.rank() == wanted.rank()) {
      if (!samples) samples = given.dims[0];
      wanted.dims[0] = *samples;
    }
    const std::string text =
        fmt::format("'{}' of '{}' is {}, this is {}", borders.inputs[k].name, name, wanted.text(), given.text());
    if (given.precision != wanted.precision) refuse(c, "E2002", text, static_cast<int>(k + 2));
    require_same_dims(c, text, wanted.dims, given.dims);
  }
  Type made(Type::Kind::invocation);
  for (const Border& border : borders.outputs) {
    made.parts.push_back(border.tensor.type());
    if (samples) made.parts.back().dims[0] = *samples;
    made.names.push_back(border.name);
  }
  return made;
}

// ---- kernel ---------------------------------------------------------------------------------------

std::vector<LoweredPort> ports_of(const std::vector<Border>& borders, const BlockGraph& graph,
                                  const std::vector<BlockId>& order) {
  std::vector<LoweredPort> ports;
  for (const Border& border : borders) {
    const BlockId id = order[border.place];
    const ArrayType block = value_type(graph[id]);
    LoweredPort port{.name = border.name,
                     .tensor = border.tensor,
                     .scale = border.scale,
                     .precision = block.precision,
                     .extents = block.extents,
                     .axes = {},
                     .block = id,
                     .value = {}};
    for (const std::int64_t axis : border.axes)
      port.axes.push_back(axis == left_out ? SIZE_MAX : static_cast<std::size_t>(axis));
    ports.push_back(std::move(port));
  }
  return ports;
}

class TensorBlocksKernel final : public Kernel {
 public:
  explicit TensorBlocksKernel(const OpInstance& call)
      : keeps_(call.attributes[0]), graph_(keeps_.as<BlockGraphValue>()->graph) {
    const Borders borders(call.attributes[1], *graph_);
    for (const LoweredPort& port : ports_of(borders.inputs, *graph_, graph_->inputs())) inputs_.emplace_back(port);
    for (const LoweredPort& port : ports_of(borders.outputs, *graph_, graph_->outputs())) outputs_.emplace_back(port);
    for (const Border& border : borders.inputs) input_places_.push_back(border.place);
    for (const Border& border : borders.outputs) output_places_.push_back(border.place);
    if (!call.in.empty() && borders.take_batches()) samples_ = call.in[0].extents[0];
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    return faults_of([&] {
      std::unique_ptr<Ready> ready = pool_.take([](const Ready&) { return true; });
      if (!ready) ready = make();
      for (std::int64_t sample = 0; sample < samples_; ++sample) one(*ready, args, static_cast<std::size_t>(sample));
      pool_.give(std::move(ready));
    });
  }

 private:
  struct Ready {
    ExactEngine engine;
    std::vector<Array> in, out;  // of the graph
  };

  std::unique_ptr<Ready> make() const {
    auto ready = std::make_unique<Ready>(Ready{ExactEngine::make(graph_, {}).value_or_throw(), {}, {}});
    for (const ArrayType& type : ready->engine.input_types()) ready->in.push_back(Array::make(type));
    for (const ArrayType& type : ready->engine.output_types()) ready->out.push_back(Array::make(type));
    return ready;
  }

  void one(Ready& ready, const KernelArgs& args, std::size_t sample) const {
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const ArrayType& type = inputs_[k].tensor();
      inputs_[k].in(array_on(type, args.in[k] + sample * type.bytes()), ready.in[input_places_[k]]);
    }
    ready.engine.run(ready.in, ready.out);
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const ArrayType& type = outputs_[k].tensor();
      Array tensor = array_on(type, args.out[k] + sample * type.bytes());
      outputs_[k].out(ready.out[output_places_[k]], tensor);
    }
  }

  const Value keeps_;
  const std::shared_ptr<const BlockGraph> graph_;
  std::vector<PortCrossing> inputs_, outputs_;  // by tensor
  std::vector<std::size_t> input_places_, output_places_;
  std::int64_t samples_ = 1;
  mutable ReadyPool<Ready> pool_;
};

std::unique_ptr<Kernel> tensor_blocks_kernel(const OpInstance& call) {
  return std::make_unique<TensorBlocksKernel>(call);
}

Work tensor_blocks_work(const OpInstance& call) {
  const BlockGraph& graph = *call.attributes[0].as<BlockGraphValue>()->graph;
  const bool batches = !call.in.empty() && Borders(call.attributes[1], graph).take_batches();
  const double samples = batches ? static_cast<double>(call.in[0].extents[0]) : 1;
  Work work;
  for (const TaskBlock& block : graph.blocks) {
    work.operations +=
        samples * (2.0 * static_cast<double>(multiply_adds(block)) + static_cast<double>(operations(block)));
    work.bytes += samples * static_cast<double>(stored_bytes(block));
  }
  return work;
}

}  // namespace

std::vector<Value> tensor_blocks_operands(const LoweredGraph& lowered) {
  auto graph = std::make_shared<const BlockGraph>(lowered.graph);
  const std::vector<BlockId> from = graph->inputs(), to = graph->outputs();
  Value borders(Tuple{{borders_value(lowered.inputs, from), borders_value(lowered.outputs, to)}});
  auto value = std::make_shared<BlockGraphValue>(std::move(graph));
  return {Value(std::static_pointer_cast<Object>(std::move(value))), std::move(borders)};
}

Diags check_tensor_blocks(const LoweredGraph& lowered, std::string_view name) {
  Diags diags;
  const BlockCall call = call_of(lowered.graph);
  for (BlockId id : call.written)
    diags
        .error("E4011", lowered.graph[id].span,
               fmt::format("'{}' keeps '{}' from call to call; a graph of blocks as a value begins anew with each",
                           name, lowered.graph[id].name))
        .help("write its blocks as an `ir` declaration, which has states");
  if (call.written.empty() && call.memory > 0)
    diags.error("E4011", {}, fmt::format("'{}' remembers steps before; a graph of blocks as a value does not", name))
        .help("write its blocks as an `ir` declaration, which has states");
  return diags;
}

extern constinit const OpDef op_tensor_blocks = OpFields{
    .name = "tensor_blocks",
    .operands = tensor_blocks_of,
    .outputs = tensor_blocks_outputs,
    .doc =
        "Runs what `lower` or `quantize` made of a net, bit for bit as a chip does. It is what a call of that value "
        "becomes: the graph of Task IR blocks is its first operand, the second says which tensors go to which blocks, "
        "with their scales. A number x becomes the integer clamp(floor(x * S + 1/2)) of its block, an integer n of an "
        "output n / S. Where the first axis of all tensors is that of samples, it takes any number of them, one after "
        "another.",
    .example =
        "graph half(x: i8[B, 4]) -> (y: i8[B, 4]) { y = x.maximum(0) }\n"
        "let blocks = lower(half)\n"
        "print(blocks([[7, -7, 100, 4], [-1, 2, -3, 4]] as i8[2, 4]).y.array)\n"
        "// expect: [[7, 0, 100, 4], [0, 2, 0, 4]]\n",
    .type = tensor_blocks_type,
    .kernel = tensor_blocks_kernel,
    .gradient = Gradient::none("Task IR blocks compute in integers"),
    .lower =
        +[](BlockBuilder& b, const OpInstance& call) {
          const BlockGraph& graph = *call.attributes[0].as<BlockGraphValue>()->graph;
          const Borders borders(call.attributes[1], graph);
          b.splice(graph, ports_of(borders.inputs, graph, graph.inputs()),
                   ports_of(borders.outputs, graph, graph.outputs()));
        },
    .sharding = Sharding::none("its blocks lie on one chip"),
    .work = tensor_blocks_work};

}  // namespace taskspec
