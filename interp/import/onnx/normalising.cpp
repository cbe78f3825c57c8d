// Operators that bring numbers to a mean, a variance or a sum.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "interp/import/onnx/arrays.hpp"
#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

// One number for each channel, beside tensors of channels on axis 1.
Term along_channels(const Term& x, const Term& of) {
  Dims dims(of.rank() > 1 ? of.rank() - 1 : 1, Dim(1));
  dims[0] = x.dims[0];
  return reshaped(x, dims);
}

Numbers axes_from(std::int64_t first, const Term& x) {
  Numbers axes;
  for (auto i = first; i < static_cast<std::int64_t>(x.rank()); ++i) axes.push_back(i);
  return axes;
}

// x brought to mean 0 and variance 1 along these axes; and its mean and the inverse of its deviation.
struct Normalised {
  Term x, mean, inverse;
};

Normalised normalised(Call& call, const Term& x, const Numbers& axes, double epsilon) {
  const Term mean = call.let(reduced("mean", x, axes));
  const Term apart = call.let(binary(x, "-", mean));
  const Term variance = reduced("mean", binary(apart, "*", apart), axes);
  const Term inverse = call.let(called("rsqrt", with_number(variance, "+", epsilon)));
  return {binary(apart, "*", inverse), mean, inverse};
}

// ---- batch norm -----------------------------------------------------------------------------------

bool is_known(const Term& term) { return term.text.empty() && term.constant; }

// At rest it is a scale and a shift for each channel, worked out at import where all four are weights.
void at_rest(Call& call, const Term& x, double epsilon) {
  const bool known = is_known(call.at(1)) && is_known(call.at(2)) && is_known(call.at(3)) && is_known(call.at(4));
  if (!known) {
    const Term inverse = called("rsqrt", with_number(call.x(4), "+", epsilon));
    const Term scale = call.let(binary(call.x(1), "*", inverse));
    const Term shift = binary(call.x(2), "-", binary(call.x(3), "*", scale));
    call.give(0, binary(binary(x, "*", along_channels(scale, x)), "+", along_channels(shift, x)));
    return;
  }
  std::vector<double> scale = reals(*call.at(1).constant), shift = reals(*call.at(2).constant);
  const std::vector<double> mean = reals(*call.at(3).constant), variance = reals(*call.at(4).constant);
  if (shift.size() != scale.size() || mean.size() != scale.size() || variance.size() != scale.size())
    call.fail("its weights have different lengths");
  for (std::size_t i = 0; i < scale.size(); ++i) {
    scale[i] /= std::sqrt(variance[i] + epsilon);
    shift[i] -= mean[i] * scale[i];
  }
  Numbers shape(x.rank() > 1 ? x.rank() - 1 : 1, 1);
  shape[0] = static_cast<std::int64_t>(scale.size());
  auto weight = [&](const std::vector<double>& values, std::size_t input) {
    const std::string& origin = call.at(input).origin;
    return call.all.slot(filled_array(x.precision, shape, values), origin.empty() ? call.node.shown() : origin);
  };
  call.give(0, binary(binary(x, "*", weight(scale, 1)), "+", weight(shift, 2)));
}

void batch_normalization(Call& call) {
  const Term x = call.x(0);
  const double epsilon = call.real("epsilon", 1e-5), momentum = call.real("momentum", 0.9);
  const bool trains = call.opset() >= 14 ? call.integer("training_mode", 0) != 0 : false;
  if (!trains) {
    at_rest(call, x, epsilon);
    return;
  }
  Numbers axes{0};
  for (const std::int64_t axis : axes_from(2, x)) axes.push_back(axis);
  const Normalised n = normalised(call, x, axes, epsilon);
  call.give(0, binary(binary(n.x, "*", along_channels(call.x(1), x)), "+", along_channels(call.x(2), x)));
  auto moved = [&](std::size_t input, const Term& now) {
    return binary(with_number(call.x(input), "*", momentum), "+",
                  with_number(reshaped(now, call.at(input).dims), "*", 1 - momentum));
  };
  if (call.gives(1)) call.give(1, moved(3, n.mean));
  if (!call.gives(2)) return;
  const Term apart = binary(x, "-", n.mean);
  call.give(2, moved(4, reduced("mean", binary(apart, "*", apart), axes)));
}

