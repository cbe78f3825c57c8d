// quantize, lower: a net becomes a graph of Task IR blocks, a value; and what is asked of such a value.
#include "interp/control/builtins/builtins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interp/control/block_task.hpp"
#include "interp/control/net_list.hpp"
#include "interp/exact/tensor_blocks_op.hpp"
#include "interp/quantize/builtin_parts.hpp"
#include "interp/quantize/quantize.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

using namespace builtins;
using namespace block_builtins;
using Kind = Type::Kind;

namespace {

constexpr std::string_view range_methods[] = {"absmax", "percentile", "mse"};  // as in RangeMethod
constexpr std::string_view requant_names[] = {"cut", "lut"};

std::string none_of(std::span<const std::string_view> names, const Value& name) {
  const std::vector<std::string> known(names.begin(), names.end());
  return fmt::format("'{}' is none of {}", name.string(), joined(known, ", "));
}

void want_one_of(RuleContext& c, int operand, std::span<const std::string_view> names) {
  const Value* written = c.constant(static_cast<std::size_t>(operand));
  if (!written || std::ranges::find(names, written->string()) != names.end()) return;
  c.fail("E1003", none_of(names, *written), operand);
}

std::size_t position_of(std::span<const std::string_view> names, const Value& name, Span span) {
  const auto found = std::ranges::find(names, name.string());
  if (found == names.end()) throw failure("E1003", span, none_of(names, name));
  return static_cast<std::size_t>(found - names.begin());
}

bool are_samples(const Type& type) {
  if (type.is_tensor() || type.is(Kind::error)) return true;
  if (type.is(Kind::invocation)) return type.parts.size() == 1;
  return (type.is(Kind::list) || type.is(Kind::tuple)) && std::ranges::all_of(type.parts, are_samples);
}

}  // namespace

// ---- shared with other builtins --------------------------------------------------------------------

namespace block_builtins {

void want_net(RuleContext& c) {
  const Type& net = c.type(0);
  if (net.is(Kind::error)) return;
  if (!net.is(Kind::task)) {
    const bool has_net = net.is(Kind::agent) || net.is(Kind::training);
    c.fail("E1004", fmt::format("a graph or task is wanted, this is {}", net.text()), 0,
           net.is(Kind::training) ? "m.eval().forward"
           : has_net              ? "the member that computes: net.forward"
                                  : "");
  }
  for (std::size_t k = 0; k < net.inputs; ++k)
    if (!net.parts[k].is_tensor() || net.is_place(k))
      c.fail("E1004",
             fmt::format("its input '{}' is {}: blocks take tensors, and change none of them", net.names[k],
                         net.parts[k].text()),
             0, "a graph around it that gives the rest");
}

void want_samples(RuleContext& c, std::size_t operand) {
  if (are_samples(c.type(operand))) return;
  c.fail("E1004",
         fmt::format("samples are wanted, tensors or tuples or lists of them; this is {}", c.type(operand).text()),
         static_cast<int>(operand));
}

bool is_beside_graph(const HostContext& host) { return host.frame->function.part == Part::host; }

std::vector<GraphInput> written_inputs(const Type& net) {
  std::vector<GraphInput> inputs;
  for (std::size_t k = 0; k < net.inputs; ++k) inputs.push_back({net.names[k], net.parts[k], Privilege::in});
  return inputs;
}

Samples samples_of_operand(HostContext& host, const Value& data, const std::vector<GraphInput>& inputs) {
  Target& target = host.interpreter->target();
  auto contents = [&](const Value& value) -> std::optional<Array> {
    auto* invocation = value.as<Invocation>();
    const Value& tensor = invocation && invocation->outputs.size() == 1 ? invocation->outputs[0] : value;
    if (!target.is_tensor(tensor)) return std::nullopt;
    return target.receive(tensor, host.span);
  };
  return samples_of(data, inputs, contents, host.span);
}

OpList list_of(HostContext& host, const Value& net, const std::vector<GraphInput>& inputs) {
  if (!host.blocks || host.blocks->all().empty())
    throw failure("E1009", host.span, "lowering a net where its program does not run is not built yet");
  if (net.as<BlockTask>()) throw failure("E4011", host.span, "it is made of blocks already");
  return net_list(*host.interpreter, net, inputs, host.span).value_or_throw();
}

std::shared_ptr<BlockTask> as_task(OpList net, LoweredGraph lowered) {
  Diags diags = check_tensor_blocks(lowered, net.name);
  if (diags.has_errors()) throw Error(std::move(diags));
  std::vector<Value> operands = tensor_blocks_operands(lowered);
  return std::make_shared<BlockTask>(std::move(net), std::move(lowered), op_tensor_blocks, std::move(operands));
}

Value as_value(std::shared_ptr<BlockTask> task) { return Value(std::static_pointer_cast<Object>(std::move(task))); }

Value record_of(std::vector<std::pair<std::string, Value>> fields, std::string table) {
  auto record = std::make_shared<Record>();
  record->fields = std::move(fields);
  record->table = std::move(table);
  return Value(std::static_pointer_cast<Object>(std::move(record)));
}

}  // namespace block_builtins

