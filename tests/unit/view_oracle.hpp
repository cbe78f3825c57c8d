// Runs the steps of a body over views (ir/view_code) one point after the other, as they stand there: what strips and
// scalar code are compared with. It knows a handful of ops by name, and nothing of kernels.
#pragma once
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "interp/host/view/view_body.hpp"

namespace taskspec {

class ViewOracle {
 public:
  struct Number {  // of any precision
    double real = 0;
    std::int64_t integer = 0;
  };

  ViewOracle(const ViewCode& code, const ViewRun& run) : code_(code), run_(run), values_(code.values.size()) {
    for (std::uint32_t k = 0; k < code.inputs; ++k) values_[k] = get(run.inputs[k], code.values[k].precision);
    for (const auto& [value, array] : code.constants) values_[value.index()] = get(array.raw(), code[value].precision);
  }

  bool run() {  // false: it failed
    try {
      block(code_.body);
    } catch (const std::out_of_range&) {
      return false;
    }
    for (std::size_t k = 0; k < code_.outputs.size(); ++k)
      put(run_.outputs[k], code_[code_.outputs[k].value].precision, values_[code_.outputs[k].value.index()]);
    return true;
  }

 private:
  using Kind = ViewStep::Kind;
  struct Left {
    std::uint32_t levels;
    bool next;
  };

  static Number get(const std::byte* from, Precision precision) {
    Number n;
    if (precision == Precision::f64) std::memcpy(&n.real, from, 8);
    if (precision == Precision::i64) std::memcpy(&n.integer, from, 8);
    if (precision == Precision::boolean) n.integer = *from != std::byte{};
    if (precision == Precision::i32) {
      std::int32_t i = 0;
      std::memcpy(&i, from, 4);
      n.integer = i;
    }
    return n;
  }
  static void put(std::byte* to, Precision precision, const Number& n) {
    if (precision == Precision::f64) std::memcpy(to, &n.real, 8);
    if (precision == Precision::i64) std::memcpy(to, &n.integer, 8);
    if (precision == Precision::boolean) *to = std::byte(n.integer != 0);
    if (precision == Precision::i32) {
      const auto i = static_cast<std::int32_t>(n.integer);
      std::memcpy(to, &i, 4);
    }
  }

  Number compute(const std::string& op, Precision of, const Number& a, const Number& b) const {
    const bool real = of == Precision::f64;
    auto wrap = [&](std::uint64_t i) {
      const auto value =
          of == Precision::i32 ? static_cast<std::int64_t>(static_cast<std::int32_t>(i)) : static_cast<std::int64_t>(i);
      return Number{0, value};
    };
    const auto x = static_cast<std::uint64_t>(a.integer), y = static_cast<std::uint64_t>(b.integer);
    if (op == "add") return real ? Number{a.real + b.real, 0} : wrap(x + y);
    if (op == "sub") return real ? Number{a.real - b.real, 0} : wrap(x - y);
    if (op == "mul") return real ? Number{a.real * b.real, 0} : wrap(x * y);
    if (op == "div" && real) return {a.real / b.real, 0};
    if (op == "neg") return real ? Number{-a.real, 0} : wrap(-x);
    if (real && op.ends_with("imum") && (a.real != a.real || b.real != b.real)) return a.real != a.real ? a : b;
    if (op == "maximum")
      return real ? Number{a.real > b.real ? a.real : b.real, 0} : Number{0, std::max(a.integer, b.integer)};
    if (op == "minimum")
      return real ? Number{a.real < b.real ? a.real : b.real, 0} : Number{0, std::min(a.integer, b.integer)};
    if (op == "lt") return {0, real ? a.real < b.real : a.integer < b.integer};
    throw std::logic_error("the oracle has no " + op);
  }

  std::byte* place(const ViewStep& s, std::size_t rank, bool or_else) {
    const ViewMemory& view = run_.views[s.view];
    Point point{{}, view.root->rank};
    for (std::size_t axis = 0; axis < rank; ++axis) point.at[axis] = values_[s.in[axis].index()].integer;
    const bool there = view.root->contains(point) && view.points->contains(*view.root, point);
    if (!there && or_else) return nullptr;
    if (!there) throw std::out_of_range("no such point");
    const std::int64_t at = view.memory.box ? view.memory.place(*view.root, point) : view.root->linear(point);
    return view.fields[s.field].base + at * info(precision(s)).bytes;
  }
  Precision precision(const ViewStep& s) const { return code_.views[s.view].fields[s.field].precision; }

  void block(const ViewBlock& block) {
    for (const ViewStep& s : block) step(s);
  }

  template <class F>
  void turn(F&& body, bool& going) {  // of a loop
    try {
      body();
    } catch (const Left& left) {
      if (left.levels > 0) throw Left{left.levels - 1, left.next};
      going = left.next;
    }
  }

  void step(const ViewStep& s) {
    auto in = [&](std::size_t k) -> Number& { return values_[s.in[k].index()]; };
    auto out = [&](std::size_t k = 0) -> Number& { return values_[s.outs[k].index()]; };
    const std::size_t rank = run_.views.empty() ? 0 : code_.views[s.view].rank;
    bool going = true;
    switch (s.kind) {
      case Kind::number:
      case Kind::op:
        out() = compute(std::string(s.op->name), code_[s.in[0]].precision, in(0), s.in.size() > 1 ? in(1) : Number());
        return;
      case Kind::convert: {
        const bool from = code_[s.in[0]].precision == Precision::f64, to = code_[s.out()].precision == Precision::f64;
        const Number n = in(0);
        out() = to ? Number{from ? n.real : static_cast<double>(n.integer), 0} : n;
        return;
      }
      case Kind::move:
        out() = in(0);
        return;
      case Kind::read:
        out() = get(place(s, rank, false), precision(s));
        return;
      case Kind::read_at: {
        const std::byte* from = place(s, rank, true);
        out() = from ? get(from, precision(s)) : in(rank);
        return;
      }
      case Kind::store:
        return put(place(s, rank, false), precision(s), in(rank));
      case Kind::fold: {
        std::byte* to = place(s, rank, false);
        return put(to, precision(s), compute(std::string(s.op->name), precision(s), get(to, precision(s)), in(rank)));
      }
      case Kind::each_point:
        each_point(*run_.views[s.view].root, [&](const Point& point) {
          if (!run_.views[s.view].points->contains(*run_.views[s.view].root, point)) return true;
          for (std::size_t axis = 0; axis < s.outs.size(); ++axis) out(axis) = {0, point[axis]};
          turn([&] { block(s.blocks[0]); }, going);
          return going;
        });
        return;
      case Kind::each_int:
        for (std::int64_t i = in (0).integer, end = in(1).integer; i < end && going; ++i) {
          out() = {0, i};
          turn([&] { block(s.blocks[0]); }, going);
        }
        return;
      case Kind::while_:
        while (going) {
          block(s.blocks[0]);
          if (in(0).integer == 0) return;
          turn([&] { block(s.blocks[1]); }, going);
        }
        return;
      case Kind::if_:
        if (in(0).integer != 0) return block(s.blocks[0]);
        if (s.blocks.size() > 1) block(s.blocks[1]);
        return;
      case Kind::once:
        return turn([&] { block(s.blocks[0]); }, going);
      case Kind::leave:
      case Kind::next:
        throw Left{s.levels, s.kind == Kind::next};
      default:
        throw std::logic_error("the oracle has no tensors");
    }
  }

  const ViewCode& code_;
  const ViewRun& run_;
  std::vector<Number> values_;
};

}  // namespace taskspec
