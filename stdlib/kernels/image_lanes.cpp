#include "stdlib/kernels/image_lanes.hpp"

#include <algorithm>

#include "stdlib/kernels/lane_loops.hpp"
#include "stdlib/kernels/scratch_slots.hpp"

namespace taskspec {

namespace {

// Each group of sixteen images is a unit of work. Some of them run at the same time, each in a room of its own.
class ImageLanes : public Kernel {
 public:
  explicit ImageLanes(const ConvolutionPlan& plan)
      : plan_(plan), groups_(plan.batch / image_lanes), rooms_(std::min<std::int64_t>(groups_, 16)) {}

 protected:
  std::int64_t pixels() const { return plan_.channels * plan_.windows.pixels(); }       // of an image
  std::int64_t positions() const { return plan_.outputs * plan_.windows.positions(); }  // of its result
  std::int64_t weights() const { return plan_.outputs * plan_.channels * plan_.windows.taps(); }

  // The images of a group: where those begin in an array of `elements` for each.
  static std::int64_t of_group(std::int64_t group, std::int64_t elements) { return group * image_lanes * elements; }

  // f(group, its room)
  template <class F>
  void each_group(const KernelArgs& args, F&& f) const {
    ScratchSlots rooms(rooms_);
    args.parallel.for_each(rooms_, 1, [&](std::int64_t begin, std::int64_t end) {
      rooms.with([&](std::int64_t room) {
        for (std::int64_t group = groups_ * begin / rooms_; group < groups_ * end / rooms_; ++group) f(group, room);
      });
    });
  }

  const ConvolutionPlan plan_;
  const std::int64_t groups_, rooms_;
};

const float* floats(const std::byte* bytes) { return reinterpret_cast<const float*>(bytes); }
float* floats(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }

// The result, by x, w and the bias, or the gradient by the images, by that of the result and w. Both are sums over
// taps.
class LaneConvolution final : public ImageLanes {
 public:
  LaneConvolution(const ConvolutionPlan& plan, bool forward) : ImageLanes(plan), forward_(forward) {
    const Windows& w = plan.windows;
    sum_.channels = forward ? plan.channels : plan.outputs;
    sum_.outputs = forward ? plan.outputs : plan.channels;
    sum_.out = forward ? w.out : w.image;
    for (int axis : {0, 1})
      sum_.axes[axis] = forward ? TapAxis{w.image[axis], w.stride[axis], -w.pad[axis], w.dilation[axis], w.kernel[axis]}
                                : TapAxis{w.out[axis], 1, w.pad[axis], -w.dilation[axis], w.kernel[axis]};
  }

  std::size_t scratch_bytes() const override {
    return sizeof(float) * static_cast<std::size_t>(shared() + rooms_ * (pixels() + positions()) * image_lanes);
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    float *factors = floats(args.scratch), *start = factors + weights();
    arrange(floats(args.in[1]), factors);
    if (forward_ && plan_.bias)
      std::copy_n(floats(args.in[2]), sum_.outputs, start);
    else
      std::fill_n(start, sum_.outputs, 0.0F);
    const std::int64_t read = forward_ ? pixels() : positions(), made = forward_ ? positions() : pixels();
    each_group(args, [&](std::int64_t group, std::int64_t room) {
      float *in = factors + shared() + room * (read + made) * image_lanes, *out = in + read * image_lanes;
      to_lanes(floats(args.in[0]) + of_group(group, read), read, in);
      lane_sum(sum_, in, factors, start, out);
      from_lanes(out, made, floats(args.out[0]) + of_group(group, made));
    });
    return std::nullopt;
  }

 private:
  // Elements in front of those of the groups: weights and start values, in whole lines of the cache.
  std::int64_t shared() const { return (weights() + sum_.outputs + image_lanes - 1) / image_lanes * image_lanes; }

  // [outputs, channels, taps] as [what is read, taps, what is made].
  void arrange(const float* given, float* factors) const {
    const std::int64_t taps = plan_.windows.taps();
    for (std::int64_t o = 0; o < plan_.outputs; ++o)
      for (std::int64_t c = 0; c < plan_.channels; ++c)
        for (std::int64_t t = 0; t < taps; ++t) {
          const std::int64_t read = forward_ ? c : o, made = forward_ ? o : c;
          factors[(read * taps + t) * sum_.outputs + made] = given[(o * plan_.channels + c) * taps + t];
        }
  }

  bool forward_;
  LaneSum sum_;
};

// By x and the gradient of the result. Each group gives a part of the sum, and they are added in their order.
class LaneWeightGradient final : public ImageLanes {
 public:
  using ImageLanes::ImageLanes;

  std::size_t scratch_bytes() const override {
    return sizeof(float) *
           static_cast<std::size_t>(groups_ * weights() + rooms_ * (pixels() + positions()) * image_lanes);
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    float *lanes = floats(args.scratch), *parts = lanes + rooms_ * (pixels() + positions()) * image_lanes;
    each_group(args, [&](std::int64_t group, std::int64_t room) {
      float *x = lanes + room * (pixels() + positions()) * image_lanes, *up = x + pixels() * image_lanes;
      to_lanes(floats(args.in[0]) + of_group(group, pixels()), pixels(), x);
      to_lanes(floats(args.in[1]) + of_group(group, positions()), positions(), up);
      lane_weights(plan_.windows, plan_.channels, plan_.outputs, x, up, parts + group * weights());
    });
    float* sum = floats(args.out[0]);
    std::copy_n(parts, weights(), sum);
    for (std::int64_t group = 1; group < groups_; ++group)
      for (std::int64_t i = 0; i < weights(); ++i) sum[i] += parts[group * weights() + i];
    return std::nullopt;
  }
};

}  // namespace

// oneDNN computes on eight or sixteen channels, whether they are there or not: measured on the layers of LeNet, this
// takes 0.35 to 0.85 of its time. With many channels, or few products for each pixel that is turned, it takes more.
bool suits_image_lanes(const ConvolutionPlan& plan, ConvolutionPart part) {
  const Windows& w = plan.windows;
  if (!has_lane_loops() || plan.groups != 1 || plan.batch == 0 || plan.batch % image_lanes != 0) return false;
  if (w.taps() < 9 || plan.channels >= 8 || plan.outputs > 16) return false;
  switch (part) {
    case ConvolutionPart::result:
      return plan.outputs >= 4 && (plan.outputs < 8 || plan.channels >= 4);
    case ConvolutionPart::image_gradient:
      return plan.channels >= 4 && w.stride == Pair{1, 1};
    case ConvolutionPart::weight_gradient:
      return w.pad == Pair{0, 0};
  }
  return false;
}

std::unique_ptr<Kernel> image_lanes_kernel(const ConvolutionPlan& plan, ConvolutionPart part) {
  if (part == ConvolutionPart::weight_gradient) return std::make_unique<LaneWeightGradient>(plan);
  return std::make_unique<LaneConvolution>(plan, part == ConvolutionPart::result);
}

}  // namespace taskspec
