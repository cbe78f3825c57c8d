// log: the natural logarithm of x.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::log_op {

namespace {

struct Log {
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
  bool regular(float x) const { return x > 0 && x < INFINITY; }
  float fast(float x) const { return static_cast<float>(float_math::log(x)); }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "log",
    .operands = unary_operands,
    .doc =
        "The natural logarithm of x, element by element; -inf of 0, nan below. Takes floats (E2002) and host "
        "numbers.",
    .example =
        "print(([1.0, 10.0] as f64[2]).log().array, log(1))\n"
        "// expect: [0, 2.302585092994046] 0\n",
    .type = [](RuleContext& c) { return numeric(c, "log", Takes::floats, 1, false); },
    .kernel = unary_kernel<Log, Takes::floats>,
    .scalar = scalar::real_function<std::log>,
    .gradient = {+[](GradientBuilder& g) {
                   g.add(0, g.emit(op_div, {g.upstream(), g.input(0)}));
                 },
                 {.inputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<20>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::log_op
