#include "stdlib/kernels/direct_convolution.hpp"

#include <algorithm>

#include "ir/base/instruction_sets.hpp"

namespace taskspec {

bool suits_direct_convolution(const ConvolutionPlan& plan, Precision precision) {
  if (plan.outputs / plan.groups > 2) return false;
  return precision != Precision::f32 || plan.windows.out[1] >= 128;  // oneDNN is better at small planes
}

namespace {

template <class Acc, class T>
void convert_all(const std::byte* from, std::int64_t count, Acc* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = convert<Acc>(reinterpret_cast<const T*>(from)[i]);
}

template <class Acc>
using Converter = void (*)(const std::byte* from, std::int64_t count, Acc* to);

template <class Acc, class T>
constexpr bool fits = std::is_integral_v<T> == std::is_integral_v<Acc> && sizeof(T) <= sizeof(Acc);

template <class Acc>
Converter<Acc> converter(Precision precision) {
  return with_storage(precision, [](auto element) -> Converter<Acc> {
    using T = decltype(element);
    if constexpr (fits<Acc, T>)
      return convert_all<Acc, T>;
    else
      return nullptr;
  });
}

struct Columns {
  std::int64_t begin, end;  // of a row of the result
};

// Those of `all` whose window has tap `x` of a row inside the image.
Columns columns_under(const Windows& w, std::int64_t x, Columns all) {
  std::int64_t offset = x * w.dilation[1] - w.pad[1], stride = w.stride[1];
  std::int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  std::int64_t last = w.image[1] - 1 - offset;
  return {std::max(begin, all.begin), last < 0 ? 0 : std::min(all.end, last / stride + 1)};
}

// One tap on a row of the image: under column i of the result lies plane[first + i * stride].
template <class T>
struct Tap {
  std::int64_t weight, kx;
  const T* plane;
  std::int64_t first;
};

// Calls f for all taps of `channels` planes of x whose row lies inside the image.
template <class T, class F>
[[gnu::always_inline]] inline void for_each_tap(const Windows& w, std::int64_t channels, std::int64_t row, const T* x,
                                                F&& f) {
  for (std::int64_t c = 0; c < channels; ++c, x += w.pixels())
    for (std::int64_t ky = 0; ky < w.kernel[0]; ++ky) {
      std::int64_t y = row * w.stride[0] - w.pad[0] + ky * w.dilation[0];
      if (y < 0 || y >= w.image[0]) continue;
      for (std::int64_t kx = 0; kx < w.kernel[1]; ++kx)
        f(Tap<T>{c * w.taps() + ky * w.kernel[1] + kx, kx, x, y * w.image[1] + kx * w.dilation[1] - w.pad[1]});
    }
}

// So many columns stay in registers while all taps are added to them.
constexpr std::int64_t column_block = 64;

template <class Acc, class T>
TASKSPEC_CLONES void add_block(const Windows& w, std::int64_t channels, std::int64_t row, const T* x,
                               const Acc* weights, Acc* sum, std::int64_t column) {
  Acc part[column_block];
  std::copy(sum + column, sum + column + column_block, part);
  for_each_tap(w, channels, row, x, [&](const Tap<T>& tap) {
    const T* from = tap.plane + (tap.first + column);
    for (std::int64_t i = 0; i < column_block; ++i) part[i] += weights[tap.weight] * convert<Acc>(from[i]);
  });
  std::copy(part, part + column_block, sum + column);
}

// The same for any columns, at the border and with any stride.
template <class Acc, class T>
TASKSPEC_CLONES void add_columns(const Windows& w, std::int64_t channels, std::int64_t row, const T* x,
                                 const Acc* weights, Acc* sum, Columns all) {
  for_each_tap(w, channels, row, x, [&](const Tap<T>& tap) {
    Columns under = columns_under(w, tap.kx, all);
    for (std::int64_t i = under.begin; i < under.end; ++i)
      sum[i] += weights[tap.weight] * convert<Acc>(tap.plane[tap.first + i * w.stride[1]]);
  });
}

// Adds all taps to one row of the result.
template <class Acc, class T>
void add_row(const Windows& w, std::int64_t channels, std::int64_t row, const T* x, const Acc* weights, Acc* sum) {
  Columns inner{0, 0};  // all their windows lie inside the image
  if (w.stride[1] == 1) inner = columns_under(w, w.kernel[1] - 1, columns_under(w, 0, {0, w.out[1]}));
  std::int64_t column = std::min(inner.begin, w.out[1]);
  add_columns(w, channels, row, x, weights, sum, {0, column});
  for (; column + column_block <= inner.end; column += column_block)
    add_block(w, channels, row, x, weights, sum, column);
  add_columns(w, channels, row, x, weights, sum, {column, w.out[1]});
}

template <class Acc, class T, class Out>
class DirectConvolution final : public Kernel {
 public:
  DirectConvolution(const ConvolutionPlan& plan, Precision weights, Precision out)
      : plan_(plan),
        rows_(plan.batch * plan.outputs * plan.windows.out[0]),
        lanes_(lane_count(rows_, plan.operations())),
        weights_(converter<Acc>(weights)),
        bias_(converter<Acc>(out)) {
    if (!weights_ || !bias_) bug("a convolution of precisions that the type rule refuses");
  }

