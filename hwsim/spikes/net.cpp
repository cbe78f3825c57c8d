#include "hwsim/spikes/net.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace taskspec {

namespace {

constexpr std::int64_t most_neurons = std::int64_t{1} << 30;
constexpr std::int32_t bias_limit = 1 << 23;

class NetCheck {
 public:
  explicit NetCheck(const SpikingNet& net) : net_(net) {}

  Diags run() {
    for (const SpikePopulation& population : net_.populations) check(population);
    if (net_.neurons() > most_neurons)
      refuse(
          fmt::format("network '{}': {} neurons, at most {} are simulated", net_.name, net_.neurons(), most_neurons));
    if (!diags_.has_errors())
      for (const SpikeConnection& connection : net_.connections) check(connection);
    return std::move(diags_);
  }

 private:
  Diag& refuse(std::string message) { return diags_.error("E4006", Span{}, std::move(message)); }

  void check(const SpikePopulation& p) {
    const SpikeShape& s = p.shape;
    if (s.y < 1 || s.x < 1 || s.f < 1 || s.size() > most_neurons) {
      refuse(fmt::format("population '{}': {} x {} x {} neurons", p.name, s.y, s.x, s.f));
      return;
    }
    check_length(p, "bias", p.bias);
    check_length(p, "potentials", p.potentials);
    for (const std::int32_t b : p.bias)
      if (!std::holds_alternative<GradedSums>(p.model) && (b <= -bias_limit || b >= bias_limit)) {
        refuse(fmt::format("population '{}': a bias of {}, and neurons take less than 2^23", p.name, b));
        break;
      }
    if (const auto* loihi = std::get_if<LoihiNeurons>(&p.model)) {
      check_range(p, "du", loihi->du, 0, 4096);
      check_range(p, "dv", loihi->dv, 0, 4096);
      check_range(p, "threshold", loihi->threshold, 0, (1 << 17) - 1);
    } else if (const auto* north = std::get_if<TrueNorthNeurons>(&p.model)) {
      for (const auto& [name, value] :
           {std::pair{"threshold", north->threshold}, {"leak", north->leak}, {"reset", north->reset}})
        check_range(p, name, value, -(1 << 19), (1 << 19) - 1);
    } else if (const auto* clif = std::get_if<ClifNeurons>(&p.model)) {
      check_clif(p, *clif);
    } else if (const auto* sums = std::get_if<GradedSums>(&p.model); sums && sums->block) {
      if (!sums->block->def || !sums->block->def->numerics || sums->block->def->kind != BlockKind::soma)
        refuse(fmt::format("population '{}': its block makes nothing of a sum", p.name));
    }
  }

  void check_clif(const SpikePopulation& p, const ClifNeurons& clif) {
    check_length(p, "thresholds", clif.thresholds);
    check_length(p, "masks", clif.masks);
    const auto is_clif = [](const TaskBlock& block) {
      return block.def && block.def->numerics && block.def->name == "CLIF";
    };
    if (!is_clif(clif.block) || (clif.synapse && !is_clif(*clif.synapse))) {
      refuse(fmt::format("population '{}': its block is no CLIF", p.name));
      return;
    }
    if (clif.synapse && clif.synapse->attribute("fire_type") != 0)
      refuse(fmt::format("population '{}': its synapse gives no current; fire_type 0 does", p.name));
    const std::int64_t fires = clif.block.attribute("fire_type");
    if (fires != 4 && fires != 5)
      refuse(fmt::format("population '{}': fire_type {} makes no spikes; 4 and 5 do", p.name, fires));
  }

  void check_range(const SpikePopulation& p, std::string_view what, std::int64_t value, std::int64_t least,
                   std::int64_t most) {
    if (value < least || value > most)
      refuse(fmt::format("population '{}': {} {} lies outside {}..{}", p.name, what, value, least, most));
  }

  void check_length(const SpikePopulation& p, std::string_view what, const std::vector<std::int32_t>& values) {
    if (!values.empty() && static_cast<std::int64_t>(values.size()) != p.neurons())
      refuse(fmt::format("population '{}': {} {} for {} neurons", p.name, values.size(), what, p.neurons()));
  }

  void check(const SpikeConnection& c) {
    const std::size_t count = net_.populations.size();
    if (c.from.index() >= count || c.to.index() >= count) {
      refuse(fmt::format("connection '{}' joins a population that is not there", c.name));
      return;
    }
    if (net_[c.to].is_outside())
      refuse(fmt::format("connection '{}' leads to '{}', whose spikes come from outside", c.name, net_[c.to].name));
    if (c.delay < 0 || c.delay > longest_delay)
      refuse(fmt::format("connection '{}': a delay of {} steps; 0..{} are possible", c.name, c.delay, longest_delay));
    const std::int64_t sources = net_[c.from].neurons(), targets = net_[c.to].neurons();
    if (const auto* dense = std::get_if<DenseSynapses>(&c.synapses))
      check_count(c, "weights", dense->weights.size(), sources * targets);
    else if (const auto* conv = std::get_if<ConvolutionSynapses>(&c.synapses))
      check_convolution(c, *conv);
    else
      check_rows(c, std::get<SparseSynapses>(c.synapses), sources, targets);
  }

