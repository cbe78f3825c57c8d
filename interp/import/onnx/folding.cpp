// What is known at import: shapes, and the small integers and numbers that are worked out from them. Exporters write
// x.view(x.size(0), -1) as ten operators; here they are one list of extents, and leave no line.
#include <algorithm>
#include <cmath>
#include <map>

#include "interp/import/onnx/conversion.hpp"
#include "interp/import/onnx/precisions.hpp"

namespace taskspec::onnx {

namespace {

constexpr std::int64_t most_elements = 4096;  // what is larger is data

// A small tensor of extents or of numbers.
struct Known {
  Precision precision = Precision::i64;
  Numbers shape;
  Dims extents;               // of integers and bools
  std::vector<double> reals;  // of floats
  bool is_real() const { return is_float(precision); }
  std::size_t size() const { return is_real() ? reals.size() : extents.size(); }
};

std::int64_t count_of(const Numbers& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent != 0 && count > most_elements / extent) return most_elements + 1;
    count *= extent;
  }
  return count;
}

std::optional<Known> known_of(const Term& term) {
  const std::optional<Numbers> shape = numbers(term.dims);
  if (!shape || count_of(*shape) > most_elements) return std::nullopt;
  Known known{term.precision, *shape, {}, {}};
  if (term.extents) {
    known.extents = *term.extents;
    return known;
  }
  if (!term.constant) return std::nullopt;
  for (std::int64_t i = 0; i < term.constant->elements(); ++i) {
    if (term.is_real())
      known.reals.push_back(term.constant->number(i));
    else
      known.extents.emplace_back(term.constant->integer(i));
  }
  return known;
}

Term term_of(const Known& known) {
  Term term;
  term.precision = known.precision;
  for (const std::int64_t extent : known.shape) term.dims.emplace_back(extent);
  if (!known.is_real() && known.precision != Precision::boolean) {
    term.extents = known.extents;
    if (!numbers(known.extents)) return term;
  }
  Array array = Array::make({known.precision, known.shape});
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (known.is_real())
      array.set_number(at, known.reals[i]);
    else
      array.set_integer(at, *known.extents[i].constant());
  }
  term.constant = std::move(array);
  return term;
}

// The elements at these places, in a new shape.
Known taken(const Known& from, const std::vector<std::size_t>& places, Numbers shape) {
  Known made{from.precision, std::move(shape), {}, {}};
  for (const std::size_t place : places) {
    if (from.is_real())
      made.reals.push_back(from.reals[place]);
    else
      made.extents.push_back(from.extents[place]);
  }
  return made;
}

Known scalar_extent(const Dim& dim) { return {Precision::i64, {}, {dim}, {}}; }

// ---- element by element ---------------------------------------------------------------------------

std::optional<Dim> integer_result(const std::string& op, const Dim& a, const Dim& b) {
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Equal" && a == b) return Dim(1);
  if (op == "Div") {
    const auto whole = quotient(a, b);
    if (whole) return whole;
  }
  if (!a.is_constant() || !b.is_constant()) return std::nullopt;
  const std::int64_t x = *a.constant(), y = *b.constant();
  if (op == "Div" && y != 0) return Dim(x / y);
  if (op == "Mod" && y != 0) return Dim((x % y + y) % y);
  if (op == "Min") return Dim(std::min(x, y));
  if (op == "Max") return Dim(std::max(x, y));
  if (op == "Equal") return Dim(x == y);
  if (op == "Greater") return Dim(x > y);
  if (op == "Less") return Dim(x < y);
  if (op == "GreaterOrEqual") return Dim(x >= y);
  if (op == "LessOrEqual") return Dim(x <= y);
  if (op == "And") return Dim(x && y);
  if (op == "Or") return Dim(x || y);
  return std::nullopt;
}

std::optional<double> real_result(const std::string& op, double a, double b) {
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Pow") return std::pow(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  return std::nullopt;
}

