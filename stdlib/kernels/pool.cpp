#include "stdlib/kernels/pool.hpp"

#include <algorithm>
#include <bit>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/kernels/halving_loops.hpp"
#include "stdlib/kernels/product.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

struct Maximum {
  template <class Acc>
  static constexpr Acc start() {
    return lowest<Acc>();
  }
  template <class Acc>
  static Acc join(Acc a, Acc b) {
    Acc larger = b > a ? b : a;  // two selections without a branch: such loops vectorise
    return b != b ? b : larger;  // a nan stays, a nan comes in
  }
};

struct Sum {
  template <class Acc>
  static constexpr Acc start() {
    return Acc{};
  }
  template <class Acc>
  static Acc join(Acc a, Acc b) {
    return a + b;
  }
};

struct Interval {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

// The pixels along one axis that window `position` covers.
Interval covered(const Windows& w, int axis, std::int64_t position) {
  std::int64_t first = position * w.stride[axis] - w.pad[axis];
  return {std::max<std::int64_t>(first, 0), std::min(first + w.kernel[axis], w.image[axis])};
}

// Windows that have loops of their own, with the same bits.
enum class WindowKind : std::uint8_t {
  any,
  halving,  // 2 x 2 side by side, as in most networks
  sampling  // of one pixel, as in shortcuts of residual networks
};

WindowKind kind_of(const Windows& w) {
  if (w.kernel == Pair{2, 2} && w.stride == Pair{2, 2} && w.pad == Pair{0, 0}) return WindowKind::halving;
  return w.kernel == Pair{1, 1} && w.pad == Pair{0, 0} ? WindowKind::sampling : WindowKind::any;
}

// Planes are dealt out to lanes, each with scratch of its own.
class PoolKernel : public Kernel {
 public:
  PoolKernel(const PoolPlan& plan, std::size_t lane_bytes)
      : plan_(plan), kind_(kind_of(plan.windows)), lane_bytes_((lane_bytes + 63) / 64 * 64) {
    double operations = static_cast<double>(plan.planes * plan.windows.positions()) *
                        static_cast<double>(plan.windows.kernel[0] + plan.windows.kernel[1]);
    lanes_ = lane_count(plan.planes, operations);
  }

  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(lanes_) * lane_bytes_; }

  std::optional<Fault> run(const KernelArgs& args) const override {
    args.parallel.for_each(lanes_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t lane = begin; lane < end; ++lane)
        for (std::int64_t p = plan_.planes * lane / lanes_; p < plan_.planes * (lane + 1) / lanes_; ++p)
          plane(args, p, args.scratch + static_cast<std::size_t>(lane) * lane_bytes_);
    });
    return std::nullopt;
  }

 protected:
  virtual void plane(const KernelArgs& args, std::int64_t plane, std::byte* scratch) const = 0;
  const Windows& windows() const { return plan_.windows; }
  WindowKind kind() const { return kind_; }

 private:
  PoolPlan plan_;
  WindowKind kind_;
  std::size_t lane_bytes_;
  std::int64_t lanes_;
};

// to[i] = from[i * step], joined with what is there unless `fresh`.
template <class Join, bool fresh, class Acc, class T>
[[gnu::always_inline]] inline void take(Acc* to, const T* from, std::int64_t step, std::int64_t count) {
  auto value = [&](std::int64_t i, std::int64_t at) {
    return fresh ? convert<Acc>(from[at]) : Join::join(to[i], convert<Acc>(from[at]));
  };
  if (step == 1)
    for (std::int64_t i = 0; i < count; ++i) to[i] = value(i, i);
  else if (step == 2)
    for (std::int64_t i = 0; i < count; ++i) to[i] = value(i, 2 * i);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = value(i, step * i);
}

// Rows of a window first, then columns: a line as wide as the image is the maximum (sum) of the rows, with the
// start value on both sides; both steps are plain loops over neighbours.
template <class T, class Join>
TASKSPEC_CLONES void pool_plane(const Windows& w, const T* x, T* y, Computed<T>* line, Computed<T>* result) {
  using Acc = Computed<T>;
  std::int64_t width = w.image[1], columns = w.out[1];
  std::fill(line, result, Join::template start<Acc>());
  for (std::int64_t row = 0; row < w.out[0]; ++row, y += columns) {
    Interval rows = covered(w, 0, row);
    take<Join, true>(line + w.pad[1], x + rows.begin * width, 1, width);
    for (std::int64_t r = rows.begin + 1; r < rows.end; ++r)
      take<Join, false>(line + w.pad[1], x + r * width, 1, width);
    take<Join, true>(result, line, w.stride[1], columns);
    for (std::int64_t k = 1; k < w.kernel[1]; ++k) take<Join, false>(result, line + k, w.stride[1], columns);
    if constexpr (std::is_same_v<Join, Sum>)
      for (std::int64_t i = 0; i < columns; ++i) result[i] /= static_cast<Acc>(rows.size() * covered(w, 1, i).size());
    for (std::int64_t i = 0; i < columns; ++i) y[i] = convert<T>(result[i]);
  }
}

