#include "interp/host/root_tree.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ir/base/diag.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

namespace {

template <class From, class To>
void widen(const std::byte* from, std::int64_t count, To* to) {
  const From* elements = reinterpret_cast<const From*>(from);
  for (std::int64_t e = 0; e < count; ++e) to[e] = static_cast<To>(elements[e]);
}

void to_reals(Precision precision, const std::byte* from, std::int64_t count, double* to) {
  if (precision == Precision::f64) return static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(count) * 8));
  if (precision == Precision::f32) return widen<float>(from, count, to);
  const auto* halves = reinterpret_cast<const std::uint16_t*>(from);
  for (std::int64_t e = 0; e < count; ++e) to[e] = half_to_float(halves[e]);
}

void to_integers(Precision precision, const std::byte* from, std::int64_t count, std::int64_t* to) {
  const bool sign = info(precision).minimum < 0;
  switch (info(precision).bytes) {
    case 1:
      return sign ? widen<std::int8_t>(from, count, to) : widen<std::uint8_t>(from, count, to);
    case 2:
      return sign ? widen<std::int16_t>(from, count, to) : widen<std::uint16_t>(from, count, to);
    case 4:
      return sign ? widen<std::int32_t>(from, count, to) : widen<std::uint32_t>(from, count, to);
    default:
      return widen<std::int64_t>(from, count, to);
  }
}

// As the kernels of these ops do: integers wrap, a nan wins.
template <class T>
T wrapped(std::uint64_t value) {
  return static_cast<T>(value);
}
struct Add {
  double operator()(double a, double b) const { return a + b; }
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return wrapped<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};
struct Multiply {
  double operator()(double a, double b) const { return a * b; }
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return wrapped<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
struct Least {
  bool all_bits;  // u64
  double operator()(double a, double b) const { return b < a || b != b ? (a != a ? a : b) : a; }
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return all_bits ? wrapped<std::int64_t>(std::min(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)))
                    : std::min(a, b);
  }
};
struct Greatest {
  bool all_bits;
  double operator()(double a, double b) const { return b > a || b != b ? (a != a ? a : b) : a; }
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return all_bits ? wrapped<std::int64_t>(std::max(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)))
                    : std::max(a, b);
  }
};

constexpr std::int64_t lanes = 8;

}  // namespace

std::optional<ReduceOp> RootTree::op_of(std::string_view name) {
  constexpr std::string_view names[] = {"sum", "prod", "min", "max"};
  const auto found = std::ranges::find(names, name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<ReduceOp>(found - std::begin(names));
}

RootTree::RootTree(ReduceOp op, Precision precision) : op_(op), precision_(precision), real_(is_float(precision)) {}

// Calls run(merge, start of reals, start of integers).
template <class F>
void RootTree::with_merge(F&& run) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool all_bits = precision_ == Precision::u64;
  switch (op_) {
    case ReduceOp::sum:
      return run(Add{}, 0.0, std::int64_t{0});
    case ReduceOp::prod:
      return run(Multiply{}, 1.0, std::int64_t{1});
    case ReduceOp::min:
      return run(Least{all_bits}, infinity, all_bits ? std::int64_t{-1} : INT64_MAX);
    case ReduceOp::max:
      return run(Greatest{all_bits}, -infinity, all_bits ? std::int64_t{0} : INT64_MIN);
  }
}

template <class T, class Merge>
void RootTree::close_block(Lanes<T>& state, T start, Merge merge) {
  if (block_ < 0) return;
  auto& l = state.lane;
  T value = merge(merge(merge(l[0], l[1]), merge(l[2], l[3])), merge(merge(l[4], l[5]), merge(l[6], l[7])));
  for (std::uint64_t done = blocks_++; done & 1; done >>= 1) value = merge(state.waiting[--trees_], value);
  state.waiting[trees_++] = value;
  l.fill(start);
}

template <class T, class Merge>
void RootTree::fold(Lanes<T>& state, std::int64_t linear, const T* x, std::int64_t count, T start, Merge merge) {
  if (block_ < 0) state.lane.fill(start);
  while (count > 0) {
    if (const std::int64_t block = linear / block_size; block != block_) {
      close_block(state, start, merge);
      block_ = block;
    }
    const std::int64_t first = linear % block_size, part = std::min(block_size - first, count);
    if (part == block_size) {
      std::array<T, lanes> lane = state.lane;
      for (std::int64_t row = 0; row < block_size; row += lanes)
        for (std::int64_t k = 0; k < lanes; ++k)
          lane[static_cast<std::size_t>(k)] = merge(lane[static_cast<std::size_t>(k)], x[row + k]);
      state.lane = lane;
    } else {
      for (std::int64_t e = 0; e < part; ++e) {
        T& lane = state.lane[static_cast<std::size_t>((first + e) % lanes)];
        lane = merge(lane, x[e]);
      }
    }
    linear += part;
    x += part;
    count -= part;
  }
}

void RootTree::add(std::int64_t linear, const std::byte* elements, std::int64_t count) {
  constexpr std::int64_t part = 512;
  alignas(64) std::array<std::byte, part * 8> buffer;
  for (std::int64_t done = 0; done < count; done += part) {
    const std::int64_t some = std::min(part, count - done);
    const std::byte* from = elements + done * info(precision_).bytes;
    auto* reals = reinterpret_cast<double*>(buffer.data());
    auto* integers = reinterpret_cast<std::int64_t*>(buffer.data());
    if (real_)
      to_reals(precision_, from, some, reals);
    else
      to_integers(precision_, from, some, integers);
    with_merge([&](auto merge, double start, std::int64_t integer_start) {
      if (real_)
        fold(reals_, linear + done, reals, some, start, merge);
      else
        fold(integers_, linear + done, integers, some, integer_start, merge);
    });
  }
}

RootTree::Wide RootTree::value() {
  Wide made = 0;
  with_merge([&](auto merge, double start, std::int64_t integer_start) {
    auto total = [&](auto& state, auto first) {
      close_block(state, first, merge);
      if (trees_ == 0) return first;
      auto value = state.waiting[--trees_];
      while (trees_ > 0) value = merge(state.waiting[--trees_], value);
      return value;
    };
    made = real_ ? std::bit_cast<Wide>(total(reals_, start)) : std::bit_cast<Wide>(total(integers_, integer_start));
  });
  return made;
}

RootTree::Wide RootTree::merged(Wide left, Wide right) {
  Wide made = 0;
  with_merge([&](auto merge, double, std::int64_t) {
    auto of = [&]<class T>(T) { return std::bit_cast<Wide>(merge(std::bit_cast<T>(left), std::bit_cast<T>(right))); };
    made = real_ ? of(double{}) : of(std::int64_t{});
  });
  return made;
}

void RootTree::put(Wide value, Precision precision, std::byte* out) const {
  if (!real_) return static_cast<void>(std::memcpy(out, &value, info(precision).bytes));  // little-endian: the low bytes
  const auto real = std::bit_cast<double>(value);
  if (precision == Precision::f64) {
    std::memcpy(out, &real, sizeof real);
  } else if (precision == Precision::f32) {
    const auto single = static_cast<float>(real);
    std::memcpy(out, &single, sizeof single);
  } else {
    const std::uint16_t half = float_to_half(static_cast<float>(real));
    std::memcpy(out, &half, sizeof half);
  }
}

}  // namespace taskspec
