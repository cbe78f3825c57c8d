#include "hwsim/spikes/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "hwsim/spikes/fan.hpp"

namespace taskspec {

namespace {

// 12345 as 12,345.
std::string grouped(std::int64_t n) {
  std::string text = fmt::format("{}", n);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::int64_t bits_of(std::int64_t value) {
  std::int64_t bits = 1;
  for (std::int64_t rest = value < 0 ? ~value : value; rest != 0; rest >>= 1) ++bits;
  return bits;
}

enum class Tight : std::uint8_t { end, neurons, axons, memory, axons_out };
constexpr std::string_view tight_text[] = {"", "the number of neurons", "axons in", "synapse memory", "axons out"};

class Placer {
 public:
  Placer(const SpikingNet& net, const SpikeLimits& limits)
      : net_(net),
        limits_(limits),
        fan_(net),
        caps_(net.populations.size(), limits.neurons),
        tight_(net.populations.size(), Tight::end) {}

  Result<SpikePlacement> run() {
    check_weights();
    check_delays();
    // Fewer neurons of a core have fewer axons out, but more cores are more destinations: until nothing changes.
    for (bool again = true; again && !diags_.has_errors();) {
      made_ = {};
      for (std::size_t p = 0; p < net_.populations.size() && !diags_.has_errors(); ++p) cut(PopulationId(p));
      again = !diags_.has_errors() && tighten();
    }
    if (!diags_.has_errors() && made_.cores() > limits_.cores) refuse_cores();
    if (diags_.has_errors()) return std::move(diags_);
    return std::move(made_);
  }

 private:
  void check_weights() {
    if (limits_.weight_bits >= 32) return;
    for (const SpikeConnection& connection : net_.connections) {
      const auto [least, most] = std::visit(
          [](const auto& s) {
            const auto ends = std::minmax_element(s.weights.begin(), s.weights.end());
            return s.weights.empty() ? std::pair(0, 0) : std::pair(*ends.first, *ends.second);
          },
          connection.synapses);
      const std::int32_t widest = bits_of(least) > bits_of(most) ? least : most;
      if (bits_of(widest) <= limits_.weight_bits) continue;
      const std::int64_t end = std::int64_t{1} << (limits_.weight_bits - 1);
      diags_
          .error("E4043", Span{},
                 fmt::format("connection '{}': weight {} takes {} bits, and this chip has {}", connection.name, widest,
                             bits_of(widest), limits_.weight_bits))
          .help(fmt::format("scale its weights into {}..{}", -end, end - 1));
    }
  }

  void check_delays() {
    for (const SpikeConnection& connection : net_.connections) {
      std::int64_t longest = connection.delay;
      if (const auto* rows = std::get_if<SparseSynapses>(&connection.synapses); rows && !rows->delays.empty())
        longest += *std::max_element(rows->delays.begin(), rows->delays.end());
      if (longest <= limits_.delay) continue;
      diags_
          .error("E4043", Span{},
                 fmt::format("connection '{}': a delay of {} steps, and this chip has {}", connection.name, longest,
                             limits_.delay))
          .help(fmt::format("at most {}, or put a population in between that passes spikes on", limits_.delay));
    }
  }

  void cut(PopulationId id) {
    const SpikePopulation& population = net_[id];
    if (population.is_outside()) return;
    if (draws_random(population) && population.neurons() > caps_[id.index()]) {
      refuse_random(population, grouped(caps_[id.index()]) + " neurons");
      return;
    }
    SpikeSlice slice{id, 0, 0, made_.cores()};
    SpikeUse use;
    fan_.begin_core();
    for (std::int64_t n = 0; n < population.neurons(); ++n) {
      const FanIn in = fan_.add(id, n, limits_.bits_per_synapse);
      const Tight tight = after(use, in, caps_[id.index()]);
      if (tight != Tight::end) {
        if (use.neurons == 0 && tight == Tight::axons && limits_.adds_partial_sums) return tile(id);
        if (use.neurons == 0) return refuse_neuron(id, n, in, tight);
        if (draws_random(population)) return refuse_random(population, std::string(tight_text[std::size_t(tight)]));
        if (tight_[id.index()] != Tight::axons_out) tight_[id.index()] = tight;
        finish(slice, use);
        slice = {id, n, n, made_.cores()};
        use = {};
        fan_.begin_core();
        --n;
        continue;
      }
      slice.end = n + 1;
      ++use.neurons;
      use.axons_in += in.axons;
      use.synapse_bits += in.bits;
    }
    finish(slice, use);
  }

  // Neurons of more axons than a core has: the cores of the tiles behind each slice hear of them.
  void tile(PopulationId id) {
    std::erase_if(made_.slices, [&](const SpikeSlice& slice) { return slice.population == id; });
    made_.use.resize(made_.slices.empty() ? 0 : static_cast<std::size_t>(made_.slices.back().core) + 1);
    const std::int64_t count = net_[id].neurons(), most = std::min(caps_[id.index()], count);
    tight_[id.index()] = Tight::axons;
    for (std::int64_t begin = 0; begin < count; begin += most) {
      const std::int64_t end = std::min(count, begin + most);
      FanIn all;
      fan_.begin_core();
      for (std::int64_t n = begin; n < end; ++n) {
        const FanIn in = fan_.add(id, n, limits_.bits_per_synapse);
        all.axons += in.axons, all.bits += in.bits;
      }
      const auto tiles = static_cast<std::int32_t>((all.axons + limits_.axons_in - 1) / limits_.axons_in);
      finish({id, begin, end, made_.cores(), tiles, limits_.axons_in}, {.neurons = end - begin, .axons_in = tiles});
      for (std::int64_t left = all.axons; left > 0; left -= limits_.axons_in) {
        const std::int64_t axons = std::min(left, limits_.axons_in);
        finish({id, end, end, made_.cores()},
               {.axons_in = axons, .synapse_bits = (all.bits * axons + all.axons - 1) / all.axons});
      }
    }
  }

  Tight after(const SpikeUse& use, const FanIn& in, std::int64_t neurons) const {
    if (use.neurons + 1 > neurons) return Tight::neurons;
    if (use.axons_in + in.axons > limits_.axons_in) return Tight::axons;
    if (use.synapse_bits + in.bits > limits_.synapse_bits) return Tight::memory;
    return Tight::end;
  }

  void finish(const SpikeSlice& slice, const SpikeUse& use) {
    made_.slices.push_back(slice);
    made_.use.push_back(use);
  }

  // Axons out, which only the cores of all populations tell. Whether a population must be cut finer.
  bool tighten() {
    if (limits_.axons_out == no_limit && limits_.destinations == no_limit) return false;
    const FanOut out(net_, made_.slices);
    std::vector<std::int64_t> fits = caps_;
    for (const SpikeSlice& slice : made_.slices) {
      if (slice.neurons() == 0) continue;
      std::int64_t& sum = made_.use[static_cast<std::size_t>(slice.core)].axons_out;
      std::int64_t worst = slice.begin;
      for (std::int64_t n = slice.begin; n < slice.end; ++n) {
        sum += out.cores(slice.population, n);
        if (out.cores(slice.population, n) > out.cores(slice.population, worst)) worst = n;
      }
      const std::int64_t most = out.cores(slice.population, worst);
      if (most > std::min(limits_.destinations, limits_.axons_out)) {
        refuse_out(slice.population, worst, most);
        return false;
      }
      if (sum <= limits_.axons_out) continue;
      std::int64_t& fit = fits[slice.population.index()];
      fit = std::min(
          fit, std::max<std::int64_t>(1, std::min(slice.neurons() - 1, slice.neurons() * limits_.axons_out / sum)));
      tight_[slice.population.index()] = Tight::axons_out;
    }
    return std::exchange(caps_, fits) != fits;
  }

  void refuse_neuron(PopulationId id, std::int64_t neuron, const FanIn& in, Tight tight) {
    const SpikePopulation& population = net_[id];
    if (tight == Tight::neurons) {
      diags_.error(
          "E4043", Span{},
          fmt::format("population '{}': a core of this chip has {} neurons", population.name, limits_.neurons));
      return;
    }
    const bool axons = tight == Tight::axons;
    const std::int64_t use = axons ? in.axons : in.bits, limit = axons ? limits_.axons_in : limits_.synapse_bits;
    const std::string_view unit = axons ? "axons" : "bits of synapses";
    Diag& diag =
        diags_.error("E4043", Span{},
                     fmt::format("population '{}': neuron {} alone takes {} {}, and a core of this chip has {}",
                                 population.name, neuron, grouped(use), unit, grouped(limit)));
    for (const auto& [connection, synapses] : fan_.contributors(id, neuron))
      diag.note(
          fmt::format("connection '{}' brings {} synapses", net_.connections[connection].name, grouped(synapses)));
    const std::int64_t over =
        axons ? use - limit : (use - limit + limits_.bits_per_synapse - 1) / limits_.bits_per_synapse;
    diag.help(fmt::format("it fits with {} {} less, or a limit of {}", grouped(over), axons ? "axons" : "synapses",
                          grouped(use)));
  }

  void refuse_random(const SpikePopulation& population, const std::string& limit) {
    diags_
        .error("E4041", Span{},
               fmt::format("population '{}' cannot be cut, and its {} neurons do not fit one core: {}", population.name,
                           grouped(population.neurons()), limit))
        .note("its neurons draw their thresholds in turn from one stream of random numbers")
        .help("make it smaller, or do without the random mask");
  }

  void refuse_out(PopulationId id, std::int64_t neuron, std::int64_t cores) {
    const std::int64_t limit = std::min(limits_.destinations, limits_.axons_out);
    diags_
        .error("E4043", Span{},
               fmt::format("population '{}': neuron {} reaches {} cores, and this chip lets it reach {}", net_[id].name,
                           neuron, grouped(cores), grouped(limit)))
        .help(fmt::format("it fits when its targets lie on {} fewer cores, or with {} destinations",
                          grouped(cores - limit), grouped(cores)));
  }

  void refuse_cores() {
    Diag& diag = diags_.error("E4042", Span{},
                              fmt::format("network '{}' takes {} cores, and there are {}", net_.name,
                                          grouped(made_.cores()), grouped(limits_.cores)));
    std::vector<std::int64_t> cores(net_.populations.size());
    for (const SpikeSlice& slice : made_.slices) ++cores[slice.population.index()];
    std::vector<std::size_t> order;
    for (std::size_t p = 0; p < cores.size(); ++p)
      if (cores[p] > 0) order.push_back(p);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cores[a] > cores[b]; });
    for (std::size_t i = 0; i < order.size() && i < 3; ++i) {
      const std::size_t p = order[i];
      const std::string limit =
          tight_[p] == Tight::end ? "" : fmt::format(", limited by {}", tight_text[std::size_t(tight_[p])]);
      diag.note(fmt::format("population '{}': {} neurons on {} cores{}", net_.populations[p].name,
                            grouped(net_.populations[p].neurons()), grouped(cores[p]), limit));
    }
    diag.help(fmt::format("{} cores suffice", grouped(made_.cores())));
  }

  const SpikingNet& net_;
  SpikeLimits limits_;
  FanCount fan_;
  std::vector<std::int64_t> caps_;  // neurons of a core, by population
  std::vector<Tight> tight_;        // what made the last cut of a population
  SpikePlacement made_;
  Diags diags_;
};

}  // namespace

bool draws_random(const SpikePopulation& population) {
  const auto* clif = std::get_if<ClifNeurons>(&population.model);
  return clif && (!clif->masks.empty() || clif->block.attribute("vm_const") != 0);
}

Result<SpikePlacement> place_spikes(const SpikingNet& net, const SpikeLimits& limits) {
  return Placer(net, limits).run();
}

SpikePlacement on_one_core(const SpikingNet& net) {
  SpikePlacement placement;
  placement.use.resize(1);
  for (std::size_t p = 0; p < net.populations.size(); ++p) {
    if (net.populations[p].is_outside()) continue;
    placement.slices.push_back({PopulationId(p), 0, net.populations[p].neurons(), 0});
    placement.use[0].neurons += net.populations[p].neurons();
  }
  return placement;
}

}  // namespace taskspec