// There are loops for it that are written by hand.
template <class T>
bool halves_by_lanes() {
  return std::is_same_v<T, float> && has_halving_loops();
}

template <class T, class Join>
TASKSPEC_CLONES void halve_plane(const Windows& w, const T* x, T* y) {
  using Acc = Computed<T>;
  for (std::int64_t row = 0; row < w.out[0]; ++row, x += 2 * w.image[1], y += w.out[1])
    for (std::int64_t i = 0; i < w.out[1]; ++i) {
      Acc left = Join::join(convert<Acc>(x[2 * i]), convert<Acc>(x[w.image[1] + 2 * i]));
      Acc right = Join::join(convert<Acc>(x[2 * i + 1]), convert<Acc>(x[w.image[1] + 2 * i + 1]));
      Acc both = Join::join(left, right);
      if constexpr (std::is_same_v<Join, Sum>) both /= 4;
      y[i] = convert<T>(both);
    }
}

// Every so many pixels of every so many rows.
template <class T>
void sample_plane(const Windows& w, const T* x, T* y) {
  if (w.stride == Pair{1, 1}) {
    std::copy_n(x, w.pixels(), y);
    return;
  }
  for (std::int64_t row = 0; row < w.out[0]; ++row, x += w.stride[0] * w.image[1], y += w.out[1])
    for (std::int64_t i = 0; i < w.out[1]; ++i) y[i] = x[i * w.stride[1]];
}

// Back to where they were taken from.
template <class T>
void sample_gradient(const Windows& w, const T* upstream, T* out) {
  if (w.stride == Pair{1, 1}) {
    std::copy_n(upstream, w.pixels(), out);
    return;
  }
  std::fill(out, out + w.pixels(), T{});
  for (std::int64_t row = 0; row < w.out[0]; ++row, out += w.stride[0] * w.image[1], upstream += w.out[1])
    for (std::int64_t i = 0; i < w.out[1]; ++i) out[i * w.stride[1]] = upstream[i];
}

template <class T, class Join>
class Forward final : public PoolKernel {
  using Acc = Computed<T>;

 public:
  explicit Forward(const PoolPlan& plan)
      : PoolKernel(plan, sizeof(Acc) * static_cast<std::size_t>(line_length(plan.windows) + plan.windows.out[1])) {}

 private:
  void halve(const Windows& w, const T* x, T* y) const {
    if constexpr (std::is_same_v<T, float> && std::is_same_v<Join, Maximum>)
      if (by_lanes_) return halve_by_maximum(w, x, y);
    halve_plane<T, Join>(w, x, y);
  }
  static std::int64_t line_length(const Windows& w) {
    return std::max(w.pad[1] + w.image[1], (w.out[1] - 1) * w.stride[1] + w.kernel[1]);
  }

  void plane(const KernelArgs& args, std::int64_t plane, std::byte* scratch) const override {
    const Windows& w = windows();
    const T* x = reinterpret_cast<const T*>(args.in[0]) + plane * w.pixels();
    T* y = reinterpret_cast<T*>(args.out[0]) + plane * w.positions();
    Acc* line = reinterpret_cast<Acc*>(scratch);
    if (kind() == WindowKind::halving)
      halve(w, x, y);
    else if (kind() == WindowKind::sampling)
      sample_plane<T>(w, x, y);
    else
      pool_plane<T, Join>(w, x, y, line, line + line_length(w));
  }

  const bool by_lanes_ = halves_by_lanes<T>();
};

// Truths as words of ones or zeros, as wide as the numbers: loops with them vectorise.
template <class Acc>
struct Masks {
  using Mask = std::conditional_t<sizeof(Acc) == 8, std::int64_t, std::int32_t>;
  static Mask of(bool x) { return x ? Mask{-1} : Mask{0}; }
  static Mask larger(Acc value, Acc than) {
    return of(value > than) | (of(value != value) & of(than == than));  // a nan is, but not than another one
  }
  static Acc kept(Mask mask, Acc value) { return std::bit_cast<Acc>(std::bit_cast<Mask>(value) & mask); }
  // Bit by bit: a branch that depends on the pixels costs more than all the rest.
  static Acc chosen(Mask mask, Acc then, Acc otherwise) {
    return std::bit_cast<Acc>((std::bit_cast<Mask>(then) & mask) | (std::bit_cast<Mask>(otherwise) & ~mask));
  }
};

