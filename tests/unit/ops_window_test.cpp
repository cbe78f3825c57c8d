// Convolution and pooling against their definitions over many shapes, in exact and in float precisions, and
// oneDNN's convolution against its twin.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "stdlib/ops/convolution.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"

namespace taskspec::ops_window_test {

namespace {

Array tensor(Precision p, Extents extents, std::uint64_t seed) { return random_array({p, std::move(extents)}, seed); }
Value i(std::int64_t value) { return value; }
Value pair(std::int64_t y, std::int64_t x) { return Tuple{{y, x}}; }

std::string error(std::string_view op, std::vector<Value> operands) {
  return error_of([&] { call_op(op, operands); });
}

struct Case {
  std::int64_t batch, channels, outputs, groups;
  Pair image, kernel, stride, pad, dilation;
  bool bias;
};

const Case cases[] = {
    {1, 1, 1, 1, {5, 6}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, false},
    {2, 3, 4, 1, {7, 5}, {3, 2}, {2, 1}, {1, 2}, {1, 1}, true},
    {1, 4, 6, 2, {9, 9}, {3, 3}, {1, 2}, {2, 1}, {2, 3}, true},
    {3, 8, 8, 8, {10, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false},
    {2, 5, 7, 1, {4, 4}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, true},
    {2, 6, 4, 2, {6, 8}, {1, 1}, {2, 2}, {0, 0}, {1, 1}, false},
    {1, 40, 130, 1, {12, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {16, 16, 64, 1, {20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false},
    {1, 2, 3, 1, {8, 8}, {5, 5}, {3, 3}, {4, 4}, {1, 1}, true},
    {1, 2, 2, 2, {2, 1}, {9, 9}, {1, 1}, {4, 4}, {1, 1}, true},
    {1, 2, 2, 2, {5, 150}, {3, 3}, {1, 1}, {1, 2}, {1, 2}, true},
    {2, 3, 1, 1, {4, 300}, {2, 5}, {1, 2}, {1, 3}, {1, 1}, false},
    {32, 1, 6, 1, {11, 12}, {5, 5}, {1, 1}, {0, 0}, {1, 1}, true},
    {16, 5, 16, 1, {9, 8}, {3, 5}, {2, 1}, {1, 2}, {1, 2}, true},
    {16, 6, 7, 1, {8, 7}, {3, 4}, {1, 1}, {2, 0}, {2, 1}, false},
    {16, 4, 9, 1, {9, 9}, {3, 6}, {2, 1}, {0, 0}, {1, 1}, false},
    {16, 32, 48, 1, {9, 8}, {3, 3}, {1, 1}, {1, 0}, {1, 1}, false},
    // by Winograd's form: several images at once and a few left over, strips of one, borders of all widths
    {21, 16, 32, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {3, 48, 16, 1, {13, 10}, {3, 3}, {1, 1}, {2, 2}, {1, 1}, true},
    {2, 16, 16, 1, {40, 68}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, true},
    {1, 64, 80, 1, {20, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false},
};

Array image_of(const Case& c, Precision p) { return tensor(p, {c.batch, c.channels, c.image[0], c.image[1]}, 1); }
Array weights_of(const Case& c, Precision p) {
  return tensor(p, {c.outputs, c.channels / c.groups, c.kernel[0], c.kernel[1]}, 2);
}

std::vector<Value> operands_of(const Case& c, const Array& x, const Array& w, const Value& bias) {
  return {
      x,          w, bias, pair(c.stride[0], c.stride[1]), pair(c.pad[0], c.pad[1]), pair(c.dilation[0], c.dilation[1]),
      i(c.groups)};
}

// One element of the result, by the definition.
double convolved(const Case& c, const Array& x, const Array& w, const Extents& y, std::int64_t element) {
  std::int64_t ox = element % y[3], oy = element / y[3] % y[2], o = element / y[3] / y[2] % y[1];
  std::int64_t b = element / (y[1] * y[2] * y[3]), per_group = c.channels / c.groups;
  double sum = 0;
  for (std::int64_t k = 0; k < per_group; ++k)
    for (std::int64_t ky = 0; ky < c.kernel[0]; ++ky)
      for (std::int64_t kx = 0; kx < c.kernel[1]; ++kx) {
        std::int64_t row = oy * c.stride[0] - c.pad[0] + ky * c.dilation[0];
        std::int64_t column = ox * c.stride[1] - c.pad[1] + kx * c.dilation[1];
        if (row < 0 || row >= c.image[0] || column < 0 || column >= c.image[1]) continue;
        std::int64_t channel = o / (c.outputs / c.groups) * per_group + k;
        sum += x.number(((b * c.channels + channel) * c.image[0] + row) * c.image[1] + column) *
               w.number(((o * per_group + k) * c.kernel[0] + ky) * c.kernel[1] + kx);
      }
  return sum;
}

double worst_difference(const Array& a, const Array& b) {
  REQUIRE(a.extents() == b.extents());
  double worst = 0;
  for (std::int64_t e = 0; e < a.elements(); ++e) worst = std::max(worst, std::abs(a.number(e) - b.number(e)));
  return worst;
}

}  // namespace

TEST_CASE("conv2d equals the definition [ops]") {
  for (const Case& c : cases)
    for (Precision p : {Precision::i8, Precision::f16, Precision::f32, Precision::f64}) {
      CAPTURE(info(p).name);
      CAPTURE(&c - cases);
      Array x = image_of(c, p), w = weights_of(c, p);
      Precision result = p == Precision::i8 ? Precision::i32 : p;
      Array b = tensor(result, {c.outputs}, 3);
      Array y = call_op("conv2d", operands_of(c, x, w, c.bias ? Value(b) : Value()));
      CHECK(y.precision() == result);
      double worst = 0;
      for (std::int64_t e = 0; e < y.elements(); ++e) {
        double bias = c.bias ? b.number(e / (y.extents()[2] * y.extents()[3]) % c.outputs) : 0;
        worst = std::max(worst, std::abs(y.number(e) - bias - convolved(c, x, w, y.extents(), e)));
      }
      double depth = static_cast<double>(w.elements() / c.outputs);
      double tolerance = p == Precision::i8 ? 0 : p == Precision::f16 ? 2e-3 : p == Precision::f32 ? 1e-6 : 1e-14;
      CHECK(worst <= tolerance * depth);
      Shuffled shuffled;
      Array again = call_op("conv2d", operands_of(c, x, w, c.bias ? Value(b) : Value()), shuffled);
      CHECK(std::equal(y.raw(), y.raw() + y.bytes(), again.raw()));
    }
}

TEST_CASE("oneDNN's convolution equals its twin within the tolerance of the op [ops]") {
  Shuffled shuffled;
  for (const Case& c : cases) {
    CAPTURE(&c - cases);
    Array x = image_of(c, Precision::f32), w = weights_of(c, Precision::f32),
          b = tensor(Precision::f32, {c.outputs}, 3);
    OpCall call = prepare("conv2d", operands_of(c, x, w, c.bias ? Value(b) : Value()));
    ConvolutionPlan plan = convolution_plan(call.instance, x.extents(), w.extents(), call.instance.out[0].extents);
    plan.bias = c.bias;
    std::unique_ptr<Kernel> dense = dense_convolution_kernel(plan);
    if (!dense) continue;  // a build without oneDNN
    CHECK(worst_difference(run(*dense, call, shuffled)[0],
                           run(*product_kernel(convolution_product(call.instance, plan)), call, shuffled)[0]) <=
          1e-5 * std::sqrt(9.0 * c.channels));
  }
}

TEST_CASE("oneDNN's convolution of one large image is shared out by channels [ops]") {
  Array x = tensor(Precision::f32, {1, 64, 32, 32}, 1), w = tensor(Precision::f32, {64, 64, 3, 3}, 2);
  Array b = tensor(Precision::f32, {64}, 3);
  OpCall call = prepare("conv2d", {x, w, b, i(1), i(1)});
  ConvolutionPlan plan = convolution_plan(call.instance, x.extents(), w.extents(), call.instance.out[0].extents);
  plan.bias = true;
  std::unique_ptr<Kernel> dense = dense_convolution_kernel(plan);
  if (!dense) return;  // a build without oneDNN
  Shuffled shuffled;
  Array expected = run(*product_kernel(convolution_product(call.instance, plan)), call, shuffled)[0];
  CHECK(worst_difference(run(*dense, call, shuffled)[0], expected) <= 1e-4);
}

TEST_CASE("conv2d takes single images and ints for pairs [ops]") {
  Array x = tensor(Precision::f32, {3, 6, 6}, 1), w = tensor(Precision::f32, {2, 3, 3, 3}, 2);
  Array y = call_op("conv2d", {x, w, Value(), i(2), i(1)});
  CHECK(y.extents() == Extents{2, 3, 3});
  Array batch = call_op("conv2d", {call_op("lift", {x, i(0)}), w, Value(), pair(2, 2), pair(1, 1)});
  CHECK(worst_difference(call_op("drop", {batch, i(0)}), y) == 0);
  CHECK(call_op("conv2d", {tensor(Precision::f32, {0, 3, 6, 6}, 1), w}).extents() == Extents{0, 2, 4, 4});
}

TEST_CASE("conv2d: what it refuses [ops]") {
  Array x = tensor(Precision::f32, {1, 4, 6, 6}, 1), w = tensor(Precision::f32, {2, 4, 3, 3}, 2);
  CHECK(error("conv2d", {x, tensor(Precision::f32, {2, 3, 3, 3}, 1)}) ==
        "E2001 shapes differ: an image f32[1, 4, 6, 6] has 4 channels, weights f32[2, 3, 3, 3] take 3");
  CHECK(error("conv2d", {x, tensor(Precision::f32, {2, 4, 7, 3}, 1)}) ==
        "E2001 a window of 7 does not fit into 6 elements with 0 of padding on both sides");
  CHECK(error("conv2d", {x, tensor(Precision::f64, {2, 4, 3, 3}, 1)}).starts_with("E2002 precision differs"));
  CHECK(error("conv2d", {x, w, Value(), i(0)}) == "E1003 stride must be at least 1, not 0");
  CHECK(error("conv2d", {x, w, Value(), i(1), pair(0, -1)}) == "E1003 pad must be at least 0, not -1");
  CHECK(error("conv2d", {x, w, Value(), i(1), i(0), i(0)}) == "E1003 dilation must be at least 1, not 0");
  CHECK(error("conv2d", {x, w, Value(), i(1), i(0), i(1), i(0)}) == "E1003 groups must be at least 1, not 0");
  CHECK(error("conv2d", {tensor(Precision::f32, {1, 12, 6, 6}, 1), w, Value(), i(1), i(0), i(1), i(3)}) ==
        "E2001 2 output channels cannot be split into 3 groups");
  CHECK(error("conv2d", {x, w, tensor(Precision::f32, {3}, 1)}).starts_with("E2001"));
  CHECK(error("conv2d", {x, tensor(Precision::f32, {2, 4}, 1)}).starts_with("E2001 weights are"));
  CHECK(error("conv2d", {tensor(Precision::f32, {4, 6}, 1), w}).starts_with("E2001 images are"));
}

TEST_CASE("the gradients of conv2d are its transposes: <dy, conv(x, w)> = <dx, x> = <dw, w> [ops]") {
  for (const Case& c : cases) {
    CAPTURE(&c - cases);
    Array x = image_of(c, Precision::f64), w = weights_of(c, Precision::f64);
    std::vector<Value> rest = operands_of(c, x, w, Value());
    Array y = call_op("conv2d", rest), dy = tensor(Precision::f64, y.extents(), 5);
    Shuffled shuffled;
    std::vector<Value> by_x = rest, by_w = rest;
    by_x[0] = Type::of(x.type().type()), by_x[1] = dy, by_x[2] = w;
    by_w[0] = Type::of(w.type().type()), by_w[1] = x, by_w[2] = dy;
    Array dx = call_op("conv2d_input_grad", by_x, shuffled), dw = call_op("conv2d_weight_grad", by_w, shuffled);
    auto dot = [](const Array& a, const Array& b) {
      double sum = 0;
      for (std::int64_t e = 0; e < a.elements(); ++e) sum += a.number(e) * b.number(e);
      return sum;
    };
    double expected = dot(y, dy);
    CHECK(dot(dx, x) == doctest::Approx(expected).epsilon(1e-9));
    CHECK(dot(dw, w) == doctest::Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("the gradients of conv2d in f32 are those in f64 within the tolerance of the op [ops] [ops-grad]") {
  auto wider = [](const Array& a) {
    Array b = Array::make({Precision::f64, a.extents()});
    for (std::int64_t e = 0; e < a.elements(); ++e) b.set_number(e, a.number(e));
    return b;
  };
  for (const Case& c : cases) {
    CAPTURE(&c - cases);
    const Array x = image_of(c, Precision::f32), w = weights_of(c, Precision::f32);
    const std::vector<Value> windows = operands_of(c, x, w, Value());
    const Array dy = tensor(Precision::f32, call_op("conv2d", windows).extents(), 5);
    Shuffled shuffled;
    auto difference = [&](std::string_view op, const Array& of, const Array& first, const Array& second) {
      std::vector<Value> narrow = windows, wide = windows;
      narrow[0] = Type::of(of.type().type()), narrow[1] = first, narrow[2] = second;
      wide[0] = Type::of(wider(of).type().type()), wide[1] = wider(first), wide[2] = wider(second);
      const Array exact = call_op(op, wide);
      double largest = 0;
      for (std::int64_t e = 0; e < exact.elements(); ++e) largest = std::max(largest, std::abs(exact.number(e)));
      return worst_difference(call_op(op, narrow, shuffled), exact) / largest;
    };
    CHECK(difference("conv2d_input_grad", x, dy, w) <= 1e-5);
    CHECK(difference("conv2d_weight_grad", w, x, dy) <= 1e-5);
  }
}

TEST_CASE("pools equal the definition [ops]") {
  struct PoolCase {
    Extents x;
    Pair k, stride, pad;
  };
  for (const PoolCase& c :
       {PoolCase{{2, 3, 6, 8}, {2, 2}, {2, 2}, {0, 0}}, PoolCase{{2, 16, 8}, {2, 2}, {2, 2}, {0, 0}},
        PoolCase{{2, 4, 72}, {2, 2}, {2, 2}, {0, 0}}, PoolCase{{3, 7, 7}, {3, 2}, {1, 3}, {1, 1}},
        PoolCase{{1, 40, 30, 31}, {3, 3}, {2, 1}, {2, 0}}, PoolCase{{1, 1, 5, 5}, {5, 5}, {1, 1}, {4, 4}},
        PoolCase{{2, 3, 7, 9}, {1, 1}, {2, 3}, {0, 0}}, PoolCase{{3, 4, 5}, {1, 1}, {1, 1}, {0, 0}}})
    for (Precision p : {Precision::i8, Precision::u16, Precision::f16, Precision::f32, Precision::f64}) {
      CAPTURE(info(p).name);
      CAPTURE(print(Value(static_cast<std::int64_t>(c.k[0]))));
      Array x = tensor(p, c.x, 1);
      std::vector<Value> operands{x, pair(c.k[0], c.k[1]), pair(c.stride[0], c.stride[1]), pair(c.pad[0], c.pad[1])};
      Shuffled shuffled;
      Array top = call_op("max_pool", operands, shuffled);
      Array mean = is_float(p) ? call_op("avg_pool", operands, shuffled) : Array();
      std::size_t r = c.x.size();
      std::int64_t height = c.x[r - 2], width = c.x[r - 1];
      std::int64_t rows = top.extents()[r - 2], columns = top.extents()[r - 1];
      CHECK(rows == (height + 2 * c.pad[0] - c.k[0]) / c.stride[0] + 1);
      std::int64_t wrong = 0;
      double worst = 0;
      for (std::int64_t e = 0; e < top.elements(); ++e) {
        std::int64_t y0 = e / columns % rows * c.stride[0] - c.pad[0], x0 = e % columns * c.stride[1] - c.pad[1];
        double largest = -INFINITY, sum = 0, count = 0;
        for (std::int64_t y = std::max<std::int64_t>(0, y0); y < std::min(height, y0 + c.k[0]); ++y)
          for (std::int64_t z = std::max<std::int64_t>(0, x0); z < std::min(width, x0 + c.k[1]); ++z, ++count) {
            double value = x.number((e / (rows * columns) * height + y) * width + z);
            largest = std::max(largest, value);
            sum += value;
          }
        wrong += top.number(e) != largest;
        if (is_float(p)) worst = std::max(worst, std::abs(mean.number(e) - sum / count));
      }
      CHECK(wrong == 0);
      CHECK(worst <= (p == Precision::f16 ? 1e-3 : p == Precision::f32 ? 1e-6 : 1e-14));
    }
}

namespace {

// Where the gradients of windows go, by the definition: to the first of the largest pixels, or evenly to all.
std::vector<double> pooled_back(const Array& x, const Array& dy, Pair k, Pair stride, Pair pad, bool largest) {
  const std::size_t r = x.extents().size();
  const std::int64_t height = x.extents()[r - 2], width = x.extents()[r - 1], rows = dy.extents()[r - 2],
                     columns = dy.extents()[r - 1];
  std::vector<double> dx(static_cast<std::size_t>(x.elements()));
  for (std::int64_t e = 0; e < dy.elements(); ++e) {
    const std::int64_t y0 = e / columns % rows * stride[0] - pad[0], x0 = e % columns * stride[1] - pad[1];
    std::vector<std::int64_t> pixels;
    for (std::int64_t y = std::max<std::int64_t>(0, y0); y < std::min(height, y0 + k[0]); ++y)
      for (std::int64_t z = std::max<std::int64_t>(0, x0); z < std::min(width, x0 + k[1]); ++z)
        pixels.push_back((e / (rows * columns) * height + y) * width + z);
    auto below = [&](std::int64_t a, std::int64_t b) {
      return x.number(a) < x.number(b) || (std::isnan(x.number(b)) && !std::isnan(x.number(a)));
    };
    if (largest) pixels = {*std::max_element(pixels.begin(), pixels.end(), below)};
    for (std::int64_t at : pixels)
      dx[static_cast<std::size_t>(at)] += dy.number(e) / static_cast<double>(pixels.size());
  }
  return dx;
}

}  // namespace

TEST_CASE("the gradients of pools equal the definition, for equal pixels and nan too [ops] [ops-grad]") {
  struct PoolCase {
    Extents x;
    Pair k, stride, pad;
  };
  for (const PoolCase& c :
       {PoolCase{{2, 3, 6, 40}, {2, 2}, {2, 2}, {0, 0}}, PoolCase{{3, 7, 75}, {2, 2}, {2, 2}, {0, 0}},
        PoolCase{{2, 2, 8, 8}, {2, 2}, {2, 2}, {0, 0}}, PoolCase{{3, 24, 24}, {2, 2}, {2, 2}, {0, 0}},
        PoolCase{{3, 7, 7}, {3, 2}, {1, 3}, {1, 1}}, PoolCase{{1, 8, 30, 71}, {3, 3}, {2, 2}, {1, 1}},
        PoolCase{{1, 4, 9, 40}, {3, 3}, {2, 1}, {2, 0}}, PoolCase{{1, 1, 5, 5}, {5, 5}, {1, 1}, {4, 4}},
        PoolCase{{2, 4, 3}, {2, 2}, {2, 5}, {0, 1}}, PoolCase{{2, 3, 7, 9}, {1, 1}, {2, 3}, {0, 0}},
        PoolCase{{3, 4, 5}, {1, 1}, {1, 1}, {0, 0}}})
    for (Precision p : {Precision::f16, Precision::f32, Precision::f64}) {
      CAPTURE(info(p).name);
      CAPTURE(print(Value(c.x.back())));
      Array x = tensor(p, c.x, 1);
      for (std::int64_t e = 0; e < x.elements(); ++e) x.set_number(e, std::round(3 * x.number(e)));  // equals
      x.set_number(1, -INFINITY);
      x.set_number(x.elements() / 2, NAN);
      const std::vector<Value> windows{pair(c.k[0], c.k[1]), pair(c.stride[0], c.stride[1]), pair(c.pad[0], c.pad[1])};
      const Array dy = tensor(p, call_op("max_pool", {x, windows[0], windows[1], windows[2]}).extents(), 2);
      const Value written = Type::of(x.type().type());
      for (bool largest : {true, false}) {
        Shuffled shuffled;
        const Array dx = call_op(largest ? "max_pool_grad" : "avg_pool_grad",
                                 {largest ? Value(x) : written, dy, windows[0], windows[1], windows[2]}, shuffled);
        const std::vector<double> expected = pooled_back(x, dy, c.k, c.stride, c.pad, largest);
        double worst = 0;
        for (std::int64_t e = 0; e < dx.elements(); ++e)
          worst = std::max(worst, std::abs(dx.number(e) - expected[static_cast<std::size_t>(e)]));
        CHECK(worst <= (p == Precision::f16 ? 4e-3 : p == Precision::f32 ? 1e-6 : 1e-14));
      }
    }
}

TEST_CASE("pools: defaults, nan and what they refuse [ops]") {
  Array x = array_of(List{Value(List{Value(List{1.0, NAN, 3.0, 4.0})})}, Precision::f32);
  CHECK(print(call_op("max_pool", {x, pair(1, 2)})) == "[[[nan, 4]]]");
  CHECK(print(call_op("max_pool", {x, pair(1, 2), i(1)})) == "[[[nan, nan, 4]]]");
  Array low = array_of(List{Value(List{Value(List{-INFINITY, -INFINITY})})}, Precision::f32);
  CHECK(print(call_op("max_pool", {low, pair(1, 2)})) == "[[[-inf]]]");
  CHECK(error("max_pool", {x, i(2), i(2), i(2)}) == "E1003 a pad of 2 leaves windows of 2 without a pixel");
  CHECK(error("max_pool", {x, i(0)}).starts_with("E1003 k must be at least 1"));
  CHECK(error("max_pool", {x, i(2)}).starts_with("E2001 a window of 2 does not fit into 1"));
  CHECK(error("max_pool", {tensor(Precision::tern, {1, 2, 2}, 1), i(2)}).starts_with("E2002"));
  CHECK(error("avg_pool", {tensor(Precision::i32, {1, 2, 2}, 1), i(2)}).starts_with("E2002"));
  CHECK(error("max_pool_grad", {x, low, i(1)}).starts_with("E2001"));
}

}  // namespace taskspec::ops_window_test
