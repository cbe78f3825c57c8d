#include "hwsim/spikes/chip_neurons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace taskspec {

std::int32_t PotentialScale::integer(double number, std::size_t neuron) const {
  const double scaled = std::floor(number / unit + (offset.empty() ? 0.0 : offset[neuron]) + 0.5);
  return static_cast<std::int32_t>(std::clamp<double>(scaled, least, most));
}

void ChipRefusals::add(std::string_view population, std::string reason) {
  notes_.push_back(fmt::format("'{}': {}", population, reason));
}

Diags ChipRefusals::diags(std::string_view net, const Chip& chip) const {
  Diags diags;
  Diag& diag = diags.error("E4052", Span{},
                           fmt::format("{} population{} of '{}' cannot be made of the {} neurons of {}", notes_.size(),
                                       notes_.size() == 1 ? "" : "s", net, name_of(chip.neuron), chip.name));
  for (const std::string& note : notes_) diag.note(note);
  return diags;
}

std::optional<std::string> wrapping_note(const SpikingNet& net, PopulationId to) {
  constexpr std::int64_t end = 1 << 17;  // of weights: currents are counted in their 64ths
  const auto* model = std::get_if<LoihiNeurons>(&net[to].model);
  if (!model) return std::nullopt;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(net[to].neurons()));
  for (const SpikeConnection& c : net.connections) {
    if (c.to != to) continue;
    const auto* rows = std::get_if<SparseSynapses>(&c.synapses);
    const bool is_kernel = c.kind() == SynapseKind::convolution;  // all places of a channel alike
    std::vector<std::int64_t> brought(is_kernel ? static_cast<std::size_t>(net[to].shape.f) : sums.size());
    const std::vector<std::int32_t>& weights = std::visit(
        [](const auto& synapses) -> const std::vector<std::int32_t>& { return synapses.weights; }, c.synapses);
    for (std::size_t k = 0; k < weights.size(); ++k)
      brought[rows ? rows->targets[k] : k % brought.size()] += std::abs(std::int64_t{weights[k]});
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += brought[n % brought.size()];
  }
  // What comes in each step adds up to so many times itself.
  const std::int64_t decay = std::max<std::int64_t>(1, model->du);
  if (sums.empty() || *std::ranges::max_element(sums) * 4096 < end * decay) return std::nullopt;
  return fmt::format("'{}': if all its inputs spike at once, its current wraps around at 24 bits", net[to].name);
}

namespace {

// Of a CLIF: what the neurons of other chips have, too.
struct PlainNeuron {
  std::int64_t threshold = 0, leak = 0, rest = 0, reset = 0, dv = 0;
};

class Translation {
 public:
  Translation(const SpikingNet& net, const Chip& chip) : chip_(chip) { made_.net = net; }

  Result<ChipNeurons> run() {
    made_.potentials.resize(made_.net.populations.size());
    made_.currents.resize(made_.net.populations.size());
    for (std::size_t p = 0; p < made_.net.populations.size(); ++p) {
      const auto* clif = std::get_if<ClifNeurons>(&made_.net.populations[p].model);
      if (!clif) continue;
      if (const std::optional<PlainNeuron> plain = plain_of(*clif, made_.net.populations[p].name)) {
        if (chip_.neuron == NeuronModel::loihi) {
          make_loihi(made_.net.populations[p], *plain, made_.potentials[p]);
          if (auto note = wrapping_note(made_.net, PopulationId(p))) made_.notes.push_back(*std::move(note));
        } else
          make_truenorth(made_.net.populations[p], *plain, made_.potentials[p]);
      }
    }
    if (refused_.any()) return refused_.diags(made_.net.name, chip_);
    return std::move(made_);
  }

 private:
  std::optional<PlainNeuron> plain_of(const ClifNeurons& clif, const std::string& name) {
    auto of = [&](std::string_view attribute) { return clif.block.attribute(attribute); };
    std::vector<std::string> reasons;
    if (of("vleaky_adpt_en") != 0)
      reasons.push_back(
          fmt::format("it keeps {} / 256 of its potential, rounded down, which its neurons cannot do "
                      "number by number",
                      of("vleaky_alpha")));
    if (of("ref_len") != 0) reasons.emplace_back("it rests after a spike");
    if (of("tw_en") != 0) reasons.emplace_back("it has a window");
    if (of("vth_adpt_en") != 0 || of("vth_beta") != 0 || of("vth_incre") != 0)
      reasons.emplace_back("its threshold moves");
    if (!clif.thresholds.empty()) reasons.emplace_back("its threshold differs from neuron to neuron");
    if (!clif.masks.empty() || of("vm_const") != 0) reasons.emplace_back("its threshold is random");
    if (of("vl") > -(std::int64_t{1} << 27)) reasons.push_back(fmt::format("its potential ends at {}", of("vl")));
    if (!reasons.empty()) {
      refused_.add(name, fmt::format("{}", fmt::join(reasons, "; ")));
      return std::nullopt;
    }
    return PlainNeuron{of("vth0") + of("vtheta_const"), of("vleaky_beta"), of("vr"), of("reset_mode"), of("dv")};
  }