  std::size_t scratch_bytes() const override {
    return sizeof(Acc) * static_cast<std::size_t>(weight_count() + plan_.outputs + lanes_ * plan_.windows.out[1]);
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    Acc* weights = reinterpret_cast<Acc*>(args.scratch);
    Acc* bias = weights + weight_count();
    weights_(args.in[1], weight_count(), weights);
    if (plan_.bias)
      bias_(args.in[2], plan_.outputs, bias);
    else
      std::fill(bias, bias + plan_.outputs, Acc{});
    args.parallel.for_each(lanes_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t lane = begin; lane < end; ++lane)
        for (std::int64_t row = rows_ * lane / lanes_; row < rows_ * (lane + 1) / lanes_; ++row)
          convolve(args, row, weights, bias, bias + plan_.outputs + lane * plan_.windows.out[1]);
    });
    return std::nullopt;
  }

 private:
  std::int64_t depth() const { return plan_.channels / plan_.groups * plan_.windows.taps(); }
  std::int64_t weight_count() const { return plan_.outputs * depth(); }

  void convolve(const KernelArgs& args, std::int64_t row, const Acc* weights, const Acc* bias, Acc* sum) const {
    const Windows& w = plan_.windows;
    std::int64_t output = row / w.out[0] % plan_.outputs, image = row / w.out[0] / plan_.outputs;
    std::int64_t per_group = plan_.channels / plan_.groups, group = output / (plan_.outputs / plan_.groups);
    const T* x = reinterpret_cast<const T*>(args.in[0]) + (image * plan_.channels + group * per_group) * w.pixels();
    Out* out = reinterpret_cast<Out*>(args.out[0]) + row * w.out[1];
    std::fill(sum, sum + w.out[1], bias[output]);
    add_row(w, per_group, row % w.out[0], x, weights + output * depth(), sum);
    for (std::int64_t i = 0; i < w.out[1]; ++i) out[i] = convert<Out>(sum[i]);
  }

  ConvolutionPlan plan_;
  std::int64_t rows_, lanes_;
  Converter<Acc> weights_, bias_;
};

// Narrow integers give i32, other precisions their own.
template <class Acc, class T>
std::unique_ptr<Kernel> make(const ConvolutionPlan& plan, Precision w, Precision out) {
  if (out == Precision::i32) {
    if constexpr (std::is_same_v<Acc, std::uint32_t>)
      return std::make_unique<DirectConvolution<Acc, T, std::int32_t>>(plan, w, out);
    bug("a convolution of precisions that the type rule refuses");
  }
  return std::make_unique<DirectConvolution<Acc, T, T>>(plan, w, out);
}

}  // namespace

std::unique_ptr<Kernel> direct_convolution_kernel(const ConvolutionPlan& plan, Precision x, Precision w,
                                                  Precision out) {
  return with_storage(x, [&](auto element) -> std::unique_ptr<Kernel> {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, double>)
      return make<double, T>(plan, w, out);
    else if constexpr (!std::is_integral_v<T>)
      return make<float, T>(plan, w, out);
    else if constexpr (sizeof(T) == 8)
      return make<std::uint64_t, T>(plan, w, out);
    else
      return make<std::uint32_t, T>(plan, w, out);
  });
}

}  // namespace taskspec
