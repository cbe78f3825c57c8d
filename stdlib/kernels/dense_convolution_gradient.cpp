#include <algorithm>

#include "stdlib/kernels/dense.hpp"
#include "stdlib/kernels/relayout.hpp"
#include "stdlib/kernels/single_threaded.hpp"

namespace taskspec {

namespace {

// An array that a primitive reads or writes, unit by unit.
struct Role {
  int argument = 0;
  memory::desc given, chosen;  // as the unit's part of it lies, and as the primitive wants it
  std::size_t step = 0;        // bytes from one unit's part to the next
  Relayout relayout;           // towards the primitive, for the result away from it
  std::size_t at = 0;          // of the rearranged one, in a lane's scratch
};

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Windows of 3 x 3 by Winograd's F(4x4, 3x3): a quarter of the products, and sums before and behind them. Measured on
// the layers of ResNet-20, the weights' gradient takes 0.5 to 0.65 of the direct one's time, the images' 0.55 to 0.75,
// but more than 0.9 with 16 channels; what it gives is off by 3e-6 of the largest element at most.
bool suits_winograd(const ConvolutionPlan& plan, bool of_weights) {
  const Windows& w = plan.windows;
  const Pair one{1, 1};
  const std::int64_t fewest = of_weights ? 16 : 32;
  return w.kernel == Pair{3, 3} && w.stride == one && w.dilation == one && plan.groups == 1 &&
         plan.channels >= fewest && plan.outputs >= fewest && plan.channels % 16 == 0 && plan.outputs % 16 == 0;
}

// Each unit transforms all weights, or their gradient, once.
constexpr std::int64_t winograd_images = 8;

// One oneDNN primitive for each unit of the work: some images, or some outputs, where the gradient is that of the
// weights and there are enough of them. The weights' gradient of some images is a part of a sum, which is made in their
// order.
class DenseGradient final : public Kernel {
 public:
  DenseGradient(const ConvolutionPlan& plan, bool of_weights)
      : plan_(plan), of_weights_(of_weights), engine_(dnnl::engine::kind::cpu, 0) {
    SingleThreaded guard;  // primitives keep the number of threads they were made with
    if (!suits_winograd(plan, of_weights) || !make_by_winograd()) make_directly();
    std::size_t scratchpad = scratchpad_.get_size();
    for (const Role* role : {&first_, &second_, &result_})
      scratchpad = std::max(scratchpad, role->relayout.scratchpad_bytes());
    lane_bytes_ = padded(scratchpad);
    for (Role* role : {&first_, &second_, &result_}) {
      role->at = lane_bytes_;
      lane_bytes_ += padded(role->relayout.bytes());
    }
  }

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(units_) * (lane_bytes_ + (sums_ ? result_.step : 0));
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    args.parallel.for_each(units_, 1, [&](std::int64_t begin, std::int64_t end) {
      SingleThreaded guard;
      dnnl::stream stream(engine_);
      for (std::int64_t unit = begin; unit < end; ++unit) run_unit(args, stream, unit);
    });
    if (sums_) add_parts(args);
    return std::nullopt;
  }

 private:
  void make_directly() {
    choose_units();
    make_primitive(dnnl::algorithm::convolution_direct);
  }

  // False where this oneDNN, on this processor, has no such primitive.
  bool make_by_winograd() {
    units_ = std::min(lane_count(16, plan_.operations()), std::max<std::int64_t>(plan_.batch / winograd_images, 1));
    while (plan_.batch % units_ != 0) --units_;
    sums_ = of_weights_ && units_ > 1;
    try {
      make_primitive(dnnl::algorithm::convolution_winograd);
      return true;
    } catch (const dnnl::error&) {
      sums_ = false;
      units_ = 1;
      return false;
    }
  }

  void choose_units() {
    const std::int64_t wanted = lane_count(16, plan_.operations()), few = std::min<std::int64_t>(wanted, 4);
    if (!of_weights_) {
      for (units_ = std::min(wanted, plan_.batch); plan_.batch % units_ != 0;) ++units_;
      return;
    }
    while (plan_.groups == 1 && 2 * units_ <= few && plan_.outputs % (units_ * 64) == 0) units_ *= 2;
    if (units_ > 1) return;
    for (units_ = std::min(few, plan_.batch); plan_.batch % units_ != 0;) --units_;
    sums_ = units_ > 1;
  }

  // The parts lie behind the lanes, one after the other.
  std::byte* parts(const KernelArgs& args) const {
    return args.scratch + static_cast<std::size_t>(units_) * lane_bytes_;
  }

  void add_parts(const KernelArgs& args) const {
    const std::size_t count = result_.step / sizeof(float);
    const float* part = reinterpret_cast<const float*>(parts(args));
    float* sum = reinterpret_cast<float*>(args.out[0]);
    std::copy_n(part, count, sum);
    for (std::int64_t unit = 1; unit < units_; ++unit) {
      part += count;
      for (std::size_t i = 0; i < count; ++i) sum[i] += part[i];
    }
  }

