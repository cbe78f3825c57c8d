// A task over views from its text, run on memory that a test owns.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "interp/host/view/view_body.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/checking.hpp"

namespace taskspec::view_task {

using Column = std::vector<double>;

struct Piece {
  Rect root;
  IndexSpace points;
  std::vector<std::byte*> fields;
};

class Task {
 public:
  Task(const std::string& text, std::vector<ArrayType> inputs = {})
      : checked_(testing::checked(text)), made_(make(std::move(inputs))) {}
  const ViewBody& body() const { return **made_; }
  std::string error() const { return made_ ? "" : made_.diags().items()[0].message; }

  // The failure, if there is one.
  std::string run(const std::vector<Piece>& pieces, std::vector<const void*> inputs = {},
                  std::vector<void*> outputs = {}) {
    std::vector<std::vector<ViewField>> fields;
    for (const Piece& piece : pieces) {
      fields.emplace_back();
      for (std::byte* base : piece.fields) fields.back().push_back({base});
    }
    std::vector<ViewMemory> views;
    for (std::size_t k = 0; k < pieces.size(); ++k) views.push_back({&pieces[k].points, &pieces[k].root, fields[k]});
    std::vector<const std::byte*> in;
    for (const void* p : inputs) in.push_back(static_cast<const std::byte*>(p));
    std::vector<std::byte*> out;
    for (void* p : outputs) out.push_back(static_cast<std::byte*>(p));
    std::vector<std::byte> scratch(body().scratch_bytes() + 64);
    TaskContext context;
    Serial serial;
    context.parallel = &serial;
    context.scratch = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    const Point point = Point::of(2);
    if (body().run({.views = views, .inputs = in, .outputs = out, .point = &point}, context)) return "";
    REQUIRE(context.faults.size() == 1);
    return context.faults[0].fault.code.text() + " " + context.faults[0].fault.message;
  }

 private:
  Result<std::shared_ptr<const ViewBody>> make(std::vector<ArrayType> inputs) {
    if (!checked_.program) {  // what a body cannot have the checker has made sure of
      if (checked_.program.diags().items()[0].code != Code("E1009")) FAIL(checked_.program.diags().items()[0].message);
      return checked_.program.diags();
    }
    const OpTable ops = standard_ops();
    for (std::size_t k = 0; k < checked_.program->functions.size(); ++k)
      if (checked_.program->functions[k].kind == FunctionKind::task)
        return ViewBody::make({*checked_.program, FunctionId(k), ops, std::move(inputs)});
    return Diags();
  }
  testing::Checked checked_;
  Result<std::shared_ptr<const ViewBody>> made_;
};

template <class T>
std::byte* bytes(std::vector<T>& column) {
  return reinterpret_cast<std::byte*>(column.data());
}
inline Column iota(std::size_t count) {
  Column column(count);
  std::iota(column.begin(), column.end(), 0.0);
  return column;
}
inline Rect line(std::int64_t lo, std::int64_t hi) { return Rect{{lo}, {hi}, 1}; }

inline Array tensor(Extents extents, const Column& numbers) {
  Array made = Array::make({Precision::f64, std::move(extents)});
  std::ranges::copy(numbers, made.data<double>().begin());
  return made;
}

inline const std::string cell = "fields Cell { a: f64, b: f64, n: int }\n";

}  // namespace taskspec::view_task
