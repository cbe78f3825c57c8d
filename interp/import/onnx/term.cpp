#include "interp/import/onnx/term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace taskspec::onnx {

namespace {

std::string list_text(const Numbers& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

// One axis stands by itself, several in brackets.
std::string axes_text(const Numbers& axes) {
  return axes.size() == 1 ? std::to_string(axes[0]) : "(" + list_text(axes) + ")";
}

}  // namespace

// ---- extents --------------------------------------------------------------------------------------

Dim product(const Dims& dims) {
  Dim all(1);
  for (const Dim& dim : dims) all = all * dim;
  return all;
}

std::optional<Dim> quotient(const Dim& a, const Dim& b) {
  if (a == b) return Dim(1);
  if (const auto by = b.constant()) {
    if (*by == 0) return std::nullopt;
    if (const auto all = a.constant()) return *all % *by == 0 ? std::optional<Dim>(*all / *by) : std::nullopt;
  }
  // Symbol by symbol: where it is 0 and 1 tells what is left of a product.
  Dim rest = a, divisor = b;
  for (const Symbol& symbol : b.symbols()) {
    auto with = [&](std::int64_t value) {
      return [&, value](const Symbol& s) { return s->id == symbol->id ? std::optional<Dim>(value) : std::nullopt; };
    };
    if (!(rest.substitute(with(0)) == Dim(0)) || !(divisor.substitute(with(0)) == Dim(0))) return std::nullopt;
    const Dim left = rest.substitute(with(1)), by = divisor.substitute(with(1));
    if (!(left * Dim(symbol) == rest) || !(by * Dim(symbol) == divisor)) return std::nullopt;
    rest = left;
    divisor = by;
  }
  const auto by = divisor.constant();
  if (!by || *by == 0) return std::nullopt;
  if (*by == 1) return rest;
  if (const auto all = rest.constant()) return *all % *by == 0 ? std::optional<Dim>(*all / *by) : std::nullopt;
  // 6*N by 2: one symbol after the other, as above.
  Dim bare = rest;
  std::vector<Symbol> taken;
  for (const Symbol& symbol : rest.symbols()) {
    const Dim left =
        bare.substitute([&](const Symbol& s) { return s->id == symbol->id ? std::optional<Dim>(1) : std::nullopt; });
    if (!(left * Dim(symbol) == bare)) return std::nullopt;
    bare = left;
    taken.push_back(symbol);
  }
  const auto factor = bare.constant();
  if (!factor || *factor % *by != 0) return std::nullopt;
  Dim made(*factor / *by);
  for (const Symbol& symbol : taken) made = made * Dim(symbol);
  return made;
}

std::string text_of(const Dims& dims) {
  std::string text;
  for (const Dim& dim : dims) text += (text.empty() ? "" : ", ") + dim.text();
  return text;
}

std::string type_text(Precision precision, const Dims& dims) {
  const std::string name(info(precision).name);
  return dims.empty() ? name : name + "[" + text_of(dims) + "]";
}

std::optional<Dims> together(const Dims& a, const Dims& b) {
  Dims made(std::max(a.size(), b.size()));
  for (std::size_t i = 1; i <= made.size(); ++i) {
    const Dim one = i <= a.size() ? a[a.size() - i] : Dim(1), other = i <= b.size() ? b[b.size() - i] : Dim(1);
    Dim& dim = made[made.size() - i];
    if (one == other || other == Dim(1))
      dim = one;
    else if (one == Dim(1))
      dim = other;
    else
      return std::nullopt;
  }
  return made;
}

Dims fitted(const Dims& a, const Dims& b) {
  std::optional<Dims> dims = together(a, b);
  if (!dims) throw Misfit{"shapes [" + text_of(a) + "] and [" + text_of(b) + "] do not fit"};
  return *std::move(dims);
}

std::optional<Numbers> numbers(const Dims& dims) {
  Numbers all;
  for (const Dim& dim : dims) {
    if (!dim.is_constant()) return std::nullopt;
    all.push_back(*dim.constant());
  }
  return all;
}

// ---- expressions ----------------------------------------------------------------------------------

std::string literal(double value, Precision precision) {
  if (precision == Precision::boolean) return value != 0 ? "true" : "false";
  if (!is_float(precision)) return fmt::format("{}", static_cast<std::int64_t>(value));
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "(-inf)";
  // A float of 32 bits in its own digits: reading them rounds to it again.
  std::string text = precision == Precision::f64 || static_cast<double>(static_cast<float>(value)) != value
                         ? fmt::format("{}", value)
                         : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text[0] == '-' ? "(" + text + ")" : text;
}

std::string bare(const std::string& text) {
  if (text.size() < 2 || text[0] != '(') return text;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size() ? text.substr(1, text.size() - 2) : text;
  }
  return text;
}

