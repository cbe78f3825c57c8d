// topk, split, conv1d, the normalising ops, turns and random numbers against plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ir/base/random.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"

namespace taskspec::ops_library_test {

namespace {

Value i(std::int64_t value) { return value; }
Value written(Precision precision, std::vector<Dim> dims) { return Type::of(Type::tensor(precision, std::move(dims))); }

std::vector<Array> all_outputs(std::string_view op, std::vector<Value> operands) {
  OpCall call = prepare(op, std::move(operands));
  Shuffled parallel;
  return run(*call.instance.op->kernel(call.instance), call, parallel);
}

double worst_difference(const Array& a, const std::vector<double>& b) {
  REQUIRE(static_cast<std::size_t>(a.elements()) == b.size());
  double worst = 0;
  for (std::int64_t e = 0; e < a.elements(); ++e)
    worst = std::max(worst, std::abs(a.number(e) - b[static_cast<std::size_t>(e)]));
  return worst;
}

}  // namespace

TEST_CASE("topk: as a stable sort, in every precision and along every axis [ops]") {
  for (Precision precision : {Precision::i8, Precision::u16, Precision::i64, Precision::f16, Precision::f32})
    for (std::int64_t axis : {0, 1, 2})
      for (std::int64_t k : {0, 1, 3, 4}) {
        CAPTURE(info(precision).name);
        CAPTURE(axis);
        CAPTURE(k);
        const Extents extents{4, 5, 6};
        Array x = random_array({precision, extents}, 3);
        for (std::int64_t e = 0; e < x.elements(); e += 3) x.set_number(e, x.number(0));  // equals
        std::vector<Array> best = all_outputs("topk", {x, i(k), i(axis)});
        const std::int64_t inner = axis == 0 ? 30 : axis == 1 ? 6 : 1, extent = extents[static_cast<std::size_t>(axis)];
        for (std::int64_t line = 0; line < x.elements() / extent; ++line) {
          const std::int64_t outer = line / inner, column = line % inner;
          std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
          std::iota(order.begin(), order.end(), 0);
          auto at = [&](std::int64_t e) { return x.number((outer * extent + e) * inner + column); };
          std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return at(a) > at(b); });
          for (std::int64_t j = 0; j < k; ++j) {
            const std::int64_t to = (outer * k + j) * inner + column, from = order[static_cast<std::size_t>(j)];
            REQUIRE(best[1].integer(to) == from);
            REQUIRE(best[0].number(to) == at(from));
          }
        }
      }
}

TEST_CASE("topk: a nan is the largest; what cannot be is refused [ops]") {
  Array x = array_of(List{1.0, 2.0, 3.0}, Precision::f64);
  x.set_number(1, std::nan(""));
  std::vector<Array> best = all_outputs("topk", {x, i(2)});
  CHECK(best[1].integer(0) == 1);
  CHECK(best[1].integer(1) == 2);
  CHECK(error_of([&] { call_op("topk", {x, i(4)}); }).starts_with("E2004"));
  CHECK(error_of([&] { call_op("topk", {x, i(1), i(1)}); }).starts_with("E2004"));
  CHECK(error_of([&] { call_op("split", {x, i(2), i(0)}); }).starts_with("E2001"));
  CHECK(error_of([&] { call_op("split", {x, i(0), i(0)}); }).starts_with("E1003"));
  CHECK(error_of([&] { call_op("one_hot", {x, i(2)}); }).starts_with("E2002"));
  CHECK(error_of([&] { call_op("one_hot", {array_of(List{i(2)}, Precision::i8), i(2)}); }).starts_with("E5003"));
}

TEST_CASE("split: parts of written extents must fill the axis [ops]") {
  const Array x = random_array({Precision::i8, {2, 6}}, 3);
  const std::vector<Array> parts = all_outputs("split", {x, List{i(4), i(0), i(2)}, i(1)});
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].extents() == Extents{2, 4});
  CHECK(parts[1].elements() == 0);
  CHECK(parts[2].integer(3) == x.integer(11));
  auto refused = [&](Value extents) { return error_of([&] { call_op("split", {x, extents, i(1)}); }); };
  CHECK(refused(List{i(3), i(2)}).starts_with("E2001 parts of 5 in all do not fill an axis of 6"));
  CHECK(refused(List{i(7), i(-1)}).starts_with("E1003 a part has an extent of at least 0, not -1"));
  CHECK(refused(List{2.0, 4.0}).starts_with("E1004"));
  CHECK(refused("2").starts_with("E1004"));
}

