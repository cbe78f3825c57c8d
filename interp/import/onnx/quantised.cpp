// Quantised operators. Sums are integers, exact; scales are floats; what is rounded is rounded half to even.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interp/import/onnx/convolved.hpp"

namespace taskspec::onnx {

namespace {

// A scale or zero point of one number, or of one for each place along `axis`.
Term along(const Term& x, const Term& of, std::int64_t axis) {
  if (x.rank() == 0) return x;
  if (product(x.dims) == Dim(1)) return reshaped(x, {});
  Dims dims(of.rank() - static_cast<std::size_t>(axis), Dim(1));
  dims[0] = x.dims[0];
  return reshaped(x, dims);
}

// x as integers of 32 bits, less its zero point.
Term from_zero(Call& call, const Term& x, std::size_t zero, std::int64_t axis) {
  const Term whole = cast(x, Precision::i32);
  if (!call.has(zero)) return whole;
  if (const auto known = call.if_known(zero);
      known && std::ranges::all_of(*known, [](std::int64_t n) { return n == 0; }))
    return whole;
  return binary(whole, "-", along(cast(call.x(zero), Precision::i32), x, axis));
}

// Rounded, moved by the zero point, and held inside of its precision.
Term stored(Call& call, const Term& real, std::size_t zero, std::int64_t axis) {
  const Precision to = call.has(zero) ? call.at(zero).precision : Precision::u8;
  Term rounded = called("round", real);
  if (call.has(zero)) rounded = binary(rounded, "+", along(cast(call.x(zero), real.precision), real, axis));
  return cast(rounded, to);
}

void quantize(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", 1));
  const Term real = cast(x, Precision::f32);
  call.give(0, stored(call, binary(real, "/", along(call.x(1), x, axis)), 2, axis));
}

void dequantize(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", 1));
  const Term scale = call.x(1);
  call.give(0, binary(cast(from_zero(call, x, 2, axis), scale.precision), "*", along(scale, x, axis)));
}

// Scale and zero point of u8 out of the numbers themselves.
void dynamic_quantize(Call& call) {
  const Term x = call.x(0);
  Numbers axes;
  for (std::size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  auto extremum = [&](std::string_view op, std::string_view beside) {
    const Term found = reshaped(reduced(op, x, axes), {});
    return call.let(named(fmt::format("{}({}, 0.0)", beside, found.text), x.precision, {}));
  };
  const Term most = extremum("max", "maximum"), least = extremum("min", "minimum");
  const Term scale = call.let(with_number(binary(most, "-", least), "/", 255));
  const Term zero =
      call.let(called("clamp", called("round", binary(number_with(0, "-", least), "/", scale)), "0.0, 255.0"));
  call.give(0, cast(binary(called("round", binary(x, "/", scale)), "+", zero), Precision::u8));
  call.give(1, scale);
  call.give(2, cast(zero, Precision::u8));
}

// A zero point for each row of the left side stands beside it as a column.
Term rows_from_zero(Call& call, const Term& x, std::size_t zero) {
  if (!call.has(zero) || call.at(zero).rank() == 0 || x.rank() < 2) return from_zero(call, x, zero, 0);
  const Term own = call.x(zero);
  if (own.rank() != 1) return binary(cast(x, Precision::i32), "-", cast(own, Precision::i32));
  const Term point = product(own.dims) == Dim(1) ? reshaped(own, {}) : reshaped(own, {own.dims[0], Dim(1)});
  return binary(cast(x, Precision::i32), "-", cast(point, Precision::i32));
}

void matmul_integer(Call& call) {
  const Term a = rows_from_zero(call, call.x(0), 2), b = call.x(1);
  call.give(0, product_of(a, from_zero(call, b, 3, static_cast<std::int64_t>(b.rank()) - 1)));
}

void quantised_matmul(Call& call) {
  const Term a = rows_from_zero(call, call.x(0), 2), b = call.x(3);
  const auto last = static_cast<std::int64_t>(b.rank()) - 1;
  const Term sum = product_of(a, from_zero(call, b, 5, last));
  const auto end = static_cast<std::int64_t>(sum.rank()) - 1;
  auto scale = [&](std::size_t i) { return along(call.x(i), sum, end); };
  const Term factor = binary(binary(scale(1), "*", scale(4)), "/", scale(6));
  call.give(0, stored(call, binary(cast(sum, Precision::f32), "*", factor), 7, end));
}

void conv_integer(Call& call) {
  const Term x = call.let(from_zero(call, call.x(0), 2, 1)), w = call.let(from_zero(call, call.x(1), 3, 0));
  call.give(0, convolved(call, x, w, std::nullopt, windows_of(call, x, kernel_of(call, w)), call.integer("group", 1)));
}

void quantised_conv(Call& call) {
  const Term x = call.let(from_zero(call, call.x(0), 2, 1)), w = call.let(from_zero(call, call.x(3), 5, 0));
  const std::optional<Term> bias = call.has(8) ? std::optional(call.x(8)) : std::nullopt;
  const Term sum = convolved(call, x, w, bias, windows_of(call, x, kernel_of(call, w)), call.integer("group", 1));
  auto scale = [&](std::size_t i) { return along(call.x(i), sum, 1); };
  const Term factor = binary(binary(scale(1), "*", scale(4)), "/", scale(6));
  call.give(0, stored(call, binary(cast(sum, Precision::f32), "*", factor), 7, 1));
}

constexpr std::array quantised_rows{
    Operator{"ConvInteger", 10, any, conv_integer},
    Operator{"DequantizeLinear", 10, any, dequantize},
    Operator{"DynamicQuantizeLinear", 11, any, dynamic_quantize},
    Operator{"MatMulInteger", 10, any, matmul_integer},
    Operator{"QLinearConv", 10, any, quantised_conv},
    Operator{"QLinearMatMul", 10, any, quantised_matmul},
    Operator{"QuantizeLinear", 10, any, quantize},
};

}  // namespace

std::span<const Operator> quantised_operators() { return quantised_rows; }

}  // namespace taskspec::onnx
