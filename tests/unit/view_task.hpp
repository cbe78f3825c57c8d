// A task over views from its text, run on memory that a test owns.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <regex>
#include <utility>

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
      : checked_(testing::checked(text)), made_(make(std::move(inputs))), widths_(widths_of(text)) {}
  const ViewBody& body() const { return **made_; }
  std::string error() const { return made_ ? "" : made_.diags().items()[0].message; }

  // The failure, if there is one. Bound to the same memory the body does the same, however often it runs; what it then
  // leaves is what the test sees.
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
    const ViewRun run{.views = views, .inputs = in, .outputs = out, .point = &point};
    const auto failure = [&](bool fine) -> std::string {
      if (fine) return "";
      REQUIRE(context.faults.size() == 1);
      const Fault fault = std::exchange(context.faults, {})[0].fault;
      return fault.code.text() + " " + fault.message;
    };
    const std::vector<Bytes> before = contents(pieces);
    const std::string found = failure(body().run(run, context));
    const std::vector<Bytes> after = contents(pieces);
    const std::unique_ptr<BoundCode> bound = body().bind(run, context);
    for (int again = 0; bound && again < 2; ++again) {
      put(pieces, before);
      std::ranges::fill(scratch, std::byte{0xA5});  // others have had it
      CHECK(failure(bound->run(context)) == found);
      CHECK(contents(pieces) == after);
    }
    return found;
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
  using Bytes = std::vector<std::byte>;
  // Of each field of each view parameter, as the text says it.
  static std::vector<std::vector<std::size_t>> widths_of(const std::string& text) {
    std::map<std::string, std::vector<std::size_t>> of_types;
    const std::regex types("fields (\\w+) \\{([^}]*)\\}"), field("\\w+: (\\w+)"),
        views("\\w+: (\\w+)\\[[^\\]]*\\]\\.\\{");
    const auto each = [](const std::string& in, const std::regex& what, auto&& visit) {
      for (std::sregex_iterator at(in.begin(), in.end(), what), end; at != end; ++at) visit(*at);
    };
    each(text, types, [&](const std::smatch& type) {
      each(type[2].str(), field, [&](const std::smatch& one) {
        const std::string name = one[1].str();
        of_types[type[1].str()].push_back(name == "int" ? 8 : info(precision_of(name).value()).bytes);
      });
    });
    std::vector<std::vector<std::size_t>> widths;
    each(text, views, [&](const std::smatch& view) { widths.push_back(of_types[view[1].str()]); });
    return widths;
  }
  template <class Visit>
  void each_field(const std::vector<Piece>& pieces, Visit&& visit) const {
    REQUIRE(pieces.size() == widths_.size());
    for (std::size_t k = 0; k < pieces.size(); ++k)
      for (std::size_t f = 0; f < pieces[k].fields.size(); ++f)
        if (std::byte* base = pieces[k].fields[f])
          visit(base, static_cast<std::size_t>(pieces[k].root.size()) * widths_[k][f]);
  }
  std::vector<Bytes> contents(const std::vector<Piece>& pieces) const {
    std::vector<Bytes> all;
    each_field(pieces, [&](std::byte* base, std::size_t bytes) { all.emplace_back(base, base + bytes); });
    return all;
  }
  void put(const std::vector<Piece>& pieces, const std::vector<Bytes>& all) const {
    std::size_t next = 0;
    each_field(pieces, [&](std::byte* base, std::size_t) { std::ranges::copy(all[next++], base); });
  }

  testing::Checked checked_;
  Result<std::shared_ptr<const ViewBody>> made_;
  std::vector<std::vector<std::size_t>> widths_;
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
