// Products of matrices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "interp/import/onnx/arrays.hpp"
#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

void matmul(Call& call) {
  const Term a = call.x(0), b = call.x(1);
  if (a.rank() == 0 || b.rank() == 0) call.fail("a side is no matrix");
  call.give(0, product_of(a, b));
}

// Weights turned and multiplied at import: [O, I] for `linear`.
std::optional<Term> weights_of_rows(Call& call, double alpha, bool turned) {
  const Term& b = call.at(1);
  if (!b.constant || !b.text.empty() || b.rank() != 2) return std::nullopt;
  if (turned && alpha == 1) return call.x(1);
  Array made = turned ? transposed(*b.constant, {0, 1}) : transposed(*b.constant, {1, 0});
  if (alpha != 1)
    for (std::int64_t i = 0; i < made.elements(); ++i) made.set_number(i, made.number(i) * alpha);
  return call.all.slot(made, b.origin.empty() ? call.node.shown() + "_weight" : b.origin);
}

std::string scaled(const Term& x, double by) {
  return by == 1 ? x.text : fmt::format("({} * {})", x.text, literal(by, x.precision));
}

void gemm(Call& call) {
  Term a = call.x(0);
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  if (a.rank() != 2 || call.at(1).rank() != 2) call.fail("a side is no matrix");
  if (call.integer("transA", 0) != 0) a = permuted(a, {1, 0});
  const bool turned = call.integer("transB", 0) != 0;
  const bool real = a.is_real();
  const std::optional<Term> rows = real ? weights_of_rows(call, alpha, turned) : std::nullopt;
  std::optional<Term> c;
  if (call.has(2) && beta != 0) c = call.x(2);
  const bool plain = c && c->rank() == 1 && beta == 1;
  Term made;
  if (rows) {
    made = named(
        fmt::format("linear({}, {}{})", a.text, rows->text, plain && c->dims[0] == rows->dims[0] ? ", " + c->text : ""),
        a.precision, {a.dims[0], rows->dims[0]});
    if (plain && c->dims[0] == rows->dims[0]) {
      call.give(0, made);
      return;
    }
  } else {
    made = product_of(a, turned ? permuted(call.x(1), {1, 0}) : call.x(1));
    if (alpha != 1) made.text = scaled(made, alpha);
  }
  if (c) {
    Term added = *c;
    added.text = scaled(*c, beta);
    made = binary(made, "+", added);
  }
  call.give(0, made);
}

// ---- sums over products, by letters ---------------------------------------------------------------

struct Letters {
  std::vector<std::string> sides;
  std::string result;
};

Letters letters_of(Call& call) {
  std::string text = call.text("equation", "");
  std::erase(text, ' ');
  Letters made;
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  for (std::size_t i = 0; i <= left.size();) {
    const std::size_t comma = std::min(left.find(',', i), left.size());
    made.sides.push_back(left.substr(i, comma - i));
    i = comma + 1;
  }
  if (made.sides.size() != call.inputs()) call.fail("its equation has not one term for each input");
  // Three points stand for the axes that are left: capital letters of their own, counted from the last.
  std::string dots;
  for (std::size_t i = 0; i < made.sides.size(); ++i) {
    const std::size_t at = made.sides[i].find("...");
    if (at == std::string::npos) continue;
    const std::size_t rank = call.at(i).rank(), own = made.sides[i].size() - 3;
    if (rank < own || rank - own > 20) call.fail("its equation does not fit its inputs");
    std::string more;
    for (std::size_t k = rank - own; k > 0; --k) more += static_cast<char>('\x80' + k);
    if (more.size() > dots.size()) dots = more;
    made.sides[i].replace(at, 3, more);
  }
  if (arrow != std::string::npos) {
    made.result = text.substr(arrow + 2);
    if (const std::size_t at = made.result.find("..."); at != std::string::npos) made.result.replace(at, 3, dots);
    return made;
  }
  std::map<char, int> counts;
  for (const std::string& side : made.sides)
    for (const char c : side) ++counts[c];
  made.result = dots;
  for (const auto& [letter, count] : counts)
    if (count == 1 && dots.find(letter) == std::string::npos) made.result += letter;
  return made;
}