bool compares(const std::string& op) {
  return op == "Equal" || op == "Greater" || op == "Less" || op == "GreaterOrEqual" || op == "LessOrEqual";
}

// Places of both sides for each element of the result; shapes are aligned from the right.
std::vector<std::size_t> stretched_places(const Numbers& from, const Numbers& to) {
  std::vector<std::size_t> places(static_cast<std::size_t>(count_of(to)));
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::size_t rest = i, place = 0, step = 1;
    for (std::size_t k = 1; k <= to.size(); ++k) {
      const auto extent = static_cast<std::size_t>(to[to.size() - k]);
      const std::size_t at = rest % extent;
      rest /= extent;
      if (k > from.size()) continue;
      const auto own = static_cast<std::size_t>(from[from.size() - k]);
      place += (own == 1 ? 0 : at) * step;
      step *= own;
    }
    places[i] = place;
  }
  return places;
}

std::optional<Numbers> common_shape(const Numbers& a, const Numbers& b) {
  const std::optional<Dims> dims = together({a.begin(), a.end()}, {b.begin(), b.end()});
  if (!dims) return std::nullopt;
  std::optional<Numbers> shape = numbers(*dims);
  if (count_of(*shape) > most_elements) return std::nullopt;
  return shape;
}

std::optional<Known> binary_result(const std::string& op, const Known& a, const Known& b) {
  const std::optional<Numbers> shape = common_shape(a.shape, b.shape);
  if (!shape || a.is_real() != b.is_real()) return std::nullopt;
  const Known left = taken(a, stretched_places(a.shape, *shape), *shape);
  const Known right = taken(b, stretched_places(b.shape, *shape), *shape);
  Known made{compares(op) ? Precision::boolean : a.precision, *shape, {}, {}};
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (a.is_real()) {
      const auto value = real_result(op, left.reals[i], right.reals[i]);
      if (!value) return std::nullopt;
      made.reals.push_back(*value);
    } else {
      const auto value = integer_result(op, left.extents[i], right.extents[i]);
      if (!value) return std::nullopt;
      made.extents.push_back(*value);
    }
  }
  return made;
}

std::optional<Known> fold_binary(Call& call) {
  std::optional<Known> made = known_of(call.at(0));
  for (std::size_t i = 1; made && i < call.inputs(); ++i) {
    const std::optional<Known> next = known_of(call.at(i));
    if (!next) return std::nullopt;
    made = binary_result(call.node.op, *made, *next);
  }
  return made;
}

std::optional<Known> fold_where(Call& call) {
  const auto condition = known_of(call.at(0)), yes = known_of(call.at(1)), no = known_of(call.at(2));
  if (!condition || !yes || !no || !numbers(condition->extents)) return std::nullopt;
  std::optional<Numbers> shape = common_shape(condition->shape, yes->shape);
  if (shape) shape = common_shape(*shape, no->shape);
  if (!shape) return std::nullopt;
  const Known which = taken(*condition, stretched_places(condition->shape, *shape), *shape);
  const Known a = taken(*yes, stretched_places(yes->shape, *shape), *shape);
  const Known b = taken(*no, stretched_places(no->shape, *shape), *shape);
  Known made{yes->precision, *shape, {}, {}};
  for (std::size_t i = 0; i < which.size(); ++i) {
    const Known& from = which.extents[i] == Dim(1) ? a : b;
    if (made.is_real())
      made.reals.push_back(from.reals[i]);
    else
      made.extents.push_back(from.extents[i]);
  }
  return made;
}

std::optional<Known> fold_unary(Call& call) {
  std::optional<Known> x = known_of(call.at(0));
  if (!x) return std::nullopt;
  const std::string& op = call.node.op;
  for (double& value : x->reals)
    value = op == "Neg"     ? -value
            : op == "Floor" ? std::floor(value)
            : op == "Sqrt"  ? std::sqrt(value)
                            : std::ceil(value);
  if (!x->is_real() && op != "Neg") return std::nullopt;
  for (Dim& value : x->extents) value = Dim(0) - value;
  return x;
}

