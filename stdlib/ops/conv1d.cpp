// conv1d: convolution along one axis, as conv2d over images of one row.
#include <fmt/format.h>

#include "ir/base/text.hpp"
#include "stdlib/ops/convolution.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/products.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::conv1d_op {

namespace {

enum : std::size_t { x, w, b, stride, pad, dilation, groups };

constexpr Operand operands[] = {{"x"},
                                {"w"},
                                {.name = "b", .standard = Default::absent()},
                                {.name = "stride", .kind = OperandKind::integer, .standard = 1},
                                {.name = "pad", .kind = OperandKind::integer, .standard = 0},
                                {.name = "dilation", .kind = OperandKind::integer, .standard = 1},
                                {.name = "groups", .kind = OperandKind::integer, .standard = 1}};

// An int operand as an extent; where it is known it must be at least `least` (E1003).
std::optional<Dim> step(RuleContext& c, std::size_t operand, std::int64_t least) {
  std::optional<Dim> dim = c.dim(operand);
  if (dim && dim->constant() && *dim->constant() < least)
    refuse(c, "E1003", fmt::format("{} must be at least {}, not {}", operands[operand].name, least, dim->text()),
           static_cast<int>(operand));
  return dim;
}

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type &line = tensor_operand(c, "conv1d", x), &weights = tensor_operand(c, "conv1d", w);
  Precision precision = product_precision(c, "conv1d", x, w);
  if (line.rank() != 2 && line.rank() != 3)
    refuse(c, "E2001", "lines are [B, C, W], or [C, W] for a single one; this is " + line.text(), x);
  if (weights.rank() != 3) refuse(c, "E2001", "weights are [O, C / groups, k]; these are " + weights.text(), w);
  Dim count = *step(c, groups, 1), channels = weights.dims[1] * count;
  std::optional<std::int64_t> outputs = weights.dims[0].constant(), parts = count.constant();
  if (outputs && parts && *outputs % *parts != 0)
    refuse(c, "E2001",
           fmt::format("{} cannot be split into {} groups",
                       plural(static_cast<std::size_t>(*outputs), "output channel"), *parts),
           groups);
  const Dim& given = line.dims[line.rank() - 2];
  c.require_same(given, channels,
                 fmt::format("shapes differ: a line {} has {} {}, weights {} take {}", line.text(), given.text(),
                             given == Dim(1) ? "channel" : "channels", weights.text(), channels.text()));
  Type y = Type::tensor(precision, line.dims);
  y.dims[line.rank() - 2] = weights.dims[0];
  y.dims.back() = window_count(c, {.image = line.dims.back(),
                                   .kernel = weights.dims[2],
                                   .pad = step(c, pad, 0),
                                   .stride = step(c, stride, 1),
                                   .dilation = step(c, dilation, 1)});
  require_bias(c, "conv1d", b, precision, weights.dims[0]);
  return y;
}

// ---- as images of one row ---------------------------------------------------------------------------

ArrayType with_row(const ArrayType& type) {
  ArrayType image = type;
  image.extents.insert(image.extents.end() - 1, 1);
  return image;
}

Value pair(std::int64_t along_y, const Value& along_x) { return Tuple{{Value(along_y), along_x}}; }

OpInstance as_images(const OpInstance& call) {
  OpInstance images = call;
  for (std::size_t i : {0, 1}) images.in[i] = with_row(call.in[i]);
  images.out[0] = with_row(call.out[0]);
  images.attributes[stride] = pair(1, call.attributes[stride]);
  images.attributes[pad] = pair(0, call.attributes[pad]);
  images.attributes[dilation] = pair(1, call.attributes[dilation]);
  return images;
}

GradientBuilder::Var reshaped(GradientBuilder& g, GradientBuilder::Var v, const ArrayType& type) {
  std::vector<std::variant<GradientBuilder::Var, Value>> operands{v};
  for (std::int64_t extent : type.extents) operands.push_back(Value(extent));
  return g.emit(op_reshape, operands);
}

void gradient(GradientBuilder& g) {
  const OpInstance &call = g.call(), images = as_images(call);
  Value x_type(Type::of(images.in[x].type())), w_type(Type::of(images.in[w].type()));
  GradientBuilder::Var dy = reshaped(g, g.upstream(), images.out[0]), image = reshaped(g, g.input(x), images.in[x]),
                       weights = reshaped(g, g.input(w), images.in[w]);
  auto dx = g.emit(op_conv2d_input_grad, with_windows(images, {x_type, dy, weights}));
  auto dw = g.emit(op_conv2d_weight_grad, with_windows(images, {w_type, image, dy}));
  g.add(0, reshaped(g, dx, call.in[x]));
  g.add(1, reshaped(g, dw, call.in[w]));
  if (call.in.size() < 3) return;
  List axes;  // all but the channels
  auto rank = static_cast<std::int64_t>(call.in[x].extents.size());
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (axis != rank - 2) axes.push_back(axis);
  g.add(2, g.emit(op_drop, {g.emit(op_sum, {g.upstream(), Value(Tuple{axes})}), Value(Tuple{axes})}));
}

Work work(const OpInstance& call) { return product_work(call, call.in[w].extents[1] * call.in[w].extents[2]); }

// A convolution of images of one row.
void lower(BlockBuilder& b, const OpInstance& call) {
  const Array weights = lowering::known(b, w, "weights");
  const Extents& e = weights.extents();
  const std::size_t rank = call.in[0].extents.size();
  const std::int64_t beside = call.attributes[pad].integer();
  const BlockLayout lines{.x = rank - 1, .f = rank - 2};
  b.weigh({.input = 0,
           .weights = Array::wrap({weights.precision(), {e[0], e[1], 1, e[2]}}, weights.storage()),
           .bias = lowering::known_bias(b, call),
           .layout = lines,
           .result = lines,
           .x = {e[2], call.attributes[stride].integer(), beside, beside, call.attributes[dilation].integer()},
           .groups = call.attributes[groups].integer()});
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "conv1d",
    .operands = operands,
    .doc =
        "Convolves lines x [B, C, W] (or one line [C, W]) with weights w [O, C / groups, k] and adds the bias b [O], "
        "which may be left out; `pad` zeros stand at both ends. Extents that do not fit are E2001. Precisions as for "
        "@; b has that of the result.",
    .example =
        "let x = [[1, 2, 3, 4]] as i32[1, 4]\n"
        "let w = [[[1, 10]]] as i32[1, 1, 2]\n"
        "print(conv1d(x, w).array, conv1d(x, w, stride: 2).array)\n"
        "// expect: [[21, 32, 43]] [[21, 43]]\n",
    .type = type,
    .kernel = [](const OpInstance& call) { return convolution_kernel(as_images(call)); },
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = lower,
    .sharding = row_splits<3>,
    .work = work,
    .tolerance = product_tolerance,
    .fusion = Fusion::opaque};

}  // namespace taskspec::conv1d_op