// The axes of x in the order of `all`, those it has not as 1; a letter that stands twice takes the diagonal.
Term in_order(Call& call, Term x, std::string own, const std::string& all) {
  if (own.size() != x.rank()) call.fail("its equation does not fit its inputs");
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t again = own.find(own[i], i + 1);
    if (again == std::string::npos) continue;
    Dims row(x.rank(), Dim(1)), column(x.rank(), Dim(1));
    row[i] = x.dims[i];
    column[again] = x.dims[again];
    const std::string counted = fmt::format("iota({})", x.dims[i].text());
    const Term line = named(counted, Precision::i64, {x.dims[i]});
    const Term same = compared(reshaped(line, row), "==", reshaped(line, column));
    x = reduced("sum", chosen(same, x, named(literal(0, x.precision), x.precision, {})),
                {static_cast<std::int64_t>(again)}, false);
    own.erase(again, 1);
    return in_order(call, x, own, all);
  }
  Numbers turn;
  Dims dims;
  for (const char letter : all) {
    const std::size_t at = own.find(letter);
    if (at != std::string::npos) turn.push_back(static_cast<std::int64_t>(at));
    dims.push_back(at == std::string::npos ? Dim(1) : x.dims[at]);
  }
  return reshaped(permuted(x, turn), dims);
}

// Two sides as one product of matrices: [both, left alone, summed] @ [both, summed, right alone].
Term two_sides(Call& call, const Term& a, const std::string& own_a, const Term& b, const std::string& own_b,
               const std::string& keeps, std::string& result) {
  std::string both, left, right, summed;
  for (const char c : own_a)
    (own_b.find(c) == std::string::npos ? left : keeps.find(c) == std::string::npos ? summed : both) += c;
  for (const char c : own_b)
    if (own_a.find(c) == std::string::npos) right += c;
  const Term first = in_order(call, a, own_a, both + left + summed),
             second = in_order(call, b, own_b, both + summed + right);
  auto extent = [&](const std::string& letters, const Term& of, std::size_t from) {
    Dim all(1);
    for (std::size_t i = 0; i < letters.size(); ++i) all = all * of.dims[from + i];
    return all;
  };
  const Dim n = extent(both, first, 0), l = extent(left, first, both.size()),
            s = extent(summed, first, both.size() + left.size()),
            r = extent(right, second, both.size() + summed.size());
  const Term made = product_of(reshaped(first, {n, l, s}), reshaped(second, {n, s, r}));
  Dims dims;
  for (std::size_t i = 0; i < both.size() + left.size(); ++i) dims.push_back(first.dims[i]);
  for (std::size_t i = 0; i < right.size(); ++i) dims.push_back(second.dims[both.size() + summed.size() + i]);
  result = both + left + right;
  return reshaped(made, dims);
}

// Axes of one side that nobody else has and nobody wants.
Term summed_out(Term x, std::string& own, const std::string& keeps) {
  Numbers axes;
  std::string rest;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (keeps.find(own[i]) == std::string::npos && own.find(own[i]) == i && own.rfind(own[i]) == i)
      axes.push_back(static_cast<std::int64_t>(i));
    else
      rest += own[i];
  }
  own = rest;
  return reduced("sum", x, axes, false);
}

void einsum(Call& call) {
  Letters letters = letters_of(call);
  auto wanted_after = [&](std::size_t i) {
    std::string all = letters.result;
    for (std::size_t k = i + 1; k < letters.sides.size(); ++k) all += letters.sides[k];
    return all;
  };
  std::string own = letters.sides[0];
  Term made = call.x(0);
  if (own.size() != made.rank()) call.fail("its equation does not fit its inputs");
  // A letter that stands twice: the diagonal, before anything is summed.
  auto without_twins = [&](const Term& x, std::string& of) {
    std::string once;
    for (const char c : of)
      if (once.find(c) == std::string::npos) once += c;
    const Term changed = in_order(call, x, of, once);
    of = once;
    return changed;
  };
  made = without_twins(made, own);
  made = summed_out(made, own, wanted_after(0));
  for (std::size_t i = 1; i < letters.sides.size(); ++i) {
    std::string other = letters.sides[i];
    Term next = call.x(i);
    if (other.size() != next.rank()) call.fail("its equation does not fit its inputs");
    next = without_twins(next, other);
    next = summed_out(next, other, own + wanted_after(i));
    std::string result;
    made = two_sides(call, made, own, next, other, wanted_after(i), result);
    own = result;
  }
  for (const char c : letters.result)
    if (own.find(c) == std::string::npos) call.fail("its equation makes an axis of nothing");
  call.give(0, in_order(call, made, own, letters.result));
}

constexpr std::array product_rows{
    Operator{"Einsum", 12, any, einsum},
    Operator{"Gemm", 1, any, gemm},
    Operator{"MatMul", 1, any, matmul},
};

}  // namespace

std::span<const Operator> product_operators() { return product_rows; }

}  // namespace taskspec::onnx
