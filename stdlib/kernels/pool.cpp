#include "stdlib/kernels/pool.hpp"

#include <algorithm>
#include <bit>

#include "stdlib/kernels/instruction_sets.hpp"
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

// Planes are dealt out to lanes, each with scratch of its own.
class PoolKernel : public Kernel {
 public:
  PoolKernel(const PoolPlan& plan, std::size_t lane_bytes) : plan_(plan), lane_bytes_((lane_bytes + 63) / 64 * 64) {
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

 private:
  PoolPlan plan_;
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

// The pool of most networks, 2 x 2 windows side by side, in one step; the same bits as above.
bool is_halving(const Windows& w) { return w.kernel == Pair{2, 2} && w.stride == Pair{2, 2} && w.pad == Pair{0, 0}; }

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

template <class T, class Join>
class Forward final : public PoolKernel {
  using Acc = Computed<T>;

 public:
  explicit Forward(const PoolPlan& plan)
      : PoolKernel(plan, sizeof(Acc) * static_cast<std::size_t>(line_length(plan.windows) + plan.windows.out[1])) {}

 private:
  static std::int64_t line_length(const Windows& w) {
    return std::max(w.pad[1] + w.image[1], (w.out[1] - 1) * w.stride[1] + w.kernel[1]);
  }

  void plane(const KernelArgs& args, std::int64_t plane, std::byte* scratch) const override {
    const Windows& w = windows();
    const T* x = reinterpret_cast<const T*>(args.in[0]) + plane * w.pixels();
    T* y = reinterpret_cast<T*>(args.out[0]) + plane * w.positions();
    Acc* line = reinterpret_cast<Acc*>(scratch);
    if (is_halving(w))
      halve_plane<T, Join>(w, x, y);
    else
      pool_plane<T, Join>(w, x, y, line, line + line_length(w));
  }
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
};

// Each window's gradient to the first of its largest pixels, or in quarters to all four.
template <class T, bool maximum>
TASKSPEC_CLONES void halve_gradient(const Windows& w, const T* x, const T* upstream, T* out) {
  using Acc = Computed<T>;
  using M = Masks<Acc>;
  const std::int64_t width = w.image[1];
  for (std::int64_t row = 0; row < w.out[0]; ++row, x += 2 * width, upstream += w.out[1], out += 2 * width)
    for (std::int64_t i = 0; i < w.out[1]; ++i) {
      const Acc value = convert<Acc>(upstream[i]);
      if constexpr (maximum) {
        const Acc a = convert<Acc>(x[2 * i]), b = convert<Acc>(x[2 * i + 1]), c = convert<Acc>(x[width + 2 * i]),
                  d = convert<Acc>(x[width + 2 * i + 1]);
        const auto right = M::larger(b, a), low_right = M::larger(d, c),
                   low = M::larger(low_right ? d : c, right ? b : a);
        out[2 * i] = convert<T>(M::kept(~low & ~right, value));
        out[2 * i + 1] = convert<T>(M::kept(~low & right, value));
        out[width + 2 * i] = convert<T>(M::kept(low & ~low_right, value));
        out[width + 2 * i + 1] = convert<T>(M::kept(low & low_right, value));
      } else {
        const T share = convert<T>(value / 4);
        out[2 * i] = out[2 * i + 1] = out[width + 2 * i] = out[width + 2 * i + 1] = share;
      }
    }
}

template <class T>
class Backward final : public PoolKernel {
  using Acc = Computed<T>;

 public:
  explicit Backward(const PoolPlan& plan)
      : PoolKernel(plan, sizeof(Acc) * static_cast<std::size_t>(plan.windows.pixels())),
        maximum_(plan.kind == Pooling::maximum) {}

 private:
  void plane(const KernelArgs& args, std::int64_t plane, std::byte* scratch) const override {
    const Windows& w = windows();
    const T* x = maximum_ ? reinterpret_cast<const T*>(args.in[0]) + plane * w.pixels() : nullptr;
    const T* upstream = reinterpret_cast<const T*>(args.in[maximum_ ? 1 : 0]) + plane * w.positions();
    T* out = reinterpret_cast<T*>(args.out[0]) + plane * w.pixels();
    if (is_halving(w)) {
      if (w.image[0] != 2 * w.out[0] || w.image[1] != 2 * w.out[1]) std::fill(out, out + w.pixels(), T{});
      return maximum_ ? halve_gradient<T, true>(w, x, upstream, out) : halve_gradient<T, false>(w, out, upstream, out);
    }
    Acc* gradient = reinterpret_cast<Acc*>(scratch);
    std::fill(gradient, gradient + w.pixels(), Acc{});
    for (std::int64_t p = 0; p < w.positions(); ++p) {
      Interval rows = covered(w, 0, p / w.out[1]), columns = covered(w, 1, p % w.out[1]);
      Acc value = convert<Acc>(upstream[p]);
      if (maximum_)
        gradient[largest(x, rows, columns)] += value;
      else
        spread(gradient, rows, columns, value);
    }
    for (std::int64_t i = 0; i < w.pixels(); ++i) out[i] = convert<T>(gradient[i]);
  }

  std::int64_t largest(const T* x, Interval rows, Interval columns) const {
    std::int64_t best = rows.begin * windows().image[1] + columns.begin;
    for (std::int64_t r = rows.begin; r < rows.end; ++r)
      for (std::int64_t c = columns.begin; c < columns.end; ++c) {
        std::int64_t here = r * windows().image[1] + c;
        Acc value = convert<Acc>(x[here]), champion = convert<Acc>(x[best]);
        if (value > champion || (value != value && champion == champion)) best = here;
      }
    return best;
  }

  void spread(Acc* gradient, Interval rows, Interval columns, Acc value) const {
    Acc share = value / static_cast<Acc>(rows.size() * columns.size());
    for (std::int64_t r = rows.begin; r < rows.end; ++r)
      for (std::int64_t c = columns.begin; c < columns.end; ++c) gradient[r * windows().image[1] + c] += share;
  }

  bool maximum_;
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
