// A recorded value: what a graph computes with. Tensors, host numbers of a signature, and the outputs of a call.
//
//   Tensor a = Scale(2.0).apply(x);      a["y"]      a["y"] * 2.0      x[0]      x.at(range(1, 3), 1)
//
// Nothing is computed when these are written: the calls are recorded and checked as those of a text.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

#include "taskspec/error.hpp"
#include "taskspec/methods.hpp"

namespace taskspec::dsl {

// `range(a, b)`: from a up to but not including b.
struct Range {
  Operand low, high;
};
inline Range range(Operand low, Operand high) { return {std::move(low), std::move(high)}; }

// Where a graph runs: `host()`, on so many threads (0: one per core), by "push", "pull" or "eager".
struct Backend {
  std::string name = "host";
  int threads = 0;
  std::string schedule = {};
  std::int64_t steps = 0;             // 0: the call runs once
  std::vector<Operand> options = {};  // others that the backend takes, by name: arg("chip", "tiny")
  // The call runs so often, with states carried over: r["y"] is of the last step, r["steps"]["y"] of all of them. A
  // tensor with an extent more than the graph's input says, this one in front, gives one slice per step.
  Backend time_steps(std::int64_t count) const {
    Backend repeated = *this;
    repeated.steps = count;
    return repeated;
  }
};
inline Backend host(int threads = 0, std::string schedule = "") { return {"host", threads, std::move(schedule)}; }

// What may stand in `x[...]`: a position, a range, `all`, or the name of an output of a call.
struct All {};
inline constexpr All all;

struct Index {
  using At = detail::At;
  enum class Kind { position, range, all, name } kind;
  Index(const char* text, At at = At::current()) : Index(std::string(text), at) {}
  Index(std::string text, At at = At::current()) : kind(Kind::name), low(at), high(at), name(std::move(text)), at(at) {}
  template <std::integral T>
  Index(T position, At at = At::current()) : kind(Kind::position), low(position, at), high(at), at(at) {}
  Index(Tensor position, At at = At::current());
  Index(Range range, At at = At::current())
      : kind(Kind::range), low(std::move(range.low)), high(std::move(range.high)), at(at) {}
  Index(All, At at = At::current()) : kind(Kind::all), low(at), high(at), at(at) {}
  Operand low, high;
  std::string name;
  At at;
};

namespace detail {

NodePtr index(Operand base, std::vector<Index> indices);
NodePtr cast(Operand value, Type type, At at);
NodePtr receive(const char* what, Operand value);
NodePtr unary(const char* op, Operand value);
NodePtr binary(const char* op, Operand left, Operand right);

}  // namespace detail

class Tensor : public Methods<Tensor, Tensor> {
 public:
  using At = detail::At;
  Tensor() = default;  // no value: using it is an error
  explicit Tensor(detail::NodePtr node) : node_(std::move(node)) {}

  Tensor operator[](Index i) const& { return Tensor(detail::index(detail::unplaced(*this), {std::move(i)})); }
  Tensor operator[](Index i) && { return Tensor(detail::index(detail::unplaced(std::move(*this)), {std::move(i)})); }
  template <class... More>
  Tensor at(Index first, More&&... more) const {
    At place = first.at;
    return Tensor(
        detail::index(detail::unplaced(*this), {std::move(first), Index(std::forward<More>(more), place)...}));
  }
  // In another precision: rounded half to even, saturated.
  Tensor as(Type type, At at = At::current()) const& {
    return Tensor(detail::cast(detail::unplaced(*this), std::move(type), at));
  }
  Tensor as(Type type, At at = At::current()) && {
    return Tensor(detail::cast(detail::unplaced(std::move(*this)), std::move(type), at));
  }

  // In the body of a recorded fn: the contents as a value of the host, a number or nested lists. The host program waits
  // there until the graph has them.
  Tensor scalar(At at = At::current()) const& { return Tensor(detail::receive("scalar", Operand(*this, at))); }
  Tensor scalar(At at = At::current()) && { return Tensor(detail::receive("scalar", Operand(std::move(*this), at))); }
  Tensor array(At at = At::current()) const& { return Tensor(detail::receive("array", Operand(*this, at))); }
  Tensor array(At at = At::current()) && { return Tensor(detail::receive("array", Operand(std::move(*this), at))); }

