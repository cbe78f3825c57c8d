// reverse, approximate: what becomes of graphs of Task IR blocks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interp/control/block_contents.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/control/net_list.hpp"
#include "interp/exact/approximate.hpp"
#include "interp/exact/gradients_op.hpp"
#include "interp/quantize/builtin_parts.hpp"
#include "ir/blocks/reverse.hpp"
#include "ir/blocks/value.hpp"
#include "ir/program/block_calls.hpp"

namespace taskspec {

using namespace builtins;
using namespace block_builtins;
using Kind = Type::Kind;

namespace {

// ---- reverse ---------------------------------------------------------------------------------------

Type gradient_of(const Type& tensor) { return Type::tensor(Precision::f32, tensor.dims); }

// x, ... and the gradients of the outputs in; those of x, ... out.
Type block_reverse_type(RuleContext& c) {
  want_net(c);
  const Type& net = c.type(0);
  if (net.is(Kind::error)) return net;
  if (!net.is(Kind::task) || net.has_symbols())
    c.fail("E1004", fmt::format("the reverse is one of an 'ir' declaration, this is {}", net.text()), 0);
  if (const Value* window = c.constant(2); window && window->integer() < 1) c.fail("E1003", "a window is 1 or more", 2);
  Type made(Kind::task);
  for (std::size_t k = 0; k < net.parts.size(); ++k) {
    made.parts.push_back(k < net.inputs ? net.parts[k] : gradient_of(net.parts[k]));
    made.names.push_back((k < net.inputs ? "" : "d_") + net.names[k]);
  }
  made.inputs = static_cast<std::uint32_t>(made.parts.size());
  for (std::size_t k = 0; k < net.inputs; ++k) {
    made.parts.push_back(gradient_of(net.parts[k]));
    made.names.push_back("d_" + net.names[k]);
  }
  return made;
}

OpList list_of_type(const Type& type, std::string name) {
  OpList list;
  list.name = std::move(name);
  for (std::size_t k = 0; k < type.parts.size(); ++k) {
    list.types.push_back(type.parts[k]);
    if (k < type.inputs)
      list.inputs.push_back({type.names[k], Privilege::in, {}});
    else
      list.outputs.push_back({type.names[k], ValueId(k)});
  }
  return list;
}

Value run_reverse(HostContext& host, std::span<const Value> v) {
  if (is_beside_graph(host)) return Value(Tuple{});
  auto* callable = v[0].as<Callable>();
  if (!callable || !host.blocks || !blocks_of(host.program, callable->function))
    throw failure("E1004", host.span, "the reverse is one of an 'ir' declaration, this is " + print(v[0]));
  const auto graph = with_contents(*host.interpreter, callable->function, callable->agent, host.span);
  BlockReverseOptions options{.fake_quant = v[1].boolean(), .window = v[2].integer(), .wanted = {}};
  if (options.window < 1) throw failure("E1003", host.span, "a window is 1 or more");
  OpList list = list_of_type(*host.type, graph->name + "_reverse");
  for (const OpList::Output& output : list.outputs) options.wanted.push_back(output.name.substr(2));
  BlockReversed made = reverse(*graph, *host.blocks, options).value_or_throw();
  std::vector<std::string> wanted;
  for (const OpList::Input& input : list.inputs) wanted.push_back(input.name);
  if (made.inputs != wanted)
    throw failure("E4035", host.span,
                  fmt::format("'{}' keeps states: its reverse over time is not one call", graph->name));
  made.graph.name = list.name;
  LoweredGraph lowered;
  lowered.graph = std::move(made.graph);
  for (const BlockId id : lowered.graph.outputs()) {
    const auto output = std::ranges::find(list.outputs, lowered.graph[id].name, &OpList::Output::name);
    if (output == list.outputs.end()) bug("the reverse of a graph gives what nobody wants");
    lowered.outputs.push_back(
        {.name = output->name, .tensor = {}, .extents = {}, .axes = {}, .block = id, .value = output->value});
  }
  std::vector<Value> operands{Value(std::static_pointer_cast<Object>(
      std::make_shared<BlockGraphValue>(std::make_shared<BlockGraph>(lowered.graph))))};
  return as_value(
      std::make_shared<BlockTask>(std::move(list), std::move(lowered), op_block_gradients, std::move(operands)));
}

// ---- approximate -----------------------------------------------------------------------------------

Type approximate_type(RuleContext& c) {
  want_net(c);
  want_samples(c, 1);
  return c.type(0);
}

// In the order in which the engine takes them.
std::vector<BlockSample> block_samples(const LoweredGraph& lowered, const Samples& samples) {
  std::vector<BlockSample> made;
  for (const std::vector<Array>& sample : samples.inputs) {
    std::vector<Array> inputs;
    for (const BlockId id : lowered.graph.inputs())
      for (std::size_t k = 0; k < lowered.inputs.size(); ++k)
        if (lowered.inputs[k].block == id) inputs.push_back(to_block(lowered.inputs[k], sample[k]));
    made.push_back({std::move(inputs)});
  }
  return made;
}

Value run_approximate(HostContext& host, std::span<const Value> v) {
  if (is_beside_graph(host)) return Value(Tuple{});
  std::vector<GraphInput> inputs = of_one_sample(written_inputs(*host.type), host.span);
  const Samples samples = samples_of_operand(host, v[1], written_inputs(*host.type));
  OpList net = list_of(host, v[0], inputs);
  LoweredGraph lowered = taskspec::lower(net, {.blocks = *host.blocks}).value_or_throw();
  if (std::ranges::none_of(lowered.graph.groups, [](const BlockGroup& group) { return group.approx.has_value(); })) {
    Diag diag("E4036", Severity::error, host.span, fmt::format("'{}' has no approximate group", net.name));
    diag.help("on its first block: (group: 1, approx: 0.02, metric: \"l2\"), on the others (group: 1)");
    throw Error(std::move(diag));
  }
  Approximated made = approximate(lowered.graph, *host.blocks, block_samples(lowered, samples)).value_or_throw();
  List trials;
  std::string table = made.text();
  while (table.ends_with('\n')) table.pop_back();
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    trials.push_back(Value(table.substr(begin, end - begin)));
    begin = end + 1;
  }
  lowered.graph = std::move(made.graph);
  const auto count = static_cast<std::int64_t>(samples.inputs.size());
  std::shared_ptr<BlockTask> task = as_task(std::move(net), std::move(lowered));
  task->report = record_of({{"layers", Value(List())},
                            {"calibrated", Value(count)},
                            {"compared", Value(count)},
                            {"float_accuracy", Value(std::nan(""))},
                            {"block_accuracy", Value(std::nan(""))},
                            {"notes", Value(std::move(trials))}},
                           std::move(table));
  return as_value(std::move(task));
}

constexpr Operand reverse_operands[] = {
    {"g", OperandKind::value}, {"fake_quant", OperandKind::boolean, false}, {"window", OperandKind::integer, 1}};
constexpr Operand approximate_operands[] = {{"g", OperandKind::value}, {"data", OperandKind::value}};

}  // namespace