namespace {

// ---- the report ------------------------------------------------------------------------------------

Type record_type(std::vector<std::string> names, std::vector<Type> parts) {
  Type record(Kind::record);
  record.names = std::move(names);
  record.parts = std::move(parts);
  return record;
}

Type report_type(RuleContext&) {
  const Type layer = record_type({"name", "scale", "cut", "range", "saturated", "snr"},
                                 {Kind::string, Kind::real, Kind::integer, Kind::real, Kind::real, Kind::real});
  return record_type(
      {"layers", "calibrated", "compared", "float_accuracy", "block_accuracy", "notes"},
      {Type::list(layer), Kind::integer, Kind::integer, Kind::real, Kind::real, Type::list(Kind::string)});
}

Value report_of(const Quantized& made) {
  List layers, notes;
  for (const QuantizedLayer& layer : made.layers)
    layers.push_back(record_of({{"name", Value(layer.name)},
                                {"scale", Value(layer.scale)},
                                {"cut", Value(static_cast<std::int64_t>(layer.cut))},
                                {"range", Value(layer.range)},
                                {"saturated", Value(layer.saturated)},
                                {"snr", Value(layer.snr)}}));
  for (const std::string& note : made.lowered.notes) notes.push_back(Value(note));
  std::string table = made.text();
  while (table.ends_with('\n')) table.pop_back();
  return record_of({{"layers", Value(std::move(layers))},
                    {"calibrated", Value(static_cast<std::int64_t>(made.calibrated))},
                    {"compared", Value(static_cast<std::int64_t>(made.compared))},
                    {"float_accuracy", Value(made.float_accuracy.value_or(std::nan("")))},
                    {"block_accuracy", Value(made.block_accuracy.value_or(std::nan("")))},
                    {"notes", Value(std::move(notes))}},
                   std::move(table));
}

Value run_report(HostContext& host, std::span<const Value> v) {
  auto* task = v[0].as<BlockTask>();
  if (!task || task->report.is_none())
    throw failure("E1004", host.span,
                  fmt::format("only what 'quantize' and 'approximate' give has a report, and this is {}", print(v[0])));
  return task->report;
}

// ---- quantize --------------------------------------------------------------------------------------

Type quantize_type(RuleContext& c) {
  want_net(c);
  want_samples(c, 1);
  want_one_of(c, 2, range_methods);
  if (const Value* bits = c.constant(3); bits && bits->integer() != 8)
    c.fail("E1003", fmt::format("blocks multiply integers of 8 bits, not of {}", bits->integer()), 3);
  want_one_of(c, 4, requant_names);
  return c.type(0);
}

Value run_quantize(HostContext& host, std::span<const Value> v) {
  if (is_beside_graph(host)) return Value(Tuple{});
  std::vector<GraphInput> inputs = written_inputs(*host.type);
  const Samples samples = samples_of_operand(host, v[1], inputs);
  if (v[3].integer() != 8)
    throw failure("E1003", host.span, fmt::format("blocks multiply integers of 8 bits, not of {}", v[3].integer()));
  const auto method = static_cast<RangeMethod>(position_of(range_methods, v[2], host.span));
  const bool by_table = position_of(requant_names, v[4], host.span) == 1;
  if (samples.inputs.empty())
    throw failure("E4011", host.span,
                  "quantisation needs samples, and there are none: give some tens of typical inputs");
  for (std::size_t k = 0; k < inputs.size(); ++k) inputs[k].type = samples.inputs[0][k].type().type();
  const QuantizeInput input{.blocks = *host.blocks,
                            .known = {},
                            .samples = samples.inputs,
                            .labels = samples.labels,
                            .method = method,
                            .by_table = by_table};
  Quantized made = quantize(list_of(host, v[0], inputs), input).value_or_throw();
  const Value report = report_of(made);
  std::shared_ptr<BlockTask> task = as_task(std::move(made.list), std::move(made.lowered));
  task->report = report;
  return as_value(std::move(task));
}

// ---- lower -----------------------------------------------------------------------------------------

Type lower_type(RuleContext& c) {
  want_net(c);
  return c.type(0);
}

// For one sample where the number of them is open.
Value run_lower(HostContext& host, std::span<const Value> v) {
  if (is_beside_graph(host)) return Value(Tuple{});
  OpList net = list_of(host, v[0], of_one_sample(written_inputs(*host.type), host.span));
  LoweredGraph lowered = taskspec::lower(net, {.blocks = *host.blocks}).value_or_throw();
  return as_value(as_task(std::move(net), std::move(lowered)));
}

constexpr Operand quantize_operands[] = {{"g", OperandKind::value},
                                         {"data", OperandKind::value},
                                         {"method", OperandKind::string, "percentile"},
                                         {"bits", OperandKind::integer, 8},
                                         {"requant", OperandKind::string, "cut"}};
constexpr Operand net_operand[] = {{"g", OperandKind::value}};

constexpr const char* quantize_example =
    "agent Net() {\n"
    "  weight w: f32[4, 8] = normal(seed: 1)\n"
    "  weight b: f32[4] = zero()\n"
    "  task forward(in x: f32[B, 8]) -> (y: f32[B, 4]) { y = tanh(linear(x, w, b)) }\n"
    "}\n"
    "let net = Net()\n"
    "let q = quantize(net.forward, uniform(f32[64, 8], seed: 2, lo: -1.0))\n"
    "let x = uniform(f32[3, 8], seed: 3, lo: -1.0)\n"
    "print((q(x).y - net.forward(x).y).abs().max().scalar < 0.05, q.report.compared)\n"
    "// expect: true 16";

}  // namespace

