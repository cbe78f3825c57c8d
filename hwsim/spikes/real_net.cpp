#include "hwsim/spikes/real_net.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace taskspec {

namespace {

using Kind = RealNeurons::Kind;

constexpr double limit_bias = (1 << 23) - 1;
constexpr std::int32_t loihi_shift = 6;  // sums are counted in 64ths of it

// One of a list that may be left out.
double at(const std::vector<double>& values, std::size_t neuron, double standard) {
  return values.empty() ? standard : values[neuron];
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::floor(value + 0.5)); }

struct Refusal {
  std::string text;
};

// The number that all neurons of a population share.
double shared(const std::vector<double>& values, std::string_view what, double standard = 0) {
  for (const double value : values)
    if (value != values[0]) throw Refusal{fmt::format("its {} differs from neuron to neuron", what)};
  return values.empty() ? standard : values[0];
}

// What one model of neurons makes of a population of real numbers.
class Scaling {
 public:
  Scaling(const RealNet& net, const Chip& chip, const BlockDef* clif)
      : net_(net), chip_(chip), clif_(clif), into_(net.populations.size()) {
    for (std::size_t c = 0; c < net.connections.size(); ++c) into_[net.connections[c].synapses.to.index()].push_back(c);
    const std::int64_t bits = chip.limits.weight_bits.value_or(8);
    most_weight_ = static_cast<double>((std::int64_t{1} << (bits - 1)) - 1);
    state_bits_ = static_cast<int>(chip.limits.state_bits.value_or(28));
  }

  Result<ChipNeurons> run() {
    made_.net.name = net_.name;
    for (const RealNeurons& neurons : net_.populations) {
      made_.net.add({.name = neurons.name, .shape = neurons.shape, .recorded = neurons.recorded});
      made_.potentials.push_back({.offset = std::vector<double>(static_cast<std::size_t>(neurons.shape.size()))});
      made_.currents.emplace_back();
    }
    for (std::size_t p = 0; p < net_.populations.size(); ++p) {
      if (net_.populations[p].kind == Kind::outside) continue;
      try {
        make(p);
      } catch (const Refusal& refusal) {
        refused_.add(net_.populations[p].name, refusal.text);
      }
    }
    if (refused_.any()) return refused_.diags(net_.name, chip_);
    return std::move(made_);
  }

 private:
  // What input is multiplied by on its way to the potential of a neuron.
  static double gain(const RealNeurons& n, std::size_t neuron) {
    const double r = at(n.r, neuron, 1);
    if (n.kind == Kind::integrate) return r;
    if (n.kind == Kind::leaky) return r * n.k_mem[neuron];
    if (n.kind == Kind::current) return r * n.k_mem[neuron] * n.k_syn[neuron] * at(n.w_in, neuron, 1);
    return 1;
  }

  void make(std::size_t p) {
    const RealNeurons& neurons = net_.populations[p];
    for (const auto* factors : {&neurons.k_mem, &neurons.k_syn})
      for (const double k : *factors)
        if (!(k >= 0 && k <= 1)) throw Refusal{fmt::format("a step takes {} of its way, and 0 to 1 are possible", k)};
    for (const auto* all :
         {&neurons.r, &neurons.w_in, &neurons.leak, &neurons.threshold, &neurons.reset, &neurons.bias})
      for (const double value : *all)
        if (!std::isfinite(value)) throw Refusal{"one of its parameters is no finite number"};
    std::vector<std::vector<double>> weights;  // by connection: with the gain of their targets
    for (const std::size_t c : into_[p]) weights.push_back(gained(net_.connections[c], neurons));
    const double scale = scale_of(neurons, weights);
    switch (chip_.neuron) {
      case NeuronModel::loihi:
        make_loihi(p, neurons, scale);
        break;
      case NeuronModel::truenorth:
        make_truenorth(p, neurons, scale);
        break;
      case NeuronModel::clif:
        make_clif(p, neurons, scale);
        break;
    }
    const double weight_scale = scale * weight_unit();
    for (std::size_t i = 0; i < weights.size(); ++i) connect(net_.connections[into_[p][i]], weights[i], weight_scale);
    if (auto note = wrapping_note(made_.net, PopulationId(p))) made_.notes.push_back(*std::move(note));
  }

  double weight_unit() const { return chip_.neuron == NeuronModel::loihi ? 1.0 / (1 << loihi_shift) : 1.0; }