  void make_primitive(dnnl::algorithm algorithm) {
    const Windows& w = plan_.windows;
    const bool by_outputs = of_weights_ && !sums_;
    const std::int64_t batch = by_outputs ? plan_.batch : plan_.batch / units_,
                       outputs = by_outputs ? plan_.outputs / units_ : plan_.outputs;
    const memory::dims source{batch, plan_.channels, w.image[0], w.image[1]}, out{batch, outputs, w.out[0], w.out[1]};
    memory::dims weights{outputs, plan_.channels / plan_.groups, w.kernel[0], w.kernel[1]};
    if (plan_.groups > 1) {
      weights[0] /= plan_.groups;
      weights.insert(weights.begin(), plan_.groups);
    }
    auto any = [](const memory::dims& dims) { return memory::desc(dims, dnnl_f32, memory::format_tag::any); };
    auto behind = [&](int axis) {
      return (w.out[axis] - 1) * w.stride[axis] + w.reach(axis) - w.image[axis] - w.pad[axis];
    };
    const memory::dims stride{w.stride[0], w.stride[1]}, dilation{w.dilation[0] - 1, w.dilation[1] - 1},
        before{w.pad[0], w.pad[1]}, after{behind(0), behind(1)};
    dnnl::convolution_forward::primitive_desc forward(
        dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, algorithm, any(source), any(weights),
                                        any(out), stride, dilation, before, after),
        engine_);
    const memory::dims steps{plan_.outputs * w.positions(), w.positions(), w.out[1], 1};  // parts of the outputs
    const std::int64_t image = plan_.channels * w.pixels(), result = outputs * w.positions();
    if (of_weights_) {
      dnnl::convolution_backward_weights::primitive_desc desc(
          dnnl::convolution_backward_weights::desc(algorithm, any(source), any(weights), any(out), stride, dilation,
                                                   before, after),
          own_scratchpad(), engine_, forward);
      set(first_, DNNL_ARG_SRC, plain(source), desc.src_desc(), sums_ ? batch * image : 0, true);
      set(second_, DNNL_ARG_DIFF_DST, memory::desc(out, dnnl_f32, steps), desc.diff_dst_desc(),
          sums_ ? batch * result : result, true);
      const std::int64_t part = outputs * (plan_.channels / plan_.groups) * w.taps();
      set(result_, DNNL_ARG_DIFF_WEIGHTS, plain(weights), desc.diff_weights_desc(), part, false);
      scratchpad_ = desc.scratchpad_desc();
      primitive_ = dnnl::convolution_backward_weights(desc);
    } else {
      dnnl::convolution_backward_data::primitive_desc desc(
          dnnl::convolution_backward_data::desc(algorithm, any(source), any(weights), any(out), stride, dilation,
                                                before, after),
          own_scratchpad(), engine_, forward);
      set(first_, DNNL_ARG_DIFF_DST, plain(out), desc.diff_dst_desc(), batch * result, true);
      set(second_, DNNL_ARG_WEIGHTS, plain(weights), desc.weights_desc(), 0, true);
      set(result_, DNNL_ARG_DIFF_SRC, plain(source), desc.diff_src_desc(), batch * image, false);
      scratchpad_ = desc.scratchpad_desc();
      primitive_ = dnnl::convolution_backward_data(desc);
    }
  }

  void set(Role& role, int argument, memory::desc given, memory::desc chosen, std::int64_t elements, bool in) {
    role.argument = argument;
    role.given = given;
    role.chosen = chosen;
    role.step = static_cast<std::size_t>(elements) * sizeof(float);
    role.relayout = in ? Relayout(engine_, given, chosen) : Relayout(engine_, chosen, given);
  }

  void run_unit(const KernelArgs& args, dnnl::stream& stream, std::int64_t unit) const {
    std::byte* lane = args.scratch + static_cast<std::size_t>(unit) * lane_bytes_;
    auto own = [&](const Role& role, const std::byte* array) {
      return const_cast<std::byte*>(array) + static_cast<std::size_t>(unit) * role.step;
    };
    auto ready = [&](const Role& role, std::byte* given) { return role.relayout.needed() ? lane + role.at : given; };
    std::unordered_map<int, memory> arguments{{DNNL_ARG_SCRATCHPAD, memory(scratchpad_, engine_, lane)}};
    std::byte* result = own(result_, sums_ ? parts(args) : args.out[0]);
    const std::pair<const Role*, std::byte*> roles[] = {
        {&first_, own(first_, args.in[0])}, {&second_, own(second_, args.in[1])}, {&result_, result}};
    for (const auto& [role, given] : roles) {
      if (role != &result_ && role->relayout.needed())
        role->relayout.run(engine_, stream, given, lane + role->at, lane);
      arguments.emplace(role->argument, memory(role->chosen, engine_, ready(*role, given)));
    }
    primitive_.execute(stream, arguments);
    if (result_.relayout.needed()) result_.relayout.run(engine_, stream, lane + result_.at, result, lane);
  }

  ConvolutionPlan plan_;
  bool of_weights_;
  dnnl::engine engine_;
  std::int64_t units_ = 1;
  bool sums_ = false;  // each unit gives a part of the sum
  dnnl::primitive primitive_;
  memory::desc scratchpad_;
  Role first_, second_, result_;
  std::size_t lane_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> dense_convolution_gradient_kernel(const ConvolutionPlan& plan, bool of_weights) {
  if (plan.operations() == 0) return nullptr;
  try {
    return std::make_unique<DenseGradient>(plan, of_weights);
  } catch (const dnnl::error&) {
    return nullptr;  // a shape that this oneDNN does not do
  }
}

}  // namespace taskspec
