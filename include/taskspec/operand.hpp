// What stands in brackets: anything that can be an argument, with the line of C++ that says it.
//
//   x.sum(0)    conv2d(x, w, arg("pad", 1))    concat({a, b}, 0)
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "taskspec/type.hpp"

namespace taskspec::dsl {

class Tensor;
class Var;
class Task;
class Fn;
class Handle;

namespace detail {
struct Node;  // a recorded value
using NodePtr = std::shared_ptr<Node>;
using At = std::source_location;
}  // namespace detail

// A temporary that is handed over becomes part of the expression that takes it; a named value stays a value of its
// own. So an expression in C++ means what the same expression means in a text, in whatever order the C++ compiler
// evaluates its parts.
class Operand {
 public:
  using At = detail::At;
  Operand(At at = At::current()) : at_(at) {}  // not given
  template <std::same_as<bool> T>              // not of a pointer
  Operand(T value, At at = At::current()) : Operand(boolean_of(value), at) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Operand(T value, At at = At::current())
      : Operand(integer_of(static_cast<long long>(value)), at) {}
  template <std::floating_point T>
  Operand(T value, At at = At::current()) : Operand(real_of(static_cast<double>(value)), at) {}
  Operand(const char* text, At at = At::current()) : Operand(std::string(text), at) {}
  Operand(std::string text, At at = At::current());
  Operand(const Tensor& value, At at = At::current());
  Operand(Tensor&& value, At at = At::current());
  Operand(const Var& value, At at = At::current());
  Operand(const Task& value, At at = At::current());
  Operand(const Fn& value, At at = At::current());  // as a value: the loss of a training
  Operand(const Handle& value, At at = At::current());
  Operand(Handle&& value, At at = At::current());
  Operand(const Type& type, At at = At::current());
  Operand(const Precision& precision, At at = At::current()) : Operand(Type(precision), at) {}
  Operand(std::initializer_list<Operand> list, At at = At::current());
  template <class T>
  requires std::convertible_to<const T&, Operand> Operand(const std::vector<T>& list, At at = At::current())
      : Operand(list_of(std::vector<Operand>(list.begin(), list.end())), at) {}
  Operand(detail::NodePtr node, At at);

  bool given() const { return node_ != nullptr; }
  const At& at() const { return at_; }
  const std::string& name() const { return name_; }
  const detail::NodePtr& node() const { return node_; }
  detail::NodePtr take() const { return std::move(node_); }  // out of lists too, whose elements are const
  Operand&& named(std::string name) && { return name_ = std::move(name), std::move(*this); }

 private:
  static detail::NodePtr boolean_of(bool value);
  static detail::NodePtr integer_of(long long value);
  static detail::NodePtr real_of(double value);
  static detail::NodePtr list_of(std::vector<Operand> list);
  mutable detail::NodePtr node_;
  At at_;
  std::string name_;
};

// `name: value`, at any place among the arguments.
inline Operand arg(std::string name, Operand value) { return std::move(value).named(std::move(name)); }

// The name of a parameter, output or slot, with the line that says it.
struct Name {
  Name(const char* text, detail::At at = detail::At::current()) : text(text), at(at) {}
  Name(std::string text, detail::At at = detail::At::current()) : text(std::move(text)), at(at) {}
  std::string text;
  detail::At at;
};

namespace detail {

// A call of an op by its name; arguments that are not given are left out.
NodePtr call_op(std::string_view op, std::initializer_list<Operand> operands);
NodePtr call_op(std::string_view op, std::vector<Operand> operands);
Operand tuple(Operand value);                        // of a list: {0, 1} as several axes
Operand with_name(Operand value, const char* name);  // the name it goes by when one before it is left out
inline Operand at(Operand value, At at) { return Operand(value.take(), at); }
// One more argument, at the place of the first.
template <class T>
Operand further(T&& value, At at) {
  if constexpr (std::same_as<std::remove_cvref_t<T>, Operand>)
    return std::forward<T>(value);
  else
    return Operand(std::forward<T>(value), at);
}
Operand unplaced(const Tensor& value);
Operand unplaced(Tensor&& value);
Operand unplaced(const Var& value);

}  // namespace detail
}  // namespace taskspec::dsl