Term named(std::string text, Precision precision, Dims dims) {
  Term made;
  made.text = std::move(text);
  made.precision = precision;
  made.dims = std::move(dims);
  return made;
}

Term binary(const Term& a, std::string_view sign, const Term& b) {
  return named(fmt::format("({} {} {})", a.text, sign, b.text), a.precision, fitted(a.dims, b.dims));
}

Term compared(const Term& a, std::string_view sign, const Term& b) {
  return named(fmt::format("({} {} {})", a.text, sign, b.text), Precision::boolean, fitted(a.dims, b.dims));
}

Term with_number(const Term& a, std::string_view sign, double number) {
  const bool compares = sign == "<" || sign == ">" || sign == "<=" || sign == ">=" || sign == "==" || sign == "!=";
  return named(fmt::format("({} {} {})", a.text, sign, literal(number, a.precision)),
               compares ? Precision::boolean : a.precision, a.dims);
}

Term number_with(double number, std::string_view sign, const Term& a) {
  return named(fmt::format("({} {} {})", literal(number, a.precision), sign, a.text), a.precision, a.dims);
}

Term called(std::string_view op, const Term& x) { return called(op, x, ""); }

Term called(std::string_view op, const Term& x, const std::string& arguments) {
  return named(fmt::format("{}.{}({})", x.text, op, arguments), x.precision, x.dims);
}

Term called(std::string_view op, const Term& a, const Term& b) {
  return named(fmt::format("{}({}, {})", op, bare(a.text), bare(b.text)), a.precision, fitted(a.dims, b.dims));
}

Term chosen(const Term& condition, const Term& yes, const Term& no) {
  return named(fmt::format("where({}, {}, {})", bare(condition.text), bare(yes.text), bare(no.text)), yes.precision,
               fitted(condition.dims, fitted(yes.dims, no.dims)));
}

Term cast(const Term& x, Precision to) {
  if (x.precision == to) return x;
  return named(fmt::format("({} as {})", x.text, type_text(to, x.dims)), to, x.dims);
}

Term reduced(std::string_view op, const Term& x, Numbers axes, bool keeps) {
  if (axes.empty()) return x;
  std::ranges::sort(axes);
  Term made = named(fmt::format("{}.{}({})", x.text, op, axes_text(axes)), x.precision, x.dims);
  for (const std::int64_t axis : axes) made.dims[static_cast<std::size_t>(axis)] = Dim(1);
  if (op == "argmax" || op == "argmin") made.precision = Precision::i64;
  return keeps ? made : dropped(made, axes);
}

Term reshaped(const Term& x, Dims dims) {
  if (dims == x.dims) return x;
  std::string text = fmt::format("{}.reshape({})", x.text, text_of(dims));
  return named(std::move(text), x.precision, std::move(dims));
}

Term permuted(const Term& x, const Numbers& axes) {
  if (std::ranges::is_sorted(axes)) return x;
  Dims dims;
  for (const std::int64_t axis : axes) dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
  return named(fmt::format("{}.permute({})", x.text, list_text(axes)), x.precision, std::move(dims));
}

Term broadcast(const Term& x, const Dims& dims) {
  if (dims == x.dims) return x;
  return named(fmt::format("{}.broadcast({})", x.text, text_of(dims)), x.precision, dims);
}

Term padded(const Term& x, std::int64_t axis, const Dim& before, const Dim& after, const std::string& value) {
  if (before == Dim(0) && after == Dim(0)) return x;
  Term made = named(fmt::format("{}.pad({}, {}, {}{})", x.text, axis, before.text(), after.text(),
                                value.empty() ? "" : ", value: " + value),
                    x.precision, x.dims);
  Dim& dim = made.dims[static_cast<std::size_t>(axis)];
  dim = dim + before + after;
  return made;
}

