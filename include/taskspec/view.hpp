// Views: what the body of a task sees of a region. A body is recorded, so a loop over one runs once, with a point that
// stands for all of them.
//
//   task("stencil").inout("own", Cell, {"flux"}).in("ghost", Cell, {"state"}).body([](View own, View ghost) {
//     for (Tensor i : own) own[i]["flux"] += 0.5 * (ghost[i - 1]["state"] + ghost[i + 1]["state"]);
//   });
//   for (auto [i, j] : g.points<2>()) g.at(i, j)["a"] += 1.0;       // of a view with two axes
//   (v["r"] * v["r"]).sum(0)                                        // all points of a field, as a tensor
#pragma once
#include <array>

#include "taskspec/tensor.hpp"

namespace taskspec::dsl {

// An index of a view, or a colour of a partition.
struct Position {
  using At = detail::At;
  template <std::integral T>
  Position(T value, At at = At::current()) : value(value, at) {}
  Position(const Tensor& value, At at = At::current()) : value(value, at) {}
  Position(Tensor&& value, At at = At::current()) : value(std::move(value), at) {}
  Position(const Var& value, At at = At::current()) : value(value, at) {}
  Operand value;
};

// The name of a field or output in brackets; `v[0]` is none.
struct FieldName {
  using At = detail::At;
  template <std::size_t length>
  FieldName(const char (&text)[length], At at = At::current()) : name(text, at) {}
  FieldName(std::string text, At at = At::current()) : name(std::move(text), at) {}
  Name name;
};

namespace detail {

NodePtr element(const NodePtr& base, std::vector<Position> positions);  // v[i]
Var field_of(const NodePtr& base, const Name& field);                   // v[i].f, r.f
template <class... More>
std::vector<Position> positions(Position first, More&&... more) {
  [[maybe_unused]] const At at = first.value.at();
  std::vector<Position> all;
  all.reserve(1 + sizeof...(More));
  all.push_back(std::move(first));
  (all.push_back(Position(std::forward<More>(more), at)), ...);
  return all;
}

// A loop over the points of a view or region: the statements until it is destroyed are its body.
class OpenLoop {
 public:
  OpenLoop(const NodePtr& over, std::size_t rank, At at);
  ~OpenLoop();
  OpenLoop(const OpenLoop&) = delete;
  void close();
  Tensor point(std::size_t axis) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct LoopEnd {};
template <std::size_t rank>
class LoopTurn {  // the one turn that is recorded
 public:
  LoopTurn(const NodePtr& over, At at) : loop_(std::make_unique<OpenLoop>(over, rank, at)) {}
  bool operator!=(LoopEnd) const { return !done_; }
  void operator++() { loop_->close(), done_ = true; }
  auto operator*() const {
    if constexpr (rank == 1) {
      return loop_->point(0);
    } else {
      std::array<Tensor, rank> point;
      for (std::size_t axis = 0; axis < rank; ++axis) point[axis] = loop_->point(axis);
      return point;
    }
  }

 private:
  std::unique_ptr<OpenLoop> loop_;
  bool done_ = false;
};

template <std::size_t rank>
struct Points {
  NodePtr over;
  At at;
  LoopTurn<rank> begin() const { return {over, at}; }
  LoopEnd end() const { return {}; }
};

}  // namespace detail

// One point of a view; its fields are places.
class Element {
 public:
  explicit Element(detail::NodePtr node) : node_(std::move(node)) {}
  Var operator[](FieldName field) const { return detail::field_of(node_, field.name); }

 private:
  detail::NodePtr node_;
};

class View {
 public:
  View(const Var& parameter) : node_(parameter.node()) {}
  Element operator[](Position i) const { return Element(detail::element(node_, detail::positions(std::move(i)))); }
  template <class... More>
  Element at(Position first, More&&... more) const {
    return Element(detail::element(node_, detail::positions(std::move(first), std::forward<More>(more)...)));
  }
  // The points of a field in their order, as a tensor; assigned to, all of them.
  Var operator[](FieldName field) const { return detail::field_of(node_, field.name); }

  detail::LoopTurn<1> begin(detail::At at = detail::At::current()) const { return {node_, at}; }
  detail::LoopEnd end() const { return {}; }
  template <std::size_t rank>
  detail::Points<rank> points(detail::At at = detail::At::current()) const {
    return {node_, at};
  }
  const detail::NodePtr& node() const { return node_; }

 private:
  detail::NodePtr node_;
};

// Element i of a view, or one whose fields are `otherwise` where the view has no such point: at(p, i - 1, 0.0)["p"],
// at(g, i, j + 1, 0.0)["a"].
Element at(const View& view, Operand i, Operand b, Operand c = {}, Operand d = {}, Operand e = {});

}  // namespace taskspec::dsl