  std::vector<double> gained(const RealConnection& connection, const RealNeurons& to) const {
    std::vector<double> weights = connection.weights;
    if (const auto* rows = std::get_if<SparseSynapses>(&connection.synapses.synapses)) {
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= gain(to, rows->targets[i]);
      return weights;
    }
    // The kernel of a convolution ends in all pixels of a channel: their gain is one.
    const bool is_kernel = connection.synapses.kind() == SynapseKind::convolution;
    const auto targets = static_cast<std::size_t>(is_kernel ? to.shape.f : to.shape.size());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= gain(to, i % targets);
    return weights;
  }

  double scale_of(const RealNeurons& neurons, const std::vector<std::vector<double>>& weights) {
    const double level = std::max({largest(neurons.threshold), largest(neurons.leak), largest(neurons.reset)});
    int exponent = state_bits_ - 4;
    auto is_small = [&](double number, double end) { return std::ldexp(number, exponent) < end; };
    if (level > 0) exponent = static_cast<int>(std::floor(std::log2(std::ldexp(1.0, state_bits_ - 4) / level)));
    while (!is_small(level, std::ldexp(1.0, state_bits_ - 4))) --exponent;
    const int free = exponent;
    double most = 0;
    for (const auto& all : weights) most = std::max(most, largest(all));
    double bias = 0;
    for (std::size_t n = 0; n < neurons.bias.size(); ++n)
      bias = std::max(bias, std::abs(neurons.bias[n] * gain(neurons, n)));
    const bool has_bias_axon = neurons.kind == Kind::current && bias > 0 && chip_.neuron == NeuronModel::loihi;
    if (has_bias_axon) most = std::max(most, bias);
    while (most > 0 && !(std::floor(std::ldexp(most * weight_unit(), exponent) + 0.5) <= most_weight_)) --exponent;
    while (!has_bias_axon && bias > 0 && !is_small(bias, limit_bias)) --exponent;
    std::string note = fmt::format("'{}': potentials are counted in 2^{}", neurons.name, -exponent);
    if (exponent < free)
      note +=
          fmt::format("; weights of {} bits cost {} of them", chip_.limits.weight_bits.value_or(8), free - exponent);
    made_.notes.push_back(std::move(note));
    return std::ldexp(1.0, exponent);
  }

  // A share of 1 as so many 4096ths.
  std::int32_t share(const RealNeurons& neurons, double k, std::string_view what) {
    const auto parts = static_cast<std::int32_t>(whole(4096 * k));
    if (k > 0 && parts == 0)
      made_.notes.push_back(
          fmt::format("'{}': {} of {} a step is less than 1/8192 and gets lost", neurons.name, what, k));
    return parts;
  }

  void make_loihi(std::size_t p, const RealNeurons& neurons, double scale) {
    if (neurons.subtracts) throw Refusal{"a spike takes the threshold off its potential, and here it goes to 0"};
    const auto count = static_cast<std::size_t>(neurons.shape.size());
    LoihiNeurons model{.du = 4096, .dv = 0};
    if (neurons.kind == Kind::threshold) model.dv = 4096;
    if (neurons.kind == Kind::leaky || neurons.kind == Kind::current)
      model.dv = share(neurons, shared(neurons.k_mem, "tau"), "a leak");
    if (neurons.kind == Kind::current) model.du = share(neurons, shared(neurons.k_syn, "tau_syn"), "a decay");
    std::vector<double> above(count);  // of the threshold: potentials are counted from what a reset leaves
    for (std::size_t n = 0; n < count; ++n) above[n] = neurons.threshold[n] - at(neurons.reset, n, 0);
    const std::int64_t threshold = whole(shared(above, "threshold") * scale * weight_unit());
    if (threshold < 0 || threshold > (1 << 17) - 1)
      throw Refusal{fmt::format("its threshold is {} above its reset, and 0..131071 are possible", threshold)};
    model.threshold = static_cast<std::int32_t>(threshold);
    SpikePopulation& population = made_.net.populations[p];
    population.model = model;
    population.bias.resize(count);
    population.potentials.resize(count);
    PotentialScale& potentials = made_.potentials[p];
    potentials.unit = 1 / scale;
    potentials.most = loihi_end;
    potentials.least = -loihi_end;
    for (std::size_t n = 0; n < count; ++n) {
      const double reset = at(neurons.reset, n, 0);
      double bias = neurons.k_mem.empty() ? 0 : neurons.k_mem[n] * (at(neurons.leak, n, 0) - reset);
      if (neurons.kind == Kind::threshold) bias = -reset;
      if (neurons.kind != Kind::current) bias += at(neurons.bias, n, 0) * gain(neurons, n);
      if (std::abs(bias * scale) > limit_bias) throw Refusal{"its bias takes more than 24 bits"};
      population.bias[n] = static_cast<std::int32_t>(whole(bias * scale));
      population.potentials[n] = static_cast<std::int32_t>(whole(-reset * scale));
      potentials.offset[n] = -reset * scale;
    }
    if (neurons.kind == Kind::current) {
      // u = r k_mem i
      const double unit = shared(neurons.r, "r", 1) * neurons.k_mem[0] * scale;
      made_.currents[p].unit = unit == 0 ? 1 : 1 / unit;
    }
    if (neurons.kind == Kind::current && largest(neurons.bias) > 0) add_bias_axon(p, neurons, scale);
  }