TEST_CASE("norms: an empty batch leaves kept statistics as they are, and has sums of 0 [ops]") {
  const Array x = random_array({Precision::f32, {0, 2}}, 3), kept = random_array({Precision::f32, {2}}, 4);
  const std::vector<Array> found = all_outputs("running_batchnorm", {x, kept, kept, kept, kept, 1e-5, 0.5, i(1)});
  const Array sums = call_op("batchnorm_sums", {x, x});
  for (std::int64_t e = 0; e < 2; ++e) {
    CHECK(found[1].number(e) == kept.number(e));
    CHECK(found[2].number(e) == kept.number(e));
    CHECK(sums.number(4 + e) == 0);  // of the gradients of scale and shift
    CHECK(sums.number(6 + e) == 0);
  }
}

TEST_CASE("norms and spikes: what they refuse [ops]") {
  const Array x = random_array({Precision::f32, {2, 3}}, 3), three = random_array({Precision::f32, {3}}, 4),
              two = random_array({Precision::f32, {2}}, 5), wide = random_array({Precision::f64, {3}}, 6);
  auto refused = [](std::string_view op, std::vector<Value> operands) {
    return error_of([&] { call_op(op, std::move(operands)); });
  };
  CHECK(refused("running_batchnorm", {x, three, two, three, three}).starts_with("E2001"));
  CHECK(refused("running_batchnorm", {x, three, three, wide, three}).starts_with("E2002"));
  CHECK(refused("running_batchnorm", {three, three, three, three, three}).starts_with("E2001"));
  CHECK(refused("running_batchnorm", {x, three, three, three, three, 0.0, 1.5}).starts_with("E1003"));
  CHECK(refused("batchnorm_sums", {x, three}).starts_with("E2001"));
  CHECK(refused("batchnorm_sums", {x, x, 0.0, three}).starts_with("E1003"));
  CHECK(refused("batchnorm_input_grad", {x, x, three, three}).starts_with("E2001"));
  CHECK(refused("layernorm_input_grad", {x, x, two}).starts_with("E2001"));
  CHECK(refused("spike", {x, 0.0, -1.0}).starts_with("E1003"));
  CHECK(refused("spike", {random_array({Precision::i8, {2}}, 3)}).starts_with("E2002"));
}

TEST_CASE("conv1d: as a plain loop, with stride, pad, dilation and groups [ops]") {
  struct Case {
    std::int64_t stride, pad, dilation, groups;
  };
  for (const Case& c : {Case{1, 0, 1, 1}, Case{2, 1, 1, 2}, Case{1, 3, 2, 2}, Case{3, 0, 3, 1}}) {
    const std::int64_t batch = 2, channels = 4, length = 11, outputs = 6, taps = 3, per = channels / c.groups;
    Array x = random_array({Precision::f64, {batch, channels, length}}, 1);
    Array w = random_array({Precision::f64, {outputs, per, taps}}, 2), b = random_array({Precision::f64, {outputs}}, 3);
    const std::int64_t positions = (length + 2 * c.pad - c.dilation * (taps - 1) - 1) / c.stride + 1;
    std::vector<double> expected;
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t o = 0; o < outputs; ++o)
        for (std::int64_t p = 0; p < positions; ++p) {
          double sum = b.number(o);
          for (std::int64_t q = 0; q < per; ++q)
            for (std::int64_t t = 0; t < taps; ++t) {
              std::int64_t at = p * c.stride + t * c.dilation - c.pad, channel = o / (outputs / c.groups) * per + q;
              if (at >= 0 && at < length)
                sum += x.number((n * channels + channel) * length + at) * w.number((o * per + q) * taps + t);
            }
          expected.push_back(sum);
        }
    Array y = call_op("conv1d", {x, w, b, i(c.stride), i(c.pad), i(c.dilation), i(c.groups)});
    CHECK(y.extents() == Extents{batch, outputs, positions});
    CHECK(worst_difference(y, expected) < 1e-12);
  }
}

