// Values of a model on their way into a program: each is an expression of the language, of which precision and shape
// are known. Functions here make expressions of expressions, and work out the shapes of what they make.
//
//   Term x{.text = "x", .precision = Precision::f32, .dims = {Dim(2), Dim(3)}};
//   Term y = reduced("sum", x, {1});     // x.sum(1) : f32[2, 1]
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/array.hpp"
#include "ir/types/dim.hpp"

namespace taskspec::onnx {

// What a file says of positions may be wrong, so [] looks: outside it throws std::out_of_range, which becomes the error
// of its node.
template <class T>
class Checked : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  Checked(std::vector<T> all) : std::vector<T>(std::move(all)) {}
  T& operator[](std::size_t i) { return this->at(i); }
  const T& operator[](std::size_t i) const { return this->at(i); }
};

using Dims = Checked<Dim>;
using Numbers = Checked<std::int64_t>;

// Shapes that do not go together; likewise.
struct Misfit {
  std::string why;
};

struct Term {
  std::string text;  // an expression that can be followed by `.f()`; empty: only its value is known
  Precision precision = Precision::f32;
  Dims dims;
  std::optional<Array> constant;  // its elements, where they are known
  std::optional<Dims> extents;    // likewise of few integers, which may be names of extents
  std::string origin;             // what the model calls it

  std::size_t rank() const { return dims.size(); }
  std::int64_t axis(std::int64_t axis) const { return axis < 0 ? axis + static_cast<std::int64_t>(rank()) : axis; }
  bool is_real() const { return is_float(precision); }
};

// ---- extents ----

Dim product(const Dims& dims);
// a / b where that is a polynomial again.
std::optional<Dim> quotient(const Dim& a, const Dim& b);
std::string text_of(const Dims& dims);                         // "2, N, 3"
std::string type_text(Precision precision, const Dims& dims);  // "f32[2, N]", "f32"
// The shape of what two shapes give together; nothing where they do not fit.
std::optional<Dims> together(const Dims& a, const Dims& b);
Dims fitted(const Dims& a, const Dims& b);         // the same, or Misfit
std::optional<Numbers> numbers(const Dims& dims);  // if all are

// ---- expressions ----

// A number beside a tensor takes its precision.
std::string literal(double value, Precision precision);
std::string bare(const std::string& text);  // "(a + b)" as "a + b", where brackets separate it from others
Term named(std::string text, Precision precision, Dims dims);

Term binary(const Term& a, std::string_view sign, const Term& b);    // a + b, of one precision
Term compared(const Term& a, std::string_view sign, const Term& b);  // a < b: bool
Term with_number(const Term& a, std::string_view sign, double number);
Term number_with(double number, std::string_view sign, const Term& a);
Term called(std::string_view op, const Term& x);  // x.op(), of the same type
Term called(std::string_view op, const Term& x, const std::string& arguments);
Term called(std::string_view op, const Term& a, const Term& b);       // op(a, b), of one precision
Term chosen(const Term& condition, const Term& yes, const Term& no);  // where(c, a, b)
Term cast(const Term& x, Precision to);                               // as the language converts
Term reduced(std::string_view op, const Term& x, Numbers axes, bool keeps = true);

Term reshaped(const Term& x, Dims dims);
Term permuted(const Term& x, const Numbers& axes);
Term broadcast(const Term& x, const Dims& dims);  // nothing happens where it has them
Term padded(const Term& x, std::int64_t axis, const Dim& before, const Dim& after, const std::string& value);
Term sliced(const Term& x, std::int64_t axis, const Dim& from, const Dim& to);
Term reversed(const Term& x, std::int64_t axis);
Term gathered(const Term& x, const Term& index, std::int64_t axis);
Term picked(const Term& x, const Numbers& index, std::int64_t axis);  // gathered by known numbers
Term tiled(const Term& x, std::int64_t axis, const Dim& times);
Term joined(const std::vector<Term>& parts, std::int64_t axis);
Term dropped(const Term& x, Numbers axes);
Term lifted(const Term& x, Numbers axes);  // axes of the result
Term filled(Precision precision, const Dims& dims, const std::string& value);
Term product_of(const Term& a, const Term& b);  // a @ b

}  // namespace taskspec::onnx