std::optional<Known> fold_not(Call& call) {
  std::optional<Known> x = known_of(call.at(0));
  if (!x || !numbers(x->extents)) return std::nullopt;
  for (Dim& value : x->extents) value = Dim(value == Dim(0) ? 1 : 0);
  return x;
}

std::optional<Known> fold_cast(Call& call) {
  const std::optional<Known> x = known_of(call.at(0));
  const std::optional<Precision> to = precision_of_type(call.integer("to", 0));
  if (!x || !to || *to == Precision::f16) return std::nullopt;
  Known made{*to, x->shape, {}, {}};
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (!x->is_real() && !made.is_real()) {
      if (*to == Precision::boolean && !x->extents[i].is_constant()) return std::nullopt;
      made.extents.push_back(*to == Precision::boolean ? Dim(!(x->extents[i] == Dim(0))) : x->extents[i]);
      continue;
    }
    if (!x->is_real() && !x->extents[i].is_constant()) return std::nullopt;
    const double value = x->is_real() ? x->reals[i] : static_cast<double>(*x->extents[i].constant());
    if (made.is_real()) {
      made.reals.push_back(*to == Precision::f32 ? static_cast<double>(static_cast<float>(value)) : value);
    } else {
      if (!(std::fabs(value) < 9e15)) return std::nullopt;
      made.extents.emplace_back(*to == Precision::boolean ? value != 0 : static_cast<std::int64_t>(std::trunc(value)));
    }
  }
  return made;
}

// ---- movement -------------------------------------------------------------------------------------

std::vector<std::size_t> all_places(std::size_t count) {
  std::vector<std::size_t> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = i;
  return places;
}

std::optional<Known> fold_reshape(Call& call) {
  const std::optional<Known> x = known_of(call.at(0));
  if (!x || !call.has(1)) return std::nullopt;
  std::optional<Numbers> shape = call.if_known(1);
  if (!shape) return std::nullopt;
  std::int64_t rest = static_cast<std::int64_t>(x->size());
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if ((*shape)[i] == 0 && call.integer("allowzero", 0) == 0) (*shape)[i] = i < x->shape.size() ? x->shape[i] : 0;
    if ((*shape)[i] > 0) rest /= (*shape)[i];
  }
  for (std::int64_t& extent : *shape)
    if (extent == -1) extent = rest;
  if (count_of(*shape) != static_cast<std::int64_t>(x->size())) return std::nullopt;
  return taken(*x, all_places(x->size()), *shape);
}

std::optional<Known> fold_squeeze(Call& call) {
  const std::optional<Known> x = known_of(call.at(0));
  if (!x) return std::nullopt;
  const std::optional<Numbers> axes = call.axes(1, x->shape.size());
  Numbers shape;
  for (std::size_t i = 0; i < x->shape.size(); ++i) {
    const bool goes = axes ? std::ranges::binary_search(*axes, static_cast<std::int64_t>(i)) : x->shape[i] == 1;
    if (!goes) shape.push_back(x->shape[i]);
  }
  if (count_of(shape) != static_cast<std::int64_t>(x->size())) return std::nullopt;
  return taken(*x, all_places(x->size()), shape);
}

std::optional<Known> fold_unsqueeze(Call& call) {
  const std::optional<Known> x = known_of(call.at(0));
  if (!x) return std::nullopt;
  const std::size_t count = call.integers("axes") ? call.integers("axes")->size() : call.numbers(1).size();
  const std::optional<Numbers> axes = call.axes(1, x->shape.size() + count);
  Numbers shape = x->shape;
  for (const std::int64_t axis : *axes) shape.insert(shape.begin() + axis, 1);
  return taken(*x, all_places(x->size()), shape);
}

