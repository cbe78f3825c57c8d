#include <algorithm>

#include "stdlib/kernels/dense.hpp"
#include "stdlib/kernels/relayout.hpp"
#include "stdlib/kernels/single_threaded.hpp"

namespace taskspec {

namespace {

// Weights are rearranged in every run. Where they outweigh the images, as in the last layers of deep
// networks at batch 1, that costs more than it gains (measured: 1.4 ms against 0.5 ms).
bool mostly_weights(const ConvolutionPlan& plan) {
  std::int64_t weights = plan.outputs * (plan.channels / plan.groups) * plan.windows.taps();
  std::int64_t images = plan.batch * (plan.channels * plan.windows.pixels() + plan.outputs * plan.windows.positions());
  return weights > 16 * images;
}

// The batch is cut into chunks of images and, where that leaves too little to share out, the outputs into
// parts of channels; one part of one chunk is a unit, for which one oneDNN primitive is made. Layouts are
// oneDNN's choice as a rule: measured, rearranging x and w costs less than computing on [C, H, W] as it lies.
class DenseConvolution final : public Kernel {
 public:
  explicit DenseConvolution(const ConvolutionPlan& plan) : plan_(plan), engine_(dnnl::engine::kind::cpu, 0) {
    std::int64_t wanted = lane_count(16, plan.operations());
    SingleThreaded guard;  // primitives keep the number of threads they were made with
    chunks_ = std::min(wanted, plan.batch);
    while (plan.batch % chunks_ != 0) ++chunks_;
    while (plan.groups == 1 && chunks_ * parts_ < std::min<std::int64_t>(wanted, 4) &&
           plan.outputs % (parts_ * 32) == 0)
      parts_ *= 2;
    lanes_ = std::min<std::int64_t>(chunks_ * parts_, 16);
    make_primitives();
    place_scratch();
  }

  std::size_t scratch_bytes() const override { return lanes_begin_ + static_cast<std::size_t>(lanes_) * lane_bytes_; }

  std::optional<Fault> run(const KernelArgs& args) const override {
    if (weights_in_.needed())
      each(args, parts_, [&](dnnl::stream& stream, std::int64_t part, std::byte* lane) {
        weights_in_.run(engine_, stream, weights_given(args, part), weights_ready(args, part), lane);
      });
    if (source_in_.needed() && parts_ > 1)
      each(args, chunks_, [&](dnnl::stream& stream, std::int64_t chunk, std::byte* lane) {
        source_in_.run(engine_, stream, source_given(args, chunk), source_ready(args, chunk, lane), lane);
      });
    each(args, chunks_ * parts_, [&](dnnl::stream& stream, std::int64_t unit, std::byte* lane) {
      convolve(args, stream, unit / parts_, unit % parts_, lane);
    });
    return std::nullopt;
  }

 private:
  void make_primitives() {
    const Windows& w = plan_.windows;
    memory::dims source{plan_.batch / chunks_, plan_.channels, w.image[0], w.image[1]};
    memory::dims out{plan_.batch / chunks_, plan_.outputs / parts_, w.out[0], w.out[1]};
    memory::dims weights{plan_.outputs / parts_, plan_.channels / plan_.groups, w.kernel[0], w.kernel[1]};
    if (plan_.groups > 1) {
      weights[0] /= plan_.groups;
      weights.insert(weights.begin(), plan_.groups);
    }
    auto layout = [&](const memory::dims& dims) {
      return mostly_weights(plan_) ? plain(dims) : memory::desc(dims, dnnl_f32, memory::format_tag::any);
    };
    auto behind = [&](int axis) {  // padding after the image with which the last window just fits
      return (w.out[axis] - 1) * w.stride[axis] + w.reach(axis) - w.image[axis] - w.pad[axis];
    };
    if (plan_.bias) bias_ = plain({plan_.outputs / parts_});
    dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                         layout(source), layout(weights), bias_, layout(out),
                                         {w.stride[0], w.stride[1]}, {w.dilation[0] - 1, w.dilation[1] - 1},
                                         {w.pad[0], w.pad[1]}, {behind(0), behind(1)});
    desc_ = dnnl::convolution_forward::primitive_desc(desc, own_scratchpad(), engine_);
    convolution_ = dnnl::convolution_forward(desc_);
    source_in_ = Relayout(engine_, plain(source), desc_.src_desc());
    weights_in_ = Relayout(engine_, plain(weights), desc_.weights_desc());
    memory::dims steps{plan_.outputs * w.positions(), w.positions(), w.out[1], 1};
    out_back_ = Relayout(engine_, desc_.dst_desc(), memory::desc(out, dnnl_f32, steps));
  }

