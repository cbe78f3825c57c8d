// Operators that work element by element.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "interp/import/onnx/conversion.hpp"
#include "interp/import/onnx/precisions.hpp"

namespace taskspec::onnx {

namespace {

// ---- two sides ------------------------------------------------------------------------------------

// Before opset 7 the right side was stretched only where `broadcast` said so, from `axis` on.
Term aligned(Call& call, const Term& left, Term right) {
  if (call.opset() >= 7 || call.integer("broadcast", 0) == 0 || right.rank() == 0) return right;
  const auto rank = static_cast<std::int64_t>(left.rank()), own = static_cast<std::int64_t>(right.rank());
  const std::int64_t axis = left.axis(call.integer("axis", rank - own));
  if (axis < 0 || axis + own > rank) call.fail("its right side does not fit the left one");
  Dims dims = right.dims;
  dims.resize(static_cast<std::size_t>(rank - axis), Dim(1));
  return reshaped(right, dims);
}

struct Sides {
  Term left, right;
};

Sides sides(Call& call) {
  const bool left_known = call.at(0).text.empty();
  Sides made;
  if (left_known && !call.at(1).text.empty()) {
    made.right = call.x(1);
    made.left = call.beside(0, made.right);
  } else {
    made.left = call.x(0);
    made.right = aligned(call, made.left, call.beside(1, made.left));
  }
  if (!together(made.left.dims, made.right.dims))
    call.fail("shapes " + type_text(made.left.precision, made.left.dims) + " and " +
              type_text(made.right.precision, made.right.dims) + " do not fit");
  return made;
}

// The tensor among two sides may be the smaller one, and the literal none at all.
Term of_sides(Call& call, std::string_view sign, bool compares) {
  const Sides s = sides(call);
  return compares ? compared(s.left, sign, s.right) : binary(s.left, sign, s.right);
}

void add(Call& call) { call.give(0, of_sides(call, "+", false)); }
void sub(Call& call) { call.give(0, of_sides(call, "-", false)); }
void mul(Call& call) { call.give(0, of_sides(call, "*", false)); }
void div(Call& call) { call.give(0, of_sides(call, "/", false)); }
void equal(Call& call) { call.give(0, of_sides(call, "==", true)); }
void less(Call& call) { call.give(0, of_sides(call, "<", true)); }
void greater(Call& call) { call.give(0, of_sides(call, ">", true)); }
void less_or_equal(Call& call) { call.give(0, of_sides(call, "<=", true)); }
void greater_or_equal(Call& call) { call.give(0, of_sides(call, ">=", true)); }
void logical_and(Call& call) { call.give(0, of_sides(call, "&", false)); }
void logical_or(Call& call) { call.give(0, of_sides(call, "|", false)); }
void logical_xor(Call& call) {
  const Sides s = sides(call);
  call.give(0, called("xor", s.left, s.right));
}

// The sign of the result is that of the right side, or of the left one as in C.
void mod(Call& call) {
  const Sides s = sides(call);
  if (s.left.is_real() || call.integer("fmod", 0) != 0) {
    call.give(0, binary(s.left, "%", s.right));
    return;
  }
  const Term rest = call.let(binary(s.left, "%", s.right));
  if (info(rest.precision).minimum == 0) {
    call.give(0, rest);
    return;
  }
  const Term other =
      binary(compared(with_number(rest, "<", 0), "!=", with_number(s.right, "<", 0)), "&", with_number(rest, "!=", 0));
  call.give(0, chosen(other, binary(rest, "+", s.right), rest));
}

// Of two precisions: what is raised decides.
void pow(Call& call) {
  const Term base = call.x(0);
  Term power = call.beside(1, base);
  if (call.opset() < 7) power = aligned(call, base, power);
  const bool written_number = power.dims.empty() && call.at(1).text.empty();
  if (base.precision == power.precision || (written_number && base.is_real())) {
    if (base.precision != power.precision) power = named(literal(call.number(1), base.precision), base.precision, {});
    call.give(0, called("pow", base, power));
    return;
  }
  power = call.x(1);
  if (base.is_real()) {
    call.give(0, called("pow", base, cast(power, base.precision)));
    return;
  }
  const Precision middle = power.is_real() ? Precision::f64 : base.precision;
  call.give(0, truncated(call, called("pow", cast(base, middle), cast(power, middle)), base.precision));
}

template <class Combine>
void fold_left(Call& call, Combine combine) {
  Term made = call.x(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const Term next = call.beside(i, made);
    if (!together(made.dims, next.dims)) call.fail("its shapes do not fit");
    made = combine(made, next);
  }
  call.give(0, made);
}

void sum(Call& call) {
  fold_left(call, [](const Term& a, const Term& b) { return binary(a, "+", b); });
}
void maximum(Call& call) {
  fold_left(call, [](const Term& a, const Term& b) { return called("maximum", a, b); });
}
void minimum(Call& call) {
  fold_left(call, [](const Term& a, const Term& b) { return called("minimum", a, b); });
}
void mean(Call& call) {
  Term made = call.x(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) made = binary(made, "+", call.x(i));
  call.give(0, with_number(made, "/", static_cast<double>(call.inputs())));
}

void where(Call& call) {
  const Term condition = call.x(0);
  const bool known = call.at(1).text.empty();  // of two literals neither would have a precision
  const Term yes = known && call.at(2).text.empty() ? call.x(1) : call.beside(1, condition);
  const Term no = call.beside(2, condition);
  call.give(0, chosen(condition, yes, no));
}

void bit_shift(Call& call) {
  const bool left = call.text("direction", "LEFT") == "LEFT";
  const Term x = call.x(0), by = call.x(1);
  // There is no shift by a tensor; powers of two wrap as a shift does, and quotients of what has no sign drop the same.
  const Term power = called("pow", named("2", x.precision, {}), by);
  call.give(0, binary(x, left ? "*" : "/", power));
}

// ---- one side -------------------------------------------------------------------------------------

template <const char* op>
void same(Call& call) {
  call.give(0, called(op, call.x(0)));
}
constexpr char abs_[] = "abs", relu_[] = "relu", exp_[] = "exp", log_[] = "log", sqrt_[] = "sqrt", floor_[] = "floor",
               ceil_[] = "ceil", round_[] = "round", sign_[] = "sign", tanh_[] = "tanh", sigmoid_[] = "sigmoid",
               sin_[] = "sin", cos_[] = "cos", erf_[] = "erf";

void is_nan(Call& call) {
  Term made = called("isnan", call.x(0));
  made.precision = Precision::boolean;
  call.give(0, made);
}

void neg(Call& call) {
  const Term x = call.x(0);
  call.give(0, named("(-" + x.text + ")", x.precision, x.dims));
}

void logical_not(Call& call) {
  const Term x = call.x(0);
  call.give(0, named("(!" + x.text + ")", x.precision, x.dims));
}

void reciprocal(Call& call) { call.give(0, number_with(1, "/", call.x(0))); }

void elu(Call& call) {
  const Term x = call.x(0);
  call.give(0, called("elu", x, "alpha: " + literal(call.real("alpha", 1), Precision::f64)));
}

void leaky_relu(Call& call) {
  const Term x = call.x(0);
  call.give(0,
            chosen(with_number(x, "<", 0), with_number(x, "*", call.real("alpha", call.opset() < 6 ? 0.01 : 0.01)), x));
}

// The slope stretches to x; before opset 7 a list of slopes was one for each channel.
void prelu(Call& call) {
  const Term x = call.x(0);
  Term slope = call.x(1);
  const bool channels = call.opset() < 7 && slope.rank() == 1 && x.rank() > 2 && slope.dims[0] == x.dims[1];
  if (channels) {
    Dims dims(x.rank() - 1, Dim(1));
    dims[0] = slope.dims[0];
    slope = reshaped(slope, dims);
  }
  call.give(0, chosen(with_number(x, "<", 0), binary(x, "*", slope), x));
}

void selu(Call& call) {
  const double alpha = call.real("alpha", 1.67326319217681884765625),
               gamma = call.real("gamma", 1.05070102214813232421875);
  const Term x = call.x(0);
  call.give(0, number_with(gamma, "*", called("elu", x, "alpha: " + literal(alpha, Precision::f64))));
}

// max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
void celu(Call& call) {
  const double alpha = call.real("alpha", 1);
  const Term x = call.x(0);
  call.give(0, with_number(called("elu", with_number(x, "/", alpha)), "*", alpha));
}

std::string bounds(double lo, double hi) { return literal(lo, Precision::f64) + ", " + literal(hi, Precision::f64); }

void hard_sigmoid(Call& call) {
  const Term x = call.x(0);
  const Term line = with_number(number_with(call.real("alpha", 0.2), "*", x), "+", call.real("beta", 0.5));
  call.give(0, called("clamp", line, bounds(0, 1)));
}

void hard_swish(Call& call) {
  const Term x = call.x(0);
  call.give(0, binary(x, "*", called("clamp", with_number(with_number(x, "/", 6), "+", 0.5), bounds(0, 1))));
}

void swish(Call& call) {
  const Term x = call.x(0);
  const double alpha = call.real("alpha", 1);
  call.give(0, binary(x, "*", called("sigmoid", alpha == 1 ? x : number_with(alpha, "*", x))));
}

// log(1 + exp(x)), of which large x leave x, and small ones exp(x).
Term softplus_of(const Term& x) {
  const Term tail = called("exp", named("(-" + x.text + ".abs())", x.precision, x.dims));
  return binary(called("relu", x), "+", called("log", number_with(1, "+", tail)));
}

void softplus(Call& call) { call.give(0, softplus_of(call.x(0))); }

void mish(Call& call) {
  const Term x = call.x(0);
  call.give(0, binary(x, "*", called("tanh", softplus_of(x))));
}

void softsign(Call& call) {
  const Term x = call.x(0);
  call.give(0, binary(x, "/", number_with(1, "+", called("abs", x))));
}

void thresholded_relu(Call& call) {
  const Term x = call.x(0);
  call.give(0, chosen(with_number(x, ">", call.real("alpha", 1)), x, named("0.0", x.precision, {})));
}

void shrink(Call& call) {
  const Term x = call.x(0);
  const double bias = call.real("bias", 0), lambda = call.real("lambd", 0.5);
  const Term inner = chosen(with_number(x, ">", lambda), with_number(x, "-", bias), named("0.0", x.precision, {}));
  call.give(0, chosen(with_number(x, "<", -lambda), with_number(x, "+", bias), inner));
}

void gelu(Call& call) {
  const Term x = call.x(0);
  if (call.text("approximate", "none") == "none") {
    call.give(0, called("gelu", x));
    return;
  }
  const Term cube = binary(binary(x, "*", x), "*", x);
  const Term inner =
      number_with(std::sqrt(2 / 3.14159265358979323846), "*", binary(x, "+", number_with(0.044715, "*", cube)));
  call.give(0, binary(number_with(0.5, "*", x), "*", number_with(1, "+", called("tanh", inner))));
}

// Bounds were attributes, then inputs; either may be left out.
void clip(Call& call) {
  Term x = call.x(0);
  if (call.opset() < 11) {
    if (call.node.attribute("min"))
      x = called("maximum", x, named(literal(call.real("min", 0), x.precision), x.precision, {}));
    if (call.node.attribute("max"))
      x = called("minimum", x, named(literal(call.real("max", 0), x.precision), x.precision, {}));
    call.give(0, x);
    return;
  }
  if (call.has(1)) x = called("maximum", x, call.beside(1, x));
  if (call.has(2)) x = called("minimum", x, call.beside(2, x));
  call.give(0, x);
}

// ---- precisions -----------------------------------------------------------------------------------

void cast_to(Call& call, Precision to) {
  const Term x = call.x(0);
  const bool truncates = x.is_real() && !is_float(to) && to != Precision::boolean;
  call.give(0, truncates ? truncated(call, x, to) : cast(x, to));
}

void convert(Call& call) {
  std::optional<Precision> to = precision_of_type(call.integer("to", 0));
  if (const std::string name = call.text("to", ""); !name.empty()) to = precision_of_name(name);
  if (!to) call.fail("it converts to elements that are not read");
  cast_to(call, *to);
}

void convert_like(Call& call) { cast_to(call, call.at(1).precision); }

constexpr std::array elementwise_rows{
    Operator{"Abs", 1, any, same<abs_>},
    Operator{"Add", 1, any, add},
    Operator{"And", 1, any, logical_and},
    Operator{"BitShift", 11, any, bit_shift},
    Operator{"Cast", 1, any, convert},
    Operator{"CastLike", 15, any, convert_like},
    Operator{"Ceil", 1, any, same<ceil_>},
    Operator{"Celu", 12, any, celu},
    Operator{"Clip", 1, any, clip},
    Operator{"Cos", 7, any, same<cos_>},
    Operator{"Div", 1, any, div},
    Operator{"Elu", 1, any, elu},
    Operator{"Equal", 1, any, equal},
    Operator{"Erf", 9, any, same<erf_>},
    Operator{"Exp", 1, any, same<exp_>},
    Operator{"Floor", 1, any, same<floor_>},
    Operator{"Gelu", 1, any, gelu},
    Operator{"Greater", 1, any, greater},
    Operator{"GreaterOrEqual", 12, any, greater_or_equal},
    Operator{"HardSigmoid", 1, any, hard_sigmoid},
    Operator{"HardSwish", 14, any, hard_swish},
    Operator{"IsNaN", 9, any, is_nan},
    Operator{"LeakyRelu", 1, any, leaky_relu},
    Operator{"Less", 1, any, less},
    Operator{"LessOrEqual", 12, any, less_or_equal},
    Operator{"Log", 1, any, same<log_>},
    Operator{"Max", 1, any, maximum},
    Operator{"Mean", 1, any, mean},
    Operator{"Min", 1, any, minimum},
    Operator{"Mish", 1, any, mish},
    Operator{"Mod", 10, any, mod},
    Operator{"Mul", 1, any, mul},
    Operator{"Neg", 1, any, neg},
    Operator{"Not", 1, any, logical_not},
    Operator{"Or", 1, any, logical_or},
    Operator{"PRelu", 1, any, prelu},
    Operator{"Pow", 1, any, pow},
    Operator{"Reciprocal", 1, any, reciprocal},
    Operator{"Relu", 1, any, same<relu_>},
    Operator{"Round", 11, any, same<round_>},
    Operator{"Selu", 1, any, selu},
    Operator{"Shrink", 9, any, shrink},
    Operator{"Sigmoid", 1, any, same<sigmoid_>},
    Operator{"Sign", 9, any, same<sign_>},
    Operator{"Sin", 7, any, same<sin_>},
    Operator{"Softplus", 1, any, softplus},
    Operator{"Softsign", 1, any, softsign},
    Operator{"Sqrt", 1, any, same<sqrt_>},
    Operator{"Sub", 1, any, sub},
    Operator{"Sum", 1, any, sum},
    Operator{"Swish", 1, any, swish},
    Operator{"Tanh", 1, any, same<tanh_>},
    Operator{"ThresholdedRelu", 10, any, thresholded_relu},
    Operator{"Where", 9, any, where},
    Operator{"Xor", 1, any, logical_xor},
};

}  // namespace

std::span<const Operator> elementwise_operators() { return elementwise_rows; }

}  // namespace taskspec::onnx
