// Quantisation: nets of floats as 8-bit blocks, against the floats on samples that the calibration did not see.
#include "interp/quantize/quantize.hpp"

#include <doctest/doctest.h>

#include "interp/exact/tensor_blocks_op.hpp"
#include "interp/quantize/float_run.hpp"
#include "interp/quantize/own_scales.hpp"
#include "tests/unit/lowered_nets.hpp"
#include "tests/unit/op_samples.hpp"

namespace taskspec::quantize_test {

namespace {

constexpr Precision f32 = Precision::f32;

Value number(std::int64_t n) { return Value(n); }

ValueId weights(NetOf& net, std::mt19937_64& random, const Extents& extents) {
  double seen = 1;
  for (std::size_t k = 1; k < extents.size(); ++k) seen *= static_cast<double>(extents[k]);
  return net.weight(random_floats({f32, extents}, random, std::sqrt(2 / seen)));
}

ValueId biases(NetOf& net, std::mt19937_64& random, std::int64_t count) {
  return net.weight(random_floats({f32, {count}}, random, 0.1));
}

ValueId convolution(NetOf& net, std::mt19937_64& random, ValueId x, std::int64_t outputs, std::int64_t k,
                    std::int64_t pad) {
  const std::int64_t inputs = net.type(x).extents[1];
  return net.emit("conv2d", {x, weights(net, random, {outputs, inputs, k, k}), biases(net, random, outputs), number(1),
                             number(pad)});
}

ValueId dense(NetOf& net, std::mt19937_64& random, ValueId x, std::int64_t outputs) {
  return net.emit("linear", {x, weights(net, random, {outputs, net.type(x).extents[1]}), biases(net, random, outputs)});
}

ValueId flat(NetOf& net, ValueId x) {
  std::int64_t count = 1;
  for (const std::int64_t extent : net.type(x).extents) count *= extent;
  return net.emit("reshape", {x, number(1), number(count)});
}

ValueId batch_norm(NetOf& net, std::mt19937_64& random, ValueId x) {
  const std::int64_t channels = net.type(x).extents[1];
  auto around = [&](double middle, double size) {
    Array made = random_floats({f32, {channels}}, random, size);
    for (std::int64_t k = 0; k < channels; ++k) made.set_number(k, middle + std::abs(made.number(k)));
    return net.weight(made);
  };
  return net.emit("running_batchnorm", {x, around(0, 0.3), around(0.5, 0.5), around(0.7, 0.3), around(-0.1, 0.2)});
}

// LeNet in small.
void make_lenet(NetOf& net, std::mt19937_64& random) {
  ValueId x = net.input({f32, {1, 1, 16, 16}});
  x = net.emit("max_pool", {net.emit("relu", {convolution(net, random, x, 6, 5, 0)}), number(2)});
  x = net.emit("max_pool", {net.emit("relu", {convolution(net, random, x, 16, 3, 0)}), number(2)});
  x = net.emit("relu", {dense(net, random, flat(net, x), 32)});
  net.give(net.emit("softmax", {dense(net, random, x, 10)}));
}

void make_residual(NetOf& net, std::mt19937_64& random) {
  ValueId x =
      net.emit("relu", {batch_norm(net, random, convolution(net, random, net.input({f32, {1, 3, 12, 12}}), 16, 3, 1))});
  for (int block = 0; block < 2; ++block) {
    ValueId y = net.emit("relu", {batch_norm(net, random, convolution(net, random, x, 16, 3, 1))});
    y = batch_norm(net, random, convolution(net, random, y, 16, 3, 1));
    x = net.emit("relu", {net.emit("add", {x, y})});
  }
  x = net.concat({x, net.emit("relu", {convolution(net, random, x, 8, 1, 0)})}, 1);
  x = net.emit("avg_pool", {x, number(2)});
  x = net.emit("global_pool", {x});
  net.give(dense(net, random, flat(net, x), 10));
}

std::vector<std::vector<Array>> samples_of(const NetOf& net, std::mt19937_64& random, std::size_t count) {
  std::vector<std::vector<Array>> samples(count);
  for (std::vector<Array>& sample : samples)
    for (const ArrayType& type : net.inputs()) sample.push_back(random_floats(type, random, 0.8));
  return samples;
}

const BlockTable& blocks() {
  static const BlockTable table = standard_blocks();
  return table;
}

Quantized quantized(NetOf& net, QuantizeInput input) {
  input.known = net.known;
  return quantize(net.finished(), input).value_or_throw();
}

double snr_of(const Quantized& made, std::string_view layer) {
  for (const QuantizedLayer& row : made.layers)
    if (row.name == layer) return row.snr;
  return -1000;
}

}  // namespace

TEST_CASE("[quantize] LeNet in 8 bits, by all three ways to find ranges and both ways to cut") {
  for (const RangeMethod method : {RangeMethod::absmax, RangeMethod::percentile, RangeMethod::mse})
    for (const bool by_table : {false, true}) {
      std::mt19937_64 random(5);
      NetOf net;
      make_lenet(net, random);
      const Quantized made = quantized(net, {.blocks = blocks(),
                                             .known = {},
                                             .samples = samples_of(net, random, 40),
                                             .method = method,
                                             .by_table = by_table});
      CAPTURE(made.text());
      CAPTURE(static_cast<int>(method));
      CHECK(snr_of(made, made.lowered.outputs[0].name) > 24);
      CHECK(made.lowered.notes == std::vector<std::string>{"softmax is left to the host"});
      CHECK(made.lowered.outputs[0].precision == Precision::i32);
      std::map<std::string, int> types = blocks_by_type(*made.graph);
      CHECK(types["CLUT"] == (by_table ? 3 : 0));
      CHECK(types["CCMPB"] == (by_table ? 2 : 3));  // relu and pool are in the cut
    }
}

TEST_CASE("[quantize] residual adds have one scale for both sides and the sum, and no cut") {
  std::mt19937_64 random(6);
  NetOf net;
  make_residual(net, random);
  const Quantized made = quantized(net, {.blocks = blocks(), .known = {}, .samples = samples_of(net, random, 32)});
  CAPTURE(made.text());
  CHECK(made.layers.back().snr > 20);
  int adds = 0;
  for (const LoweredLayer& layer : made.lowered.layers) {
    if (layer.name.find("add") != 0) continue;
    ++adds;
    CHECK(layer.cut == 0);
    CHECK(layer.scale == layer.sum_scale);
  }
  CHECK(adds == 2);
  // Batch norms are in the weights, the concatenation in edges, the means in sums.
  std::map<std::string, int> types = blocks_by_type(*made.graph);
  CHECK(types["CAX"] + types["CVS"] + types["CLUT"] == 0);
  CHECK(types["CAVG"] == 2);
  CHECK(types["CADD"] == 2);
}

TEST_CASE("[quantize] cuts round to nearest: layers are too small by nothing on average") {
  std::mt19937_64 random(7);
  NetOf net;
  ValueId x = net.input({f32, {1, 4, 12, 12}});
  net.give(net.emit("tanh", {convolution(net, random, x, 8, 3, 0)}));
  const QuantizeInput input{.blocks = blocks(),
                            .known = net.known,
                            .samples = samples_of(net, random, 24),
                            .method = RangeMethod::absmax,
                            .corrects_bias = false};
  const Quantized made = quantize(net.finished(), input).value_or_throw();
  const LoweredGraph::Held* cut = nullptr;
  for (const LoweredGraph::Held& held : made.lowered.held)
    if ((*made.graph)[held.block].def->name == "CCMPB") cut = &held;
  REQUIRE(cut);
  FloatRun floats(net.finished(), net.known);
  ExactEngine engine = ExactEngine::make(made.graph, {}).value_or_throw();
  double error = 0, count = 0;
  for (const std::vector<Array>& sample : input.samples) {
    floats.run(sample);
    engine.run(std::vector{to_block(made.lowered.inputs[0], sample[0])});
    const std::vector<double> wanted = in_block_order(cut->port, floats.value(cut->value));
    const Array got = engine.value(cut->block);
    for (std::int64_t k = 0; k < got.elements(); ++k, ++count)
      error += static_cast<double>(got.integer(k)) - wanted[static_cast<std::size_t>(k)] * cut->port.scale;
  }
  CAPTURE(made.text());
  CHECK(std::abs(error / count) < 0.1);  // in steps of 8 bits; without the half of a step in the biases it is -0.5
}

TEST_CASE("[quantize] an average pool loses nothing but rounding") {
  std::mt19937_64 random(8);
  NetOf net;
  net.give(net.emit("tanh", {net.emit("avg_pool", {net.input({f32, {1, 3, 12, 12}}), number(3)})}));
  const Quantized made = quantized(
      net, {.blocks = blocks(), .known = {}, .samples = samples_of(net, random, 16), .method = RangeMethod::absmax});
  for (const LoweredLayer& layer : made.lowered.layers)
    if (layer.name.find("avg_pool") == 0) CHECK(layer.cut == 2);  // 9 / 16 of the scale in front of it
  CHECK(made.layers.back().snr > 25);
}

// ---- every op -------------------------------------------------------------------------------------

namespace {

// A net of one call, with the sample's operands as f32: first the largest tensor as the input, the others as weights.
std::optional<NetOf> net_of(const OpDef& op, const Operands& operands, std::vector<Array>& given) {
  OpCall call = prepare(op.name, operands);
  if (call.instance.out.size() != 1 || call.tensors.empty()) return std::nullopt;
  NetOf net;
  std::vector<ValueId> in;
  std::size_t data = 0;
  for (std::size_t k = 0; k < call.tensors.size(); ++k)
    if (call.tensors[k].precision() == Precision::f64 && call.tensors[k].elements() > call.tensors[data].elements())
      data = k;
  auto as_single = [](ArrayType type) {
    if (type.precision == Precision::f64) type.precision = f32;
    return type;
  };
  for (std::size_t k = 0; k < call.tensors.size(); ++k) {
    Array tensor = Array::make(as_single(call.tensors[k].type()));
    for (std::int64_t e = 0; e < tensor.elements(); ++e) tensor.set_number(e, call.tensors[k].number(e));
    call.instance.in[k] = tensor.type();
    if (k == data) {
      if (!is_float(tensor.precision())) return std::nullopt;
      given.push_back(tensor);
      in.push_back(net.input(tensor.type()));
    } else {
      in.push_back(net.weight(tensor));
    }
  }
  call.instance.out[0] = as_single(call.instance.out[0]);
  if (!is_float(call.instance.out[0].precision)) return std::nullopt;
  net.give(net.append(call.instance, in));
  return net;
}

}  // namespace

TEST_CASE("[quantize] every op that has a lowering does on blocks what it does on the host") {
  std::size_t compared = 0;
  for (const OpDef* op : standard_ops().all()) {
    if (!op->lower.build) continue;
    std::vector<Operands> samples;
    try {
      samples = sample_operands(*op);
    } catch (const Error&) {
      continue;
    }
    for (const Operands& operands : samples) {
      std::vector<Array> given;
      std::optional<NetOf> net;
      try {
        net = net_of(*op, operands, given);
      } catch (const Error&) {
        continue;
      }
      if (!net) continue;
      CAPTURE(std::string(op->name));
      auto made_of = [&](const std::vector<Array>& sample) {
        return quantize(net->finished(),
                        {.blocks = blocks(), .known = net->known, .samples = {sample}, .method = RangeMethod::absmax});
      };
      Result<Quantized> made = made_of(given);
      // Once more on numbers that the input holds exactly: functions with jumps then jump at the same places.
      if (made) made = made_of({from_block(made->lowered.inputs[0], to_block(made->lowered.inputs[0], given[0]))});
      if (!made) {
        // A refusal of these operands: with a reason, and only E4011.
        CHECK(made.diags().items().front().code == Code("E4011"));
        MESSAGE(std::string(op->name), ": ", made.diags().items().front().message);
        continue;
      }
      CAPTURE(made->text());
      ++compared;
      CHECK(made->layers.back().snr > 25);
    }
  }
  MESSAGE(compared, " calls compared");
  CHECK(compared > 10);
}

// ---- nets that were quantised before --------------------------------------------------------------

namespace {

// x to 8 bits and back, as importers write it: rounded, moved by a zero point, held in `to`.
ValueId to_bytes_and_back(NetOf& net, ValueId x, double scale, Precision to, double zero) {
  auto one = [&](double number) {
    Array array = Array::make({f32, {}});
    array.set_number(0, number);
    return net.weight(array);
  };
  ValueId whole = net.emit("round", {net.emit("div", {x, one(scale)})});
  if (zero != 0) whole = net.emit("add", {whole, one(zero)});
  ValueId back = net.cast(net.cast(net.cast(whole, to), Precision::i32), f32);
  if (zero != 0) back = net.emit("sub", {back, one(zero)});
  return net.emit("mul", {back, one(scale)});
}

double scale_of(const Quantized& made, std::string_view layer) {
  for (const QuantizedLayer& row : made.layers)
    if (row.name == layer) return row.scale;
  return 0;
}

}  // namespace

TEST_CASE("[quantize] a net that was quantised before keeps its scales where its zero points are 0") {
  struct Case {
    Precision to;
    double zero;
    bool kept;
  };
  for (const Case& one :
       {Case{Precision::i8, 0, true}, Case{Precision::u8, 128, true}, Case{Precision::u8, 3, false}}) {
    std::mt19937_64 random(9);
    NetOf net;
    const ValueId x = net.input({f32, {1, 4, 8, 8}});
    ValueId y = to_bytes_and_back(net, x, 0.03, one.to, one.zero);
    y = net.emit("relu", {convolution(net, random, y, 8, 3, 0)});
    y = to_bytes_and_back(net, y, 0.05, one.to, one.zero);
    net.give(to_bytes_and_back(net, dense(net, random, flat(net, y), 5), 0.1, one.to, one.zero));
    const Quantized made = quantized(net, {.blocks = blocks(), .known = {}, .samples = samples_of(net, random, 16)});
    CAPTURE(made.text());
    CHECK((std::abs(scale_of(made, "x1") - 1 / 0.03) < 1e-3) == one.kept);
    CHECK((std::abs(scale_of(made, "conv2d_cut") - 1 / 0.05) < 1e-3) == one.kept);
    CHECK(made.lowered.notes.empty() == one.kept);
    CHECK(made.layers.back().snr > 20);
    std::map<std::string, int> types = blocks_by_type(*made.graph);
    CHECK(types["CLUT"] == 0);  // pairs are no functions of their own
  }
}

TEST_CASE("[quantize] a pair is what rounds to 8 bits in steps of one size, wherever it begins") {
  auto found = [](const char* rounds, std::int64_t channels, Precision to) {
    NetOf net;
    const ValueId x = net.input({f32, {1, 4}});
    Array step = Array::make({f32, {channels}});
    for (std::int64_t k = 0; k < channels; ++k) step.set_number(k, 0.25 * static_cast<double>(k + 1));
    const ValueId scale = net.weight(step);
    const ValueId whole = net.emit(rounds, {net.emit("div", {x, scale})});
    net.give(net.emit("mul", {net.cast(net.cast(whole, to), f32), scale}));
    const OwnScales own = take_own_scales(net.finished(), net.known);
    return std::pair(own.scales.size(), own.list.lines.size());
  };
  CHECK(found("round", 1, Precision::i8) == std::pair<std::size_t, std::size_t>{1, 0});
  CHECK(found("round", 1, Precision::i16) == std::pair<std::size_t, std::size_t>{0, 5});
  CHECK(found("round", 4, Precision::i8) == std::pair<std::size_t, std::size_t>{1, 2});  // of x / scale
  CHECK(found("floor", 1, Precision::i8) == std::pair<std::size_t, std::size_t>{1, 3});  // of its floor
}

TEST_CASE("[quantize] borders that fit no block are refused: a file may say anything") {
  NetOf net;
  const ArrayType type{Precision::i8, {1, 4}};
  net.give(net.emit("relu", {net.input(type)}));
  const LoweredGraph lowered = net.lowered().value_or_throw();
  const std::vector<Value> operands = tensor_blocks_operands(lowered);
  auto code_with = [&](std::size_t part, const Value& other) -> std::string {
    List input = operands[1].tuple().items[0].list()[0].tuple().items;
    if (part < input.size()) input[part] = other;
    const Value borders(Tuple{{Value(List{Value(Tuple{input})}), operands[1].tuple().items[1]}});
    OpListBuilder list;
    const ValueId x = list.input({"x", Privilege::in, {}}, type.type());
    try {
      const OpListBuilder::Operand all[] = {operands[0], borders, x};
      list.emit(op_tensor_blocks, all, {{}, {}, {}});
      return "";
    } catch (const Error& error) {
      return error.diags().items().front().code.text();
    }
  };
  auto axes = [](std::int64_t a, std::int64_t b) { return Value(List{Value(a), Value(b)}); };
  CHECK(code_with(9, {}) == "");
  CHECK(code_with(1, Value(ArrayType{Precision::i8, {1, 5}}.type())) == "E7003");  // more elements than the block
  CHECK(code_with(1, Value(std::int64_t{3})) == "E7003");
  CHECK(code_with(3, axes(-1, 1)) == "E7003");   // no such axis
  CHECK(code_with(3, axes(0, 0)) == "E7003");    // one axis twice
  CHECK(code_with(3, axes(-1, -1)) == "E7003");  // an extent of 4 that is left out
  CHECK(code_with(4, Value(std::int64_t{1})) == "E7003");
  CHECK(code_with(4, Value(std::int64_t{-1})) == "E7003");
}

}  // namespace taskspec::quantize_test