// In f32 the gradients of a convolution take another way than in f64, where differences check them.
TEST_CASE("conv2d gradients: f32 as f64, with stride, pad, dilation and groups [ops]") {
  struct Case {
    std::int64_t batch, channels, outputs, stride, pad, dilation, groups;
  };
  auto as = [](const Array& x, Precision p) { return call_op("cast", {x, written(p, {})}); };
  for (const Case& c :
       {Case{1, 3, 5, 1, 0, 1, 1}, Case{4, 8, 128, 1, 1, 1, 1}, Case{3, 4, 6, 2, 1, 1, 2}, Case{2, 16, 64, 3, 2, 2, 1},
        Case{2, 6, 6, 1, 1, 1, 6}, Case{9, 16, 24, 1, 1, 1, 1}, Case{8, 24, 32, 1, 1, 1, 2}}) {  // shared out by images
    CAPTURE(c.batch);
    CAPTURE(c.outputs);
    Array x = random_array({Precision::f64, {c.batch, c.channels, 17, 14}}, 1);
    Array w = random_array({Precision::f64, {c.outputs, c.channels / c.groups, 3, 3}}, 2);
    std::vector<Value> windows{i(c.stride), i(c.pad), i(c.dilation), i(c.groups)};
    auto with_windows = [&](std::vector<Value> operands) {
      operands.insert(operands.end(), windows.begin(), windows.end());
      return operands;
    };
    Array dy = random_array(call_op("conv2d", with_windows({x, w, Value()})).type(), 3);
    for (const char* op : {"conv2d_weight_grad", "conv2d_input_grad"}) {
      CAPTURE(op);
      const bool weights = std::string_view(op) == "conv2d_weight_grad";
      auto grad = [&](Precision p) {
        ArrayType type{p, weights ? w.extents() : x.extents()};
        Shuffled parallel;
        return call_op(op,
                       with_windows({Value(Type::of(type.type())), as(weights ? x : dy, p), as(weights ? dy : w, p)}),
                       parallel);
      };
      Array narrow = grad(Precision::f32), wide = grad(Precision::f64);
      double worst = 0, largest = 0;
      for (std::int64_t e = 0; e < wide.elements(); ++e) {
        worst = std::max(worst, std::abs(narrow.number(e) - wide.number(e)));
        largest = std::max(largest, std::abs(wide.number(e)));
      }
      CHECK(worst < 1e-5 * largest);
    }
  }
}

TEST_CASE("layernorm and batchnorm: mean and variance by plain sums [ops]") {
  const std::int64_t b = 3, c = 5, pixels = 7;
  Array x = random_array({Precision::f64, {b, c, pixels}}, 1);
  Array row = random_array({Precision::f64, {pixels}}, 2), row_shift = random_array({Precision::f64, {pixels}}, 3);
  Array channel = random_array({Precision::f64, {c}}, 4), channel_shift = random_array({Precision::f64, {c}}, 5);
  auto moments = [&](auto&& members) {
    double mean = 0, variance = 0;
    for (std::int64_t e : members) mean += x.number(e) / static_cast<double>(members.size());
    for (std::int64_t e : members)
      variance += (x.number(e) - mean) * (x.number(e) - mean) / static_cast<double>(members.size());
    return std::pair(mean, 1 / std::sqrt(variance + 0.25));
  };
  std::vector<double> by_row(static_cast<std::size_t>(x.elements())), by_channel(by_row);
  for (std::int64_t e = 0; e < x.elements(); ++e) {
    std::vector<std::int64_t> row_of, channel_of;
    for (std::int64_t other = 0; other < x.elements(); ++other) {
      if (other / pixels == e / pixels) row_of.push_back(other);
      if (other / pixels % c == e / pixels % c) channel_of.push_back(other);
    }
    auto [mean, factor] = moments(row_of);
    auto [channel_mean, channel_factor] = moments(channel_of);
    const std::int64_t k = e / pixels % c;
    by_row[static_cast<std::size_t>(e)] =
        (x.number(e) - mean) * factor * row.number(e % pixels) + row_shift.number(e % pixels);
    by_channel[static_cast<std::size_t>(e)] =
        (x.number(e) - channel_mean) * channel_factor * channel.number(k) + channel_shift.number(k);
  }
  CHECK(worst_difference(call_op("layernorm", {x, row, row_shift, 0.25}), by_row) < 1e-12);
  CHECK(worst_difference(call_op("batchnorm", {x, channel, channel_shift, 0.25}), by_channel) < 1e-12);
}

TEST_CASE("rotate: every pixel goes where the turn takes it [ops]") {
  const std::int64_t m = 3, n = 4;
  Array x = random_array({Precision::i32, {m, n, 2}}, 1);
  for (std::int64_t turns : {-5, 0, 1, 2, 3, 6}) {
    CAPTURE(turns);
    Array y = call_op("rotate", {x, i(turns)});
    const std::int64_t width = turns % 2 == 0 ? n : m;
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t column = 0; column < n; ++column) {
        std::int64_t to_row = row, to_column = column, rows = m, columns = n;
        for (std::int64_t t = 0; t < (turns % 4 + 4) % 4; ++t) {  // counter-clockwise, one after the other
          std::int64_t before = to_row;
          to_row = columns - 1 - to_column;
          to_column = before;
          std::swap(rows, columns);
        }
        for (std::int64_t f : {0, 1})
          CHECK(y.integer((to_row * width + to_column) * 2 + f) == x.integer((row * n + column) * 2 + f));
      }
  }
}