constinit const Builtin builtin_reverse = BuiltinFields{
    .name = "reverse",
    .operands = reverse_operands,
    .doc =
        "The reverse of an `ir` declaration: a graph of the same kinds of blocks, with float numbers, that computes "
        "the "
        "gradients of its inputs. Weights that are to be trained are an input, too: storage SI with an edge to the SW "
        "or "
        "SWFC (v -> w | reshape()). It is called with the inputs of the "
        "declaration and with d_y for each output y, and gives d_x for each input x. A convolution becomes one with "
        "reflected and permuted weights, a relu a mask, a neuron a rectangle of `window` around its threshold. With "
        "fake_quant the values that it reads are those of the chip, and gradients pass cuts as if there were none. "
        "E4035: blocks that have no reverse, and states. (reverse of a tensor is another function: it turns an axis.)",
    .example =
        "ir dense {\n"
        "  x : SIFC i8 [r: 2]\n"
        "  v : SI i8 [x: 2, f: 2]\n"
        "  w : SWFC i8 [f: 2, r: 2]\n"
        "  c : CVM i32 [f: 2, r: 2]\n"
        "  y : SO i32 [f: 2]\n"
        "  x -> c.input; v -> w | reshape(); w -> c.weight\n"
        "  c -> y\n"
        "}\n"
        "let back = reverse(dense)\n"
        "let g = back([3, 4] as i8[2], [[1, 2], [5, 6]] as i8[2, 2], [1.0, 10.0] as f32[2])\n"
        "print(g.d_x.array, g.d_v.array)\n"
        "// expect: [51, 62] [[3, 4], [30, 40]]",
    .type = block_reverse_type,
    .run = run_reverse,
    .runs_in = RunsIn::either,
    .takes = [](const Type& first) { return first.is(Kind::task); }};

constinit const Builtin builtin_approximate = BuiltinFields{
    .name = "approximate",
    .operands = approximate_operands,
    .doc =
        "A graph of blocks in which the blocks of approximate groups (group: 1, approx: 0.02, metric: \"l2\") are made "
        "cheaper as far as their limit allows: tables with fewer entries, weights and values of two bits. Each change "
        "is run on the samples `data`, as of `quantize`, and its error measured against the graph as it was: \"max\", "
        "\"mean\" or \"l2\", relative to the values; beyond the limit it is undone. What it gives is called like `g`; "
        "its report.notes have a line for each change that was tried. E4036: no such group, or none that can be "
        "measured; E4011: what keeps states.",
    .example =
        "ir look {\n"
        "  x : SI i32 [f: 4]\n"
        "  t : SB i8 [f: 4096] (group: 1, approx: 0.1) = (iota(4096) / 64 - 32) as i8[4096]\n"
        "  c : CLUT i8 [f: 4] (lut_dw: 12, group: 1)\n"
        "  y : SO i8 [f: 4]\n"
        "  x -> c.input; t -> c.table\n"
        "  c -> y\n"
        "}\n"
        "let cheap = approximate(look, iota(32).reshape(8, 4) as i32[8, 4])\n"
        "print(len(cheap.report.notes) > 0, cheap([0, 1, 2, 3] as i32[4]).y.shape)\n"
        "// expect: true [4]",
    .type = approximate_type,
    .run = run_approximate,
    .runs_in = RunsIn::either};

}  // namespace taskspec
