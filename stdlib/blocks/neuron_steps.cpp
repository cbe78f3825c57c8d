// CLIF: neurons in order, with the arithmetic of the op lif, and all its outputs.
#include <algorithm>
#include <array>
#include <cstring>

#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"
#include "stdlib/kernels/neuron_step.hpp"

namespace taskspec::block_parts {

namespace {

enum ClifInput : std::size_t { current, state, refractory, threshold, mask };

std::int32_t as_byte(std::int64_t x) { return static_cast<std::int32_t>(std::clamp<std::int64_t>(x, -128, 127)); }

// The reference program knows a hard reset and a leak, no more.
void forget_extras(LifPlan& plan, const TaskBlock& block) {
  plan.reset = Reset::to_value;
  plan.decay = block.attribute("vleaky_alpha");
  plan.floor = -(std::int64_t{1} << 27);
  plan.refractory = 0;
  plan.theta_leak = plan.theta_rise = 0;
  plan.theta_decay.reset();
  plan.mask = 0;
}

LifPlan plan_of(const TaskBlock& block, BlockMode mode) {
  LifPlan plan{.neurons = value_type(block).elements(),
               .threshold = block.attribute("vth0"),
               .leak = block.attribute("vleaky_beta"),
               .decay = {},
               .reset = static_cast<Reset>(block.attribute("reset_mode")),
               .vr = block.attribute("vr"),
               .dv = block.attribute("dv"),
               .floor = block.attribute("vl"),
               .initial = block.attribute("vinit"),
               .window = block.attribute("tw_len"),
               .refractory = block.attribute("ref_len"),
               .theta_leak = block.attribute("vth_beta"),
               .theta_rise = block.attribute("vth_incre"),
               .theta_decay = {},
               .mask = block.attribute("vm_const")};
  if (block.attribute("vleaky_adpt_en") != 0) plan.decay = block.attribute("vleaky_alpha");
  if (block.attribute("vth_adpt_en") != 0) plan.theta_decay = block.attribute("vth_alpha");
  if (mode == BlockMode::rabbit) forget_extras(plan, block);
  return plan;
}

// So many turns of the shift register at once: it is linear, so what becomes of each bit is added up.
class RegisterJump {
 public:
  explicit RegisterJump(std::int64_t turns) {
    for (std::uint32_t bit = 0; bit < 32; ++bit) power_[bit] = shifted(1U << bit);
    for (std::uint32_t bit = 0; bit < 32; ++bit) made_[bit] = 1U << bit;
    for (; turns > 0; turns >>= 1) {
      if ((turns & 1) != 0) made_ = after(made_, power_);
      power_ = after(power_, power_);
    }
  }
  std::uint32_t of(std::uint32_t state) const { return turned(made_, state); }

 private:
  using Columns = std::array<std::uint32_t, 32>;
  static std::uint32_t turned(const Columns& columns, std::uint32_t state) {
    std::uint32_t sum = 0;
    for (std::uint32_t bit = 0; bit < 32; ++bit) sum ^= (state >> bit & 1) != 0 ? columns[bit] : 0;
    return sum;
  }
  static Columns after(const Columns& first, const Columns& then) {
    Columns made;
    for (std::uint32_t bit = 0; bit < 32; ++bit) made[bit] = turned(then, first[bit]);
    return made;
  }

  Columns power_, made_;
};

class NeuronSteps final : public BlockRunner {
 public:
  NeuronSteps(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode)
      : plan_(plan_of(block, mode)),
        mode_(mode),
        out_(block.precision),
        fire_type_(block.attribute("fire_type")),
        shift_(static_cast<int>(block.attribute("shift")) / 2 * 2),
        seed_(static_cast<std::uint32_t>(block.attribute("seed"))),
        first_tick_(block.attribute("tw_cnt")),
        counts_ticks_(block.attribute("tw_en") != 0),
        first_theta_(mode == BlockMode::chip ? block.attribute("vtheta_const") : 0),
        plain_(plan_, first_theta_),
        jump_(plan_.neurons) {
    for (std::size_t i = 0; i < 5; ++i)
      precisions_[i] = i < in.size() && in[i].there ? in[i].type.precision : Precision::i32;
    masks_ = in.size() > mask && in[mask].there && mode == BlockMode::chip ? in[mask].type.elements() : 0;
    takes_count_ = in.size() > refractory && in[refractory].there;
    takes_theta_ = in.size() > threshold && in[threshold].there;
    if (mode == BlockMode::rabbit && fire_type_ != 4) shift_ = static_cast<int>(block.attribute("shift"));
    const auto n = static_cast<std::size_t>(plan_.neurons);
    scratch_ = 4 * n * sizeof(std::int32_t);
    if (!takes_count_) counts_.resize(n);
    if (!takes_theta_) thetas_.resize(n);
    is_plain_ = !takes_count_ && !takes_theta_ && plan_.refractory == 0 && masks_ == 0 && *plan_.mask == 0 &&
                plan_.theta_leak == 0 && plan_.theta_rise == 0 && !plan_.theta_decay &&
                (fire_type_ == 4 || fire_type_ == 5) && info(out_).bytes == 1;
    find_range();
    reset();
  }

  void reset() override {
    register_ = seed_;
    tick_ = first_tick_;
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(thetas_.begin(), thetas_.end(), static_cast<std::int32_t>(first_theta_));
  }

