#include "tests/hwsim/spikes_nets.hpp"

#include "stdlib/blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec {

namespace {

class RandomNet {
 public:
  RandomNet(std::uint64_t seed, bool huge) : random_(seed), huge_(huge) {}

  RandomSpikes make() {
    net_.name = "random";
    const PopulationId outside = net_.add({.name = "in", .shape = shape()});
    const std::int64_t count = draw(1, 3);
    for (std::int64_t p = 0; p < count; ++p) add_population();
    const auto all = static_cast<std::int64_t>(net_.populations.size());
    for (std::int64_t to = 1; to < all; ++to) connect(draw(0, to - 1), to, 0);  // in the same step, forward
    const std::int64_t more = draw(0, 4);
    for (std::int64_t i = 0; i < more; ++i) connect(draw(0, all - 1), draw(1, all - 1), draw(1, 5));
    for (std::size_t c = 0; c < net_.connections.size(); ++c) net_.connections[c].name = "c" + std::to_string(c);
    RandomSpikes made;
    made.steps = draw(5, 25);
    stimulate(made, outside);
    net_.cut_each_addition = draw(0, 5) == 0;
    made.net = std::make_shared<SpikingNet>(std::move(net_));
    return made;
  }

 private:
  std::int64_t draw(std::int64_t low, std::int64_t high) { return between(random_, low, high); }
  std::int32_t small(std::int64_t low, std::int64_t high) { return static_cast<std::int32_t>(draw(low, high)); }

  SpikeShape shape() { return {small(1, 6), small(1, 6), small(1, 5)}; }

  std::vector<std::int32_t> numbers(std::int64_t count, std::int64_t low, std::int64_t high) {
    std::vector<std::int32_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(small(low, high));
    return values;
  }

  PopulationModel model(std::int64_t neurons) {
    switch (draw(0, 3)) {
      case 0:
        return LoihiNeurons{.du = small(0, 4096), .dv = small(0, 4096), .threshold = small(0, 200)};
      case 1:
        return TrueNorthNeurons{small(0, 300), small(-20, 20), small(-50, 50), draw(0, 1) == 1};
      case 2: {  // shared random numbers
        ClifNeurons clif{clif_block({{"vth0", draw(20, 300)}, {"vm_const", 63}, {"seed", draw(1, 1000)}}), {}, {}};
        if (draw(0, 1) == 1) clif.masks = numbers(neurons, 0, 255);
        return clif;
      }
      default: {
        ClifNeurons clif{clif_block({{"vth0", draw(20, 300)},
                                     {"reset_mode", draw(0, 3)},
                                     {"vr", draw(-20, 20)},
                                     {"dv", draw(0, 100)},
                                     {"vleaky_adpt_en", draw(0, 1)},
                                     {"vleaky_alpha", draw(0, 256)},
                                     {"vleaky_beta", draw(-9, 9)},
                                     {"ref_len", draw(0, 3)}}),
                         {},
                         {}};
        if (draw(0, 1) == 1) clif.thresholds = numbers(neurons, -50, 50);
        return clif;
      }
    }
  }

  void add_population() {
    SpikePopulation population{
        .name = "p" + std::to_string(net_.populations.size()), .shape = shape(), .recorded = true};
    const std::int64_t neurons = population.neurons();
    population.model = model(neurons);
    if (draw(0, 1) == 1) population.bias = numbers(neurons, -100, 400);
    if (draw(0, 2) == 0) population.potentials = numbers(neurons, -100, 100);
    net_.add(std::move(population));
  }

  std::vector<std::int32_t> weights(std::int64_t count) {
    if (huge_) return numbers(count, -(std::int64_t{1} << 31), (std::int64_t{1} << 31) - 1);
    switch (draw(0, 3)) {
      case 0: {  // few distinct values beyond a byte
        std::vector<std::int32_t> values = numbers(count, 0, 1);
        for (std::int32_t& value : values) value = value == 0 ? -300 : 500;
        return values;
      }
      case 1:
        return numbers(count, -30000, 30000);
      case 2:
        return numbers(count, -100000, 100000);
      default:
        return numbers(count, -128, 127);
    }
  }

  void connect(std::int64_t from_index, std::int64_t to_index, std::int64_t delay) {
    const auto from = PopulationId(static_cast<std::size_t>(from_index));
    const auto to = PopulationId(static_cast<std::size_t>(to_index));
    const SpikeShape a = net_[from].shape, b = net_[to].shape;
    SpikeConnection c{.name = {}, .from = from, .to = to, .synapses = {}, .delay = static_cast<std::int32_t>(delay)};
    switch (draw(0, 3)) {
      case 0:
        c.synapses = DenseSynapses{weights(a.size() * b.size())};
        break;
      case 1: {
        ConvolutionSynapses conv{small(1, 3), small(1, 3), small(1, 2), small(1, 2), small(0, 2),
                                 small(0, 2), small(1, 2), small(1, 2), {}};
        conv.weights = weights(std::int64_t{a.f} * conv.ky * conv.kx * b.f);
        c.synapses = std::move(conv);
        break;
      }
      default: {
        SparseSynapses rows;
        rows.offsets.push_back(0);
        for (std::int64_t s = 0; s < a.size(); ++s) {
          const std::int64_t fan = draw(0, 12);
          for (std::int64_t i = 0; i < fan; ++i)
            rows.targets.push_back(static_cast<std::uint32_t>(draw(0, b.size() - 1)));
          rows.offsets.push_back(static_cast<std::uint32_t>(rows.targets.size()));
        }
        rows.weights = weights(static_cast<std::int64_t>(rows.targets.size()));
        if (draw(0, 1) == 1)
          for (std::size_t i = 0; i < rows.targets.size(); ++i)
            rows.delays.push_back(static_cast<std::uint8_t>(draw(0, 4)));
        c.synapses = std::move(rows);
      }
    }
    net_.connect(std::move(c));
  }

  void stimulate(RandomSpikes& made, PopulationId outside) {
    SpikeTrain train{outside, {0}, {}};
    const std::int64_t one_of = draw(1, 6);
    for (std::int64_t t = 0; t < made.steps; ++t) {
      for (std::uint32_t n = 0; n < net_[outside].neurons(); ++n)
        if (draw(1, one_of) == 1) train.neurons.push_back(n);
      train.offsets.push_back(static_cast<std::uint32_t>(train.neurons.size()));
    }
    made.stimulus.trains.push_back(std::move(train));
    if (draw(0, 1) == 0) return;
    const auto to =
        PopulationId(static_cast<std::size_t>(draw(1, static_cast<std::int64_t>(net_.populations.size()) - 1)));
    const std::int64_t steps = draw(0, 1) == 1 ? made.steps : 1;
    made.stimulus.currents.push_back({to, numbers(steps * net_[to].neurons(), -200, 200)});
  }

  std::mt19937_64 random_;
  bool huge_;
  SpikingNet net_;
};

}  // namespace

TaskBlock clif_block(std::initializer_list<std::pair<const char*, std::int64_t>> attributes) {
  TaskBlock block;
  block.def = standard_blocks().find("CLIF");
  block.precision = Precision::i8;
  for (const auto& [name, value] : attributes) block.set(*block.def->find_attribute(name), value);
  if (block.attribute("fire_type") != 5) block.set(*block.def->find_attribute("fire_type"), 4);
  return block;
}

RandomSpikes random_spikes(std::uint64_t seed, bool huge) { return RandomNet(seed, huge).make(); }

}  // namespace taskspec