std::optional<Known> fold_concat(Call& call) {
  Known made;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const std::optional<Known> part = known_of(call.at(i));
    if (!part || part->shape.size() != 1) return std::nullopt;
    if (i == 0) made = {part->precision, {0}, {}, {}};
    made.shape[0] += part->shape[0];
    made.extents.insert(made.extents.end(), part->extents.begin(), part->extents.end());
    made.reals.insert(made.reals.end(), part->reals.begin(), part->reals.end());
  }
  return made;
}

std::optional<Known> fold_gather(Call& call) {
  const std::optional<Known> x = known_of(call.at(0)), index = known_of(call.at(1));
  if (!x || !index || x->shape.size() != 1 || index->is_real() || !numbers(index->extents)) return std::nullopt;
  std::vector<std::size_t> places;
  for (const Dim& at : index->extents) {
    const std::int64_t place = *at.constant() < 0 ? *at.constant() + x->shape[0] : *at.constant();
    if (place < 0 || place >= x->shape[0]) call.fail("an index lies outside of the shape");
    places.push_back(static_cast<std::size_t>(place));
  }
  return taken(*x, places, index->shape);
}

std::optional<Known> fold_slice(Call& call) {
  const std::optional<Known> x = known_of(call.at(0));
  if (!x || x->shape.size() != 1) return std::nullopt;
  const bool old = call.integers("starts").has_value();
  const Numbers starts = old ? *call.integers("starts") : call.numbers(1),
                ends = old ? call.integers("ends", {}) : call.numbers(2);
  const std::int64_t step = !old && call.has(4) ? call.numbers(4).at(0) : 1;
  if (starts.size() != 1 || ends.size() != 1 || step == 0) return std::nullopt;
  const std::int64_t length = x->shape[0];
  auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + length : at, low, high);
  };
  const std::int64_t from = step > 0 ? place(starts[0], 0, length) : place(starts[0], 0, length - 1);
  const std::int64_t to = step > 0            ? place(ends[0], 0, length)
                          : ends[0] < -length ? -1
                                              : place(ends[0], -1, length - 1);
  std::vector<std::size_t> places;
  for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step) places.push_back(static_cast<std::size_t>(i));
  return taken(*x, places, {static_cast<std::int64_t>(places.size())});
}

std::optional<Known> fold_range(Call& call) {
  const std::optional<Known> from = known_of(call.at(0)), to = known_of(call.at(1)), by = known_of(call.at(2));
  if (!from || !to || !by) return std::nullopt;
  auto number = [](const Known& known) -> std::optional<double> {
    if (known.size() != 1) return std::nullopt;
    if (known.is_real()) return known.reals[0];
    if (const auto value = known.extents[0].constant()) return static_cast<double>(*value);
    return std::nullopt;
  };
  const auto begin = number(*from), end = number(*to), step = number(*by);
  if (!begin || !end || !step || *step == 0) return std::nullopt;
  const double count = std::max(0.0, std::ceil((*end - *begin) / *step));
  if (!(count <= static_cast<double>(most_elements))) return std::nullopt;
  Known made{from->precision, {static_cast<std::int64_t>(count)}, {}, {}};
  for (std::int64_t i = 0; i < made.shape[0]; ++i) {
    const double value = *begin + static_cast<double>(i) * *step;
    if (made.is_real())
      made.reals.push_back(value);
    else
      made.extents.emplace_back(static_cast<std::int64_t>(value));
  }
  return made;
}

std::optional<Known> fold_filling(Call& call) {
  const std::optional<Numbers> shape = call.if_known(0);
  if (!shape || count_of(*shape) > 64 || std::ranges::any_of(*shape, [](std::int64_t extent) { return extent < 0; }))
    return std::nullopt;
  const Attribute* value = call.node.attribute("value");
  Known made{Precision::f32, *shape, {}, {}};
  if (value && value->tensor && value->tensor->array) made.precision = value->tensor->array->precision();
  const bool given = value && value->tensor && value->tensor->array && value->tensor->array->elements() > 0;
  const auto count = static_cast<std::size_t>(count_of(*shape));
  if (made.is_real())
    made.reals.assign(count, given ? value->tensor->array->number(0) : 0.0);
  else
    made.extents.assign(count, Dim(given ? value->tensor->array->integer(0) : 0));
  return made;
}

