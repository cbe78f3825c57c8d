#include "hwsim/spikes/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "hwsim/spikes/fan.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

// 12345 as 12,345.
std::string grouped(std::int64_t n) {
  std::string text = fmt::format("{}", n);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

// "1 core", "12,345 cores"
std::string counted(std::int64_t n, std::string_view noun) {
  return grouped(n).append(" ").append(noun).append(n == 1 ? "" : "s");
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
    std::vector<std::int32_t> widest;  // by connection
    std::int64_t most_bits = 0;
    for (const SpikeConnection& connection : net_.connections) {
      const auto [least, most] = std::visit(
          [](const auto& s) {
            const auto ends = std::minmax_element(s.weights.begin(), s.weights.end());
            return s.weights.empty() ? std::pair(0, 0) : std::pair(*ends.first, *ends.second);
          },
          connection.synapses);
      widest.push_back(bits_of(least) > bits_of(most) ? least : most);
      most_bits = std::max(most_bits, bits_of(widest.back()));
    }
    const std::int64_t end = std::int64_t{1} << (limits_.weight_bits - 1);
    for (std::size_t c = 0; c < widest.size(); ++c) {
      if (bits_of(widest[c]) <= limits_.weight_bits) continue;
      diags_
          .error("E4043", Span{},
                 fmt::format("connection '{}': weight {} takes {} bits, and this chip has {}", net_.connections[c].name,
                             widest[c], bits_of(widest[c]), limits_.weight_bits))
          .help(fmt::format("scale its weights into {}..{}, or limits/weight_bits of {} suffices", -end, end - 1,
                            most_bits));
    }
  }

  void check_delays() {
    std::vector<std::int64_t> delays;  // by connection
    for (const SpikeConnection& connection : net_.connections) {
      delays.push_back(connection.delay);
      if (const auto* rows = std::get_if<SparseSynapses>(&connection.synapses); rows && !rows->delays.empty())
        delays.back() += *std::max_element(rows->delays.begin(), rows->delays.end());
    }
    const std::int64_t longest = delays.empty() ? 0 : *std::ranges::max_element(delays);
    for (std::size_t c = 0; c < delays.size(); ++c) {
      if (delays[c] <= limits_.delay) continue;
      diags_
          .error("E4043", Span{},
                 fmt::format("connection '{}': a delay of {}, and this chip has {}", net_.connections[c].name,
                             counted(delays[c], "step"), limits_.delay))
          .help(fmt::format("at most {}, or put a population in between that passes spikes on; limits/delay_max of {} "
                            "suffices",
                            limits_.delay, longest));
    }
  }

  void cut(PopulationId id) {
    const SpikePopulation& population = net_[id];
    if (population.is_outside()) return;
    if (draws_random(population) && population.neurons() > caps_[id.index()]) {
      refuse_random(population, counted(caps_[id.index()], "neuron"));
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
        if (use.neurons == 0) return refuse_neuron(id);
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
    if (use.synapse_bits + in.bits > most_bits()) return Tight::memory;
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
        refuse_out(slice.population, worst, most, widest_reach(out));
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

  std::int64_t widest_reach(const FanOut& out) const {
    std::int64_t most = 0;
    for (const SpikeSlice& slice : made_.slices)
      for (std::int64_t n = slice.begin; n < slice.end; ++n) most = std::max(most, out.cores(slice.population, n));
    return most;
  }

  // What each neuron takes on a core of its own: the worst of a population, and of all.
  void refuse_neuron(PopulationId id) {
    FanIn worst, most;
    std::int64_t at = 0, over = 0;
    for (std::size_t p = 0; p < net_.populations.size(); ++p)
      for (std::int64_t n = 0; !net_.populations[p].is_outside() && n < net_.populations[p].neurons(); ++n) {
        fan_.begin_core();
        const FanIn in = fan_.add(PopulationId(p), n, limits_.bits_per_synapse);
        most = {std::max(most.axons, in.axons), std::max(most.bits, in.bits)};
        if (PopulationId(p) == id && synapses_over(in) > over) worst = in, at = n, over = synapses_over(in);
      }
    const bool axons = too_many_axons(worst.axons);
    Diag& diag = diags_.error(
        "E4043", Span{},
        fmt::format("population '{}': neuron {} alone takes {}, and a core of this chip has {}", net_[id].name, at,
                    axons ? counted(worst.axons, "axon") : grouped(worst.bits) + " bits of synapses",
                    grouped(axons ? limits_.axons_in : most_bits())));
    for (const auto& [connection, synapses] : fan_.contributors(id, at))
      diag.note(
          fmt::format("connection '{}' brings {}", net_.connections[connection].name, counted(synapses, "synapse")));
    diag.help(fmt::format("it fits with {} less; {}", counted(over, axons ? "axon" : "synapse"), room_of_core(most)));
  }

  // What the file has to say for neurons that take so much.
  std::string room_of_core(const FanIn& most) const {
    std::vector<std::string> changes;
    const std::int64_t bytes = (most.bits + 7) / 8;
    const bool is_memory = most.bits > limits_.memory_bits;
    if (too_many_axons(most.axons)) changes.push_back(fmt::format("limits/fan_in of {}", most.axons));
    if (most.bits > limits_.synapse_bits)  // whole bytes, where the bank may follow from it by a formula
      changes.push_back(fmt::format("limits/synapse_bits of {}", is_memory ? bytes * 8 : most.bits));
    if (is_memory) changes.push_back(fmt::format("memory/{}/bytes of {}", limits_.memory_bank, bytes));
    return joined(changes, " and ") + (changes.size() == 1 ? " suffices" : " suffice");
  }

  std::int64_t most_bits() const { return std::min(limits_.synapse_bits, limits_.memory_bits); }
  bool too_many_axons(std::int64_t axons) const { return axons > limits_.axons_in && !limits_.adds_partial_sums; }
  std::int64_t synapses_over(const FanIn& in) const {
    const std::int64_t bits = in.bits - std::min(in.bits, most_bits());
    return std::max((bits + limits_.bits_per_synapse - 1) / limits_.bits_per_synapse,
                    too_many_axons(in.axons) ? in.axons - limits_.axons_in : 0);
  }

  void refuse_random(const SpikePopulation& population, const std::string& limit) {
    diags_
        .error("E4041", Span{},
               fmt::format("population '{}' cannot be cut, and its {} neurons do not fit one core: {}", population.name,
                           grouped(population.neurons()), limit))
        .note("its neurons draw their thresholds in turn from one stream of random numbers")
        .help("make it smaller, or do without the random mask");
  }

  // `most`: that any neuron reaches.
  void refuse_out(PopulationId id, std::int64_t neuron, std::int64_t cores, std::int64_t most) {
    const std::int64_t limit = std::min(limits_.destinations, limits_.axons_out);
    diags_
        .error("E4043", Span{},
               fmt::format("population '{}': neuron {} reaches {}, and this chip lets it reach {}", net_[id].name,
                           neuron, counted(cores, "core"), grouped(limit)))
        .help(fmt::format("it fits when its targets lie on {} fewer; limits/fan_out of {} suffices",
                          counted(cores - limit, "core"), most));
  }

  void refuse_cores() {
    Diag& diag =
        diags_.error("E4042", Span{},
                     fmt::format("network '{}' takes {}, and there {} {}", net_.name, counted(made_.cores(), "core"),
                                 limits_.cores == 1 ? "is" : "are", grouped(limits_.cores)));
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
      diag.note(fmt::format("population '{}': {} on {}{}", net_.populations[p].name,
                            counted(net_.populations[p].neurons(), "neuron"), counted(cores[p], "core"), limit));
    }
    diag.help(room_for(made_.cores()));
  }

  // The options with which there are so many cores, or what chips have at most.
  std::string room_for(std::int64_t needed) const {
    if (!limits_.room) return fmt::format("{} cores suffice", grouped(needed));
    const auto& [grid, chips, is_asked] = *limits_.room;
    const std::int64_t per_chip = grid.cores.area();
    if (is_asked && needed <= per_chip * chips.area()) return fmt::format("cores: {} suffice", needed);
    if (const std::optional<ChipExtent> most = fewest_chips(grid, needed))
      return fmt::format("chips: [{}, {}] suffice{}", most->x, most->y, is_asked ? ", without a number of cores" : "");
    const std::string all = grouped(per_chip * grid.max_chips.area());
    if (grid.max_chips.area() == 1)
      return fmt::format("its chips cannot be joined, and one has {} cores: a smaller net, or a chip with more", all);
    return fmt::format("at most [{}, {}] chips can be joined, which have {} cores: a smaller net, or a chip with more",
                       grid.max_chips.x, grid.max_chips.y, all);
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