  BlockRun run(const BlockArgs& args) override {
    const std::int64_t n = plan_.neurons;
    auto* room = reinterpret_cast<std::int32_t*>(args.scratch);
    auto cluster = [&](std::size_t i, std::int64_t slot) {
      return widened(precisions_[i], args.in[i], n, room + slot * n);
    };
    const std::int32_t* u = cluster(current, 0);
    const std::int32_t* v = cluster(state, 1);
    const std::int32_t* count = takes_count_ ? cluster(refractory, 2) : counts_.data();
    const std::int32_t* theta = takes_theta_ ? cluster(threshold, 3) : thetas_.data();
    // A window's end is asked for before its counter moves.
    const bool ends = mode_ == BlockMode::chip && tick_ >= *plan_.window;
    if (is_plain_ && !ends && keeps_words(args)) {
      plain_.step(u, v, reinterpret_cast<std::int8_t*>(args.out), reinterpret_cast<std::int32_t*>(args.states[state]),
                  n);
      register_ = jump_.of(register_);  // as if each had drawn
    } else
      for (std::int64_t i = 0; i < n; ++i) {
        register_ = shifted(register_);
        const std::int32_t random = masked(register_, mask_at(args, i));
        const NeuronStep step = step_neuron(plan_, {v[i], count[i], theta[i]}, u[i], low_28(random), ends);
        const std::int32_t made = fired(step, random);
        narrowed(out_, &made, 1, args.out + i * info(out_).bytes);
        keep(args, state, i, step.state.potential);
        if (takes_count_) keep(args, refractory, i, step.state.count);
        if (takes_theta_) keep(args, threshold, i, step.state.theta);
        if (!takes_count_) counts_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(step.state.count);
        if (!takes_theta_) thetas_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(step.state.theta);
      }
    if (counts_ticks_) tick_ = tick_ == *plan_.window ? 0 : tick_ + 1;
    return {};
  }

  void remember(const std::byte* memory) override {
    std::memcpy(&register_, memory, sizeof register_);
    std::memcpy(&tick_, memory + 8, sizeof tick_);
    const std::size_t bytes = static_cast<std::size_t>(plan_.neurons) * sizeof(std::int32_t);
    std::memcpy(counts_.data(), memory + 16, counts_.size() * sizeof(std::int32_t));
    std::memcpy(thetas_.data(), memory + 16 + bytes, thetas_.size() * sizeof(std::int32_t));
  }

  void save(std::byte* memory) const override {
    std::memcpy(memory, &register_, sizeof register_);
    std::memcpy(memory + 8, &tick_, sizeof tick_);
    const std::size_t bytes = static_cast<std::size_t>(plan_.neurons) * sizeof(std::int32_t);
    std::memcpy(memory + 16, counts_.data(), counts_.size() * sizeof(std::int32_t));
    std::memcpy(memory + 16 + bytes, thetas_.data(), thetas_.size() * sizeof(std::int32_t));
  }

  std::int64_t tick() const { return tick_; }

 private:
  // New potentials go to where words lie, so that the quick loop can write them.
  bool keeps_words(const BlockArgs& args) const {
    return args.states.size() > state && args.states[state] && info(precisions_[state]).bytes == 4;
  }

  std::int32_t mask_at(const BlockArgs& args, std::int64_t i) const {
    if (masks_ == 0) return static_cast<std::int32_t>(*plan_.mask);
    return static_cast<std::int32_t>(element(precisions_[mask], args.in[mask], i % masks_));
  }

  void keep(const BlockArgs& args, std::size_t cluster, std::int64_t i, std::int64_t value) const {
    if (cluster >= args.states.size() || !args.states[cluster]) return;
    const auto narrow = static_cast<std::int32_t>(value);
    narrowed(precisions_[cluster], &narrow, 1, args.states[cluster] + i * info(precisions_[cluster]).bytes);
  }

  std::int32_t fired(const NeuronStep& step, std::int32_t random) const {
    switch (fire_type_) {
      case 0:
        return static_cast<std::int32_t>(step.charged);
      case 1:
        return static_cast<std::int32_t>(step.state.potential);
      case 2:
        return as_byte(step.charged >> shift_);
      case 3:
        return as_byte(step.state.potential >> shift_);
      case 6:
        return random;
      case 7:
        return static_cast<std::int8_t>(random & 255);
      default:
        return step.spikes ? 1 : 0;
    }
  }

  void find_range() {
    constexpr std::int64_t most = std::int64_t{1} << 27;
    range_ = fire_type_ == 4 || fire_type_ == 5   ? ValueRange{0, 1}
             : fire_type_ == 0 || fire_type_ == 1 ? ValueRange{-most, most - 1}
                                                  : range_of(out_);
  }

  LifPlan plan_;
  BlockMode mode_;
  Precision out_;
  std::int64_t fire_type_;
  int shift_;
  std::uint32_t seed_, register_ = 1;
  std::int64_t first_tick_, tick_ = 0;
  bool counts_ticks_;
  std::int64_t first_theta_, masks_ = 0;
  bool takes_count_ = false, takes_theta_ = false;
  Precision precisions_[5];
  std::vector<std::int32_t> counts_, thetas_;  // where no storage keeps them
  bool is_plain_ = false;                      // nothing but charge, fire, reset and leak
  PlainNeurons plain_;
  RegisterJump jump_;
};

}  // namespace

constinit const BlockNumerics neuron_steps{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) -> std::unique_ptr<BlockRunner> {
      return std::make_unique<NeuronSteps>(block, in, mode);
    }};

}  // namespace taskspec::block_parts