Term sliced(const Term& x, std::int64_t axis, const Dim& from, const Dim& to) {
  const auto at = static_cast<std::size_t>(axis);
  if (from == Dim(0) && to == x.dims[at]) return x;
  const std::string begin = from == Dim(0) ? "" : from.is_constant() ? from.text() : "(" + from.text() + ")";
  const std::string end = to == x.dims[at] ? "" : to.is_constant() ? to.text() : "(" + to.text() + ")";
  std::string index;
  for (std::size_t i = 0; i < at; ++i) index += i == 0 ? ".." : ",..";  // the layout has no blank there
  if (at > 0) index += begin.empty() ? "," : ", ";
  Term made = named(fmt::format("{}[{}{}..{}]", x.text, index, begin, end), x.precision, x.dims);
  made.dims[at] = to - from;
  return made;
}

Term reversed(const Term& x, std::int64_t axis) { return called("reverse", x, std::to_string(axis)); }

Term gathered(const Term& x, const Term& index, std::int64_t axis) {
  const auto at = static_cast<std::ptrdiff_t>(axis);
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) throw Misfit{"an axis lies outside of the shape"};
  Dims dims(x.dims.begin(), x.dims.begin() + at);
  dims.insert(dims.end(), index.dims.begin(), index.dims.end());
  dims.insert(dims.end(), x.dims.begin() + at + 1, x.dims.end());
  return named(fmt::format("{}.gather({}, {})", x.text, bare(index.text), axis), x.precision, std::move(dims));
}

Term picked(const Term& x, const Numbers& index, std::int64_t axis) {
  const auto count = static_cast<std::int64_t>(index.size());
  return gathered(x, named(fmt::format("([{}] as i64[{}])", list_text(index), count), Precision::i64, {Dim(count)}),
                  axis);
}

Term tiled(const Term& x, std::int64_t axis, const Dim& times) {
  if (times == Dim(1)) return x;
  Term made = called("tile", x, fmt::format("{}, {}", axis, times.text()));
  Dim& dim = made.dims[static_cast<std::size_t>(axis)];
  dim = dim * times;
  return made;
}

Term joined(const std::vector<Term>& parts, std::int64_t axis) {
  if (parts.size() == 1) return parts[0];
  std::string text;
  Dim length(0);
  for (const Term& part : parts) {
    text += (text.empty() ? "" : ", ") + bare(part.text);
    length = length + part.dims[static_cast<std::size_t>(axis)];
  }
  Term made = named(fmt::format("concat([{}], {})", text, axis), parts[0].precision, parts[0].dims);
  made.dims[static_cast<std::size_t>(axis)] = length;
  return made;
}

Term dropped(const Term& x, Numbers axes) {
  if (axes.empty()) return x;
  std::ranges::sort(axes);
  Dims dims;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (!std::ranges::binary_search(axes, static_cast<std::int64_t>(i))) dims.push_back(x.dims[i]);
  if (axes.size() == 1) return named(fmt::format("{}.drop({})", x.text, axes[0]), x.precision, std::move(dims));
  return reshaped(x, std::move(dims));
}

Term lifted(const Term& x, Numbers axes) {
  std::ranges::sort(axes);
  Dims dims = x.dims;
  for (const std::int64_t axis : axes) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
  if (axes.size() == 1) return named(fmt::format("{}.lift({})", x.text, axes[0]), x.precision, std::move(dims));
  return reshaped(x, std::move(dims));
}

Term filled(Precision precision, const Dims& dims, const std::string& value) {
  return named(fmt::format("fill({}, {})", type_text(precision, dims), value), precision, dims);
}

Term product_of(const Term& a, const Term& b) {
  if (a.rank() == 0 || b.rank() == 0) throw Misfit{"a side of its product is no matrix"};
  Dims left(a.dims), right(b.dims);
  const bool row = left.size() == 1, column = right.size() == 1;
  if (row) left.insert(left.begin(), Dim(1));
  if (column) right.push_back(Dim(1));
  Dims dims = fitted(Dims(left.begin(), left.end() - 2), Dims(right.begin(), right.end() - 2));
  if (!row) dims.push_back(left[left.size() - 2]);
  if (!column) dims.push_back(right.back());
  const bool narrow = info(a.precision).bytes == 1;
  return named(fmt::format("({} @ {})", a.text, b.text), narrow ? Precision::i32 : a.precision, std::move(dims));
}

}  // namespace taskspec::onnx