  static bool within(std::int64_t value, std::int64_t least, std::int64_t most) {
    return value >= least && value <= most;
  }

  void make_loihi(SpikePopulation& population, const PlainNeuron& plain, PotentialScale& scale) {
    constexpr std::int64_t unit = 64, most_bias = (std::int64_t{1} << 23) - 1;
    if (plain.reset != 0) return refused_.add(population.name, "a spike takes something off its potential; here to 0");
    const std::int64_t threshold = plain.threshold - plain.rest;
    if (!within(threshold, 0, (1 << 17) - 1))
      return refused_.add(population.name,
                          fmt::format("its threshold is {} above its reset, and 0..131071 are possible", threshold));
    std::vector<std::int32_t> bias(static_cast<std::size_t>(population.neurons()));
    for (std::size_t n = 0; n < bias.size(); ++n) {
      const std::int64_t value = unit * (plain.leak + (population.bias.empty() ? 0 : population.bias[n]));
      if (!within(value, -most_bias, most_bias))
        return refused_.add(population.name,
                            fmt::format("a bias of {}, and less than 2^17 are possible", value / unit));
      bias[n] = static_cast<std::int32_t>(value);
    }
    population.bias = std::move(bias);
    scale.unit = 1.0 / static_cast<double>(unit);
    scale.most = loihi_end;
    scale.least = -loihi_end;
    start(population, plain.rest + plain.leak, unit, scale);
    population.model = LoihiNeurons{.du = 4096, .dv = 0, .threshold = static_cast<std::int32_t>(threshold)};
    made_.notes.push_back(fmt::format("'{}' saturates at 2^17, a CLIF at 2^27", population.name));
  }

  void make_truenorth(SpikePopulation& population, const PlainNeuron& plain, PotentialScale& scale) {
    constexpr std::int64_t end = std::int64_t{1} << 19;
    const bool subtracts = plain.reset == 1 || (plain.reset == 2 && plain.dv == plain.threshold);
    if (plain.reset != 0 && !subtracts)
      return refused_.add(population.name, "a spike takes something off its potential that is not the threshold");
    for (const std::int64_t value : {plain.threshold, plain.leak, plain.rest - 1})
      if (!within(value, -end, end - 1))
        return refused_.add(population.name, fmt::format("its number {} takes more than 20 bits", value));
    scale.most = end - 1;
    scale.least = -end;
    start(population, plain.leak + 1, 1, scale);
    population.model = TrueNorthNeurons{.threshold = static_cast<std::int32_t>(plain.threshold),
                                        .leak = static_cast<std::int32_t>(plain.leak),
                                        .reset = static_cast<std::int32_t>(plain.rest - 1),
                                        .subtracts = subtracts};
    made_.notes.push_back(fmt::format("'{}' saturates at 2^19, a CLIF at 2^27", population.name));
  }

  // The current is what comes in this step, in 24 bits with six behind the point.
  // The chip begins where the block does: potential = (number - origin) * unit.
  static void start(SpikePopulation& population, std::int64_t origin, std::int64_t unit, PotentialScale& scale) {
    population.potentials.resize(static_cast<std::size_t>(population.neurons()));
    for (std::int32_t& v : population.potentials)
      v = static_cast<std::int32_t>(std::clamp<std::int64_t>((v - origin) * unit, scale.least, scale.most));
    scale.offset.assign(population.potentials.size(), static_cast<double>(-origin * unit));
  }

  const Chip& chip_;
  ChipNeurons made_;
  ChipRefusals refused_;
};

}  // namespace

Result<ChipNeurons> on_chip_neurons(const SpikingNet& net, const Chip& chip) {
  if (chip.neuron != NeuronModel::clif) return Translation(net, chip).run();
  const std::size_t count = net.populations.size();
  return ChipNeurons{net, std::vector<PotentialScale>(count), std::vector<PotentialScale>(count), {}};
}

}  // namespace taskspec