  // What is constant passes through the synapses, too: an axon that spikes in each step brings it.
  void add_bias_axon(std::size_t p, const RealNeurons& neurons, double scale) {
    if (!always_.valid()) {
      always_ = made_.net.add({.name = "always"});
      made_.potentials.emplace_back();
      made_.currents.emplace_back();
    }
    DenseSynapses synapses;
    for (std::size_t n = 0; n < neurons.bias.size(); ++n)
      synapses.weights.push_back(
          static_cast<std::int32_t>(whole(neurons.bias[n] * gain(neurons, n) * scale * weight_unit())));
    made_.net.connect({.name = fmt::format("bias of {}", neurons.name),
                       .from = always_,
                       .to = PopulationId(p),
                       .synapses = std::move(synapses)});
  }

  void make_truenorth(std::size_t p, const RealNeurons& neurons, double scale) {
    if (neurons.kind == Kind::current) throw Refusal{"its synapses keep a current, and here they keep nothing"};
    if (neurons.kind == Kind::threshold)
      throw Refusal{"it keeps nothing from step to step, and here a potential stays"};
    if (largest(neurons.k_mem) > 0)
      throw Refusal{"its potential leaks by a share of it, and here by the same number in each step"};
    const auto count = static_cast<std::size_t>(neurons.shape.size());
    const std::int64_t threshold = whole(shared(neurons.threshold, "threshold") * scale),
                       reset = whole(shared(neurons.reset, "reset") * scale);
    // Spikes at the threshold, not above it: potentials are counted one below theirs.
    SpikePopulation& population = made_.net.populations[p];
    population.model = TrueNorthNeurons{.threshold = static_cast<std::int32_t>(threshold),
                                        .leak = 0,
                                        .reset = static_cast<std::int32_t>(reset - 1),
                                        .subtracts = neurons.subtracts};
    population.potentials.assign(count, -1);
    made_.potentials[p].unit = 1 / scale;
    made_.potentials[p].offset.assign(count, -1);
    if (largest(neurons.bias) == 0) return;
    for (std::size_t n = 0; n < count; ++n)
      population.bias.push_back(static_cast<std::int32_t>(whole(neurons.bias[n] * gain(neurons, n) * scale)));
  }

  TaskBlock clif_block(const RealNeurons& neurons, Precision precision) const {
    TaskBlock block;
    block.def = clif_;
    block.name = neurons.name;
    block.shape = {.y = neurons.shape.y, .x = neurons.shape.x, .f = neurons.shape.f};
    block.precision = precision;
    set(block, "vl", -(std::int64_t{1} << 27));
    return block;
  }
  void set(TaskBlock& block, std::string_view attribute, std::int64_t value) const {
    const BlockAttributeDef* def = clif_->find_attribute(attribute);
    if (value != def->standard) block.set(*def, value);
  }

  // What a step takes of a potential, in 256ths, is left of it.
  std::int64_t set_leak(TaskBlock& block, const RealNeurons& neurons, double k, std::string_view what) {
    const std::int64_t alpha = whole(256 * (1 - k));
    if (k > 0) set(block, "vleaky_adpt_en", 1), set(block, "vleaky_alpha", alpha);
    if (k > 0 && alpha == 256)
      made_.notes.push_back(fmt::format(
          "'{}': {} of {} a step is less than 1/512 and gets lost; with {:.4g} times the step of time it acts",
          neurons.name, what, k, 1.0 / 512 / k));
    return alpha;
  }