void instance_normalization(Call& call) {
  const Term x = call.x(0);
  const Normalised n = normalised(call, x, axes_from(2, x), call.real("epsilon", 1e-5));
  call.give(0, binary(binary(n.x, "*", along_channels(call.x(1), x)), "+", along_channels(call.x(2), x)));
}

void layer_normalization(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", -1));
  const double epsilon = call.real("epsilon", 1e-5);
  const bool whole = axis + 1 == static_cast<std::int64_t>(x.rank()) && call.has(2) && !call.gives(1) && !call.gives(2);
  if (whole && call.at(1).rank() == 1 && call.at(2).rank() == 1) {
    call.give(0,
              called("layernorm", x,
                     fmt::format("{}, {}, eps: {}", call.x(1).text, call.x(2).text, literal(epsilon, Precision::f64))));
    return;
  }
  const Normalised n = normalised(call, x, axes_from(axis, x), epsilon);
  Term made = binary(n.x, "*", call.x(1));
  if (call.has(2)) made = binary(made, "+", call.x(2));
  call.give(0, made);
  if (call.gives(1)) call.give(1, n.mean);
  if (call.gives(2)) call.give(2, n.inverse);
}

void group_normalization(Call& call) {
  const Term x = call.x(0);
  const std::int64_t groups = call.integer("num_groups", 1);
  const std::optional<Dim> each = groups > 0 && x.rank() > 1 ? quotient(x.dims[1], Dim(groups)) : std::nullopt;
  if (!each) call.fail("its channels do not fall into groups");
  Dims split{x.dims[0], Dim(groups), *each};
  split.insert(split.end(), x.dims.begin() + 2, x.dims.end());
  const Normalised n =
      normalised(call, reshaped(x, split), axes_from(2, named("", x.precision, split)), call.real("epsilon", 1e-5));
  const bool by_group = call.at(1).dims[0] == Dim(groups) && !(call.at(1).dims[0] == x.dims[1]);
  auto weighted = [&](const Term& y) {
    return binary(binary(y, "*", along_channels(call.x(1), y)), "+", along_channels(call.x(2), y));
  };
  call.give(0, by_group ? reshaped(weighted(n.x), x.dims) : weighted(reshaped(n.x, x.dims)));
}

void rms_normalization(Call& call) {
  const Term x = call.x(0);
  const Numbers axes = axes_from(x.axis(call.integer("axis", -1)), x);
  const Term square = reduced("mean", binary(x, "*", x), axes);
  const Term inverse = called("rsqrt", with_number(square, "+", call.real("epsilon", 1e-5)));
  call.give(0, binary(binary(x, "*", inverse), "*", call.x(1)));
}

void mean_variance_normalization(Call& call) {
  const Term x = call.x(0);
  Numbers axes = call.integers("axes", {0, 2, 3});
  for (std::int64_t& axis : axes) axis = x.axis(axis);
  const Term apart = call.let(binary(x, "-", reduced("mean", x, axes)));
  const Term deviation = called("sqrt", reduced("mean", binary(apart, "*", apart), axes));
  call.give(0, binary(apart, "/", with_number(deviation, "+", 1e-9)));
}

void lp_normalization(Call& call) {
  const Term x = call.x(0);
  const Numbers axes{x.axis(call.integer("axis", -1))};
  const Term length = call.integer("p", 2) == 1 ? reduced("sum", called("abs", x), axes)
                                                : called("sqrt", reduced("sum", binary(x, "*", x), axes));
  call.give(0, binary(x, "/", length));
}