  // Of values of the host program; these run what they need.
  template <class T>
  T scalar(At at = At::current()) const;  // of one element
  template <class T>
  std::vector<T> array(At at = At::current()) const;  // row by row
  // A call of a graph or fn, in a session of its own. Its outputs go by name, as those of a call.
  Tensor run(const Backend& backend = {}, At at = At::current()) const;
  // Known without a run.
  std::vector<std::int64_t> shape(At at = At::current()) const;
  std::string text(At at = At::current()) const;  // as the language prints it: "<pipeline#0.e : f32[1], 3 steps>"

  const detail::NodePtr& node() const& { return node_; }
  detail::NodePtr node() && { return std::move(node_); }

 private:
  detail::NodePtr node_;
};

inline Index::Index(Tensor position, At at) : kind(Kind::position), low(std::move(position), at), high(at), at(at) {}

// A place: a `var`, an `inout` parameter, a slot or an output. Reading it means its newest version; a Tensor made from
// it keeps the version of that moment.
class Var : public Methods<Var, Tensor> {
 public:
  using At = detail::At;
  explicit Var(detail::NodePtr node) : node_(std::move(node)) {}
  Var(const Var&) = default;  // another handle of the same place
  operator Tensor() const;

  Var& operator=(const Var& value) { return assign("=", Operand(value)); }
  Var& operator=(Operand value) { return assign("=", std::move(value)); }
  Var& operator+=(Operand value) { return assign("+=", std::move(value)); }
  Var& operator-=(Operand value) { return assign("-=", std::move(value)); }
  Var& operator*=(Operand value) { return assign("*=", std::move(value)); }
  Var& operator/=(Operand value) { return assign("/=", std::move(value)); }
  Tensor operator[](Index i) const { return Tensor(detail::index(detail::unplaced(*this), {std::move(i)})); }
  Tensor as(Type type, At at = At::current()) const {
    return Tensor(detail::cast(detail::unplaced(*this), std::move(type), at));
  }
  Tensor scalar(At at = At::current()) const { return Tensor(detail::receive("scalar", Operand(*this, at))); }
  Tensor array(At at = At::current()) const { return Tensor(detail::receive("array", Operand(*this, at))); }
  // Of the host program: what it holds now.
  template <class T>
  T scalar(At at = At::current()) const;
  template <class T>
  std::vector<T> array(At at = At::current()) const;
  const detail::NodePtr& node() const { return node_; }

 private:
  Var& assign(const char* op, Operand value);
  detail::NodePtr node_;
};

// ---- operators ----

inline Tensor operator-(Operand x) { return Tensor(detail::unary("-", std::move(x))); }
inline Tensor operator!(Operand x) { return Tensor(detail::unary("!", std::move(x))); }
inline Tensor operator+(Operand a, Operand b) { return Tensor(detail::binary("+", std::move(a), std::move(b))); }
inline Tensor operator-(Operand a, Operand b) { return Tensor(detail::binary("-", std::move(a), std::move(b))); }
inline Tensor operator*(Operand a, Operand b) { return Tensor(detail::binary("*", std::move(a), std::move(b))); }
inline Tensor operator/(Operand a, Operand b) { return Tensor(detail::binary("/", std::move(a), std::move(b))); }
inline Tensor operator%(Operand a, Operand b) { return Tensor(detail::binary("%", std::move(a), std::move(b))); }
inline Tensor operator&(Operand a, Operand b) { return Tensor(detail::binary("&", std::move(a), std::move(b))); }
inline Tensor operator|(Operand a, Operand b) { return Tensor(detail::binary("|", std::move(a), std::move(b))); }
inline Tensor operator<(Operand a, Operand b) { return Tensor(detail::binary("<", std::move(a), std::move(b))); }
inline Tensor operator>(Operand a, Operand b) { return Tensor(detail::binary(">", std::move(a), std::move(b))); }
inline Tensor operator<=(Operand a, Operand b) { return Tensor(detail::binary("<=", std::move(a), std::move(b))); }
inline Tensor operator>=(Operand a, Operand b) { return Tensor(detail::binary(">=", std::move(a), std::move(b))); }
inline Tensor operator==(Operand a, Operand b) { return Tensor(detail::binary("==", std::move(a), std::move(b))); }
inline Tensor operator!=(Operand a, Operand b) { return Tensor(detail::binary("!=", std::move(a), std::move(b))); }
// `a @ b` is matmul(a, b).

// A value in another precision, or nested lists as a tensor: as({{1.0, 2.0}, {3.0, 4.0}}, f32(2, 2)).
inline Tensor as(Operand value, Type type, detail::At at = detail::At::current()) {
  return Tensor(detail::cast(std::move(value), std::move(type), at));
}

}  // namespace taskspec::dsl