std::optional<Known> fold_expand(Call& call) {
  const std::optional<Known> x = known_of(call.at(0));
  const std::optional<Numbers> wanted = call.if_known(1);
  if (!x || !wanted) return std::nullopt;
  const std::optional<Numbers> shape = common_shape(x->shape, *wanted);
  if (!shape) return std::nullopt;
  return taken(*x, stretched_places(x->shape, *shape), *shape);
}

std::optional<Known> fold_product(Call& call) {
  const std::optional<Known> x = known_of(call.at(0));
  if (!x || x->is_real() || x->shape.size() != 1) return std::nullopt;
  const bool keeps = call.integer("keepdims", 1) != 0;
  Known made{
      x->precision, keeps ? Numbers{1} : Numbers{}, {call.node.op == "ReduceProd" ? product(x->extents) : Dim(0)}, {}};
  if (call.node.op == "ReduceSum")
    for (const Dim& dim : x->extents) made.extents[0] = made.extents[0] + dim;
  return made;
}

// ---- shapes ---------------------------------------------------------------------------------------

std::optional<Known> fold_shape(Call& call) {
  const Dims& dims = call.at(0).dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t from = place(call.integer("start", 0)), to = std::max(from, place(call.integer("end", rank)));
  return Known{Precision::i64, {to - from}, {dims.begin() + from, dims.begin() + to}, {}};
}

std::optional<Known> fold_size(Call& call) { return scalar_extent(product(call.at(0).dims)); }

using Fold = std::optional<Known> (*)(Call&);

const std::map<std::string_view, Fold>& folds() {
  static const std::map<std::string_view, Fold> all = {{"Shape", fold_shape},
                                                       {"Size", fold_size},
                                                       {"Add", fold_binary},
                                                       {"Sub", fold_binary},
                                                       {"Mul", fold_binary},
                                                       {"Div", fold_binary},
                                                       {"Mod", fold_binary},
                                                       {"Min", fold_binary},
                                                       {"Max", fold_binary},
                                                       {"Equal", fold_binary},
                                                       {"Greater", fold_binary},
                                                       {"Less", fold_binary},
                                                       {"GreaterOrEqual", fold_binary},
                                                       {"LessOrEqual", fold_binary},
                                                       {"And", fold_binary},
                                                       {"Or", fold_binary},
                                                       {"Where", fold_where},
                                                       {"Neg", fold_unary},
                                                       {"Floor", fold_unary},
                                                       {"Ceil", fold_unary},
                                                       {"Sqrt", fold_unary},
                                                       {"Not", fold_not},
                                                       {"Cast", fold_cast},
                                                       {"Reshape", fold_reshape},
                                                       {"Squeeze", fold_squeeze},
                                                       {"Unsqueeze", fold_unsqueeze},
                                                       {"Concat", fold_concat},
                                                       {"Gather", fold_gather},
                                                       {"Slice", fold_slice},
                                                       {"Range", fold_range},
                                                       {"ConstantOfShape", fold_filling},
                                                       {"Expand", fold_expand},
                                                       {"ReduceProd", fold_product},
                                                       {"ReduceSum", fold_product},
                                                       {"Pow", fold_binary}};
  return all;
}

}  // namespace

bool fold(Call& call) {
  const auto found = folds().find(call.node.op);
  if (found == folds().end()) return false;
  const std::optional<Known> known = found->second(call);
  if (!known) return false;
  call.give(0, term_of(*known));
  return true;
}

}  // namespace taskspec::onnx
