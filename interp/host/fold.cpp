#include "interp/host/fold.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

namespace {

// f16, computed in f32 and rounded each time.
struct Half {
  std::uint16_t bits;
};

template <class T>
auto number(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return half_to_float(value.bits);
  else
    return value;
}

template <class T, class Number>
T stored(Number value) {
  if constexpr (std::is_same_v<T, Half>)
    return Half{float_to_half(value)};
  else
    return static_cast<T>(value);
}

// Integers wrap.
template <ReduceOp op, class N>
N combined(N a, N b) {
  if constexpr (op == ReduceOp::sum || op == ReduceOp::prod) {
    if constexpr (std::is_floating_point_v<N>) {
      return op == ReduceOp::sum ? a + b : a * b;
    } else {
      const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
      return static_cast<N>(op == ReduceOp::sum ? x + y : x * y);
    }
  } else {
    if constexpr (std::is_floating_point_v<N>)
      if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
    return op == ReduceOp::min ? std::min(a, b) : std::max(a, b);
  }
}

// Minus zero is what leaves every float as it is, also minus zero.
template <ReduceOp op, class N>
N identity() {
  using Limits = std::numeric_limits<N>;
  if (op == ReduceOp::sum) return std::is_floating_point_v<N> ? static_cast<N>(-0.0) : N{};
  if (op == ReduceOp::prod) return N{1};
  if constexpr (Limits::has_infinity) return op == ReduceOp::min ? Limits::infinity() : -Limits::infinity();
  return op == ReduceOp::min ? Limits::max() : Limits::lowest();
}

template <class T, ReduceOp op>
void clear(std::byte* at, std::size_t count) {
  std::fill_n(reinterpret_cast<T*>(at), count, stored<T>(identity<op, decltype(number(T{}))>()));
}

template <class T, ReduceOp op>
void into(std::byte* at, const std::byte* from, std::size_t count) {
  T* a = reinterpret_cast<T*>(at);
  const T* b = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) a[i] = stored<T>(combined<op>(number(a[i]), number(b[i])));
}

template <class T>
Fold of_type(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return {clear<T, ReduceOp::sum>, into<T, ReduceOp::sum>};
    case ReduceOp::prod:
      return {clear<T, ReduceOp::prod>, into<T, ReduceOp::prod>};
    case ReduceOp::min:
      return {clear<T, ReduceOp::min>, into<T, ReduceOp::min>};
    case ReduceOp::max:
      break;
  }
  return {clear<T, ReduceOp::max>, into<T, ReduceOp::max>};
}

}  // namespace

Fold fold_of(Precision precision, ReduceOp op) {
  using P = Precision;
  switch (precision) {
    case P::f64:
      return of_type<double>(op);
    case P::f32:
      return of_type<float>(op);
    case P::f16:
      return of_type<Half>(op);
    case P::i64:
      return of_type<std::int64_t>(op);
    case P::u64:
      return of_type<std::uint64_t>(op);
    case P::i32:
    case P::i28:
      return of_type<std::int32_t>(op);
    case P::u32:
      return of_type<std::uint32_t>(op);
    case P::i16:
    case P::i9:
      return of_type<std::int16_t>(op);
    case P::u16:
      return of_type<std::uint16_t>(op);
    case P::i8:
    case P::tern:
      return of_type<std::int8_t>(op);
    case P::u8:
    case P::u4:
    case P::boolean:
      break;
  }
  return of_type<std::uint8_t>(op);
}

namespace {

void widen(Precision from, Precision to, const std::byte* at, std::byte* into, std::size_t count) {
  if (from == to) {
    std::memcpy(into, at, count * info(from).bytes);
    return;
  }
  auto* wide = reinterpret_cast<std::int32_t*>(into);
  auto copy = [&]<class T>(const T* narrow) { std::copy_n(narrow, count, wide); };
  const bool is_signed = info(from).minimum < 0;
  if (info(from).bytes == 2)
    is_signed ? copy(reinterpret_cast<const std::int16_t*>(at)) : copy(reinterpret_cast<const std::uint16_t*>(at));
  else
    is_signed ? copy(reinterpret_cast<const std::int8_t*>(at)) : copy(reinterpret_cast<const std::uint8_t*>(at));
}

class RowTree {
 public:
  RowTree(Precision from, ReduceOp op, const std::byte* rows, std::size_t count)
      : from_(from),
        to_(reduced_precision(from, op)),
        op_(op),
        fold_(fold_of(to_, op)),
        rows_(rows),
        count_(count),
        row_bytes_(count * info(from).bytes),
        bytes_(count * info(to_).bytes) {}

  void run(std::size_t first, std::size_t rows, std::byte* into, std::byte* spare) const {
    if (rows == 0) return none(into);
    if (rows == 1) return widen(from_, to_, rows_ + first * row_bytes_, into, count_);
    const std::size_t left = std::bit_ceil(rows) / 2;
    run(first, left, into, spare);
    run(first + left, rows - left, spare, spare + bytes_);
    fold_.into(into, spare, count_);
  }
  // A sum of nothing is 0, and not the -0 that changes no other value.
  void none(std::byte* into) const {
    if (op_ == ReduceOp::sum)
      std::memset(into, 0, bytes_);
    else
      fold_.clear(into, count_);
  }
  std::size_t spare(std::size_t rows) const { return bytes_ * (std::bit_width(rows) + std::size_t{1}); }

 private:
  const Precision from_, to_;
  const ReduceOp op_;
  const Fold fold_;
  const std::byte* rows_;
  const std::size_t count_, row_bytes_, bytes_;
};

}  // namespace

void reduce_rows(Precision precision, ReduceOp op, const std::byte* rows, std::size_t row_count, std::size_t count,
                 std::byte* into) {
  const RowTree tree(precision, op, rows, count);
  std::vector<std::byte> spare(tree.spare(row_count));
  tree.run(0, row_count, into, spare.data());
}

}  // namespace taskspec
