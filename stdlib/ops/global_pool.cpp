// global_pool: each image plane becomes one pixel.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/pooling.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::global_pool_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "kind", .kind = OperandKind::string, .standard = "mean"}};

bool is_mean(const Value& kind) { return kind.string() == "mean"; }

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Value* kind = c.constant(1);
  if (!kind) refuse(c, "E1003", "the kind of a global_pool must be a constant", 1);
  if (!is_mean(*kind) && kind->string() != "max")
    refuse(c, "E1003", "kind is \"mean\" or \"max\", not " + in_quotes(kind->string()), 1);
  Type x = tensor_operand(c, "global_pool", 0, is_mean(*kind) ? Takes::floats : Takes::ordered);
  require_image(c, x, 0);
  for (std::size_t axis : {x.rank() - 2, x.rank() - 1}) {
    if (x.dims[axis] == Dim(0)) refuse(c, "E2004", "global_pool needs a pixel; " + x.text() + " has none", 0);
    x.dims[axis] = 1;
  }
  return x;
}

PoolPlan plan_of(const OpInstance& call) {
  ImageBatch x = image_batch(call.in[0].extents);
  return {.kind = is_mean(call.attributes[1]) ? Pooling::average : Pooling::maximum,
          .precision = call.in[0].precision,
          .planes = x.images * x.channels,
          .windows = {.image = x.extent, .kernel = x.extent, .stride = x.extent, .pad = {0, 0}, .out = {1, 1}}};
}

void gradient(GradientBuilder& g) {
  const ArrayType& x = g.call().in[0];
  Pair extent = image_batch(x.extents).extent;
  Value k(Tuple{{Value(extent[0]), Value(extent[1])}});
  if (is_mean(g.call().attributes[1]))
    g.add(0, g.emit(op_avg_pool_grad, {Value(Type::of(x.type())), g.upstream(), k}));
  else
    g.add(0, g.emit(op_max_pool_grad, {g.input(0), g.upstream(), k}));
}

Work work(const OpInstance& call) { return pool_work(call, plan_of(call)); }

void lower(BlockBuilder& b, const OpInstance& call) {
  const std::size_t rank = call.in[0].extents.size();
  if (is_mean(call.attributes[1])) return b.reduce({rank - 2, rank - 1}, true);
  b.reduce_maximum({rank - 2, rank - 1});
}

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "global_pool",
             .operands = operands,
             .doc =
                 "The mean of each plane of images [B, C, H, W] or [C, H, W], or with kind \"max\" its largest pixel "
                 "(nan wins). "
                 "H and W stay with extent 1. Floats for the mean; bool, integers and floats for the maximum (E2002).",
             .example =
                 "let x = [[[1, 2], [3, 6]]] as f32[1, 2, 2]\n"
                 "print(x.global_pool().array, x.global_pool(\"max\").array)\n"
                 "// expect: [[[3]]] [[[6]]]\n",
             .type = type,
             .kernel = [](const OpInstance& call) { return pool_kernel(plan_of(call)); },
             .gradient = {gradient, {.inputs = 1}},
             .lower = lower,
             .sharding = row_splits<3>,
             .work = work,
             .tolerance = 1e-6,
             .fusion = Fusion::opaque};

}  // namespace taskspec::global_pool_op