// ---- random numbers ---------------------------------------------------------------------------------

TEST_CASE("random numbers: every element by its own formula, on any thread [ops]") {
  const std::uint64_t seed = 0x123456789ABCDEF0;
  const std::uint32_t stream = 17, call = 5;
  const std::int64_t count = 70001;  // several parts, the last one not whole
  auto block = [&](std::int64_t index, std::uint32_t further = 0) {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream, call + further},
                  philox_key(seed));
  };
  auto normal = [&](std::int64_t e, std::uint32_t further) {
    PhiloxBlock w = block(e / 2, further);
    double u1 = uniform_f64(w[0], w[1]), u2 = uniform_f64(w[2], w[3]), r = std::sqrt(-2 * std::log(1 - u1));
    return e % 2 == 0 ? r * std::cos(2 * std::numbers::pi * u2) : r * std::sin(2 * std::numbers::pi * u2);
  };
  auto make = [&](const char* op, Precision precision, std::vector<Value> rest) {
    std::vector<Value> operands{written(precision, {count}), Value(static_cast<std::int64_t>(seed))};
    operands.insert(operands.end(), rest.begin(), rest.end());
    operands.push_back(i(stream));
    operands.push_back(i(call));
    Shuffled parallel;
    return call_op(op, operands, parallel);
  };
  Array f = make("uniform", Precision::f32, {0.0, 1.0}), d = make("uniform", Precision::f64, {-1.0, 3.0}),
        b = make("bernoulli", Precision::u8, {0.3}), z = make("normal", Precision::f64, {1.0, 2.0}),
        t = make("truncated_normal", Precision::f64, {0.0, 1.0});
  for (std::int64_t e = 0; e < count; ++e) {
    PhiloxBlock four = block(e / 4), two = block(e / 2);
    float u = uniform_f32(four[static_cast<std::size_t>(e % 4)]);
    double wide = uniform_f64(two[e % 2 == 0 ? 0 : 2], two[e % 2 == 0 ? 1 : 3]);
    REQUIRE(f.data<float>()[static_cast<std::size_t>(e)] == u);
    REQUIRE(d.number(e) == -1 + 4 * wide);
    REQUIRE(b.integer(e) == (static_cast<double>(u) < 0.3 ? 1 : 0));
    REQUIRE(z.number(e) == doctest::Approx(1 + 2 * normal(e, 0)).epsilon(1e-12));
    std::uint32_t further = 0;
    while (std::abs(normal(e, further)) > 2) ++further;
    REQUIRE(t.number(e) == doctest::Approx(normal(e, further)).epsilon(1e-12));
  }
}

TEST_CASE("uniform numbers stay below their upper bound, also where it is what they round to [ops]") {
  struct Bounds {
    double lo, hi;
  };
  const std::int64_t count = 200'000;
  for (Precision precision : {Precision::f16, Precision::f32, Precision::f64})
    for (Bounds b :
         {Bounds{0, 1}, Bounds{1, 2}, Bounds{-2, -1}, Bounds{-1, 0}, Bounds{60000, 65504}, Bounds{0, 6e-5}}) {
      CAPTURE(precision);
      CAPTURE(b.hi);
      const Array x = call_op("uniform", {written(precision, {count}), i(1), b.lo, b.hi, i(0), i(0)});
      double least = b.hi, most = b.lo;
      for (std::int64_t e = 0; e < count; ++e) {
        least = std::min(least, x.number(e));
        most = std::max(most, x.number(e));
      }
      Array bound = Array::make({precision, {1}});
      bound.set_number(0, b.hi);
      CHECK(most < bound.number(0));
      CHECK(most > b.hi - 0.01 * (b.hi - b.lo));
      bound.set_number(0, b.lo);
      CHECK(least >= bound.number(0));
    }
  // One number, or none, between the bounds.
  const Array one = call_op("uniform", {written(Precision::f16, {100}), i(1), 1.0, 1.0001, i(0), i(0)});
  for (std::int64_t e = 0; e < 100; ++e) CHECK(one.number(e) == 1);
}