// Each window's gradient to the first of its largest pixels. First the larger of two neighbours in a row, then that of
// two rows: so most loops are as long as the plane, however narrow it is. Scratch: three numbers for each such pair.
template <class T>
TASKSPEC_CLONES void halve_maximum_gradient(const Windows& w, const T* x, const T* upstream, T* out,
                                            Computed<T>* scratch) {
  using Acc = Computed<T>;
  using M = Masks<Acc>;
  using Mask = typename M::Mask;
  const std::int64_t columns = w.out[1], rows = 2 * w.out[0], pairs = rows * columns;
  const bool dense = w.image[1] == 2 * columns;  // then all rows are one long one
  const std::int64_t lines = dense ? 1 : rows, count = dense ? pairs : columns;
  Acc *larger = scratch, *value = larger + pairs;
  Mask* right = reinterpret_cast<Mask*>(value + pairs);
  for (std::int64_t line = 0; line < lines; ++line) {
    const T* from = x + line * w.image[1];
    Acc* best = larger + line * count;
    Mask* is_right = right + line * count;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
      const Acc a = convert<Acc>(from[2 * i]), b = convert<Acc>(from[2 * i + 1]);
      is_right[i] = M::larger(b, a);
      best[i] = M::chosen(is_right[i], b, a);
    }
  }
  for (std::int64_t row = 0; row < w.out[0]; ++row) {
    const Acc *top = larger + 2 * row * columns, *bottom = top + columns;
    const T* given = upstream + row * columns;
    Acc *to_top = value + 2 * row * columns, *to_bottom = to_top + columns;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto low = M::larger(bottom[i], top[i]);
      const Acc whole = convert<Acc>(given[i]);
      to_top[i] = M::kept(~low, whole);
      to_bottom[i] = M::kept(low, whole);
    }
  }
  for (std::int64_t line = 0; line < lines; ++line) {
    T* to = out + line * w.image[1];
    const Acc* given = value + line * count;
    const Mask* is_right = right + line * count;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
      to[2 * i] = convert<T>(M::kept(~is_right[i], given[i]));
      to[2 * i + 1] = convert<T>(M::kept(is_right[i], given[i]));
    }
  }
}

// In quarters to all four.
template <class T>
TASKSPEC_CLONES void halve_average_gradient(const Windows& w, const T* upstream, T* out) {
  const std::int64_t width = w.image[1];
  for (std::int64_t row = 0; row < w.out[0]; ++row, upstream += w.out[1], out += 2 * width)
    for (std::int64_t i = 0; i < w.out[1]; ++i)
      out[2 * i] = out[2 * i + 1] = out[width + 2 * i] = out[width + 2 * i + 1] =
          convert<T>(convert<Computed<T>>(upstream[i]) / 4);
}

// The windows of a row that have a pixel under tap `column`.
Interval under_tap(const Windows& w, std::int64_t column) {
  const std::int64_t before = w.pad[1] - column, last = w.image[1] - 1 + before;
  if (last < 0) return {0, 0};
  const std::int64_t begin = before > 0 ? (before + w.stride[1] - 1) / w.stride[1] : 0;
  return {begin, std::max(begin, std::min(w.out[1], last / w.stride[1] + 1))};
}

// Over one row of windows, tap by tap: what one window costs does not wait for the one before. `best` is counted from
// the first pixel of the first row that the windows cover.
template <class T>
TASKSPEC_CLONES void find_largest(const Windows& w, Interval rows, const T* x, Computed<T>* champion,
                                  typename Masks<Computed<T>>::Mask* best) {
  using Acc = Computed<T>;
  using M = Masks<Acc>;
  using Mask = typename M::Mask;
  for (std::int64_t i = 0; i < w.out[1]; ++i) {
    champion[i] = lowest<Acc>();
    best[i] = static_cast<Mask>(covered(w, 1, i).begin);
  }
  for (std::int64_t r = 0; r < rows.size(); ++r)
    for (std::int64_t k = 0; k < w.kernel[1]; ++k) {
      const Interval windows = under_tap(w, k);
      const std::int64_t first = r * w.image[1] + k - w.pad[1];
#pragma GCC ivdep
      for (std::int64_t i = windows.begin; i < windows.end; ++i) {
        const std::int64_t here = first + i * w.stride[1];
        const Acc value = convert<Acc>(x[here]);
        const auto larger = M::larger(value, champion[i]);
        champion[i] = M::chosen(larger, value, champion[i]);
        best[i] ^= (best[i] ^ static_cast<Mask>(here)) & larger;
      }
    }
}