  // Scratch: rearranged weights, x where several parts share it, then per lane its scratchpad, x and result.
  void place_scratch() {
    auto padded = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
    weights_step_ = padded(weights_in_.bytes());
    source_step_ = padded(source_in_.bytes());
    source_begin_ = static_cast<std::size_t>(parts_) * weights_step_;
    lanes_begin_ = source_begin_ + (parts_ > 1 ? static_cast<std::size_t>(chunks_) * source_step_ : 0);
    lane_source_ =
        padded(std::max({static_cast<std::size_t>(desc_.scratchpad_desc().get_size()), source_in_.scratchpad_bytes(),
                         weights_in_.scratchpad_bytes(), out_back_.scratchpad_bytes()}));
    lane_out_ = lane_source_ + (parts_ > 1 ? 0 : source_step_);
    lane_bytes_ = lane_out_ + padded(out_back_.bytes());
  }

  template <class F>
  void each(const KernelArgs& args, std::int64_t units, F&& f) const {
    args.parallel.for_each(lanes_, 1, [&](std::int64_t begin, std::int64_t end) {
      SingleThreaded guard;
      dnnl::stream stream(engine_);
      for (std::int64_t lane = begin; lane < end; ++lane)
        for (std::int64_t unit = units * lane / lanes_; unit < units * (lane + 1) / lanes_; ++unit)
          f(stream, unit, args.scratch + lanes_begin_ + static_cast<std::size_t>(lane) * lane_bytes_);
    });
  }

  const std::byte* source_given(const KernelArgs& args, std::int64_t chunk) const {
    return args.in[0] + chunk * (plan_.batch / chunks_ * plan_.channels * plan_.windows.pixels()) * 4;
  }
  const std::byte* weights_given(const KernelArgs& args, std::int64_t part) const {
    return args.in[1] + part * (plan_.outputs / parts_ * (plan_.channels / plan_.groups) * plan_.windows.taps()) * 4;
  }
  std::byte* weights_ready(const KernelArgs& args, std::int64_t part) const {
    return args.scratch + static_cast<std::size_t>(part) * weights_step_;
  }
  std::byte* source_ready(const KernelArgs& args, std::int64_t chunk, std::byte* lane) const {
    return parts_ > 1 ? args.scratch + source_begin_ + static_cast<std::size_t>(chunk) * source_step_
                      : lane + lane_source_;
  }

  void convolve(const KernelArgs& args, dnnl::stream& stream, std::int64_t chunk, std::int64_t part,
                std::byte* lane) const {
    const std::byte* source = source_given(args, chunk);
    if (source_in_.needed()) {
      std::byte* ready = source_ready(args, chunk, lane);
      if (parts_ == 1) source_in_.run(engine_, stream, source, ready, lane);
      source = ready;
    }
    const std::byte* weights = weights_in_.needed() ? weights_ready(args, part) : weights_given(args, part);
    std::int64_t channel = chunk * (plan_.batch / chunks_) * plan_.outputs + part * (plan_.outputs / parts_);
    std::byte* out = args.out[0] + channel * plan_.windows.positions() * 4;
    std::byte* result = out_back_.needed() ? lane + lane_out_ : out;
    auto bind = [&](const memory::desc& desc, const std::byte* bytes) {
      return memory(desc, engine_, const_cast<std::byte*>(bytes));
    };
    std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, bind(desc_.src_desc(), source)},
                                              {DNNL_ARG_WEIGHTS, bind(desc_.weights_desc(), weights)},
                                              {DNNL_ARG_DST, bind(desc_.dst_desc(), result)},
                                              {DNNL_ARG_SCRATCHPAD, bind(desc_.scratchpad_desc(), lane)}};
    if (plan_.bias) arguments[DNNL_ARG_BIAS] = bind(bias_, args.in[2] + part * (plan_.outputs / parts_) * 4);
    convolution_.execute(stream, arguments);
    if (out_back_.needed()) out_back_.run(engine_, stream, result, out, lane);
  }

  ConvolutionPlan plan_;
  dnnl::engine engine_;
  std::int64_t chunks_ = 1, parts_ = 1, lanes_ = 1;
  dnnl::convolution_forward::primitive_desc desc_;
  dnnl::convolution_forward convolution_;
  memory::desc bias_;
  Relayout source_in_, weights_in_, out_back_;
  std::size_t weights_step_ = 0, source_step_ = 0, source_begin_ = 0, lanes_begin_ = 0;
  std::size_t lane_source_ = 0, lane_out_ = 0, lane_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> dense_convolution_kernel(const ConvolutionPlan& plan) {
  if (plan.operations() == 0) return nullptr;
  try {
    return std::make_unique<DenseConvolution>(plan);
  } catch (const dnnl::error&) {
    return nullptr;  // a shape that this oneDNN does not do
  }
}

}  // namespace taskspec