TEST_CASE("dropout keeps what bernoulli keeps, in every float precision and on any number of threads [ops]") {
  const std::int64_t count = 70001;
  for (Precision precision : {Precision::f16, Precision::f32, Precision::f64}) {
    const Array x = call_op("uniform", {written(precision, {count}), i(3), 1.0, 2.0, i(0), i(0)});
    const Array kept = call_op("bernoulli", {written(precision, {count}), i(9), 0.7, i(1), i(2)});
    Shuffled parallel;
    const Array y = call_op("dropout", {x, 0.3, i(9), i(1), i(2)}, parallel);
    const double close = precision == Precision::f16 ? 1e-3 : precision == Precision::f32 ? 1e-7 : 1e-15;
    for (std::int64_t e = 0; e < count; ++e)
      REQUIRE(y.number(e) == doctest::Approx(kept.number(e) * x.number(e) / 0.7).epsilon(close));
  }
  CHECK(call_op("dropout", {call_op("fill", {written(Precision::f32, {0}), 1.0}), 0.3, i(1), i(0), i(0)}).elements() ==
        0);
  for (double rate : {-0.1, 1.0, 1.5, std::nan("")})
    CHECK(error_of([&] {
            call_op("dropout", {call_op("fill", {written(Precision::f32, {2}), 1.0}), rate, i(1), i(0), i(0)});
          }).starts_with("E1003"));
}

namespace {

struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

Moments moments_of(const Array& x) {
  Moments m{.least = x.number(0), .most = x.number(0)};
  const auto count = static_cast<double>(x.elements());
  for (std::int64_t e = 0; e < x.elements(); ++e) m.mean += x.number(e) / count;
  for (std::int64_t e = 0; e < x.elements(); ++e) {
    m.deviation += std::pow(x.number(e) - m.mean, 2) / count;
    m.least = std::min(m.least, x.number(e));
    m.most = std::max(m.most, x.number(e));
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

}  // namespace

TEST_CASE("random numbers: first values of weights have the moments that they promise, in f32 and f64 [ops] [init]") {
  const double in = 40 * 15, out = 60 * 15, limit = std::sqrt(6 / (in + out)), glorot = std::sqrt(2 / (in + out));
  struct Promise {
    std::string_view op;
    std::vector<Value> options;
    double mean, deviation, least, most;
  };
  constexpr double far = 6;  // deviations, which none of 36,000 normal numbers reaches
  const Promise promises[] = {
      {"fill", {0.0}, 0, 0, 0, 0},
      {"fill", {0.25}, 0.25, 0, 0.25, 0.25},
      {"uniform", {i(1), -0.5, 1.0}, 0.25, 1.5 / std::sqrt(12), -0.5, 1},
      {"normal", {i(1), 0.5, 0.1}, 0.5, 0.1, 0.5 - 0.1 * far, 0.5 + 0.1 * far},
      {"truncated_normal", {i(1), 0.5, 0.1}, 0.5, 0.08796, 0.3, 0.7},  // the deviation of a normal one cut off at 2
      {"glorot_uniform", {i(1)}, 0, glorot, -limit, limit},
      {"glorot_normal", {i(1)}, 0, glorot, -glorot * far, glorot * far},
      {"kaiming_normal", {i(1)}, 0, std::sqrt(2 / in), -far, far},
      {"kaiming_normal", {i(1), "fan_out"}, 0, std::sqrt(2 / out), -far, far},
  };
  for (Precision precision : {Precision::f32, Precision::f64})
    for (const Promise& promise : promises) {
      CAPTURE(info(precision).name);
      CAPTURE(promise.op);
      std::vector<Value> operands{written(precision, {Dim(60), Dim(40), Dim(3), Dim(5)})};
      operands.insert(operands.end(), promise.options.begin(), promise.options.end());
      const Moments found = moments_of(call_op(promise.op, operands));
      // Four deviations of a mean of 36,000.
      CHECK(std::abs(found.mean - promise.mean) <= 4 * promise.deviation / std::sqrt(36000.0) + 1e-9);
      CHECK(found.deviation == doctest::Approx(promise.deviation).epsilon(0.015));
      CHECK(found.least >= promise.least);
      CHECK(found.most <= promise.most);
    }
}

TEST_CASE("random numbers: what first values of weights refuse [ops] [init]") {
  CHECK(error_of([] { call_op("glorot_normal", {written(Precision::f32, {Dim(4)}), i(1)}); }).starts_with("E2001"));
  CHECK(error_of([] { call_op("uniform", {written(Precision::i32, {Dim(4)}), i(1)}); }).starts_with("E2002"));
  CHECK(error_of([] {
          call_op("uniform", {written(Precision::f32, {Dim(4)}), i(1), 0.0, 1.0, i(-1)});
        }).starts_with("E1003"));
}

}  // namespace taskspec::ops_library_test