// Shares of the windows of a row, to all their pixels.
template <class Acc>
TASKSPEC_CLONES void spread(const Windows& w, Interval rows, const Acc* share, Acc* gradient) {
  for (std::int64_t r = rows.begin; r < rows.end; ++r)
    for (std::int64_t k = 0; k < w.kernel[1]; ++k) {
      const Interval windows = under_tap(w, k);
      Acc* to = gradient + r * w.image[1] + k - w.pad[1];
#pragma GCC ivdep
      for (std::int64_t i = windows.begin; i < windows.end; ++i) to[i * w.stride[1]] += share[i];
    }
}

template <class T>
class Backward final : public PoolKernel {
  using Acc = Computed<T>;

 public:
  explicit Backward(const PoolPlan& plan)
      : PoolKernel(plan,
                   sizeof(Acc) * static_cast<std::size_t>(std::max(plan.windows.pixels() + 2 * plan.windows.out[1],
                                                                   6 * plan.windows.positions()))),
        maximum_(plan.kind == Pooling::maximum) {}

 private:
  void plane(const KernelArgs& args, std::int64_t plane, std::byte* scratch) const override {
    const Windows& w = windows();
    const T* x = maximum_ ? reinterpret_cast<const T*>(args.in[0]) + plane * w.pixels() : nullptr;
    const T* upstream = reinterpret_cast<const T*>(args.in[maximum_ ? 1 : 0]) + plane * w.positions();
    T* out = reinterpret_cast<T*>(args.out[0]) + plane * w.pixels();
    if (kind() == WindowKind::halving) {
      if (w.image[0] != 2 * w.out[0] || w.image[1] != 2 * w.out[1]) std::fill(out, out + w.pixels(), T{});
      if constexpr (std::is_same_v<T, float>)
        if (maximum_ && by_lanes_) return halve_by_maximum_gradient(w, x, upstream, out);
      return maximum_ ? halve_maximum_gradient<T>(w, x, upstream, out, reinterpret_cast<Acc*>(scratch))
                      : halve_average_gradient<T>(w, upstream, out);
    }
    if (kind() == WindowKind::sampling) return sample_gradient<T>(w, upstream, out);
    auto* best = reinterpret_cast<typename Masks<Acc>::Mask*>(scratch);
    Acc *line = reinterpret_cast<Acc*>(best + w.out[1]), *gradient = line + w.out[1];
    std::fill(gradient, gradient + w.pixels(), Acc{});
    for (std::int64_t row = 0; row < w.out[0]; ++row, upstream += w.out[1]) {
      if (maximum_)
        to_largest(covered(w, 0, row), x, upstream, line, best, gradient);
      else
        to_all(covered(w, 0, row), upstream, line, gradient);
    }
    for (std::int64_t i = 0; i < w.pixels(); ++i) out[i] = convert<T>(gradient[i]);
  }

  void to_largest(Interval rows, const T* x, const T* upstream, Acc* champion, typename Masks<Acc>::Mask* best,
                  Acc* gradient) const {
    const Windows& w = windows();
    const std::int64_t first = rows.begin * w.image[1];
    find_largest(w, rows, x + first, champion, best);
    for (std::int64_t i = 0; i < w.out[1]; ++i) gradient[first + best[i]] += convert<Acc>(upstream[i]);
  }

  void to_all(Interval rows, const T* upstream, Acc* share, Acc* gradient) const {
    const Windows& w = windows();
    for (std::int64_t i = 0; i < w.out[1]; ++i)
      share[i] = convert<Acc>(upstream[i]) / static_cast<Acc>(rows.size() * covered(w, 1, i).size());
    spread(w, rows, share, gradient);
  }

  bool maximum_;
  const bool by_lanes_ = halves_by_lanes<T>();
};

}  // namespace

std::unique_ptr<Kernel> pool_kernel(const PoolPlan& plan) {
  return with_storage(plan.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    using T = decltype(element);
    if (plan.kind == Pooling::maximum) return std::make_unique<Forward<T, Maximum>>(plan);
    if constexpr (is_float_storage<T>) return std::make_unique<Forward<T, Sum>>(plan);
    bug("an average of integers");
  });
}

std::unique_ptr<Kernel> pool_gradient_kernel(const PoolPlan& plan) {
  return with_storage(plan.precision, [&](auto element) -> std::unique_ptr<Kernel> {
    using T = decltype(element);
    if constexpr (is_float_storage<T>) return std::make_unique<Backward<T>>(plan);
    bug("a gradient of integers");
  });
}

}  // namespace taskspec