// x / (bias + alpha / size * sum of squares of `size` channels around)^beta
void lrn(Call& call) {
  const Term x = call.x(0);
  const std::int64_t size = call.integer("size", 1);
  if (x.rank() < 2 || size < 1 || size > 4096) call.fail("its channels do not fit its size");
  const Term squares = call.let(padded(binary(x, "*", x), 1, (size - 1) / 2, size / 2, ""));
  std::optional<Term> sum;
  for (std::int64_t k = 0; k < size; ++k) {
    const Term part = sliced(squares, 1, Dim(k), x.dims[1] + Dim(k));
    sum = sum ? binary(*sum, "+", part) : part;
  }
  const Term base = with_number(with_number(*sum, "*", call.real("alpha", 0.0001) / static_cast<double>(size)), "+",
                                call.real("bias", 1));
  call.give(0,
            binary(x, "/", called("pow", base, named(literal(call.real("beta", 0.75), x.precision), x.precision, {}))));
}

// ---- softmax --------------------------------------------------------------------------------------

// Before opset 13 all axes from `axis` on were one.
void along_axis(Call& call, std::string_view op) {
  const Term x = call.x(0);
  const bool old = call.opset() < 13;
  const std::int64_t axis = x.axis(call.integer("axis", old ? 1 : -1));
  if (axis < 0 || axis >= std::max<std::int64_t>(1, static_cast<std::int64_t>(x.rank())))
    call.fail("its axis lies outside of the shape");
  if (!old || axis + 1 == static_cast<std::int64_t>(x.rank())) {
    call.give(0, called(op, x, std::to_string(axis)));
    return;
  }
  const auto at = x.dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const Term rows = reshaped(x, {product({x.dims.begin(), at}), product({at, x.dims.end()})});
  call.give(0, reshaped(called(op, rows, "1"), x.dims));
}

void softmax(Call& call) { along_axis(call, "softmax"); }
void log_softmax(Call& call) { along_axis(call, "log_softmax"); }

void hardmax(Call& call) {
  const Term x = call.x(0);
  if (call.opset() < 13) call.fail("this form of Hardmax is not read");
  const std::int64_t axis = x.axis(call.integer("axis", -1));
  Dims line(x.rank(), Dim(1));
  const Dim& n = x.dims[static_cast<std::size_t>(axis)];
  line[static_cast<std::size_t>(axis)] = n;
  const Term counted = reshaped(named(fmt::format("iota({})", n.text()), Precision::i64, {n}), line);
  call.give(0, cast(compared(counted, "==", reduced("argmax", x, {axis})), x.precision));
}

// Nothing is dropped where a net is only used.
void dropout(Call& call) {
  const Term& x = call.at(0);
  const bool trains = call.opset() >= 12 && call.has(2) && call.numbers(2).at(0) != 0;
  if (trains && !(call.has(1) && call.number(1) == 0)) call.fail("it trains: what it drops is random");
  call.give(0, x);
  if (call.gives(1))
    call.give(1,
              filled(call.opset() < 10 ? x.precision : Precision::boolean, x.dims, call.opset() < 10 ? "1" : "true"));
}

constexpr std::array normalising_rows{
    Operator{"BatchNormalization", 1, any, batch_normalization},
    Operator{"Dropout", 1, any, dropout},
    Operator{"GroupNormalization", 1, any, group_normalization},
    Operator{"Hardmax", 13, any, hardmax},
    Operator{"InstanceNormalization", 1, any, instance_normalization},
    Operator{"LRN", 1, any, lrn},
    Operator{"LayerNormalization", 1, any, layer_normalization},
    Operator{"LogSoftmax", 1, any, log_softmax},
    Operator{"LpNormalization", 1, any, lp_normalization},
    Operator{"MeanVarianceNormalization", 9, any, mean_variance_normalization},
    Operator{"RMSNormalization", 1, any, rms_normalization},
    Operator{"Softmax", 1, any, softmax},
};

}  // namespace

std::span<const Operator> normalising_operators() { return normalising_rows; }

}  // namespace taskspec::onnx