  void check_convolution(const SpikeConnection& c, const ConvolutionSynapses& conv) {
    const std::int32_t least =
        std::min({conv.ky, conv.kx, conv.stride_y, conv.stride_x, conv.dilation_y, conv.dilation_x});
    const std::int32_t most = std::max(
        {conv.ky, conv.kx, conv.stride_y, conv.stride_x, conv.dilation_y, conv.dilation_x, conv.pad_y, conv.pad_x});
    if (least < 1 || conv.pad_y < 0 || conv.pad_x < 0 || most > 65535)
      refuse(fmt::format("connection '{}': kernel, stride and dilation lie in 1..65535, pads in 0..65535", c.name));
    else
      check_count(c, "weights", conv.weights.size(),
                  std::int64_t{net_[c.from].shape.f} * conv.ky * conv.kx * net_[c.to].shape.f);
  }

  void check_rows(const SpikeConnection& c, const SparseSynapses& s, std::int64_t sources, std::int64_t targets) {
    check_count(c, "row offsets", s.offsets.size(), sources + 1);
    check_count(c, "weights", s.weights.size(), static_cast<std::int64_t>(s.targets.size()));
    if (!s.delays.empty()) check_count(c, "delays", s.delays.size(), static_cast<std::int64_t>(s.targets.size()));
    if (diags_.has_errors()) return;
    if (s.offsets.front() != 0 || s.offsets.back() != s.targets.size() ||
        !std::is_sorted(s.offsets.begin(), s.offsets.end())) {
      refuse(fmt::format("connection '{}': row offsets ascend from 0 to {}, the number of synapses", c.name,
                         s.targets.size()));
      return;
    }
    std::uint32_t highest = 0;
    for (const std::uint32_t target : s.targets) highest = std::max(highest, target);
    if (highest >= targets)
      refuse(fmt::format("connection '{}': target {} of a population of {}", c.name, highest, targets));
    std::uint8_t longest = 0;
    for (const std::uint8_t delay : s.delays) longest = std::max(longest, delay);
    if (c.delay + longest > longest_delay)
      refuse(fmt::format("connection '{}': a delay of {} steps; 0..{} are possible", c.name, c.delay + longest,
                         longest_delay));
  }

  void check_count(const SpikeConnection& c, std::string_view what, std::size_t is, std::int64_t wanted) {
    if (static_cast<std::int64_t>(is) != wanted)
      refuse(fmt::format("connection '{}': {} {}, and '{}' to '{}' takes {}", c.name, is, what, net_[c.from].name,
                         net_[c.to].name, wanted));
  }

  const SpikingNet& net_;
  Diags diags_;
};

SparseSynapses expanded_dense(const DenseSynapses& dense, std::int64_t sources, std::int64_t targets) {
  SparseSynapses rows;
  rows.weights = dense.weights;
  rows.targets.reserve(dense.weights.size());
  for (std::int64_t s = 0; s <= sources; ++s) rows.offsets.push_back(static_cast<std::uint32_t>(s * targets));
  for (std::int64_t s = 0; s < sources; ++s)
    for (std::int64_t t = 0; t < targets; ++t) rows.targets.push_back(static_cast<std::uint32_t>(t));
  return rows;
}

}  // namespace

PopulationId SpikingNet::add(SpikePopulation population) {
  populations.push_back(std::move(population));
  return PopulationId(populations.size() - 1);
}

std::int64_t SpikingNet::neurons() const {
  std::int64_t sum = 0;
  for (const SpikePopulation& population : populations) sum += population.neurons();
  return sum;
}

Diags check_spiking(const SpikingNet& net) { return NetCheck(net).run(); }

SparseSynapses expanded(const SpikingNet& net, const SpikeConnection& connection) {
  const SpikeShape from = net[connection.from].shape, to = net[connection.to].shape;
  if (const auto* sparse = std::get_if<SparseSynapses>(&connection.synapses)) return *sparse;
  if (const auto* dense = std::get_if<DenseSynapses>(&connection.synapses))
    return expanded_dense(*dense, from.size(), to.size());
  const auto& conv = std::get<ConvolutionSynapses>(connection.synapses);
  SparseSynapses rows;
  rows.offsets.push_back(0);
  for (std::int64_t source = 0; source < from.size(); ++source) {
    for_each_tap(conv, from, to, source, [&](std::int64_t first, std::int64_t at) {
      for (std::int32_t f = 0; f < to.f; ++f) {
        rows.targets.push_back(static_cast<std::uint32_t>(first + f));
        rows.weights.push_back(conv.weights[static_cast<std::size_t>(at + f)]);
      }
    });
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.targets.size()));
  }
  return rows;
}

}  // namespace taskspec