constinit const Builtin builtin_quantize = BuiltinFields{
    .name = "quantize",
    .operands = quantize_operands,
    .doc =
        "A net of floats as a graph of Task IR blocks that compute in integers of 8 bits. `g` is a graph, a "
        "task or the member of an agent, such as net.forward or m.eval().forward; slots are taken as they are"
        " now. `data` are typical inputs: a tensor of samples, a tuple of them for several inputs, with "
        "labels behind them if there are some, or a list of such. Three quarters of the samples say how large"
        " numbers become, the others what was lost. `method` is \"percentile\" (99.99 %), \"absmax\" or \"mse\"; "
        "`requant` is \"cut\" (shifts by 4^n) or \"lut\" (look-up tables, which lose less and take longer). A net"
        " that was quantised before, such as an ONNX model with QuantizeLinear, keeps its scales where its "
        "zero points are in the middle; q.report.notes say where not. What it gives is called like `g`, with "
        "any number of samples: floats go in by scale and layout, and come out. It is printed, composed, "
        "exported (export(q, \"net.task.txt\")), and has q.report: per layer the scale S, n of its cut 4^n (-1:"
        " by a table, -2: none), the range used, the share of saturated integers, and the signal-to-noise "
        "ratio in dB against the floats; then the accuracy of both where there were labels. A softmax or "
        "argmax at the end stays with the host. E4011: no samples, and all ops that have no blocks; E4012: a "
        "sum that may leave 32 bits; E5004: samples that do not fit.",
    .example = quantize_example,
    .type = quantize_type,
    .run = run_quantize,
    .runs_in = RunsIn::either};

constinit const Builtin builtin_lower = BuiltinFields{
    .name = "lower",
    .operands = net_operand,
    .doc =
        "A graph of integers (i8 and i32 tensors) as a graph of Task IR blocks, which gives the same bits: that no sum "
        "leaves 32 bits is proven from weights and types (E4012 with the bound where not), since blocks saturate and "
        "the host wraps. It is called like the graph, printed and exported as what `quantize` gives. The first extent "
        "may be open, it is that of samples; all others must be known. E4011 lists all ops that have no blocks.",
    .example =
        "graph dot(x: i8[B, 3]) -> (y: i32[B, 2]) { y = x @ ([[1, 2], [3, 4], [5, 6]] as i8[3, 2]) }\n"
        "let blocks = lower(dot)\n"
        "print(blocks([[1, 0, -1], [2, 2, 2]] as i8[2, 3]).y.array)\n"
        "// expect: [[-4, -4], [18, 24]]",
    .type = lower_type,
    .run = run_lower,
    .runs_in = RunsIn::either};

constinit const Builtin builtin_task_report =
    BuiltinFields{.name = "task.report",
                  .operands = net_operand,
                  .doc =
                      "q.report, of what `quantize` gave: what was lost, per layer. It prints as a table. Of what "
                      "`approximate` gave `notes` has a line for each rewrite that was tried.",
                  .example = quantize_example,
                  .type = report_type,
                  .run = run_report,
                  .runs_in = RunsIn::asked};

}  // namespace taskspec