  // Leaking behind the reset is leaking in front of the next step: its potential is the one of real numbers after that.
  void make_clif(std::size_t p, const RealNeurons& neurons, double scale) {
    const double k = neurons.kind == Kind::threshold ? 1 : shared(neurons.k_mem, "tau");
    const std::int64_t leak = whole(k * shared(neurons.leak, "v_leak") * scale);
    SpikePopulation& population = made_.net.populations[p];
    ClifNeurons model{.block = clif_block(neurons, Precision::i8)};
    set(model.block, "vth0", whole(shared(neurons.threshold, "threshold") * scale));
    set(model.block, "vr", whole(shared(neurons.reset, "reset") * scale));
    set(model.block, "reset_mode", neurons.subtracts ? 1 : 0);
    set(model.block, "fire_type", 4);
    set(model.block, "vleaky_beta", leak);
    const std::int64_t alpha = set_leak(model.block, neurons, k, "a leak");
    if (neurons.kind == Kind::current) add_synapse(p, neurons, scale, model);
    const auto count = static_cast<std::size_t>(neurons.shape.size());
    const std::int64_t constant = model.block.attribute("vleaky_beta");
    population.potentials.assign(count, static_cast<std::int32_t>(constant));
    made_.potentials[p].unit = alpha == 0 ? 1 / scale : 256.0 / static_cast<double>(alpha) / scale;
    made_.potentials[p].offset.assign(count, static_cast<double>(constant));
    if (largest(neurons.bias) > 0)
      for (std::size_t n = 0; n < count; ++n)
        population.bias.push_back(static_cast<std::int32_t>(whole(neurons.bias[n] * gain(neurons, n) * scale)));
    population.model = std::move(model);
  }

  // A CLIF that never fires keeps the current as what it adds to the potential in a step, r k_mem i: so it needs no
  // cut, and no factor behind it. It is counted from `above` on, so that what leaks is rounded, not cut:
  // floor((i + above) alpha / 256) + beta = floor(i alpha / 256 + 1/2) + above, where above (256 - alpha) / 256 = beta
  // - 1/2; the neurons take off `above` with their own constant.
  void add_synapse(std::size_t p, const RealNeurons& neurons, double scale, ClifNeurons& model) {
    TaskBlock block = clif_block(neurons, Precision::i32);
    set(block, "vth0", (std::int64_t{1} << 27) - 1);
    set(block, "reset_mode", 3);
    set(block, "fire_type", 0);
    const std::int64_t alpha = set_leak(block, neurons, shared(neurons.k_syn, "tau_syn"), "a decay");
    std::int64_t above = 0, beta = 0;
    double least = 1;
    for (std::int64_t b = 1; b <= 8 && alpha > 0 && alpha < 256; ++b) {
      const double share = static_cast<double>(256 - alpha) / 256, wanted = static_cast<double>(b) - 0.5;
      const std::int64_t a = whole(wanted / share);
      if (const double off = std::abs(static_cast<double>(a) * share - wanted); off < least)
        least = off, above = a, beta = b;
    }
    set(block, "vleaky_beta", beta);
    model.first_current = static_cast<std::int32_t>(above);
    set(model.block, "vleaky_beta", model.block.attribute("vleaky_beta") - above);
    const double unit = shared(neurons.r, "r", 1) * neurons.k_mem[0] * scale;
    made_.currents[p].unit = alpha == 0 || unit == 0 ? 1 : 256.0 / static_cast<double>(alpha) / unit;
    made_.currents[p].offset.assign(static_cast<std::size_t>(neurons.shape.size()), static_cast<double>(above));
    model.synapse = std::move(block);
  }

  void connect(const RealConnection& real, const std::vector<double>& weights, double scale) {
    SpikeConnection made = real.synapses;
    std::visit(
        [&](auto& synapses) {
          synapses.weights.clear();
          for (const double weight : weights)
            synapses.weights.push_back(static_cast<std::int32_t>(whole(weight * scale)));
        },
        made.synapses);
    made_.net.connect(std::move(made));
  }

  const RealNet& net_;
  const Chip& chip_;
  const BlockDef* clif_;
  std::vector<std::vector<std::size_t>> into_;  // connections, by population
  double most_weight_ = 127;
  int state_bits_ = 28;
  PopulationId always_;
  ChipNeurons made_;
  ChipRefusals refused_;
};

}  // namespace

Result<ChipNeurons> in_integers(const RealNet& net, const Chip& chip, const BlockDef* clif) {
  return Scaling(net, chip, clif).run();
}

}  // namespace taskspec
