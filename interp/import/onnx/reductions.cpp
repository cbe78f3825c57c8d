// Reductions, and the places of extrema.
#include <fmt/format.h>

#include <array>

#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

struct Reduction {
  Numbers axes;
  bool keeps = true;
};

// Nothing to reduce only where the node says so; else no axes are all of them.
Reduction reduction_of(Call& call, const Term& x) {
  Reduction made;
  const std::optional<Numbers> axes = call.axes(1, x.rank());
  made.keeps = call.integer("keepdims", 1) != 0;
  if (axes && !axes->empty()) {
    made.axes = *axes;
  } else if (call.integer("noop_with_empty_axes", 0) == 0) {
    for (std::size_t i = 0; i < x.rank(); ++i) made.axes.push_back(static_cast<std::int64_t>(i));
  }
  return made;
}

template <const char* op>
void plain(Call& call) {
  const Term x = call.x(0);
  const Reduction r = reduction_of(call, x);
  call.give(0, reduced(op, x, r.axes, r.keeps));
}
constexpr char sum_[] = "sum", mean_[] = "mean", max_[] = "max", min_[] = "min", prod_[] = "prod";

// A sum of something that is made of each element.
template <class Before, class After>
void around_sum(Call& call, Before before, After after) {
  const Term x = call.x(0);
  const Reduction r = reduction_of(call, x);
  call.give(0, after(reduced("sum", before(x), r.axes, r.keeps)));
}

Term itself(const Term& x) { return x; }
Term square(const Term& x) { return binary(x, "*", x); }
Term magnitude(const Term& x) { return called("abs", x); }
Term root(const Term& x) {
  return x.is_real() ? called("sqrt", x) : cast(called("sqrt", cast(x, Precision::f64)), x.precision);
}
Term logarithm(const Term& x) { return called("log", x); }

void sum_square(Call& call) { around_sum(call, square, itself); }
void l1(Call& call) { around_sum(call, magnitude, itself); }
void l2(Call& call) { around_sum(call, square, root); }
void log_sum(Call& call) { around_sum(call, itself, logarithm); }

// The largest is taken out first, so that nothing overflows.
void log_sum_exp(Call& call) {
  const Term x = call.x(0);
  const Reduction r = reduction_of(call, x);
  const Term largest = call.let(reduced("max", x, r.axes));
  const Term sum = called("log", reduced("sum", called("exp", binary(x, "-", largest)), r.axes));
  const Term made = binary(sum, "+", largest);
  call.give(0, r.keeps ? made : dropped(made, r.axes));
}

void extremum(Call& call, std::string_view op) {
  Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", 0));
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) call.fail("its axis lies outside of the shape");
  const bool last = call.integer("select_last_index", 0) != 0, keeps = call.integer("keepdims", 1) != 0;
  if (!last) {
    call.give(0, reduced(op, x, {axis}, keeps));
    return;
  }
  const Dim end = x.dims[static_cast<std::size_t>(axis)] - Dim(1);
  Term made = reduced(op, reversed(x, axis), {axis}, keeps);
  made.text = fmt::format("({} - {})", end.is_constant() ? end.text() : "(" + end.text() + ")", made.text);
  call.give(0, made);
}

void argmax(Call& call) { extremum(call, "argmax"); }
void argmin(Call& call) { extremum(call, "argmin"); }

void top_k(Call& call) {
  Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", -1));
  const std::int64_t k = call.has(1) ? static_cast<std::int64_t>(call.number(1)) : call.integer("k", 1);
  const bool largest = call.integer("largest", 1) != 0;
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank()) || k < 0) call.fail("its axis lies outside of the shape");
  if (!largest && !x.is_real()) call.fail("it looks for the smallest of integers");
  if (!largest) x = named("(-" + x.text + ")", x.precision, x.dims);
  Term made = call.let(named(fmt::format("topk({}, {}, {})", x.text, k, axis), x.precision, x.dims));
  made.dims[static_cast<std::size_t>(axis)] = Dim(k);
  const Term values = named(made.text + ".values", x.precision, made.dims);
  if (call.gives(0)) call.give(0, largest ? values : named("(-" + values.text + ")", x.precision, made.dims));
  if (call.gives(1)) call.give(1, named(made.text + ".indices", Precision::i64, made.dims));
}

constexpr std::array reduction_rows{
    Operator{"ArgMax", 1, any, argmax},
    Operator{"ArgMin", 1, any, argmin},
    Operator{"ReduceL1", 1, any, l1},
    Operator{"ReduceL2", 1, any, l2},
    Operator{"ReduceLogSum", 1, any, log_sum},
    Operator{"ReduceLogSumExp", 1, any, log_sum_exp},
    Operator{"ReduceMax", 1, any, plain<max_>},
    Operator{"ReduceMean", 1, any, plain<mean_>},
    Operator{"ReduceMin", 1, any, plain<min_>},
    Operator{"ReduceProd", 1, any, plain<prod_>},
    Operator{"ReduceSum", 1, any, plain<sum_>},
    Operator{"ReduceSumSquare", 1, any, sum_square},
    Operator{"TopK", 1, any, top_k},
};

}  // namespace

std::span<const Operator> reduction_operators() { return reduction_rows; }

}  // namespace taskspec::onnx
