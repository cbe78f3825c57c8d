// One field of a view, in a body that is real C++: the memory of the region itself, by the indices of the region.
//
//   task("stencil").inout("own", Cell, {"flux"}).in("ghost", Cell, {"state"})
//       .native([](FieldView<double> flux, FieldView<const double> state) {
//         for (std::int64_t i : flux) flux[i] += 0.5 * (state[i - 1] + state[i + 1]);
//       });
//   [](FieldView<double, 2> a) { a.rows([&](std::array<std::int64_t, 2> first, std::span<double> row) { ... }); }
//
// Each field of each view is a parameter, in the order in which `fields` declares them: of const where the task only
// reads it. Under reduce(+) it holds the contributions of the point, which begin as the neutral element of the
// operator. In debug builds, and after check_native_tasks(true), an index that is not in the view is E5003; else it is
// not looked at: a span or pointer costs nothing more than in any C++.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace taskspec::dsl {

namespace detail {

inline constexpr std::size_t most_axes = 4;

// What the runtime says of one field of one view of one point.
struct NativeField {
  std::byte* base = nullptr;  // of the element at `origin`
  std::size_t rank = 1;
  std::array<std::int64_t, most_axes> origin{}, stride{};  // elements
  std::array<std::int64_t, most_axes> low{}, high{};       // a box around all points
  // Points that are no box: rows along the last axis, ascending. `number`: elements before it where they lie one by
  // one.
  struct Row {
    std::array<std::int64_t, most_axes> first{};
    std::int64_t count = 0, number = 0;
  };
  std::vector<Row> rows = {};
  bool is_box = true, by_number = false, checked = false;
  std::string name = {};  // "own.flux"

  std::int64_t place(const std::array<std::int64_t, most_axes>& point) const;  // elements behind `base`
  const Row* row_of(const std::array<std::int64_t, most_axes>& point) const;   // null: it is not in the view
  [[noreturn]] void refuse(const std::array<std::int64_t, most_axes>& point) const;
};

// An index that is not in a view.
struct OutsideView : std::out_of_range {
  using std::out_of_range::out_of_range;
};

}  // namespace detail

template <class T, std::size_t rank = 1>
class FieldView {
  static_assert(std::is_arithmetic_v<T> && rank >= 1 && rank <= detail::most_axes, "numbers, along one to four axes");

 public:
  explicit FieldView(const detail::NativeField& field) : field_(&field), base_(reinterpret_cast<T*>(field.base)) {
    for (std::size_t axis = 0; axis < rank; ++axis) base_offset_ -= field.origin[axis] * field.stride[axis];
  }

  T& operator[](std::int64_t i) const requires(rank == 1) { return (*this)(i); }
  template <class... Index>
  requires(sizeof...(Index) == rank) T& operator()(Index... index) const {
    const std::array<std::int64_t, detail::most_axes> point{static_cast<std::int64_t>(index)...};
    if (field_->checked && !field_->row_of(point)) field_->refuse(point);
    if (field_->by_number) return base_[field_->place(point)];
    std::int64_t at = base_offset_;
    for (std::size_t axis = 0; axis < rank; ++axis) at += point[axis] * field_->stride[axis];
    return base_[at];
  }
  template <class... Index>
  requires(sizeof...(Index) == rank) bool contains(Index... index) const {
    return field_->row_of({static_cast<std::int64_t>(index)...}) != nullptr;
  }

  // A box around all points, and whether it has no others.
  std::int64_t low(std::size_t axis = 0) const { return field_->low[axis]; }
  std::int64_t high(std::size_t axis = 0) const { return field_->high[axis]; }
  bool is_box() const { return field_->is_box; }
  std::int64_t size() const {
    std::int64_t points = 0;
    for (const detail::NativeField::Row& row : field_->rows) points += row.count;
    return points;
  }

  // Calls f(first point, its row), ascending: the elements of a row lie one behind the other.
  template <class F>
  void rows(F f) const {
    for (const detail::NativeField::Row& row : field_->rows) {
      std::array<std::int64_t, rank> first;
      for (std::size_t axis = 0; axis < rank; ++axis) first[axis] = row.first[axis];
      f(first, std::span<T>(base_ + field_->place(row.first), static_cast<std::size_t>(row.count)));
    }
  }

  // Of one axis: its points, ascending.
  class Iterator {
   public:
    Iterator(const detail::NativeField::Row* row, const detail::NativeField::Row* end) : row_(row), end_(end) {
      at_ = row == end ? 0 : row->first[0];
    }
    std::int64_t operator*() const { return at_; }
    Iterator& operator++() {
      if (++at_ < row_->first[0] + row_->count) return *this;
      ++row_;
      at_ = row_ == end_ ? 0 : row_->first[0];
      return *this;
    }
    bool operator==(const Iterator& other) const { return row_ == other.row_ && at_ == other.at_; }

   private:
    const detail::NativeField::Row *row_, *end_;
    std::int64_t at_ = 0;
  };
  Iterator begin() const requires(rank == 1) { return {first_row(), last_row()}; }
  Iterator end() const requires(rank == 1) { return {last_row(), last_row()}; }

 private:
  const detail::NativeField::Row* first_row() const { return field_->rows.data(); }
  const detail::NativeField::Row* last_row() const { return field_->rows.data() + field_->rows.size(); }
  const detail::NativeField* field_;
  T* base_;
  std::int64_t base_offset_ = 0;
};

}  // namespace taskspec::dsl
