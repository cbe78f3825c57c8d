#include "stdlib/kernels/neurons.hpp"

#include <algorithm>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/kernels/neuron_step.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t neuron_grain = 32768;  // neurons per part of the work

template <class U>
TASKSPEC_CLONES void plain_step(const PlainNeurons& p, const U* u, const std::int32_t* v, std::int8_t* spike,
                                std::int32_t* new_v, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t charged = saturated_28(std::int64_t{v[i]} + static_cast<std::int64_t>(u[i]));
    const bool fires = charged > p.threshold;
    const std::int64_t reset = charged * p.keep - p.fixed - p.threshold * p.by_threshold;
    const std::int64_t leaked = (((fires ? reset : charged) * p.decay) >> 8) + p.leak;
    const std::int64_t next = saturated_28(leaked);
    spike[i] = fires;
    new_v[i] = static_cast<std::int32_t>(next < p.floor ? p.floor : next);
  }
}

struct Pointers {
  const std::byte* u = nullptr;
  const std::int32_t *v = nullptr, *count = nullptr, *theta = nullptr, *masks = nullptr;
  std::int8_t* spike = nullptr;
  std::int32_t *new_v = nullptr, *new_count = nullptr, *new_theta = nullptr;
};

template <class U>
class Lif final : public Kernel {
 public:
  explicit Lif(const LifPlan& plan) : p_(plan), plain_(plan) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    std::size_t in = 0, out = 0;
    auto next_in = [&](bool there) { return there ? reinterpret_cast<const std::int32_t*>(args.in[in++]) : nullptr; };
    auto next_out = [&](bool there) { return there ? reinterpret_cast<std::int32_t*>(args.out[out++]) : nullptr; };
    Pointers at;
    at.u = args.in[in++];
    at.v = next_in(true);
    at.count = next_in(p_.has_count);
    at.theta = next_in(p_.has_theta);
    at.masks = next_in(p_.masks > 0);
    const std::int32_t *random = next_in(p_.has_random), *ticks = next_in(p_.has_ticks);
    at.spike = reinterpret_cast<std::int8_t*>(args.out[out++]);
    at.new_v = next_out(true);
    at.new_count = next_out(p_.has_count);
    at.new_theta = next_out(p_.has_theta);
    std::int32_t *new_random = next_out(p_.has_random), *new_ticks = next_out(p_.has_ticks);
    // Read before anything is written: the new ones may lie in the same bytes.
    std::uint32_t state = random ? static_cast<std::uint32_t>(*random) : 0;
    const std::int64_t tick = ticks ? *ticks : 0;
    const bool ends = p_.window && tick >= *p_.window;
    const bool plain = !random && !at.count && !at.theta && !ends;
    if (plain)
      args.parallel.for_each(p_.neurons, neuron_grain, [&](std::int64_t begin, std::int64_t end) {
        plain_step(plain_, reinterpret_cast<const U*>(at.u) + begin, at.v + begin, at.spike + begin, at.new_v + begin,
                   end - begin);
      });
    else if (random)  // neurons in order
      step(at, 0, p_.neurons, ends, &state);
    else
      args.parallel.for_each(p_.neurons, neuron_grain,
                             [&](std::int64_t begin, std::int64_t end) { step(at, begin, end, ends, nullptr); });
    if (new_random) *new_random = static_cast<std::int32_t>(state);
    if (new_ticks) *new_ticks = tick == *p_.window ? 0 : static_cast<std::int32_t>(tick + 1);
    return std::nullopt;
  }

 private:
  void step(const Pointers& at, std::int64_t begin, std::int64_t end, bool ends, std::uint32_t* state) const {
    const U* u = reinterpret_cast<const U*>(at.u);
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t random = 0;
      if (state) {
        *state = shifted(*state);
        random =
            low_28(masked(*state, at.masks ? at.masks[i % p_.masks] : static_cast<std::int32_t>(p_.mask.value_or(0))));
      }
      neuron(at, i, static_cast<std::int64_t>(u[i]), random, ends);
    }
  }

  void neuron(const Pointers& at, std::int64_t i, std::int64_t u, std::int64_t random, bool ends) const {
    const NeuronState before{at.v[i], at.count ? at.count[i] : 0, at.theta ? at.theta[i] : 0};
    const NeuronStep step = step_neuron(p_, before, u, random, ends);
    at.spike[i] = step.spikes ? 1 : 0;
    at.new_v[i] = static_cast<std::int32_t>(step.state.potential);
    if (at.new_count) at.new_count[i] = static_cast<std::int32_t>(step.state.count);
    if (at.new_theta) at.new_theta[i] = static_cast<std::int32_t>(step.state.theta);
  }

  LifPlan p_;
  PlainNeurons plain_;
};

}  // namespace

PlainNeurons::PlainNeurons(const LifPlan& plan, std::int64_t theta)
    : threshold(std::max(saturated_28(plan.threshold + theta), plan.floor)),
      decay(plan.decay.value_or(256)),
      leak(plan.leak),
      floor(plan.floor),
      keep(plan.reset == Reset::to_value ? 0 : 1),
      fixed(plan.reset == Reset::to_value   ? -plan.vr
            : plan.reset == Reset::constant ? plan.dv
                                            : 0),
      by_threshold(plan.reset == Reset::subtract ? 1 : 0) {}

void PlainNeurons::step(const std::int32_t* u, const std::int32_t* v, std::int8_t* spike, std::int32_t* new_v,
                        std::int64_t count) const {
  plain_step(*this, u, v, spike, new_v, count);
}

std::unique_ptr<Kernel> lif_kernel(const LifPlan& plan, Precision current) {
  return with_storage(current, [&](auto element) -> std::unique_ptr<Kernel> {
    using U = decltype(element);
    if constexpr (std::is_integral_v<U>) return std::make_unique<Lif<U>>(plan);
    bug("neurons with a current that is no integer");
  });
}

}  // namespace taskspec
